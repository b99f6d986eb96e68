"""Measure what every environment costs; write the section of docs/benchmarks.md and a table for the pages.

    python benchmarks/fleet.py [--env maze --env sql] [--tasks 30] [--sessions 64] [--seconds 3] [--no-docs]

Each environment runs in a process of its own. Scripted solutions of tasks of `test` are played one after the other on
one object, every call timed; then so many sessions of this process's session table play one solution again and again.
"""

import argparse
import asyncio
import gc
import inspect
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import psutil
import sections

from agentenv.client.core import Connection
from agentenv.client.local import LocalTransport
from agentenv.env import AsyncEnv
from agentenv.protocol import UNPROVEN, Task
from agentenv.registry import EnvSpec, get_spec, specs
from agentenv.server.host import AsyncEnvHost, EnvHost
from agentenv.server.limits import ServerLimits
from agentenv.server.sessions import Sessions
from agentenv.testing import machine, rates
from agentenv.testing.measure import latency

OPTIONS: dict[str, dict[str, Any]] = {
    "math": {"mode": "calculator"},
    "sql": {"mode": "multi"},
    "webarena": {"engine": "lite"},
}
"""Of environments whose default depends on the machine, or has episodes of one step."""
WARM_UP = 3
"""Tasks that count for nothing."""


def chosen(spec: EnvSpec, options: dict[str, Any], count: int) -> list[Task]:
    """Tasks from all over the test split."""
    tasks = spec.task_set(options)
    split = "test" if "test" in tasks.splits() else tasks.splits()[-1]
    size = tasks.count(split)
    found = (tasks.get(split, index * size // count) for index in range(min(count, size)))
    return [task for task in found if task.category != UNPROVEN]


async def done(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


class Clock:
    """Seconds of the calls of one verb, by the wall and by the processor time of the thread that makes them."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.cpu: list[float] = []

    async def time(self, call: Callable[[], Any]) -> Any:
        wall, cpu = time.perf_counter(), time.thread_time()
        result = await done(call())
        self.cpu.append(time.thread_time() - cpu)
        self.wall.append(time.perf_counter() - wall)
        return result


async def solved(host: EnvHost | AsyncEnvHost, task: Task, resets: Clock, steps: Clock) -> list[str]:
    """Play the scripted solution, timing each call; its actions."""
    actions = []
    result = await resets.time(lambda: host.reset(task))
    while not result.terminated:
        action = await done(host.oracle())
        result = await steps.time(lambda action=action: host.step(action))
        actions.append(action.text)
    return actions


def pss() -> float:
    """Bytes of this process and all below it."""
    root = psutil.Process()
    return float(sum(p.memory_full_info().pss for p in [root, *root.children(recursive=True)]))


async def measure(spec: EnvSpec, count: int, sessions: int, seconds: float) -> dict[str, Any]:
    options = spec.resolve_options(OPTIONS.get(spec.id, {}))
    host = (AsyncEnvHost if issubclass(spec.load_class(), AsyncEnv) else EnvHost)(spec, options)
    tasks = chosen(spec, options, count)
    for task in tasks[:WARM_UP]:
        actions = await solved(host, task, Clock(), Clock())
    resets, steps = Clock(), Clock()
    for task in tasks:
        actions = await solved(host, task, resets, steps)
    await done(host.close())
    work = rates.Work(task=task, actions=tuple(actions))
    limits = ServerLimits(max_sessions=sessions + 8)
    connection = Connection(LocalTransport(Sessions([spec], limits=limits, env_options={spec.id: options}), owned=True))
    gc.collect()
    empty = pss()
    opened = await rates.open_sessions(connection, spec.id, work.task.id, sessions)
    gc.collect()
    each = (pss() - empty) / sessions
    await rates.one_by_one(opened, work, min(1.0, seconds))
    rate = await rates.one_by_one(opened, work, seconds)
    await rates.close_sessions(opened)
    await connection.close()
    found = {
        f"{name}_{kind}": asdict(latency(seconds))
        for name, clock in (("reset", resets), ("step", steps))
        for kind, seconds in (("wall", clock.wall), ("cpu", clock.cpu))
    }
    return {
        "env": spec.id,
        "version": spec.version,
        "options": OPTIONS.get(spec.id, {}),
        "tasks": len(tasks),
        **found,
        "session_mb": each / 1e6,
        "steps_per_s": rate,
    }


def apart(env: str, wanted: argparse.Namespace) -> dict[str, Any]:
    """One environment in a process of its own."""
    command = [sys.executable, __file__, "--one", env, "--tasks", str(wanted.tasks)]
    command += ["--sessions", str(wanted.sessions), "--seconds", str(wanted.seconds)]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(ran.stdout.splitlines()[-1]))


def row(found: dict[str, Any]) -> str:
    options = "".join(f" {name}={value}" for name, value in found["options"].items())
    verbs = (found[f"{name}_{kind}"] for name in ("reset", "step") for kind in ("wall", "cpu"))
    times = " | ".join(f"{verb['p50_ms']:.3f} | {verb['p99_ms']:.3f}" for verb in verbs)
    return f"| `{found['env']}`{options} | {times} | {found['session_mb']:.2f} | {found['steps_per_s']:,.0f} |"


def section(rows: list[dict[str, Any]], wanted: argparse.Namespace, load: str) -> str:
    return "\n".join(
        [
            "## What environments cost",
            "",
            "Written by `python benchmarks/fleet.py`.",
            "",
            "| environment | reset p50, ms | p99 | CPU p50 | p99 | step p50, ms | p99 | CPU p50 | p99 | MB a session | "
            f"steps/s, {wanted.sessions} sessions |",
            "|---|" + "---:|" * 10,
            *(row(found) for found in rows),
            "",
            f"Calls on one object while it plays the scripted solutions of up to {wanted.tasks} tasks of `test`: wall "
            "time, and processor time of the calling thread, which other work on the machine hardly touches and which "
            "leaves out other threads and processes, that is most of WebArena and SciWorld. Then "
            f"{wanted.sessions} sessions of one process's session table, without sockets. Memory is the proportional "
            f"set size that those sessions add, worlds that all share left out when they were loaded before. {load}",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--env", action="append", help="this one alone (may be repeated)")
    parser.add_argument("--tasks", type=int, default=30)
    parser.add_argument("--sessions", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--no-docs", action="store_true", help="leave docs/benchmarks.md as it is")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.one:
        found = asyncio.run(measure(get_spec(wanted.one), wanted.tasks, wanted.sessions, wanted.seconds))
        print(json.dumps(found))
        return
    about = machine.describe()
    rows = [apart(env, wanted) for env in wanted.env or [spec.id for spec in specs() if spec.solvable]]
    load = f"Load average {about['load_1m']} before, {os.getloadavg()[0]:.2f} after, on {about['cores']} cores."
    text = section(rows, wanted, load)
    print(text)
    if not wanted.no_docs:
        sections.put("fleet", text)


if __name__ == "__main__":
    main()
