"""An episode again: the recorded actions in a fresh session, and the first thing that comes out otherwise.

No model is asked. What ended an episode from outside (its own time, a full context, a crash of the agent) is forced at
the recorded turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agentenv.agents.recorded import recorded as recorded_agent
from agentenv.errors import AgentEnvError
from agentenv.pool import EnvPool
from agentenv.protocol import Outcome
from agentenv.rollout import play
from agentenv.trajectory import Trajectory

MADE_BY = ("engine", "engine_version")
"""Of an info: what an env says it was played by, where observations depend on more than its own version, such as a
browser's build."""

EXCERPT = 160
"""Characters of each side that a divergence shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Divergence:
    """Where a replay left the record."""

    task: str
    turn: int
    """The turn that differs, from 0; as many as there are turns for the end."""
    what: str
    recorded: str
    replayed: str

    def __str__(self) -> str:
        return (
            f"diverged at turn {self.turn} of {self.task}: {self.what}: "
            f"recorded {self.recorded}, replayed {self.replayed}"
        )


class NotReplayable(AgentEnvError):
    """The episode cannot be played here: another build of the engine, or an env that breaks."""

    code = "not_replayable"


async def replay(pool: EnvPool, recorded: Trajectory) -> Divergence | None:
    """Play the actions again; None when observations, rewards and end are those of the record.

    Raises NotReplayable where the env names another build of its engine, or breaks: that is no divergence.
    """
    replayed = await play(pool, recorded.task, recorded_agent(recorded))
    then, now = made_by(recorded), made_by(replayed)
    if then and now and then != now:
        raise NotReplayable(f"version: {recorded.env} is played by {now} here, the run was by {then}")
    if replayed.outcome in (Outcome.ENV_ERROR, Outcome.INFRA_LOST):
        raise NotReplayable(f"{recorded.task.id} could not be played: {replayed.error}")
    return compared(recorded, replayed)


def made_by(trajectory: Trajectory) -> str:
    """Engine and build, as the first turn that names them does; empty for envs that have none."""
    for turn in trajectory.turns:
        found = [str(turn.info[name]) for name in MADE_BY if name in turn.info]
        if found:
            return " ".join(found)
    return ""


def compared(recorded: Trajectory, replayed: Trajectory) -> Divergence | None:
    """The first difference between two episodes of one task, in order of play."""
    for turn, what, then, now in _pairs(recorded, replayed):
        if then != now:
            shown = (_excerpt(then, now), _excerpt(now, then))
            return Divergence(task=recorded.task.id, turn=turn, what=what, recorded=shown[0], replayed=shown[1])
    return None


def _pairs(recorded: Trajectory, replayed: Trajectory) -> Iterator[tuple[int, str, Any, Any]]:
    for turn, (then, now) in enumerate(zip(recorded.turns, replayed.turns, strict=False)):
        yield turn, "observation", then.observation, now.observation
        yield turn, "reward", then.reward, now.reward
    end = min(len(recorded.turns), len(replayed.turns))
    yield end, "turns", len(recorded.turns), len(replayed.turns)
    yield end, "observation", recorded.final_observation, replayed.final_observation
    for name in ("outcome", "success", "score", "reward"):
        yield end, name, getattr(recorded, name), getattr(replayed, name)


def _excerpt(text: Any, other: Any) -> str:
    """A value, cut to where it begins to differ."""
    if not isinstance(text, str) or not isinstance(other, str) or len(text) <= EXCERPT:
        return repr(text)
    same = next((i for i, (a, b) in enumerate(zip(text, other, strict=False)) if a != b), min(len(text), len(other)))
    start = max(0, same - EXCERPT // 4)
    return f"...{text[start : start + EXCERPT]!r}..."


def card_problem(world: Mapping[str, Any], card: Mapping[str, Any]) -> str:
    """Why a world's episodes cannot be played here: another version or other tasks; empty when they can."""
    if card.get("version") != world["version"]:
        return f"version: {world['env']} is {card.get('version')} here, the run was played in {world['version']}"
    if card.get("tasks_digest") != world["tasks_digest"]:
        then, now = str(world["tasks_digest"])[:12], str(card.get("tasks_digest"))[:12]
        return f"world: the tasks of {world['env']} are {now} here, those of the run {then}"
    return ""
