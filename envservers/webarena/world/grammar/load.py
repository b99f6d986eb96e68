"""Reading the grammar files. A text `a | b | c`, or one of several lines, is a list."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

DEPARTMENTS = ("kitchen", "electronics", "clothing", "outdoor", "garden", "home", "toys", "office", "sport")


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """One kind of goods: what the products of a category have and what people say of them."""

    name: str
    about: str
    picture: str
    """Silhouette."""
    nouns: tuple[str, ...]
    ranges: dict[str, tuple[str, ...]]
    """Nouns that come with some values of the first specification only."""
    titles: tuple[str, ...]
    """Names of books and games, with a slot for the series; others are named by series, quality and noun."""
    qualifiers: tuple[str, ...]
    price: tuple[int, int]
    """In whole units."""
    weight: tuple[int, int]
    """In grams."""
    colors: tuple[str, ...]
    sizes: tuple[str, ...]
    specs: tuple[tuple[str, tuple[str, ...]], ...]
    """Names and values; the values of the first rise with the price."""
    features: tuple[str, ...]
    good: tuple[str, ...]
    """Clauses in praise."""
    bad: tuple[str, ...]
    """Annoyances that one can live with."""
    broken: tuple[str, ...]
    """Faults that one cannot live with; a `!` marks them in the file."""
    uses: tuple[str, ...]

    @property
    def empty(self) -> bool:
        """Whether the category holds no products (an empty state that a shop has)."""
        return not self.nouns


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The second level."""

    name: str
    about: str
    leaves: tuple[Leaf, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Department:
    """The first level."""

    name: str
    about: str
    groups: tuple[Group, ...]


@cache
def departments() -> tuple[Department, ...]:
    """In the order of the shop's menu."""
    return tuple(_department(_read(name)) for name in DEPARTMENTS)


@cache
def words(file: str) -> dict[str, Any]:
    """A grammar file with its lists split."""
    return {key: _listed(value) for key, value in _read(file).items()}


def _listed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _listed(inner) for key, inner in value.items()}
    return _split(value) if isinstance(value, str) else value


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split("\n" if "\n" in text.strip() else "|") if part.strip())


def _read(name: str) -> dict[str, Any]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times faster where libyaml is there
    text = files(__package__).joinpath(f"{name}.yaml").read_text(encoding="utf-8")
    found: dict[str, Any] = yaml.load(text, Loader=loader)
    return found


def _department(data: dict[str, Any]) -> Department:
    groups = tuple(
        Group(name=group["name"], about=group["about"], leaves=tuple(_leaf(leaf) for leaf in group["leaves"]))
        for group in data["groups"]
    )
    return Department(name=data["name"], about=data["about"], groups=groups)


def _leaf(data: dict[str, Any]) -> Leaf:
    return Leaf(
        name=data["name"],
        about=data["about"],
        picture=data.get("picture", "box"),
        nouns=tuple(noun.partition(" = ")[0] for noun in _split(data.get("nouns", ""))),
        ranges=dict(_ranges(data.get("nouns", ""))),
        titles=_split(data.get("titles", "")),
        qualifiers=_split(data.get("qualifiers", "")),
        price=_range(data.get("price", "1-2")),
        weight=_range(data.get("weight", "1-2")),
        colors=_split(data.get("colors", "")),
        sizes=_split(data.get("sizes", "")),
        specs=tuple((name, _split(str(values))) for name, values in data.get("specs", {}).items()),
        features=tuple(data.get("features", ())),
        good=tuple(data.get("good", ())),
        bad=tuple(clause for clause in data.get("bad", ()) if not clause.endswith("!")),
        broken=tuple(clause.removesuffix("!") for clause in data.get("bad", ()) if clause.endswith("!")),
        uses=_split(data.get("uses", "")),
    )


def _ranges(nouns: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """`Espresso Cup = 90 ml; 120 ml`."""
    for noun in _split(nouns):
        name, given, values = noun.partition(" = ")
        if given:
            yield name, tuple(value.strip() for value in values.split(";"))


def _range(text: str) -> tuple[int, int]:
    low, high = text.split("-")
    return int(low), int(high)
