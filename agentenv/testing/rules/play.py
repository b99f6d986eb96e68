"""Rules about whole episodes: the scripted solution, rewards and endings."""

from __future__ import annotations

import math
from collections.abc import Iterator

from agentenv.errors import AgentEnvError, InfraError
from agentenv.protocol import UNPROVEN, Action, Task, TaskRef
from agentenv.registry import EnvSpec
from agentenv.testing.players import Player, closing
from agentenv.testing.rules.base import Broken, NotApplicable, NotCheckable
from agentenv.testing.scripts import Episode
from agentenv.testing.subject import Subject

ROUNDING = 1e-9


async def solve_succeeds(subject: Subject) -> str:
    """`solve()` reaches success inside the step limit."""
    if not subject.spec.solvable:
        raise NotApplicable("the card says solvable=False")
    if not subject.oracle:
        raise NotCheckable("the server offers no oracle; start it with --oracle")
    proven = [task for task in subject.tasks if task.category != UNPROVEN]
    tasks = proven[: subject.affordable(len(proven), 3)]
    for task in tasks:
        async with closing(subject.player()) as player:
            await _solves(player, task)
    return f"{len(tasks)} of {len(tasks)} sampled tasks"


async def _solves(player: Player, task: Task | TaskRef) -> None:
    result = await player.reset(task)
    steps = 0
    while not player.over:
        try:
            action = await player.oracle()
            if action is None:
                raise Broken(f"{task.id}: solve() ends before the episode does, after {steps} steps")
            result = await player.step(Action(text=action.text))
        except (Broken, InfraError):
            raise
        except Exception as exc:
            detail = exc.message if isinstance(exc, AgentEnvError) else str(exc)
            raise Broken(f"{task.id}: {type(exc).__name__} after {steps} steps: {detail[:80]}") from exc
        steps += 1
    if not result.success:
        raise Broken(f"{task.id}: no success after {steps} steps; the last answer is {result.observation[:60]!r}")


async def rewards_in_range(subject: Subject) -> str:
    """Rewards and returns stay in the card's ranges; an end says whether it was a success."""
    episodes = await subject.played()
    for episode in episodes:
        for problem in _reward_problems(subject.spec, episode):
            raise Broken(f"{episode.task.id}, {episode.script}: {problem}")
    returns = [sum(r.reward for r in e.results) for e in episodes]
    return f"returns of {len(episodes)} episodes from {min(returns):g} to {max(returns):g}"


def _reward_problems(spec: EnvSpec, episode: Episode) -> Iterator[str]:
    low, high = spec.reward_range
    total = 0.0
    for step, result in enumerate(episode.results, 1):
        try:
            reward = float(result.reward)
        except (TypeError, ValueError):
            yield f"step {step} has the reward {result.reward!r}"
            return
        if not (math.isfinite(reward) and low - ROUNDING <= reward <= high + ROUNDING):
            yield f"step {step} has the reward {reward!r}; the card says {low:g} to {high:g}"
        total += reward
        if result.terminated and result.success is None:
            yield f"step {step} terminates without saying success"
    low, high = spec.return_range
    ended = bool(episode.results) and bool(episode.results[-1].terminated)
    if not (total <= high + ROUNDING and (not ended or low - ROUNDING <= total)):
        yield f"the return is {total:g}; the card says {low:g} to {high:g}"
