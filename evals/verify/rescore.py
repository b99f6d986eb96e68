"""A newer scorer over stored evidence: a run of its own beside the old one, whose scores stay as they are.

Only for envs whose last action alone decides (`EnvSpec.last_action_decides`): each final answer is judged again by the
env that is installed here. What was cut, or lost, stays as it was.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from agentenv.agents.base import AgentSpec
from agentenv.agents.recorded import Recorded
from agentenv.at_once import at_once
from agentenv.errors import BadCall
from agentenv.pool import EnvPool
from agentenv.protocol import Outcome
from agentenv.registry import get_spec
from agentenv.rollout import play
from agentenv.trajectory import Trajectory
from evals.plan import Plan, PlannedTask, World
from evals.software import software
from evals.store.pictures import pictures_in
from evals.store.plans import NewRun
from evals.suite import parse
from evals.verify.marks import keep_mark
from evals.verify.record import RunRecord, Try, from_store
from evals.verify.verify import verifier

if TYPE_CHECKING:
    from evals.store.store import Store

JUDGED = frozenset({Outcome.SUCCESS, Outcome.FAILURE})
"""Ends by the env's own word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescored:
    """The new run, and what became of the old one's verdicts."""

    run: str
    of: str
    judged: int
    """Episodes whose last action was judged again."""
    kept: int
    """Episodes that no answer ended, taken over as they are."""
    now_right: Sequence[str]
    """Tasks of the episodes that were wrong."""
    now_wrong: Sequence[str]

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return asdict(self)


def rescore(
    store: Store, run: str, *, concurrency: int = 16, on_episode: Callable[[], None] = lambda: None
) -> Rescored:
    """Judge every final answer of a run again; BadCall for envs that need more than the last action."""
    record = from_store(store, run)
    for world in record.worlds:
        if not get_spec(world["env"]).last_action_decides:
            raise BadCall(
                f"{world['env']} cannot be scored again from its record: more than the last action decides. "
                f"`agentenv eval verify {record.id}` plays all of them"
            )
    row = store.run(run)
    judged = asyncio.run(_judged(record, concurrency, on_episode))
    new = NewRun(
        id=f"{record.id}-rescored-{secrets.token_hex(2)}",
        batch=secrets.token_hex(8),
        suite=parse(dict(record.suite), where=record.id, source=row.suite_source),
        plan=_plan(record),
        task_limit=record.task_limit,
        agent=row.agent,
        agent_data={**row.agent_data, "rescored": record.id},
        agent_settings=row.agent_settings,
        reference=row.reference,
        software=software(),
        seen=row.seen,
    )
    store.add_runs([new])
    pictures_in(store).share(record.id, new.id)
    for one, trajectory in zip(record.tries, judged, strict=True):
        store.record(new.id, one.slot, one.number, trajectory)
    store.finish(new.id)
    flips = [(old.trajectory, new_) for old, new_ in zip(record.tries, judged, strict=True)]
    found = Rescored(
        run=new.id,
        of=record.id,
        judged=sum(old.outcome in JUDGED for old, _ in flips),
        kept=sum(old.outcome not in JUDGED for old, _ in flips),
        now_right=[old.task.id for old, now in flips if now.success and not old.success],
        now_wrong=[old.task.id for old, now in flips if old.success and not now.success],
    )
    mark = {"run": new.id, "ok": True, "level": "rescored", "mark": f"rescored {found.judged}/{len(flips)}"}
    told = {**verifier(), "by": "self", "verified": found.judged, "of": len(flips), "rescored": True}
    keep_mark(store, store.run(new.id), {**mark, **told})
    return found


async def _judged(record: RunRecord, concurrency: int, on_episode: Callable[[], None]) -> list[Trajectory]:
    """Every try with the verdict of the env that is here."""
    async with contextlib.AsyncExitStack() as stack:
        pools = {
            world["label"]: await stack.enter_async_context(
                EnvPool(world["env"], size=concurrency, options=world["options"])
            )
            for world in record.worlds
        }

        async def judge(one: Try) -> Trajectory:
            found = await _again(pools[record.plan[one.slot % len(record.plan)].label], one.trajectory)
            on_episode()
            return found

        return await at_once(record.tries, judge, most=concurrency)


async def _again(pool: EnvPool, recorded: Trajectory) -> Trajectory:
    if recorded.outcome not in JUDGED:
        return recorded
    last = recorded.turns[-1]
    agent = AgentSpec(name="rescore", describe={}, make=lambda: Recorded(replace(recorded, turns=[last])))
    found = await play(pool, recorded.task, agent)
    if found.outcome not in JUDGED:
        raise BadCall(f"{recorded.task.id}: its last action ends no episode of {pool.spec.id} {pool.spec.version}")
    turns = [*recorded.turns[:-1], replace(last, reward=found.last_reward)]
    return replace(
        recorded,
        env_version=pool.spec.version,
        outcome=found.outcome,
        success=found.success,
        score=found.score,
        reward=sum(turn.reward for turn in turns),
        last_reward=found.last_reward,
        turns=turns,
        final_observation=found.final_observation,
    )


def _plan(record: RunRecord) -> Plan:
    """The old plan, in worlds that say by which version the answers were judged: a table of their own."""
    worlds = [
        World(**{**world, "version": f"{world['version']}, scored by {get_spec(world['env']).version}"})
        for world in record.worlds
    ]
    tasks = tuple(PlannedTask(label=planned.label, task=planned.task) for planned in record.plan)
    return Plan(worlds=tuple(worlds), tasks=tasks, attempts=record.attempts)
