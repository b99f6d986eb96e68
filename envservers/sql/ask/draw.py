"""A question and its query, drawn from a schema, a template and a number."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import yaml

from envservers.sql.ask import links, rows
from envservers.sql.ask.query import Query, Total, columns, size
from envservers.sql.ask.rows import Asked
from envservers.sql.ask.words import NoFit, Speaker
from envservers.sql.worlds.schema import schema

BUILDERS: Mapping[str, Callable[[Speaker], Asked]] = {
    builder.__name__: builder
    for builder in (
        rows.list_one,
        rows.list_two,
        rows.count_rows,
        rows.total_rows,
        rows.different_values,
        rows.missing_list,
        rows.two_conditions,
        rows.either,
        rows.between,
        rows.sorted_list,
        rows.top_rows,
        rows.nth,
        rows.per_value,
        rows.total_per_value,
        rows.per_year,
        rows.different_per_value,
        rows.share,
        links.child_of,
        links.count_child_of,
        links.children_count,
        links.total_per_parent,
        links.many_children,
        links.most_children,
        links.above_average,
        links.childless,
        links.with_child,
        links.two_hop,
        links.grand_total,
        links.both_children,
        links.but_not,
        links.above_own,
        links.best_child,
        links.all_counts,
        links.total_having,
    )
}
HELD_TEXTS = 2
"""The last phrasings of a template, for test_ood alone."""
GRADES = (2, 3, 4)
"""Parts of a query up to which the difficulty is 1, 2 and 3; above it is 4."""
_ARTICLE = re.compile(r"\ba(?= [aeio])")
_LITERAL = re.compile(r"'(?:[^']|'')*'|\b\d+(?:\.\d+)?\b")


@dataclass(frozen=True, slots=True)
class Template:
    """A kind of question."""

    name: str
    category: str
    weight: int
    texts: tuple[str, ...]
    held: bool
    """Asked in test_ood alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A question that may become a task."""

    question: str
    query: Query
    named: bool
    """Whether the question uses the name of a column that the query reads."""
    respelled: bool
    """Whether it spells a value in another way than the database."""

    @property
    def sql(self) -> str:
        """The gold query."""
        return str(self.query)

    @property
    def ordered(self) -> bool:
        """Whether the order of rows counts."""
        return bool(self.query.order)

    @property
    def scalar(self) -> bool:
        """Whether the result is one value, whatever the rows."""
        return len(self.query.select) == 1 and isinstance(self.query.select[0], Total) and not self.query.group

    @property
    def difficulty(self) -> int:
        """1 to 4 by the parts of the query."""
        parts = size(self.query)
        return 1 + sum(parts > grade for grade in GRADES)

    @property
    def shape(self) -> str:
        """The query without its values."""
        return _LITERAL.sub("?", self.sql)


@functools.cache
def templates() -> Mapping[str, Template]:
    """Every kind of question by name."""
    raw = yaml.safe_load(files(__package__).joinpath("phrasings.yaml").read_text(encoding="utf-8"))
    assert set(raw) == set(BUILDERS), set(raw) ^ set(BUILDERS)
    return {name: _template(name, raw[name]) for name in BUILDERS}


def draw(schema_name: str, template: str, number: int, *, held: bool) -> Draft | None:
    """The draft of that number; None where the schema has none. `held`: in one of the phrasings of test_ood."""
    rng = random.Random(f"ask {schema_name} {template} {number} {held}")
    speaker = Speaker(schema(schema_name), rng)
    try:
        query, slots = BUILDERS[template](speaker)
    except NoFit:
        return None
    texts = templates()[template].texts
    text = rng.choice(texts[-HELD_TEXTS:] if held else texts[:-HELD_TEXTS])
    question = _ARTICLE.sub("an", text.format_map(slots))
    return Draft(
        question=question[0].upper() + question[1:],
        query=query,
        named=_names_a_column(question, query),
        respelled=speaker.respelled,
    )


def _template(name: str, raw: Mapping[str, Any]) -> Template:
    return Template(name, raw["category"], raw["weight"], tuple(raw["texts"]), raw.get("held", False))


def _names_a_column(question: str, query: Query) -> bool:
    words = {name for column in columns(query) for name in (column.name, column.name.replace("_", " "))}
    return any(re.search(rf"\b{re.escape(word)}\b", question, re.IGNORECASE) for word in words)
