"""The scripted solution: it looks for what it needs, and knows of the room only what it has seen."""

from __future__ import annotations

import random

from envservers.embodied.alfworld.catalogue import LAMP, TREATED_AT, thing_kinds
from envservers.embodied.alfworld.house import House, State, reachable, satisfied, seen
from envservers.embodied.alfworld.rules import act

MOST = 100
"""Commands after which it gives up; none comes near."""


def solution(house: House, state: State, *, put: str) -> tuple[str, ...]:
    """Commands that reach the goal from here; empty when there are none.

    put: the words for putting down, a format string of `thing` and `place`.
    """
    player = _Player(house, state, put)
    try:
        player.play()
    except _Over:
        return tuple(player.commands) if satisfied(house, player.state) else ()
    return ()


class _Over(Exception):
    """The goal is reached, or too much has been tried."""


class _Player:
    """Plays ahead on states of its own and notes the commands."""

    def __init__(self, house: House, state: State, put: str) -> None:
        self.house, self.state, self.put = house, state, put
        self.commands: list[str] = []
        self.known: dict[int, int] = {}
        """Where each thing was that has been seen."""
        self.looked: set[int] = set()
        self._rng = random.Random(f"alfworld solution:{house.template}:{house.room}:{house.seed}")
        self._notice()

    def play(self) -> None:
        """Do the chore."""
        wanted = self.house.template
        if wanted.place == LAMP:
            self._fetch(wanted.thing)
            self._stand_at_lamp()
            return
        goals = [number for number, kind in enumerate(self.house.place_kinds) if kind == wanted.place]
        goal = self._rng.choice(goals)
        done: set[int] = set()
        while True:
            thing = self._fetch(wanted.thing, but=done)
            if wanted.treatment:
                self._go(self.house.place_kinds.index(TREATED_AT[wanted.treatment]))
                self._do(f"{wanted.treatment} {self.house.things[thing]} with {self._here()}")
            self._reach(goal)
            self._do(self.put.format(thing=self.house.things[thing], place=self._here()))
            done.add(thing)

    def _fetch(self, kind: str, but: set[int] | None = None) -> int:
        """Find a thing of a kind and take it."""
        thing = self._find(kind, but or set())
        self._reach(self.known[thing])
        self._do(f"take {self.house.things[thing]} from {self._here()}")
        return thing

    def _stand_at_lamp(self) -> None:
        lamp = self._find(LAMP, set())
        self._reach(self.known[lamp])
        self._do(f"use {self.house.things[lamp]}")

    def _find(self, kind: str, but: set[int]) -> int:
        """A thing of a kind that has been seen, else look into one place after the other that holds such things."""
        fits = thing_kinds()[kind].fits
        places = [number for number, name in enumerate(self.house.place_kinds) if name in fits]
        self._rng.shuffle(places)
        while True:
            found = [n for n in self.known if self.house.thing_kinds[n] == kind and n not in but]
            if found:
                return found[0]
            unseen = [place for place in places if place not in self.looked]
            if not unseen:
                raise _Over
            self._reach(unseen[0])

    def _reach(self, place: int) -> None:
        self._go(place)
        if not reachable(self.house, self.state):
            self._do(f"open {self._here()}")

    def _go(self, place: int) -> None:
        if self.state.at != place:
            self._do(f"go to {self.house.places[place]}")

    def _here(self) -> str:
        assert self.state.at is not None
        return self.house.places[self.state.at]

    def _do(self, command: str) -> None:
        self.state, _ = act(self.house, self.state, command)
        self.commands.append(command)
        self._notice()
        if satisfied(self.house, self.state) or len(self.commands) >= MOST:
            raise _Over

    def _notice(self) -> None:
        at = self.state.at
        if at is not None and reachable(self.house, self.state):
            self.looked.add(at)
            self.known.update(dict.fromkeys(seen(self.house, self.state), at))
