"""Schemas as data: `schemas/NAME.yaml`, read once.

A column is one line: its kind and arguments, then what people call it, parted by `|`. Kinds are

- `key`: the integer primary key, 1, 2, 3 ...
- `ref TABLE | one parent | the children`: refers to the key of TABLE
- `person`, `label POOL`, `word POOL`, `code PREFIX`: what a row is called; no two rows share it
- `pick POOL`, `int LOW HIGH`, `real LOW HIGH [DECIMALS]`, `date YEAR YEAR`, `after COLUMN LOW HIGH` (days later)
- `mark LOW HIGH`: a number that names, such as that of a room; it is shown, never compared or added up
- `flag | said when 1 | said when 0`

A `?` behind the kind lets some rows have none. A value of a pool may be written `STORED ~ what people say`.
`levels` names the columns of numbers whose sum says nothing, such as heights.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import product
from typing import Any

import yaml

SPLIT_SCHEMAS: Mapping[str, tuple[str, ...]] = {
    "train": ("airline", "delivery", "estates", "hospital", "library", "records", "university", "zoo"),
    "dev": ("festival", "hotel"),
    "test": ("league", "museum", "retail"),
    "test_ood": ("energy", "port", "research"),
}
"""No schema is in two splits."""
SCHEMAS = tuple(name for names in SPLIT_SCHEMAS.values() for name in names)
NAMING = frozenset({"person", "label", "word", "code"})
TYPES = {"int": "INTEGER", "mark": "INTEGER", "key": "INTEGER", "ref": "INTEGER", "flag": "INTEGER", "real": "REAL"}
"""SQL type by kind; the others are TEXT."""
_CODED = "on year no id for m m2 km cm g kg t s k mw kwh min pct qty ext"
CODED = frozenset(_CODED.split())
"""Last parts of names that make no noun of them, such as `read_on`: a question spells these as the database does."""


@dataclass(frozen=True, slots=True)
class Value:
    """A value of a pool."""

    stored: str
    said: str = ""
    """What people call it, where that is spelled otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A column."""

    table: str
    name: str
    kind: str
    args: tuple[str, ...]
    says: tuple[str, ...]
    """What people call it; of a `flag` the phrases for 1 and 0; of a `ref` the parent's role and the children."""
    nullable: bool

    @property
    def plain(self) -> str:
        """Its own name, as words where these make a noun."""
        _, glue, last = self.name.rpartition("_")
        return self.name if glue and last in CODED else self.name.replace("_", " ")

    @property
    def type(self) -> str:
        """INTEGER, REAL or TEXT."""
        return TYPES.get(self.kind, "TEXT")

    @property
    def parent(self) -> str:
        """The table that a `ref` refers to."""
        return self.args[0]

    @property
    def bounds(self) -> tuple[float, float]:
        """Lowest and highest number, or year, that it may hold."""
        return float(self.args[0]), float(self.args[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table and what its rows are called."""

    name: str
    one: str
    many: str
    rows: tuple[int, int]
    """Fewest and most."""
    fields: tuple[Field, ...]

    @property
    def key(self) -> Field:
        """The primary key."""
        return self.fields[0]

    @property
    def naming(self) -> Field:
        """The column that a row is called by: its name, else its key."""
        return next((f for f in self.fields if f.kind in NAMING), self.key)

    @property
    def refs(self) -> tuple[Field, ...]:
        """Columns that refer to other tables."""
        return self.of_kind("ref")

    def of_kind(self, *kinds: str) -> tuple[Field, ...]:
        """Columns of some kinds."""
        return tuple(f for f in self.fields if f.kind in kinds)

    def field(self, name: str) -> Field:
        """The column of that name."""
        return next(f for f in self.fields if f.name == name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """A database without its rows."""

    name: str
    about: str
    tables: Mapping[str, Table]
    pools: Mapping[str, tuple[Value, ...]]
    levels: frozenset[str]
    """`table.column` of the numbers that are never added up."""

    def pool(self, field: Field) -> tuple[Value, ...]:
        """The values of a `pick`, `label` or `word`; every name of a `person`, in a fixed order."""
        return self.pools["people" if field.kind == "person" else field.args[0]]


@functools.cache
def schema(name: str) -> Schema:
    """The schema of that name."""
    raw = _yaml(f"schemas/{name}.yaml")
    own = {pool: values if isinstance(values, list) else [] for pool, values in raw["pools"].items()}
    shared = _yaml("pools.yaml")
    tables = {n: _table(n, t) for n, t in raw["tables"].items()}
    joined = {f.args[0] for t in tables.values() for f in t.of_kind("word")}
    pools = {n: tuple(_values(v, "" if n in joined else " ")) for n, v in {**shared, **own}.items()}
    people = tuple(Value(f"{first} {last}") for first, last in product(shared["first"], shared["last"]))
    return Schema(
        name=name,
        about=raw["about"],
        tables=tables,
        pools={**pools, "people": people},
        levels=frozenset(raw.get("levels", ())),
    )


def _yaml(name: str) -> Any:
    return yaml.safe_load(files(__package__).joinpath(name).read_text(encoding="utf-8"))


def _table(name: str, raw: Mapping[str, Any]) -> Table:
    one, many = raw["is"].split(" / ")
    low, high = raw["rows"].split("-")
    fields = tuple(_field(name, column, text) for column, text in raw["columns"].items())
    return Table(name=name, one=one, many=many, rows=(int(low), int(high)), fields=fields)


def _field(table: str, name: str, text: str) -> Field:
    head, *says = (part.strip() for part in text.split("|"))
    kind, *args = head.split()
    return Field(
        table=table,
        name=name,
        kind=kind.removesuffix("?"),
        args=tuple(args),
        says=tuple(says),
        nullable=kind.endswith("?"),
    )


def _values(raw: Sequence[Any], glue: str) -> list[Value]:
    if raw and isinstance(raw[0], list):
        return [Value(glue.join(map(str, parts))) for parts in product(*raw)]
    return [Value(*str(text).split(" ~ ")) for text in raw]
