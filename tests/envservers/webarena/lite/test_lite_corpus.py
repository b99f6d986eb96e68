"""The engine lite against Chromium's own trees: a corpus that was captured, and Chromium itself where it is there."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path

import ax_oracle
import markup_fuzz
import pytest

from envservers.webarena.engines.engine import UnsupportedMarkup

CORPUS = Path(__file__).with_name("corpus")
CASES = ax_oracle.read_cases(CORPUS)

needs_chromium = pytest.mark.skipif(not ax_oracle.have_oracle, reason="no Chromium with Playwright")


@pytest.fixture(scope="module")
def oracle() -> Iterator[ax_oracle.Oracle]:
    with ax_oracle.chromium_oracle() as found:
        yield found


def differences(chromium: list[str], lite: list[str]) -> str:
    return "\n".join(difflib.unified_diff(chromium, lite, "chromium", "lite", lineterm="", n=2))


@pytest.mark.parametrize("name", CASES)
def test_lite_builds_the_tree_that_was_captured(name: str) -> None:
    case = CASES[name]
    found = differences(case.lines, ax_oracle.lite_outline(case.body, styled=case.styled))
    assert not found, f"{case.body}\n{found}"


def test_the_corpus_is_large() -> None:
    assert len(CASES) >= 150


@needs_chromium
def test_the_captured_trees_are_still_chromiums(oracle: ax_oracle.Oracle) -> None:
    changed = [name for name, case in CASES.items() if oracle.outline(case.body, styled=case.styled) != case.lines]
    assert not changed, f"capture again: python tests/support/ax_oracle.py {CORPUS}"


def compare(oracle: ax_oracle.Oracle, seeds: range) -> tuple[int, list[str]]:
    """How many random pages were compared, and where they differ."""
    compared, wrong = 0, []
    for seed in seeds:
        body, styled = markup_fuzz.body(seed), seed % 2 == 1
        try:
            lite = ax_oracle.lite_outline(body, styled=styled)
        except UnsupportedMarkup:
            continue
        compared += 1
        found = differences(oracle.outline(body, styled=styled), lite)
        if found:
            wrong.append(f"seed {seed}: {body}\n{found}")
    return compared, wrong


@needs_chromium
def test_random_pages_have_the_same_tree(oracle: ax_oracle.Oracle) -> None:
    compared, wrong = compare(oracle, range(150))
    assert compared > 120
    assert not wrong, "\n\n".join(wrong[:3])


@needs_chromium
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_two_thousand_random_pages_have_the_same_tree(oracle: ax_oracle.Oracle) -> None:
    compared, wrong = compare(oracle, range(10_000, 12_000))
    assert compared > 1900
    assert not wrong, f"{len(wrong)} differ\n" + "\n\n".join(wrong[:3])
