"""Passages: one for each entity, in sentences drawn from several forms."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from envservers.search.world.graph import VERSION, Entity
from envservers.search.world.language import relations, words

FILLERS = (1, 2)
"""Sentences of no use, at least and at most."""


@dataclass(frozen=True, slots=True)
class Written:
    """A passage with the sentence of each fact."""

    title: str
    text: str
    sentences: Mapping[tuple[int, str], str]
    """By subject and relation; the relation "" holds the opening sentence."""


def write_all(graph: Sequence[Entity], seed: int) -> list[Written]:
    """The passage of each entity, in the graph's order."""
    told: dict[int, list[tuple[Entity, str]]] = {entity.id: [] for entity in graph}
    for entity in graph:
        for name, fact in entity.facts.items():
            if fact.told_by == entity.id or not relations()[name].mutual:
                told[fact.told_by].append((entity, name))
    return [_write(entity, told[entity.id], random.Random(f"text {VERSION} {seed} {entity.id}")) for entity in graph]


def _write(entity: Entity, told: Sequence[tuple[Entity, str]], rng: random.Random) -> Written:
    opening, short = _opening(entity, rng), _short(entity)
    said: list[str] = []
    sentences: dict[tuple[int, str], str] = {}
    for subject, name in told:
        if subject is entity:
            called = short if rng.random() < 0.7 else entity.name
        else:  # no passage uses part of another's name
            called = subject.name
        form = rng.choice(relations()[name].says)
        fact = subject.facts[name]
        said.append(_sentence(form, called, fact.mention))
        sentences[subject.id, name] = said[-1]
        if relations()[name].mutual and fact.object is not None:
            sentences[fact.object, name] = said[-1]
    fillers = rng.sample(words()["fillers"][entity.kind], rng.randint(*FILLERS))
    rest = [*said, *(_sentence(form, short, "") for form in fillers)]
    rng.shuffle(rest)
    sentences[entity.id, ""] = opening
    return Written(entity.name, " ".join([opening, *rest]), sentences)


def _opening(entity: Entity, rng: random.Random) -> str:
    type_ = f"{'an' if entity.type[0] in 'aeiou' else 'a'} {entity.type}"
    was = "was" if entity.kind in words()["past"] else "is"
    if not entity.aliases:
        return f"{entity.name} {was} {type_}."
    alias = entity.aliases[0]
    forms: Sequence[str] = (
        "{name}, also called {alias}, {was} {type}.",
        "{name} {was} {type}, known to many as {alias}.",
        "{name}, {type}, appears in older sources as {alias}.",
    )
    return rng.choice(forms).format(name=entity.name, alias=alias, was=was, type=type_)


def _short(entity: Entity) -> str:
    if entity.kind == "person":
        return entity.name.split()[1]
    return entity.name if entity.kind in ("place", "region") else f"the {entity.type}"


def _sentence(form: str, subject: str, object: str) -> str:
    made = form.format(s=subject, o=object)
    return made[0].upper() + made[1:]
