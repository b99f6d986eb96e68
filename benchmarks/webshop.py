"""Measure the environment webshop; write its section of docs/benchmarks.md.

    python benchmarks/webshop.py [--sessions 64] [--tasks 60] [--no-docs]

Scripted solutions of test tasks, with a tab read and a way back in place of the purchase. Time is processor time of the
thread that plays, so that other work on the machine counts for little.
"""

import argparse
import os
import threading
import time
from collections import defaultdict

import psutil
import sections

import agentenv.server.app  # what a server holds beside its sessions
from agentenv.protocol import Action, Task
from agentenv.testing import machine
from agentenv.testing.measure import latency
from envservers.shop.webshop.env import WebShop
from envservers.shop.webshop.spec import SPEC
from envservers.shop.webshop.store import SQLITE

THREADS = 2
TURNS = 5
"""Times that each of many sessions plays its actions."""


def actions_of(env: WebShop, task: Task) -> list[str]:
    """The solution up to the purchase, which is left out so that a session goes on."""
    env.last = env.reset(task)
    texts, solving = [], env.solve(task)
    action = next(solving)
    while action.text != "click[Buy Now]":
        texts.append(action.text)
        env.last = env.step(action)
        action = solving.send(env.last)
    return [*texts, "click[Features]", "click[< Prev]", "click[Back to Search]"]


def kind_of(text: str) -> str:
    return "search" if text.startswith("search") else "click"


def one_by_one(tasks: list[Task]) -> dict[str, list[float]]:
    """Seconds of processor time of each call, by what it does."""
    env, took = WebShop(), defaultdict(list)
    for task in tasks:
        texts = actions_of(env, task)
        began = time.thread_time()
        env.reset(task)
        took["reset"].append(time.thread_time() - began)
        for text in texts:
            began = time.thread_time()
            env.step(Action(text=text))
            took[kind_of(text)].append(time.thread_time() - began)
    return took


def many(tasks: list[Task]) -> dict[str, float]:
    """All sessions open at once, divided among a few threads."""
    sessions = [(env := WebShop(), actions_of(env, task)) for task in tasks]
    spent = [0.0] * THREADS

    def play(number: int) -> None:
        began = time.thread_time()
        for _ in range(TURNS):
            for place in range(max(len(texts) for _, texts in sessions)):
                for env, texts in sessions[number::THREADS]:
                    if place < len(texts):
                        env.step(Action(text=texts[place]))
        spent[number] = time.thread_time() - began

    threads = [threading.Thread(target=play, args=(number,)) for number in range(THREADS)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    steps = TURNS * sum(len(texts) for _, texts in sessions)
    return {
        "rss_mb": psutil.Process().memory_info().rss / 2**20,
        "rate": steps / (time.perf_counter() - began),
        "cpu_rate": steps / sum(spent),
    }


def section(took: dict[str, list[float]], crowd: dict[str, float], sessions: int, load: str) -> str:
    rows = []
    for name in ("reset", "search", "click"):
        found = latency(took[name])
        rows.append(f"| {name} | {found.n} | {found.p50_ms:.2f} | {found.p99_ms:.2f} |")
    return "\n".join(
        [
            "## WebShop",
            "",
            "Written by `python benchmarks/webshop.py`.",
            "",
            f"{sessions} sessions in one process, with what a server loads, take **{crowd['rss_mb']:.0f} MB** in all, "
            f"and do {crowd['cpu_rate']:.0f} steps per second of processor time ({crowd['rate']:.0f} per second in "
            f"{THREADS} threads on this machine).",
            "",
            "| call | calls | p50 ms | p99 ms |",
            "|---|---:|---:|---:|",
            *rows,
            "",
            f"Processor time, over the scripted solutions of test tasks; 12,000 products, SQLite {SQLITE}. {load}",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sessions", type=int, default=64)
    parser.add_argument("--tasks", type=int, default=60)
    parser.add_argument("--no-docs", action="store_true", help="leave docs/benchmarks.md as it is")
    wanted = parser.parse_args()
    about = machine.describe()
    tasks = [SPEC.task_set().get("test", index) for index in range(max(wanted.tasks, wanted.sessions))]
    crowd = many(tasks[: wanted.sessions])
    took = one_by_one(tasks[: wanted.tasks])
    load = f"Load average {about['load_1m']} before, {os.getloadavg()[0]:.2f} after, on {about['cores']} cores."
    text = section(took, crowd, wanted.sessions, load)
    print(text)
    if not wanted.no_docs:
        sections.put("webshop", text)


if __name__ == "__main__":
    assert agentenv.server.app
    main()
