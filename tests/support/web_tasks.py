"""Playing tasks of the web environment: by texts alone, as agents do, and the task sets of the small world."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from functools import cache

from agentenv.protocol import Action, StepResult, Task
from envservers.webarena.env import WebArenaEnv
from envservers.webarena.tasks.catalog import by_name
from envservers.webarena.tasks.oracle import solve
from envservers.webarena.tasks.plan import Plan
from envservers.webarena.tasks.task_set import WebTasks

Acting = Generator[str, str, None]


@dataclass(slots=True)
class Played:
    """One episode: what was seen and sent, and its end."""

    task: Task
    seen: list[str] = field(default_factory=list)
    sent: list[str] = field(default_factory=list)
    last: StepResult = field(default_factory=lambda: StepResult(observation=""))
    survivors: list[str] = field(default_factory=list)

    @property
    def solved(self) -> bool:
        return bool(self.last.success)


@cache
def small() -> WebTasks:
    return WebTasks("small")


def split(name: str) -> list[Task]:
    return [small().get(name, index) for index in range(small().count(name))]


def plan_of(task: Task) -> Plan:
    return by_name()[task.template].plan(task.payload["params"])


async def play(env: WebArenaEnv, task: Task, player: Callable[[str], Acting]) -> Played:
    """One episode, at most twice as long as the task allows."""
    played = Played(task)
    env.steps, env.last = 0, StepResult(observation="")
    env.last = played.last = await env.reset(task)
    acting = player(played.last.observation)
    action = next(acting, None)
    while action is not None and not played.last.terminated and env.steps < 60:
        played.seen.append(played.last.observation)
        played.sent.append(action)
        env.last = played.last = await env.step(Action(text=action))
        env.steps += 1
        if played.last.terminated:
            break
        try:
            action = acting.send(played.last.observation)
        except StopIteration:
            break
    played.survivors = await env.surviving_mutants()
    return played


def play_all(tasks: list[Task], player: Callable[[Task], Callable[[str], Acting]]) -> list[Played]:
    """One env in the engine lite, one task after the other."""

    async def run() -> list[Played]:
        env = WebArenaEnv(engine="lite", size="small")
        try:
            return [await play(env, task, player(task)) for task in tasks]
        finally:
            await env.close()

    return asyncio.run(run())


def by_oracle(task: Task) -> Callable[[str], Acting]:
    return lambda observation: solve(observation, plan_of(task))
