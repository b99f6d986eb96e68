"""The environments of a run, open: a pool for each, its tasks, and its held-out set."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass

from agentenv.pool import EnvPool
from agentenv.protocol import TaskRef
from trainers.config import EnvironmentSettings, TrainConfig
from trainers.settings import BadSetting
from trainers.tasks import TaskCursor, TaskOrder, chosen


@dataclass(slots=True, kw_only=True)
class Room:
    """One environment of the run."""

    name: str
    """For logs: the environment's id, with a number where it stands twice in the settings."""
    settings: EnvironmentSettings
    pool: EnvPool
    """Training and validation take turns in it, each with its own limit of steps."""
    tasks: list[TaskRef]
    validation: list[TaskRef]
    """The fixed held-out set: the first `evaluation.tasks` of `evaluation.split`."""


@contextlib.asynccontextmanager
async def open_rooms(config: TrainConfig) -> AsyncIterator[list[Room]]:
    """Connect every environment; ServerUnreachable, UnknownEnv or UnknownTask tell what is missing."""
    async with contextlib.AsyncExitStack() as stack:
        rooms = []
        for name, settings in zip(names_of(config.environments), config.environments, strict=True):
            pool = await stack.enter_async_context(_pool(config, settings))
            tasks = chosen(await pool.task_refs(settings.split), settings.tasks)
            if not tasks:
                raise BadSetting(f"environments[].split={settings.split}: {settings.env} has no task in it")
            validation: list[TaskRef] = []
            if validates(config):
                validation = await pool.task_refs(config.evaluation.split, config.evaluation.tasks)
                _require_held_out(config, settings, tasks, validation)
            rooms.append(Room(name=name, settings=settings, pool=pool, tasks=tasks, validation=validation))
        yield rooms


def validates(config: TrainConfig) -> bool:
    """Whether the held-out set is ever played."""
    return bool(config.evaluation.every or config.evaluation.before or config.evaluation.only)


def names_of(environments: Sequence[EnvironmentSettings]) -> list[str]:
    """Example: maze, textcraft and maze again are `maze`, `textcraft` and `maze_2`."""
    seen: Counter[str] = Counter()
    names = []
    for settings in environments:
        seen[settings.env] += 1
        names.append(settings.env if seen[settings.env] == 1 else f"{settings.env}_{seen[settings.env]}")
    return names


def _pool(config: TrainConfig, settings: EnvironmentSettings) -> EnvPool:
    servers = [url.strip() for url in (settings.base_url or "").split(",") if url.strip()]
    return EnvPool(
        settings.env,
        servers=servers,
        size=config.rollout.concurrency,
        options=settings.options,
        max_steps=settings.max_steps,
    )


def _require_held_out(
    config: TrainConfig, settings: EnvironmentSettings, tasks: Sequence[TaskRef], validation: Sequence[TaskRef]
) -> None:
    if not validation:
        raise BadSetting(f"evaluation.split={config.evaluation.split}: {settings.env} has no task in it")
    shared = {t.digest for t in tasks} & {t.digest for t in validation}
    if shared and not config.evaluation.only:
        raise BadSetting(
            f"evaluation.split: {len(shared)} tasks of {settings.env} are trained on and validated on; "
            "choose another split or fewer tasks"
        )


def cursor_of(rooms: Sequence[Room], config: TrainConfig) -> TaskCursor:
    """The order of tasks over the run."""
    orders = [TaskOrder(room.tasks, seed=config.run.seed, shuffle=config.tasks.shuffle) for room in rooms]
    return TaskCursor(orders, [room.settings.weight for room in rooms])


def steps_of(rooms: Sequence[Room], config: TrainConfig) -> int:
    """Training steps in all: `run.steps`, or as many as pass `run.epochs` times over the tasks."""
    if config.run.steps is not None:
        return config.run.steps
    tasks = sum(len(room.tasks) for room in rooms if room.settings.weight)
    return max(1, tasks * config.run.epochs // config.batch.tasks_per_step)
