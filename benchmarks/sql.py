"""Measure the environment sql; write its section of docs/benchmarks.md.

    python benchmarks/sql.py [--tasks 300] [--sessions 64] [--no-docs]

Every episode is the scripted solution of a test task in mode multi: descriptions, the gold query tried, then submitted,
which runs it in three databases.
"""

import argparse
import gc
import os
import time
import tracemalloc
from collections.abc import Callable

import sections

from agentenv.protocol import Action, StepResult, Task
from agentenv.testing import machine
from agentenv.testing.measure import latency
from envservers.sql.env import SQLEnv
from envservers.sql.spec import SPEC

OPTIONS = {"mode": "multi"}
VERBS = ("reset", "describe", "query", "submit")


class Clock:
    """Seconds of calls: those that passed, and those that the processor spent, whatever else the machine does."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.cpu: list[float] = []

    def time(self, call: Callable[[], StepResult]) -> StepResult:
        wall, cpu = time.perf_counter(), time.thread_time()
        result = call()
        self.cpu.append(time.thread_time() - cpu)
        self.wall.append(time.perf_counter() - wall)
        return result


def episodes(tasks: list[Task]) -> dict[str, Clock]:
    """The clock of each verb over the scripted solutions."""
    clocks = {verb: Clock() for verb in VERBS}
    env = SQLEnv(mode="multi")
    for task in tasks:
        env.last = clocks["reset"].time(lambda task=task: env.reset(task))
        for action in env.solve(task):
            env.last = clocks[action.text.split(" ")[0]].time(lambda action=action: env.step(action))
        assert env.last.success
    return clocks


def many(tasks: list[Task]) -> dict[str, float]:
    """Sessions that are all open and take turns, in one thread."""
    gc.collect()
    tracemalloc.start()
    envs = [SQLEnv(mode="multi") for _ in tasks]
    for env, task in zip(envs, tasks, strict=True):
        env.reset(task)
    gc.collect()
    kilobytes = tracemalloc.get_traced_memory()[0] / 1024 / len(tasks)
    tracemalloc.stop()
    actions = [Action(text=f"query {task.payload['sql']}") for task in tasks]
    rounds, began = 5, time.perf_counter()
    for _ in range(rounds):
        for env, action in zip(envs, actions, strict=True):
            env.step(action)
    return {"kilobytes": kilobytes, "rate": rounds * len(tasks) / (time.perf_counter() - began)}


def section(clocks: dict[str, Clock], crowd: dict[str, float], sessions: int, load: str) -> str:
    table = [
        f"| {verb} | {wall.n} | {wall.p50_ms:.2f} | {wall.p99_ms:.2f} | {cpu.p50_ms:.2f} | {cpu.p99_ms:.2f} |"
        for verb, clock in clocks.items()
        for wall, cpu in [(latency(clock.wall), latency(clock.cpu))]
    ]
    return "\n".join(
        [
            "## SQL",
            "",
            "Written by `python benchmarks/sql.py`.",
            "",
            "| | calls | median, ms | 99th percentile, ms | processor time, median | processor time, 99th percentile |",
            "|---|---:|---:|---:|---:|---:|",
            *table,
            "",
            f"`submit` runs the query in three databases. {sessions} open sessions add {crowd['kilobytes']:.0f} KB "
            f"each and do {crowd['rate']:.0f} queries per second in one thread. {load}",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tasks", type=int, default=300)
    parser.add_argument("--sessions", type=int, default=64)
    parser.add_argument("--no-docs", action="store_true", help="leave docs/benchmarks.md as it is")
    wanted = parser.parse_args()
    about = machine.describe()
    tasks = [SPEC.task_set(OPTIONS).get("test", index) for index in range(wanted.tasks)]
    episodes(tasks)  # makes the databases, opens connections, runs the gold queries once
    clocks = episodes(tasks)
    crowd = many(tasks[: wanted.sessions])
    load = f"Load average {about['load_1m']} before, {os.getloadavg()[0]:.2f} after, on {about['cores']} cores."
    text = section(clocks, crowd, wanted.sessions, load)
    print(text)
    if not wanted.no_docs:
        sections.put("sql", text)


if __name__ == "__main__":
    main()
