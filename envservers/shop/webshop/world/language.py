"""The word lists of the catalogue, read from the files beside this module."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import yaml


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Values of an option."""

    name: str
    """As a product page shows it."""
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of product."""

    noun: str
    many: str
    """Several of them in words: `dress shirts`."""
    path: tuple[str, ...]
    price: float
    """Of a middling one, in dollars."""
    attributes: tuple[str, ...]
    options: tuple[Pool, ...]
    held: bool = False
    """Wished for in test_ood alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrasing:
    """A way to put a wish into words."""

    wish: str
    options: str
    option: str
    join: str
    price: str

    def text(self, many: str, attributes: Sequence[str], options: Mapping[str, str], price: float | None) -> str:
        """The wish."""
        chosen = self.join.join(self.option.format(name=n, value=v) for n, v in options.items())
        return self.wish.format(
            many=many,
            attributes=", ".join(attributes),
            options=self.options.format(chosen) if options else "",
            price="" if price is None else self.price.format(price),
        )


@functools.cache
def kinds() -> tuple[Kind, ...]:
    """Every kind of product, in the order of the file."""
    data = _load("kinds.yaml")
    pools = {key: Pool(name=row["name"], values=tuple(row["values"])) for key, row in data["pools"].items()}
    return tuple(
        Kind(
            noun=row["noun"],
            many=row.get("many") or f"{row['noun'].removesuffix('s')}s",
            path=tuple(row["path"]),
            price=row["price"],
            attributes=tuple(row["attributes"]),
            options=tuple(pools[name] for name in row["options"]),
            held=row.get("held", False),
        )
        for row in data["kinds"]
    )


@functools.cache
def several() -> Mapping[str, str]:
    """What several products of a kind are called, by the kind's noun."""
    return {kind.noun: kind.many for kind in kinds()}


@functools.cache
def attributes() -> Mapping[str, tuple[str, ...]]:
    """Attribute to the sentences that say it in other words."""
    return {name: tuple(says) for name, says in _load("attributes.yaml").items()}


@functools.cache
def phrasings(*, held_out: bool) -> tuple[Phrasing, ...]:
    """The ways to put a wish, of test_ood or of all other splits."""
    return tuple(Phrasing(**row) for row in _load("phrasings.yaml")["held_out" if held_out else "ordinary"])


@functools.cache
def words() -> Mapping[str, Any]:
    """Brands, styles, uses and the sentences that say little; some go by department."""
    return _load("words.yaml")


def _load(name: str) -> Mapping[str, Any]:
    loaded: Mapping[str, Any] = yaml.safe_load(files(__package__).joinpath(name).read_text(encoding="utf-8"))
    return loaded
