"""Each rule of names and of the tree carries weight: with the rule broken, the corpus fails."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ax_oracle
import pytest

from envservers.webarena.engines.engine import UnsupportedMarkup
from envservers.webarena.engines.lite import layout, names, tree, validation

CASES = ax_oracle.read_cases(Path(__file__).with_name("corpus"))


def failures() -> int:
    """Cases whose tree is not Chromium's; stops at the third."""
    wrong = 0
    for case in CASES.values():
        try:
            wrong += ax_oracle.lite_outline(case.body, styled=case.styled) != case.lines
        except (UnsupportedMarkup, RecursionError):
            wrong += 1
        if wrong == 3:
            break
    return wrong


def without(rule: str, attribute: str) -> Callable[[Any], None]:
    """Names are computed as if elements had no such attribute."""

    def breaking(patch: Any) -> None:
        honest = names.Names._alternative

        def blind(self: names.Names, element: Any, seen: set[int], **how: Any) -> tuple[str, bool]:
            kept = element.attrs
            element.attrs = {name: value for name, value in kept.items() if name != attribute}
            try:
                return honest(self, element, seen, **how)
            finally:
                element.attrs = kept

        patch.setattr(names.Names, "_alternative", blind)

    return breaking


def replaced(where: Any, name: str, value: Any) -> Callable[[Any], None]:
    return lambda patch: patch.setattr(where, name, value)


def no_labels(patch: Any) -> None:
    patch.setattr("envservers.webarena.engines.lite.document._labels", lambda document: {})


def deaf_to_content(*tags: str) -> Callable[[Any], None]:
    def breaking(patch: Any) -> None:
        patch.setattr(names, "_LENDS", names._LENDS - set(tags))
        patch.setattr(names, "NAMED_BY_CONTENT", names.NAMED_BY_CONTENT - set(tags))

    return breaking


def wordy(*tags: str) -> Callable[[Any], None]:
    return lambda patch: patch.setattr(names, "_LENDS", names._LENDS | set(tags))


MUTANTS: dict[str, Callable[[Any], None]] = {
    "aria-label": without("label", "aria-label"),
    "aria-labelledby": without("labelledby", "aria-labelledby"),
    "alt": without("alt", "alt"),
    "title": without("title", "title"),
    "placeholder": without("placeholder", "placeholder"),
    "value of a submit": without("value", "value"),
    "labels": no_labels,
    "caption": replaced(names, "caption_of", lambda table: None),
    "legend": replaced(names, "legend_of", lambda fieldset: None),
    "option": replaced(tree, "option_label", lambda option: option.text()),
    "a heading's content": deaf_to_content("h1", "h2"),
    "a cell's content": deaf_to_content("td", "th"),
    "a link's content": deaf_to_content("a"),
    "a button's content": deaf_to_content("button"),
    "a summary's content": deaf_to_content("summary"),
    "a term's content": deaf_to_content("dt"),
    "lists lend content": deaf_to_content("ul", "ol"),
    "items lend content": deaf_to_content("li"),
    "paragraphs lend content": deaf_to_content("p"),
    "sections lend content": deaf_to_content("section"),
    "footers lend content": deaf_to_content("footer"),
    "details lend content": deaf_to_content("details"),
    "times lend content": deaf_to_content("time"),
    "tables do not lend": wordy("table", "tbody", "tr"),
    "forms do not lend": wordy("form"),
    "quotes do not lend": wordy("blockquote"),
    "articles do not lend": wordy("article"),
    "headers do not lend": wordy("header"),
    "live regions do not lend": replaced(names, "_MUTE_ROLES", frozenset()),
    "spaces between boxes": replaced(names, "_apart", lambda before, after: False),
    "no spaces within a line": replaced(names, "_apart", lambda before, after: True),
    "plain spans dissolve": replaced(names, "_is_plain", lambda element: False),
    "spans and small print dissolve": replaced(names, "_dissolves", lambda element: False),
    "hidden parts are left out": replaced(names, "_left_out", lambda kid, drawn: False),
    "hidden labels are silent": replaced(names, "_is_hidden", lambda element: False),
    "ends of names keep a space": replaced(names, "_simplified", lambda text: " ".join(text.split())),
    "bullets of passwords": replaced(names, "BULLET", "*"),
    "generic titles describe": replaced(names, "_NAMELESS", frozenset()),
    "lone spaces tell": replaced(layout, "_tells", lambda space: False),
    "lone spaces vanish beside breaks": replaced(layout, "_tells", lambda space: True),
    "redundant labels": replaced(tree, "_redundant", lambda label, control: False),
    "only checkboxes have redundant labels": replaced(tree, "_redundant", lambda label, control: True),
    "header cells": replaced(tree, "_header_role", lambda cells, place: "columnheader"),
    "header cells of rows": replaced(tree, "_header_role", lambda cells, place: "rowheader"),
    "landmarks inside sections": replaced(tree, "_SECTIONING", frozenset()),
    "invalid": replaced(validation, "_wrong", lambda element: False),
    "required": replaced(validation, "missing", lambda document, element: False),
    "disabled": replaced(tree, "disabled", lambda element: False),
}


def test_the_corpus_holds_without_mutants() -> None:
    assert failures() == 0


@pytest.mark.parametrize("rule", MUTANTS)
def test_a_broken_rule_is_seen(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    MUTANTS[rule](monkeypatch)
    assert failures() > 0
