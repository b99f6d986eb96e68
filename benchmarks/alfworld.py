"""Measure the environment alfworld and write its section of docs/benchmarks.md.

    python benchmarks/alfworld.py [--tasks 600] [--sessions 64] [--no-docs]

Plays whole scripted solutions, and walks by chance, of tasks of every split; each call is timed twice, by the wall and
by the processor time of its thread, since another process's work is no cost of the environment.
"""

import argparse
import os
import random
import time
import tracemalloc

import sections

from agentenv.protocol import Action
from agentenv.testing import machine
from agentenv.testing.measure import latency
from envservers.embodied.alfworld.env import AlfWorld, _house
from envservers.embodied.alfworld.spec import SPEC

WALK = 20
"""Steps by chance after each solution, in another episode of the same task."""
TURNS = 30
IDLE = 512
"""Open sessions whose memory is weighed, each in a household of its own."""


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


def tasks(count):
    listed = SPEC.task_set()
    splits = listed.splits()
    return [listed.get(split, index) for index in range(count // len(splits)) for split in splits]


def one_by_one(count: int) -> dict[str, Clock]:
    clocks = {name: Clock() for name in ("reset", "step", "step without list", "actions")}
    env, bare, rng = AlfWorld(), AlfWorld(list_actions=False), random.Random(0)
    for task in tasks(count):
        env.last = clocks["reset"].time(env.reset, task)
        for action in env.solve(task):
            env.last = clocks["step"].time(env.step, action)
        env.reset(task)
        bare.reset(task)
        for _ in range(WALK):
            text = rng.choice(clocks["actions"].time(env.available_actions))
            result = clocks["step"].time(env.step, Action(text=text))
            clocks["step without list"].time(bare.step, Action(text=text))
            if result.terminated:
                break
    return clocks


def in_turns(count: int) -> float:
    """Steps per second of processor time, all sessions open and taking turns."""
    envs, rng = [AlfWorld() for _ in range(count)], random.Random(1)
    for env, task in zip(envs, tasks(5 * count)[::5], strict=False):
        env.reset(task)
    done, spent = 0, 0.0
    for _ in range(TURNS):
        for env in envs:
            choices = env.available_actions()
            if choices:
                text = rng.choice(choices)
                began = time.thread_time()
                env.step(Action(text=text))
                spent += time.thread_time() - began
                done += 1
    return done / spent


def bytes_per_session(count: int) -> int:
    """Of an open session in a household that no other one is in."""
    listed = SPEC.task_set()
    played = [listed.get("train", index) for index in range(count)]
    AlfWorld().reset(listed.get("train", count))
    _house.cache_clear()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    envs = []
    for task in played:
        env = AlfWorld()
        env.last = env.reset(task)
        envs.append(env)
    added = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return added // count


def row(name: str, clock: Clock) -> str:
    cpu, wall = latency(clock.cpu), latency(clock.wall)
    return (
        f"| {name} | {len(clock.cpu):,} | {cpu.p50_ms:.3f} | {cpu.p99_ms:.3f} | {wall.p50_ms:.3f} | {wall.p99_ms:.3f} |"
    )


def section(clocks: dict[str, Clock], rate: float, each: int, sessions: int, load: str) -> str:
    return "\n".join(
        [
            "## AlfWorld",
            "",
            "Written by `python benchmarks/alfworld.py`.",
            "",
            f"A step takes **{latency(clocks['step'].cpu).p50_ms:.3f} ms** of processor time (median), the list of "
            "available actions included.",
            "",
            "| | calls | processor p50, ms | p99, ms | wall p50, ms | p99, ms |",
            "|---|---:|---:|---:|---:|---:|",
            *(row(name, clock) for name, clock in clocks.items()),
            "",
            f"{sessions} open sessions that take turns do {rate:,.0f} steps per second of processor time of one core. "
            f"An open session in a household of its own takes {each / 1024:.1f} KB.",
            "",
            f"Scripted solutions and walks by chance over all splits. {load}",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tasks", type=int, default=600)
    parser.add_argument("--sessions", type=int, default=64)
    parser.add_argument("--no-docs", action="store_true", help="leave docs/benchmarks.md as it is")
    wanted = parser.parse_args()
    about = machine.describe()
    one_by_one(10)  # warms up
    clocks = one_by_one(wanted.tasks)
    rate, each = in_turns(wanted.sessions), bytes_per_session(IDLE)
    load = f"Load average {about['load_1m']} before, {os.getloadavg()[0]:.2f} after, on {about['cores']} cores."
    text = section(clocks, rate, each, wanted.sessions, load)
    print(text)
    if not wanted.no_docs:
        sections.put("alfworld", text)


if __name__ == "__main__":
    main()
