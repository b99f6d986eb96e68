"""Measure the environment math; write its section of docs/benchmarks.md.

    python benchmarks/math_problems.py [--tasks 1000] [--sessions 64] [--no-docs]

Every episode is the scripted solution of a test task, with the calculator. Calls are timed by the wall and by the
processor time of their thread, since another process's work is no cost of the environment.
"""

import argparse
import asyncio
import os
import tempfile
import time
import tracemalloc
from pathlib import Path

import sections

from agentenv.client.core import Connection
from agentenv.client.local import LocalTransport
from agentenv.data.parquet import write_rows
from agentenv.data.rows import Wanted, rows_of
from agentenv.protocol import Task
from agentenv.server.limits import ServerLimits
from agentenv.server.sessions import Sessions
from agentenv.testing import machine, rates
from agentenv.testing.measure import latency
from envservers.math.env import MathEnv
from envservers.math.spec import SPEC

IDLE = 512
"""Open sessions whose memory is weighed."""
OPTIONS = {"mode": "calculator"}
ROWS = 1_000
SECONDS = 3.0


class Clock:
    """Seconds of wall and processor time of single calls."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.cpu: list[float] = []

    def time(self, call, *arguments):
        wall, cpu = time.perf_counter(), time.thread_time()
        result = call(*arguments)
        self.cpu.append(time.thread_time() - cpu)
        self.wall.append(time.perf_counter() - wall)
        return result


def one_by_one(count: int) -> tuple[dict[str, Clock], list[Task]]:
    """Make so many tasks, then play the solution of each."""
    clocks = {name: Clock() for name in ("making a task", "reset", "calculation", "answer")}
    listed, env = SPEC.task_set(OPTIONS), MathEnv(**OPTIONS)
    listed.get("test", 0)  # reads the templates
    tasks = [clocks["making a task"].time(listed.get, "test", index) for index in range(count)]
    for task in tasks:
        result = env.last = clocks["reset"].time(env.reset, task)
        solution = env.solve(task)
        action = next(solution)
        while not result.terminated:
            name = "calculation" if action.text.startswith("calculate") else "answer"
            result = env.last = clocks[name].time(env.step, action)
            if not result.terminated:
                action = solution.send(result)
        assert result.success
    return clocks, tasks


def idle_kilobytes(tasks: list[Task]) -> float:
    tracemalloc.start()
    envs = [MathEnv(**OPTIONS) for _ in range(IDLE)]
    for index, env in enumerate(envs):
        env.reset(tasks[index % len(tasks)])
    kilobytes = tracemalloc.get_traced_memory()[0] / 1024 / len(envs)
    tracemalloc.stop()
    return kilobytes


async def crowd(task: Task, sessions: int) -> float:
    """Steps per second of so many sessions of one process's session table, which play one solution."""
    limits = ServerLimits(max_sessions=sessions + 8)
    table = Sessions([SPEC], limits=limits, env_options={SPEC.id: SPEC.resolve_options(OPTIONS)})
    connection = Connection(LocalTransport(table, owned=True))
    actions = tuple(f"calculate[{step}]" for step, _ in task.payload["steps"])
    work = rates.Work(task=task, actions=(*actions, f"#### {task.payload['answer']}"))
    opened = await rates.open_sessions(connection, SPEC.id, task.id, sessions)
    await rates.one_by_one(opened, work, 1.0)
    rate = await rates.one_by_one(opened, work, SECONDS)
    await rates.close_sessions(opened)
    await connection.close()
    return rate


def rows_per_s() -> float:
    """Of `agentenv data convert`, first observations included."""
    wanted = Wanted(spec=SPEC, options={}, split="test", limit=ROWS)
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        count = write_rows(Path(folder) / "rows.parquet", rows_of(wanted))
        return count / (time.perf_counter() - began)


def section(clocks: dict[str, Clock], kilobytes: float, rate: float, rows: float, wanted, load: str) -> str:
    table = [
        f"| {name} | {len(clock.wall):,} | {wall.p50_ms:.3f} | {wall.p99_ms:.3f} "
        f"| {cpu.p50_ms:.3f} | {cpu.p99_ms:.3f} |"
        for name, clock in clocks.items()
        for wall, cpu in [(latency(clock.wall), latency(clock.cpu))]
    ]
    return "\n".join(
        [
            "## Math",
            "",
            "Written by `python benchmarks/math_problems.py`.",
            "",
            "| | calls | median, ms | 99th percentile | processor time, median, ms | 99th percentile |",
            "|---|---:|---:|---:|---:|---:|",
            *table,
            "",
            f"An idle environment object adds {kilobytes:.1f} KB. {wanted.sessions} sessions of one process's session "
            f"table do {rate:,.0f} steps per second, without sockets. `agentenv data convert` writes {rows:,.0f} rows "
            f"per second. {load}",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tasks", type=int, default=1_000)
    parser.add_argument("--sessions", type=int, default=64)
    parser.add_argument("--no-docs", action="store_true", help="leave docs/benchmarks.md as it is")
    wanted = parser.parse_args()
    about = machine.describe()
    clocks, tasks = one_by_one(wanted.tasks)
    for clock in clocks.values():  # the first calls of each kind warm up
        clock.wall, clock.cpu = clock.wall[10:], clock.cpu[10:]
    kilobytes = idle_kilobytes(tasks)
    hard = next(task for task in tasks if task.difficulty == 5)
    rate = asyncio.run(crowd(hard, wanted.sessions))
    load = f"Load average {about['load_1m']} before, {os.getloadavg()[0]:.2f} after, on {about['cores']} cores."
    text = section(clocks, kilobytes, rate, rows_per_s(), wanted, load)
    print(text)
    if not wanted.no_docs:
        sections.put("math", text)


if __name__ == "__main__":
    main()
