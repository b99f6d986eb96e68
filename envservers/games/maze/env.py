"""The walk. Right increases the column, down increases the row."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from agentenv.env import Env
from agentenv.errors import EpisodeOver, ResetNeeded
from agentenv.protocol import Action, StepResult, Task
from envservers.command import command
from envservers.games.maze.layout import Position, after, distances, exits, is_open

DIRECTIONS = ("up", "down", "left", "right")
MOVES = {text: d for d in DIRECTIONS for text in (d, f"move {d}")}
LONGEST_TEXT = 64
"""Characters; a longer action is unknown, unread."""
SIDES = {"right": "to your right", "left": "to your left", "up": "above you", "down": "below you"}
"""What a wall in a direction is called, in the order in which walls are listed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """Where the player stands in which maze."""

    rows: Sequence[str]
    position: Position
    goal: Position


class MazeEnv(Env):
    """Success is the goal; reward 1.0 on the move that reaches it, else 0.0."""

    def __init__(self, *, size: int = 5, path: str = "long", observation: str = "absolute") -> None:
        self.size, self.path = size, path  # already in the task's layout; kept so that the options read back
        self.observation = observation
        self._walk: Walk | None = None  # None until reset()

    def reset(self, task: Task) -> StepResult:
        """Stand on the task's start."""
        world = task.payload
        (row, column), (goal_row, goal_column) = world["start"], world["goal"]
        self._walk = Walk(rows=tuple(world["rows"]), position=(row, column), goal=(goal_row, goal_column))
        return StepResult(observation=self._describe(self._walk))

    def step(self, action: Action) -> StepResult:
        """One move; a wall or an unknown action leaves the position unchanged."""
        walk = self._running()
        direction = read_move(action.text)
        if direction is None:
            moves = ", ".join(f"move {d}" for d in DIRECTIONS)
            text = f"Unknown action {action.text[:40]!r}; the actions are: {moves}. {self._describe(walk)}"
            return StepResult(observation=text)
        if is_open(walk.rows, walk.position, direction):
            walk = Walk(rows=walk.rows, position=after(walk.position, direction), goal=walk.goal)
            self._walk = walk
        if walk.position == walk.goal:
            return StepResult(observation="Success\n", reward=1.0, terminated=True, success=True)
        return StepResult(observation=self._describe(walk))

    def available_actions(self) -> list[str] | None:
        """All four moves, also into a wall."""
        return [f"move {d}" for d in DIRECTIONS]

    def solve(self, task: Task) -> Generator[Action, StepResult, None]:
        """A shortest path."""
        walk = self._running()
        rows, position = walk.rows, walk.position
        left = distances(rows, walk.goal)
        while position != walk.goal:
            direction, position = min(exits(rows, position), key=lambda way: left[way[1]])
            yield Action(text=f"move {direction}")

    def snapshot(self) -> Walk | None:
        """The whole state; immutable."""
        return self._walk

    def restore(self, snapshot: object) -> None:
        """Take over a state."""
        assert snapshot is None or isinstance(snapshot, Walk)
        self._walk = snapshot

    def _running(self) -> Walk:
        if self._walk is None:
            raise ResetNeeded("Maze.step() before reset(); call reset(task) first")
        if self._walk.position == self._walk.goal:
            raise EpisodeOver("this walk has reached its goal (success); reset or close", outcome="success")
        return self._walk

    def _describe(self, walk: Walk) -> str:
        where = _relative(walk) if self.observation == "relative" else _absolute(walk)
        return f"{where} {_walls(walk)}"


def read_move(text: str) -> str | None:
    """The direction that `text` names, in any case and spacing, also in quotes or brackets; None for anything else."""
    return MOVES.get(command(text)) if len(text) <= LONGEST_TEXT else None


def _absolute(walk: Walk) -> str:
    goal, here = walk.goal, walk.position
    return f"The goal is at position {goal[0]}, {goal[1]}. Your current position is at position {here[0]}, {here[1]}."


def _relative(walk: Walk) -> str:
    down, right = walk.goal[0] - walk.position[0], walk.goal[1] - walk.position[1]
    parts = [f"{down} down" if down > 0 else f"{-down} up"] if down else []
    parts += [f"{right} right" if right > 0 else f"{-right} left"] if right else []
    return f"The goal is {', '.join(parts)}."


def _walls(walk: Walk) -> str:
    sides = [side for direction, side in SIDES.items() if not is_open(walk.rows, walk.position, direction)]
    if not sides:
        return "There are no walls around you."
    return f"There {'is a wall' if len(sides) == 1 else 'are walls'} {', '.join(sides)}."
