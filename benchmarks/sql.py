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

import sections

from agentenv.protocol import Action, Task
from agentenv.testing import machine
from agentenv.testing.measure import latency
from envservers.sql.env import SQLEnv
from envservers.sql.spec import SPEC

OPTIONS = {"mode": "multi"}
VERBS = ("reset", "describe", "query", "submit")


def episodes(tasks: list[Task]) -> dict[str, list[float]]:
    """Seconds of each verb over the scripted solutions."""
    took: dict[str, list[float]] = {verb: [] for verb in VERBS}
    env = SQLEnv(mode="multi")
    for task in tasks:
        began = time.perf_counter()
        env.last = env.reset(task)
        took["reset"].append(time.perf_counter() - began)
        for action in env.solve(task):
            began = time.perf_counter()
            env.last = env.step(action)
            took[action.text.split(" ")[0]].append(time.perf_counter() - began)
        assert env.last.success
    return took


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


def section(took: dict[str, list[float]], crowd: dict[str, float], sessions: int, load: str) -> str:
    table = [
        f"| {verb} | {len(times)} | {found.p50_ms:.2f} | {found.p99_ms:.2f} |"
        for verb, times in took.items()
        for found in [latency(times)]
    ]
    return "\n".join(
        [
            "## SQL",
            "",
            "Written by `python benchmarks/sql.py`.",
            "",
            "| | calls | median, ms | 99th percentile, ms |",
            "|---|---:|---:|---:|",
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
    took = episodes(tasks)
    crowd = many(tasks[: wanted.sessions])
    load = f"Load average {about['load_1m']} before, {os.getloadavg()[0]:.2f} after, on {about['cores']} cores."
    text = section(took, crowd, wanted.sessions, load)
    print(text)
    if not wanted.no_docs:
        sections.put("sql", text)


if __name__ == "__main__":
    main()
