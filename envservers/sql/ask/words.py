"""Conditions and columns in words: what people call them, how they spell values."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from envservers.sql.ask.query import Between, Column, Compare, Condition, Missing, Term, Total
from envservers.sql.worlds.fill import names
from envservers.sql.worlds.schema import NAMING, Field, Schema, Table

PLAIN = 0.44
"""Share of questions that use the columns' own names."""
RESPELLED = 0.85
"""Share of questions that spell values, where they name any, in another way than the database."""
ROUND = ((100_000, 10_000), (10_000, 1_000), (1_000, 100), (300, 10))
"""Numbers above the first are rounded to the second."""
MONTHS = tuple(date(2000, month, 1).strftime("%B") for month in range(1, 13))
PLURAL = {"is": "are", "has": "have", "lies": "lie", "stands": "stand", "receives": "receive", "carries": "carry"}
WORDS = {"AVG": "average", "SUM": "total", "MAX": "highest", "MIN": "lowest"}
YEARS_FROM = 1400
"""Numbers from here on are years: neither added nor averaged."""
_BEHIND = re.compile(r" (?:of|in|per|on|by|for|allowed) .*")
"""What follows the noun of a column's name."""
_SINGULAR = ("ss", "us", "is", "_s", "means")
"""Endings of words that are no plural all the same."""


class NoFit(Exception):
    """The schema has nothing that the template could ask about."""


@dataclass(frozen=True, slots=True)
class Said:
    """A condition with its words."""

    condition: Condition
    one: str
    """Behind "each book"."""
    many: str
    """Behind "books"."""
    field: Field


class Speaker:
    """Chooses and words; one for each question."""

    def __init__(self, schema: Schema, rng: random.Random) -> None:
        self.schema, self.rng = schema, rng
        self.plain = rng.random() < PLAIN
        self.respells = rng.random() < RESPELLED
        self.respelled = False
        """Whether some value was spelled in another way than it is stored."""

    def call(self, field: Field) -> str:
        """A column in words."""
        if self.plain:
            return field.plain
        return field.says[0] if field.says else "identifier"

    def be(self, field: Field) -> str:
        """The verb that goes with a column in words."""
        return "are" if _plural(self.call(field)) else "is"

    def listed(self, fields: Sequence[Field]) -> str:
        """Several columns in words."""
        words = [self.call(field) for field in fields]
        return " and the ".join(words)

    def condition(
        self, table: Table, *, through: Sequence[Field] = (), avoid: Sequence[Field] = (), kinds: Sequence[str] = ()
    ) -> Said:
        """A condition on a row, or on what it refers to through some columns."""
        wanted = kinds or ("pick", "pick", "int", "real", "date", "after", "flag")
        fields = [f for kind in wanted for f in table.of_kind(kind) if f not in avoid]
        if through and not kinds:
            fields += [f for f in table.fields if f.kind in NAMING - {"code"}]
        if not fields:
            raise NoFit(f"no condition on {table.name}")
        field = self.rng.choice(fields)
        owner = "".join(f"{ref.says[0]}'s " for ref in through)
        column = Column(table.name, field.name)
        if field.kind == "flag":
            return self._flag(field, column, owner)
        if field.kind in NAMING:
            return self._named(field, column, owner)
        condition, words = self._compared(field, column)
        text = f"whose {owner}{self.call(field)} {self.be(field)} {words}"
        return Said(condition, text, text, field)

    def _flag(self, field: Field, column: Column, owner: str) -> Said:
        holds = self.rng.random() < 0.5
        words = field.says[0 if holds else 1]
        condition = Compare(column, "=", int(holds))
        if owner:
            text = f"whose {owner.removesuffix(chr(39) + 's ')} {words}"
            return Said(condition, text, text, field)
        verb, _, rest = words.partition(" ")
        return Said(condition, f"that {words}", f"that {PLURAL[verb]} {rest}", field)

    def _named(self, field: Field, column: Column, owner: str) -> Said:
        name = self.rng.choice(names(self.schema, field)[: self.schema.tables[field.table].rows[0]])
        text = f"whose {owner.removesuffix(chr(39) + 's ')} is {self._spelled(name, '')}"
        return Said(Compare(column, "=", name), text, text, field)

    def _compared(self, field: Field, column: Column) -> tuple[Condition, str]:
        rng = self.rng
        if field.nullable and rng.random() < 0.12:
            return Missing(column), "not recorded"
        if field.kind == "pick":
            value = rng.choice(self.schema.pool(field))
            if rng.random() < 0.12 and not field.nullable:  # whether no value is another one is left open
                return Compare(column, "<>", value.stored), f"other than {self._spelled(value.stored, value.said)}"
            return Compare(column, "=", value.stored), self._spelled(value.stored, value.said)
        if field.kind in ("date", "after"):
            return self._dated(field, column)
        bound = self.bound(field)
        op, words = rng.choice(((">", "above"), ("<", "below"), (">=", "at least"), ("<=", "at most")))
        return Compare(column, op, bound), f"{words} {bound}"

    def _dated(self, field: Field, column: Column) -> tuple[Condition, str]:
        first, last = self._years(field)
        if self.rng.random() < 0.35:
            year = self.rng.randint(first, last)
            return Between(column, f"{year}-01-01", f"{year}-12-31"), f"in {year}"
        day = date(self.rng.randint(first, last), self.rng.randint(1, 12), self.rng.randint(1, 28))
        op, words = self.rng.choice(((">", "after"), ("<", "before")))
        said = day.isoformat()
        if self.respells:
            said = f"{day.day} {MONTHS[day.month - 1]} {day.year}"
            self.respelled = True
        return Compare(column, op, day.isoformat()), f"{words} {said}"

    def _years(self, field: Field) -> tuple[int, int]:
        while field.kind == "after":
            field = self.schema.tables[field.table].field(field.args[0])
        return int(field.args[0]), int(field.args[1])

    def bound(self, field: Field, low: float = 0.12, high: float = 0.62) -> int | float:
        """A round number within a column's range."""
        least, most = field.bounds
        value = least + (most - least) * self.rng.uniform(low, high)
        if field.kind == "int" and least >= YEARS_FROM:
            return round(value)
        for over, step in ROUND:
            if value > over:
                return round(value / step) * step
        return round(value) if field.kind == "int" or value > 20 else round(value, 1)

    def between(self, field: Field) -> Between:
        """A range within a column's range."""
        low, high = self.bound(field, 0.08, 0.3), self.bound(field, 0.4, 0.75)
        return Between(Column(field.table, field.name), low, high)

    def _spelled(self, stored: str, said: str) -> str:
        if not self.respells:
            return f'"{stored}"'
        others = [text for text in (said, stored.lower(), stored.upper()) if text and text != stored]
        if not others:
            return f'"{stored}"'
        self.respelled = True
        return f'"{said or self.rng.choice(others)}"'

    def measure(self, table: Table, avoid: Sequence[Field] = ()) -> Field:
        """A column of numbers."""
        fields = [f for f in table.of_kind("int", "real") if f not in avoid]
        if not fields:
            raise NoFit(f"{table.name} has no numbers")
        return self.rng.choice(fields)

    def total(self, field: Field) -> tuple[Total, str]:
        """An aggregate of a column, in words."""
        functions = ("MAX", "MIN") if field.bounds[0] >= YEARS_FROM else tuple(WORDS)
        if f"{field.table}.{field.name}" in self.schema.levels:
            functions = tuple(name for name in functions if name != "SUM")
        function = self.rng.choice(functions)
        return Total(function, Column(field.table, field.name)), f"{WORDS[function]} {self.call(field)}"

    def category(self, table: Table, avoid: Sequence[Field] = ()) -> Field:
        """A column with few values, each row having one."""
        fields = [f for f in table.of_kind("pick") if not f.nullable and f not in avoid]
        if not fields:
            raise NoFit(f"{table.name} has no categories")
        return self.rng.choice(fields)

    def shown(self, table: Table, count: int, avoid: Sequence[Field] = ()) -> list[Field]:
        """Columns to show; the one that rows are called by comes first where there is one."""
        others = [f for f in table.fields if f.kind not in ("key", "ref", "flag") and f not in avoid]
        named = [f for f in others if f.kind in NAMING]
        rest = [f for f in others if f not in named]
        self.rng.shuffle(rest)
        chosen = [*(named if self.rng.random() < 0.75 else []), *rest]
        if len(chosen) < count:
            raise NoFit(f"{table.name} has too little to show")
        return chosen[:count]


def _plural(words: str) -> bool:
    noun = _BEHIND.sub("", words)
    return noun.endswith("s") and not noun.endswith(_SINGULAR)


def column(field: Field) -> Column:
    """A column of the query."""
    return Column(field.table, field.name)


def terms(fields: Sequence[Field]) -> tuple[Term, ...]:
    """Columns of the query."""
    return tuple(column(field) for field in fields)
