"""The environment: a mission told in words, carried out by words."""

from __future__ import annotations

import copy
import functools
from collections.abc import Generator
from importlib.metadata import version

from agentenv.env import Env
from agentenv.errors import EnvFailed, EpisodeOver, ResetNeeded
from agentenv.protocol import Action, Outcome, StepResult, Task
from envservers.embodied.babyai.canonical import canonical_digest
from envservers.embodied.babyai.generate import KEPT, make_layout
from envservers.embodied.babyai.layout import Layout
from envservers.embodied.babyai.play import make_moves, moves_of
from envservers.embodied.babyai.solution import solution
from envservers.embodied.babyai.view import View, look
from envservers.embodied.babyai.words import (
    CHECK,
    Menu,
    describe,
    list_actions,
    menu_of,
    read_action,
    tell_actions,
    why_not,
)
from envservers.embodied.babyai.world import World

DONE = "\n The task is completed."
FAILED = "\n The task has failed: that was the wrong thing to do."
SPENT = "\n The task has failed: your moves are used up."


class BabyAI(Env):
    """Success is the mission accomplished; its reward shrinks from 1.0 to 0.1 with the primitive moves it took."""

    def __init__(self, *, list_actions: bool = True) -> None:
        self.list_actions = list_actions
        self._world: World | None = None  # None until reset()
        self._view: View | None = None  # what the world looks like now; None once the mission is decided
        self._menu: Menu | None = None  # made when it is needed

    def reset(self, task: Task) -> StepResult:
        """Stand at the start of the task's level."""
        layout = _layout(task.payload["level"], task.seed, task.payload["world"])
        self._enter(World(layout))
        return StepResult(observation=f"Your goal: {layout.goal}\n{self._describe()}", info=self._counts())

    def step(self, action: Action) -> StepResult:
        """Do one action; one that cannot be done says why and leaves the world as it is."""
        world, view = self._running()
        text = read_action(action.text)
        if text == CHECK:
            return StepResult(observation=tell_actions(self._actions()), info=self._counts())
        moves = moves_of(text, self._actions())
        if moves is None:
            remark = why_not(text, world, view)
        else:
            remark = make_moves(world, moves)
            if world.success is not None:
                return self._end(world)
            self._enter(world)
        return StepResult(
            observation=f"{remark}\n{self._describe()}" if remark else self._describe(), info=self._counts()
        )

    def available_actions(self) -> list[str] | None:
        """What the observation lists, whether or not the option shows it there."""
        if self._world is not None and self._view is None:
            return []
        self._running()
        return list(self._actions())

    def solve(self, task: Task) -> Generator[Action, StepResult, None]:
        """The planner's actions, else those of minigrid's bot; none where neither finds any."""
        world, _ = self._running()
        for text in solution(task.payload["level"], task.seed, world) or ():
            yield Action(text=text)

    def snapshot(self) -> object:
        """A copy of the world."""
        return copy.deepcopy(self._world)

    def restore(self, snapshot: object) -> None:
        """Go on from a copy of the world."""
        if not isinstance(snapshot, World):
            raise TypeError(f"BabyAI.restore() takes what snapshot() returned, not {type(snapshot).__name__}")
        self._enter(copy.deepcopy(snapshot))

    def _enter(self, world: World) -> None:
        self._world = world
        self._view = look(world) if world.success is None else None
        self._menu = None

    def _running(self) -> tuple[World, View]:
        if self._world is None:
            raise ResetNeeded("BabyAI.step() before reset(); call reset(task) first")
        if self._view is None:
            outcome = Outcome.SUCCESS if self._world.success else Outcome.FAILURE
            raise EpisodeOver(f"this mission is over ({outcome}); reset or close", outcome=str(outcome))
        return self._world, self._view

    def _actions(self) -> Menu:
        if self._menu is None:
            self._menu = menu_of(*self._running())
        return self._menu

    def _describe(self) -> str:
        text = describe(*self._running())
        return f"{text}\n{list_actions(self._actions())}" if self.list_actions else text

    def _counts(self) -> dict[str, int]:
        assert self._world is not None
        return {"moves": self._world.moves, "max_moves": self._world.max_moves}

    def _end(self, world: World) -> StepResult:
        self._enter(world)
        if world.success:
            reward, ending = 1 - 0.9 * world.moves / world.max_moves, DONE
        else:
            reward, ending = 0.0, SPENT if world.moves >= world.max_moves else FAILED
        return StepResult(
            observation=describe(world, look(world)) + ending,
            reward=reward,
            terminated=True,
            success=world.success,
            info=self._counts(),
        )


@functools.lru_cache(maxsize=KEPT)
def _layout(level: str, seed: int, digest: str) -> Layout:
    """The level's world, if it is the one that the table of tasks knows."""
    layout = make_layout(level, seed)
    if canonical_digest(layout) != digest:
        raise EnvFailed(
            f"minigrid {version('minigrid')} with numpy {version('numpy')} makes another world of level {level}, "
            f"seed {seed}, than the task is of; pip install 'agentenv-gym[embodied]' brings the versions that agree"
        )
    return layout
