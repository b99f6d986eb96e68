"""The environment: a chore told in words, done by commands."""

from __future__ import annotations

import functools
from collections.abc import Generator
from dataclasses import dataclass, replace

from agentenv.env import Env
from agentenv.errors import EnvFailed, EpisodeOver, ResetNeeded
from agentenv.protocol import Action, Outcome, StepResult, Task
from envservers.embodied.alfworld.catalogue import Template, load
from envservers.embodied.alfworld.generate import canonical_digest, make_house
from envservers.embodied.alfworld.house import House, State, satisfied
from envservers.embodied.alfworld.menu import menu
from envservers.embodied.alfworld.rules import act
from envservers.embodied.alfworld.solution import solution
from envservers.embodied.alfworld.words import PUT, opening


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """The whole state of an episode; immutable."""

    house: House
    state: State
    over: bool = False


class AlfWorld(Env):
    """Success is the chore done: reward 1.0 on that step, 0.0 on all others."""

    def __init__(self, *, list_actions: bool = True, grammar: str = "put") -> None:
        self.list_actions = list_actions
        self.grammar = grammar
        self._episode: Episode | None = None  # None until reset()
        load()  # once in a process; now, so that no reset has to

    def reset(self, task: Task) -> StepResult:
        """Stand in the middle of the task's room."""
        payload = task.payload
        house = _house(payload["chore"], payload["thing"], payload["place"], payload["room"], task.seed)
        if canonical_digest(house) != payload["house"]:
            raise EnvFailed(f"{task.id} makes another household than the table of tasks knows: make the table again")
        self._episode = Episode(house=house, state=house.start)
        info = {"task_type": payload["game"], "grammar": self.grammar}
        return StepResult(observation=self._with_actions(opening(house)), info=info)

    def step(self, action: Action) -> StepResult:
        """Do one command; one that cannot be done is answered by `Nothing happens.`."""
        episode = self._running()
        state, said = act(episode.house, episode.state, action.text)
        done = satisfied(episode.house, state)
        self._episode = replace(episode, state=state, over=done)
        if done:
            return StepResult(observation=said, reward=1.0, terminated=True, success=True)
        return StepResult(observation=self._with_actions(said))

    def available_actions(self) -> list[str] | None:
        """The admissible commands, with the words of the option `grammar`."""
        if self._episode is not None and self._episode.over:
            return []
        episode = self._running()
        return menu(episode.house, episode.state, put=PUT[self.grammar])

    def solve(self, task: Task) -> Generator[Action, StepResult, None]:
        """Look for what is needed, then do the chore."""
        episode = self._running()
        for text in solution(episode.house, episode.state, put=PUT[self.grammar]):
            yield Action(text=text)

    def snapshot(self) -> Episode | None:
        """The whole state; it never changes in place."""
        return self._episode

    def restore(self, snapshot: object) -> None:
        """Go on from a state that `snapshot` returned."""
        if snapshot is not None and not isinstance(snapshot, Episode):
            raise TypeError(f"AlfWorld.restore() takes what snapshot() returned, not {type(snapshot).__name__}")
        self._episode = snapshot

    def _with_actions(self, text: str) -> str:
        if not self.list_actions:
            return text
        return f"{text}\nAVAILABLE ACTIONS: {', '.join(self.available_actions() or [])}"

    def _running(self) -> Episode:
        if self._episode is None:
            raise ResetNeeded("AlfWorld.step() before reset(); call reset(task) first")
        if self._episode.over:
            raise EpisodeOver("this chore is done; reset or close", outcome=str(Outcome.SUCCESS))
        return self._episode


@functools.lru_cache(maxsize=64)
def _house(chore: str, thing: str, place: str, room: int, seed: int) -> House:
    """Sessions of one task share its household, which never changes."""
    return make_house(Template(chore=chore, thing=thing, place=place), room, seed)
