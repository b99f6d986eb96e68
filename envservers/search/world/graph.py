"""The typed graph: entities, their names, and what holds between them."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from envservers.search.world.language import YEAR, Relation, relations_of, words
from envservers.search.world.names import Namer

VERSION = "2"
KINDS: Mapping[str, float] = {
    "region": 0.008,
    "place": 0.11,
    "person": 0.44,
    "school": 0.032,
    "company": 0.08,
    "work": 0.18,
    "building": 0.08,
    "ship": 0.07,
}
"""Share of each kind in a world's entities; places come before what lies in them."""
WORLDS: Mapping[str, float] = {"train": 0.7, "dev": 0.1, "test": 0.1, "test_ood": 0.1}
"""Each split has a world of its own: facts lead from no world into another. The last one has names of its own kind."""
SIZES: Mapping[str, int] = {"full": 24_000, "small": 4_000}
"""Entities, hence passages."""
ALIASED: Mapping[str, float] = {"person": 0.45, "place": 0.3}
BY_ALIAS = 0.2
"""Share of facts that call an object with an alias by it."""
BORN = (1420, 1880)
AGE: Mapping[str, tuple[int, int]] = {
    "work": (22, 60),
    "company": (24, 50),
    "place": (25, 45),
    "building": (28, 62),
    "ship": (25, 55),
}
"""Years between the birth of the maker, or of a ship's captain, and what is dated."""
TOLD_BY_OBJECT = 0.6
"""Share of facts between entities that stand in the object's passage: what the subject's own leaves out."""
LAST = "region"
"""The kind whose facts are drawn last: a region's capital is one of the places that are said to lie in it."""


@dataclass(frozen=True, slots=True)
class Fact:
    """What the encyclopedia says of a subject under one relation."""

    object: int | None
    """An entity, or None for a year."""
    mention: str
    """The object as the passage names it."""
    told_by: int
    """The entity whose passage states it: the subject, or the object."""


@dataclass(slots=True, kw_only=True)
class Entity:
    """Something with a passage of its own."""

    id: int
    kind: str
    world: str
    name: str
    type: str
    """Such as `river port`."""
    aliases: tuple[str, ...] = ()
    facts: dict[str, Fact] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """All that it is called."""
        return (self.name, *self.aliases)


def build_graph(seed: int, size: str) -> list[Entity]:
    """Every entity with its facts; the place in the list is its id."""
    entities: list[Entity] = []
    taken: set[str] = set()
    total = {world: round(SIZES[size] * share) for world, share in WORLDS.items()}
    people = {
        pool: round(KINDS["person"] * sum(total[w] for w in total if _pool(w) == pool)) for pool in ("near", "far")
    }
    namers = {
        pool: Namer(words()[pool], words(), taken, f"names {VERSION} {seed} {size} {pool}", count)
        for pool, count in people.items()
    }
    for world, count in total.items():
        rng = random.Random(f"facts {VERSION} {seed} {size} {world}")
        _add_world(entities, world, count, rng, namers[_pool(world)])
    return entities


def _pool(world: str) -> str:
    return "far" if world == "test_ood" else "near"


def _add_world(entities: list[Entity], world: str, total: int, rng: random.Random, namer: Namer) -> None:
    by_kind: dict[str, list[Entity]] = {}
    for kind, share in KINDS.items():
        for _ in range(max(4, round(total * share))):
            type_ = rng.choice(words()["kinds"][kind])
            entity = Entity(id=len(entities), kind=kind, world=world, name=namer.name(kind, type_), type=type_)
            if rng.random() < ALIASED.get(kind, 0.0) and (alias := namer.alias(kind, entity.name)) is not None:
                entity.aliases = (alias,)
            entities.append(entity)
            by_kind.setdefault(kind, []).append(entity)
    _Facts(by_kind, rng).add()


class _Facts:
    """Draws the facts of one world. Pupils are younger than teachers, and makers are grown; other years may not fit."""

    def __init__(self, by_kind: Mapping[str, Sequence[Entity]], rng: random.Random) -> None:
        self._by_kind, self._rng = by_kind, rng
        self._people = list(by_kind["person"])
        self._births = sorted(rng.randint(*BORN) for _ in self._people)
        self._born = {p.id: year for p, year in zip(self._people, self._births, strict=True)}

    def add(self) -> None:
        """Give every entity its facts."""
        for kind in sorted(self._by_kind, key=lambda kind: kind == LAST):
            for relation in relations_of(kind):
                if relation.mutual:
                    self._add_pairs(relation)
            for entity in self._by_kind[kind]:
                self._add_to(entity, kind)

    def _add_pairs(self, relation: Relation) -> None:
        """Make pairs, each told in the passage of one of the two, by their names alone."""
        order = self._rng.sample(self._by_kind[relation.domain], len(self._by_kind[relation.domain]))
        for one, other in zip(order[::2], order[1::2], strict=False):
            if self._rng.random() >= relation.missing:
                one.facts[relation.name] = Fact(other.id, other.name, one.id)
                other.facts[relation.name] = Fact(one.id, one.name, one.id)

    def _add_to(self, entity: Entity, kind: str) -> None:
        maker: Entity | None = None
        for relation in relations_of(kind):
            if relation.mutual:
                continue
            if relation.range == YEAR:
                fact = Fact(None, str(self._year(entity, maker)), entity.id)
            else:
                other = self._object(entity, relation)
                if other is None:
                    continue
                if maker is None and relation.range == "person":
                    maker = other
                fact = self._fact(entity, other)
            if self._rng.random() >= relation.missing:
                entity.facts[relation.name] = fact

    def _object(self, entity: Entity, relation: Relation) -> Entity | None:
        """Somebody or something that fits; None where there is nothing."""
        if relation.name == "teacher":
            born = self._born[entity.id]
            low, high = bisect_left(self._births, born - 45), bisect_left(self._births, born - 15)
            if low < high:
                return self._people[self._rng.randrange(low, high)]
        if relation.back:
            leading = [e for e in self._by_kind[relation.range] if _leads(e, relation.back, entity)]
            return self._rng.choice(leading) if leading else None
        choices = self._by_kind[relation.range]
        if relation.type:
            choices = [e for e in choices if e.type == relation.type] or choices
        while (other := self._rng.choice(choices)) is entity:
            pass
        return other

    def _year(self, entity: Entity, maker: Entity | None) -> int:
        if entity.kind == "person":
            return self._born[entity.id]
        assert maker is not None, f"a {entity.kind} has a year and nobody to date it by"
        return self._born[maker.id] + self._rng.randint(*AGE[entity.kind])

    def _fact(self, subject: Entity, other: Entity) -> Fact:
        if self._rng.random() < TOLD_BY_OBJECT:
            return Fact(other.id, other.name, other.id)
        by_alias = other.aliases and self._rng.random() < BY_ALIAS
        return Fact(other.id, self._rng.choice(other.aliases) if by_alias else other.name, subject.id)


def _leads(entity: Entity, relation: str, to: Entity) -> bool:
    fact = entity.facts.get(relation)
    return fact is not None and fact.object == to.id
