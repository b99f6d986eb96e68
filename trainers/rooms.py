"""The environments of a run, open: a pool to train in, another to validate in, and their tasks."""

from __future__ import annotations

import contextlib
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

    settings: EnvironmentSettings
    pool: EnvPool
    """Its step limit is the curriculum's."""
    held_out: EnvPool
    """Its step limit is `evaluation.max_steps`, or the environment's own."""
    tasks: list[TaskRef]
    validation: list[TaskRef]
    """The fixed held-out set: the first `evaluation.tasks` of `evaluation.split`."""

    @property
    def name(self) -> str:
        """For logs."""
        return self.settings.env


@contextlib.asynccontextmanager
async def open_rooms(config: TrainConfig) -> AsyncIterator[list[Room]]:
    """Connect every environment; ServerUnreachable, UnknownEnv or UnknownTask tell what is missing."""
    async with contextlib.AsyncExitStack() as stack:
        rooms = []
        for settings in config.environments:
            pool = await stack.enter_async_context(_pool(config, settings, settings.max_steps))
            held_out = await stack.enter_async_context(_pool(config, settings, config.evaluation.max_steps))
            tasks = chosen(await pool.task_refs(settings.split), settings.tasks)
            validation: list[TaskRef] = []
            if config.evaluation.every or config.evaluation.before or config.evaluation.only:
                validation = await held_out.task_refs(config.evaluation.split, config.evaluation.tasks)
                _require_held_out(settings, tasks, validation)
            rooms.append(Room(settings=settings, pool=pool, held_out=held_out, tasks=tasks, validation=validation))
        yield rooms


def _pool(config: TrainConfig, settings: EnvironmentSettings, max_steps: int | None) -> EnvPool:
    servers = [url.strip() for url in (settings.base_url or "").split(",") if url.strip()]
    return EnvPool(
        settings.env,
        servers=servers,
        size=config.rollout.concurrency,
        options=settings.options,
        max_steps=max_steps,
    )


def _require_held_out(settings: EnvironmentSettings, tasks: Sequence[TaskRef], validation: Sequence[TaskRef]) -> None:
    shared = {t.digest for t in tasks} & {t.digest for t in validation}
    if shared:
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
    tasks = sum(len(room.tasks) for room in rooms)
    return max(1, tasks * config.run.epochs // config.batch.tasks_per_step)
