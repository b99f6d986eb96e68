"""Scripted episodes, and what was seen in them in a form that can be compared."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from agentenv.errors import AgentEnvError, InfraError
from agentenv.protocol import Action, StepResult, Task, TaskRef
from agentenv.testing.players import Player, closing

ODD_ACTIONS: tuple[str, ...] = (
    "",
    " ",
    "\t\r\n",
    "\x00\x07\x1b[31m\x7f",
    "zxqv",
    "noop",
    "x" * 60_000,  # close to the largest action that a session lets through
    "a b " * 15_000,
    " " * 5_000 + "x",  # runs that a careless pattern tries to split in every way
    f"```{' ' * 5_000}x",
    "[" * 5_000,
    "9" * 5_000,
    "🦊 ünïcödé 漢字 \u202etxet\u202c \ufffd",
    "١٢٣",
    "-1",
    "0",
    "nan",
    "1e999",
    "null",
    '{"action": null}',
    "[[]]",
    "%s %n {0} {reason}",
    "../../etc/passwd",
    "'; DROP TABLE tasks; --",
    "look\nlook\nlook",
    "<script>alert(1)</script>",
)
"""Texts that a model may send and no env expects: each must be answered by an observation."""

Choose = Callable[[int], Awaitable[str | None]]
"""The action of a step; None ends the script."""

LONGEST = 40
"""Steps of a scripted episode at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One answer of an env, as comparable text."""

    action: str | None
    """None for a reset."""
    answer: str
    """Canonical JSON of the result, or the type of the error."""
    result: StepResult | None = None
    """None after an error."""

    @property
    def same(self) -> tuple[str | None, str]:
        """What two equal answers share."""
        return self.action, self.answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """What was seen of one scripted episode, the reset first."""

    task: Task | TaskRef
    script: str
    seen: tuple[Seen, ...]

    @property
    def texts(self) -> list[str]:
        """The actions that were sent."""
        return [s.action for s in self.seen if s.action is not None]

    @property
    def results(self) -> list[StepResult]:
        """The results of the steps that raised nothing."""
        return [s.result for s in self.seen if s.action is not None and s.result is not None]


async def solution(player: Player, task: Task | TaskRef, *, longest: int = LONGEST) -> Episode:
    """Play `solve()`."""

    async def choose(_: int) -> str | None:
        action = await player.oracle()
        return None if action is None else action.text

    return await _play(player, task, "solution", choose, longest)


async def mixed(player: Player, task: Task | TaskRef, pool: Sequence[str] = (), *, longest: int = LONGEST) -> Episode:
    """Play odd actions among available ones, drawn by the task's id; `pool` stands in where these have no bound."""
    rng = random.Random(f"mixed {task.id}")

    async def choose(step: int) -> str | None:
        if rng.random() < 0.3:
            return rng.choice(ODD_ACTIONS)
        available = await player.actions()
        if available:
            return rng.choice(available)
        return pool[step] if step < len(pool) else rng.choice(ODD_ACTIONS)

    return await _play(player, task, "mixed", choose, longest)


async def replay(player: Player, episode: Episode) -> Episode:
    """Send an episode's actions again, asking for nothing else."""
    texts = episode.texts

    async def choose(step: int) -> str | None:
        return texts[step] if step < len(texts) else None

    return await _play(player, episode.task, episode.script, choose, len(texts))


async def episodes_of(make: Callable[[], Player], task: Task | TaskRef, *, solvable: bool) -> list[Episode]:
    """The solution, where there is one, and the mixed episode, each by a fresh player."""
    found: list[Episode] = []
    if solvable:
        async with closing(make()) as player:
            found.append(await solution(player, task))
    async with closing(make()) as player:
        found.append(await mixed(player, task, found[0].texts if found else ()))
    return found


async def _play(player: Player, task: Task | TaskRef, script: str, choose: Choose, longest: int) -> Episode:
    seen: list[Seen] = []
    try:
        seen.append(shown(None, await player.reset(task)))
        while not player.over and len(seen) <= longest and (text := await choose(len(seen) - 1)) is not None:
            seen.append(await step(player, text))
            if seen[-1].result is None:
                break
    except InfraError:
        raise
    except Exception as exc:
        seen.append(Seen(action=None, answer=raised(exc)))
    return Episode(task=task, script=script, seen=tuple(seen))


async def step(player: Player, text: str) -> Seen:
    """What an env raises is part of what it answers: a rule of its own judges it."""
    try:
        return shown(text, await player.step(Action(text=text)))
    except InfraError:
        raise
    except Exception as exc:
        return Seen(action=text, answer=raised(exc))


def shown(action: str | None, result: StepResult) -> Seen:
    """A result as comparable text; values that JSON cannot hold by their repr, sets in sorted order."""
    image = None if result.image is None else hashlib.sha256(result.image).hexdigest()
    parts = [result.observation, result.reward, result.terminated, result.success, result.score, image, result.info]
    return Seen(action=action, answer=json.dumps(parts, sort_keys=True, default=_plain), result=result)


def raised(error: Exception) -> str:
    """An error as comparable text: messages may hold addresses, so only the type counts."""
    code = error.code if isinstance(error, AgentEnvError) else ""
    return f"raised {type(error).__name__} {code}".strip()


def difference(one: Sequence[Seen], other: Sequence[Seen]) -> str | None:
    """The first place where two episodes differ, in words; None where they are equal."""
    for step, (a, b) in enumerate(zip(one, other, strict=False)):
        if a.same != b.same:
            where = "reset" if a.action is None else f"step {step} ({a.action[:40]!r})"
            return f"{where}: {_around(a, b)}"
    if len(one) != len(other):
        return f"{len(one) - 1} steps in one, {len(other) - 1} in the other"
    return None


def _around(a: Seen, b: Seen) -> str:
    one, other = f"{a.action!r} {a.answer}", f"{b.action!r} {b.answer}"
    if a.action == b.action:
        one, other = a.answer, b.answer
    at = next((i for i, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), min(len(one), len(other)))
    start = max(0, at - 20)
    return f"{one[start : at + 40]!r} is not {other[start : at + 40]!r}"


def _plain(value: Any) -> Any:
    if isinstance(value, (set, frozenset)):
        return sorted(map(repr, value))
    return value.tolist() if hasattr(value, "tolist") else repr(type(value))
