"""Runs over made-up tasks, and trajectories with a given end."""

from collections.abc import Callable
from typing import Any

from agentenv.protocol import Outcome, TaskRef
from agentenv.trajectory import Trajectory, Turn
from evals.plan import Plan, PlannedTask, World
from evals.store.plans import NewRun
from evals.store.store import Store
from evals.suite import Suite, SuiteEnv


def new_run(
    id: str = "s-a-1",
    *,
    tasks: int = 4,
    attempts: int = 1,
    envs: tuple[str, ...] = ("coin",),
    agent: str = "a",
    batch: str = "b1",
    suite: str = "s",
    version: str = "1",
    task_limit: int | None = None,
    suite_tasks: int | None = None,
    reference: bool = False,
) -> NewRun:
    """A run of `tasks` tasks of each env."""
    refs = [
        PlannedTask(
            label=env,
            task=TaskRef(
                id=f"{env}/test/{i}",
                env=env,
                split="test",
                index=i,
                category="odd" if i % 2 else "even",
                digest=f"{i:064d}",
            ),
        )
        for i in range(tasks)
        for env in envs
    ]
    worlds = tuple(
        World(
            label=e,
            env=e,
            version=version,
            tasks_digest="d",
            split="test",
            options={},
            max_steps=9,
            tasks=suite_tasks or tasks,
            world=f"agentenv-{e}-v1",
        )
        for e in envs
    )
    plan = Plan(worlds=worlds, tasks=tuple(refs), attempts=attempts)
    return NewRun(
        id=id,
        batch=batch,
        suite=Suite(name=suite, envs=tuple(SuiteEnv(env=e, tasks=suite_tasks or tasks) for e in envs), source=suite),
        plan=plan,
        task_limit=task_limit,
        agent=agent,
        agent_data={"name": agent, "version": "1"},
        agent_settings={"name": agent},
        reference=reference,
        software={"agentenv-gym": "0.1.0"},
    )


def ended(
    outcome: Outcome, task: TaskRef, *, turns: int | list[Turn] = 2, reward: float | None = None, **changes: Any
) -> Trajectory:
    """An episode of `task` with that end; a success pays 1 unless told otherwise."""
    total = float(outcome is Outcome.SUCCESS) if reward is None else reward
    if isinstance(turns, int):
        paid = [0.0] * (turns - 1) + [total]
        turns = [Turn(observation=f"step {i}", action=f"go {i}", reward=paid[i]) for i in range(turns)]
    fields: dict[str, Any] = {
        "task": task,
        "env": task.env,
        "env_version": "1",
        "agent": {"name": "a", "version": "1"},
        "outcome": outcome,
        "success": outcome is Outcome.SUCCESS,
        "reward": total,
        "last_reward": total,
        "score": None,
        "steps": len(turns),
        "turns": turns,
        "max_steps": 9,
        "tasks_digest": "d",
        "final_observation": "over",
        "time": {"total_s": 0.5, "agent_s": 0.25, "env_s": 0.125},
    }
    return Trajectory(**{**fields, **changes})


def play_all(store: Store, run: str, outcome_of: Callable[[int], Outcome], **changes: Any) -> None:
    """Settle every open slot once; `outcome_of` is asked with the slot."""
    for slot in store.open_slots(run):
        store.record(run, slot.slot, slot.tries, ended(outcome_of(slot.slot), slot.task, **changes))
