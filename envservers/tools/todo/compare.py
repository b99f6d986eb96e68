"""Whether two end states are the same, whatever ids their new things have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, replace
from typing import Any

from envservers.tools.todo.state import Item, Project, Section, State

Thing = Project | Section | Item


def same(end: State, expected: State, start: State) -> bool:
    """Equal in every field of every thing that was there at the start, and in all that is new."""
    return changes(end, start) == changes(expected, start)


def changes(state: State, start: State) -> tuple[Any, ...]:
    """What sets a state apart from the start: changed things by id, ids that are gone, new things by their content."""
    changed: dict[str, tuple[Any, ...]] = {}
    gone: set[str] = set()
    new: list[str] = []
    tables: tuple[tuple[Mapping[str, Thing], Mapping[str, Thing]], ...] = (
        (start.projects, state.projects),
        (start.sections, state.sections),
        (start.tasks, state.tasks),
    )
    for before, after in tables:
        gone |= before.keys() - after.keys()
        for id, thing in after.items():
            if id not in before:
                new.append(repr(_fact(thing, state, start)))
            elif thing is not before[id] and (fact := _fact(thing, state, start)) != _fact(before[id], state, start):
                changed[id] = fact
    return changed, gone, sorted(new)


def _fact(thing: Thing, state: State, start: State) -> tuple[Any, ...]:
    match thing:
        case Project():
            known = thing.id in start.projects
            plain: Thing = replace(thing, name=_plain(thing.name))
        case Section():
            known = thing.id in start.sections
            plain = replace(thing, name=_plain(thing.name), project_id=_ref(thing.project_id, state, start))
        case Item():
            known = thing.id in start.tasks
            plain = replace(
                thing,
                content=_plain(thing.content),
                description=_plain(thing.description),
                labels=tuple(sorted(map(_plain, thing.labels))),
                project_id=_ref(thing.project_id, state, start),
                section_id=_ref(thing.section_id, state, start),
                parent_id=_ref(thing.parent_id, state, start),
            )
    return type(thing).__name__, *astuple(plain if known else replace(plain, id=""))


def _ref(id: str | None, state: State, start: State) -> Any:
    """An id that was there at the start; in place of a new one the thing that it names."""
    if id is None or id in start.projects or id in start.sections or id in start.tasks:
        return id
    thing = state.projects.get(id) or state.sections.get(id) or state.tasks.get(id)
    return None if thing is None else repr(_fact(thing, state, start))


def _plain(text: str) -> str:
    return " ".join(text.split())
