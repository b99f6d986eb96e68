"""An agent that does not search: how far one gets by knowing where such things mostly lie."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Generator, Mapping

from agentenv.agents.base import Move, Seat
from agentenv.protocol import Action
from envservers.embodied.alfworld.catalogue import LAMP, TREATED_AT, Template
from envservers.embodied.alfworld.generate import make_house
from envservers.embodied.alfworld.tasks import table

SAMPLED = 1_000
"""Tasks of train that it has learned from."""
_ROOM = re.compile(r"you see (.*)\.\nYour task is to: ")

Plan = Generator[str, list[str], None]
"""Yields commands and is sent the available actions."""


class Likeliest:
    """Does the chore as it should be done, but looks only into the kind of receptacle where train mostly has it."""

    async def start(self, seat: Seat) -> None:
        """Take note of the episode."""
        self._view = seat.view
        self._template = Template.read(seat.task.template)
        self._plan: Plan | None = None

    async def act(self, observation: str) -> Move:
        """The next command of the plan."""
        if self._plan is None:
            found = _ROOM.search(observation)
            self._plan = _chore(self._template, re.findall(r"\w+ \d+", found[1] if found else ""))
            text = next(self._plan)
        else:
            text = self._plan.send(await self._view.available_actions() or [])
        return Move(action=Action(text=text))


def _chore(wanted: Template, places: list[str]) -> Plan:
    def of(kind: str) -> list[str]:
        return [name for name in places if name.startswith(f"{kind} ")]

    goal = "" if wanted.place == LAMP else of(wanted.place)[0]
    for place in of(likeliest()[wanted.thing]):
        choices = yield from _reach(place)
        for take in [text for text in choices if text.startswith(f"take {wanted.thing} ")]:
            thing = take.removeprefix("take ").partition(" from ")[0]
            yield from _reach(place)
            yield take
            if wanted.treatment:
                basin = of(TREATED_AT[wanted.treatment])[0]
                yield f"go to {basin}"
                yield f"{wanted.treatment} {thing} with {basin}"
            if goal:
                yield from _reach(goal)
                yield f"put {thing} in/on {goal}"
            else:
                yield from _light(of(likeliest()[LAMP]))
    while True:
        yield "look"


def _light(places: list[str]) -> Plan:
    for place in places:
        choices = yield from _reach(place)
        yield from [text for text in choices if text.startswith("use ")]


def _reach(place: str) -> Generator[str, list[str], list[str]]:
    """Go there and open it if it is closed; returns what can be done then."""
    choices = yield f"go to {place}"
    return (yield f"open {place}") if f"open {place}" in choices else choices


@functools.cache
def likeliest() -> Mapping[str, str]:
    """The kind of receptacle that most things of a kind lie in, in train."""
    counts: dict[str, Counter[str]] = {}
    for row in table()["train"][:SAMPLED]:
        house = make_house(row.template, row.room, row.seed)
        for kind, place in zip(house.thing_kinds, house.start.where, strict=True):
            assert place is not None
            counts.setdefault(kind, Counter())[house.place_kinds[place]] += 1
    return {kind: min(found, key=lambda place: (-found[place], place)) for kind, found in counts.items()}
