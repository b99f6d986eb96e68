"""Measure the environment sciworld beside the stock wrapper of its simulator; write its section of docs/benchmarks.md.

    python benchmarks/sciworld.py [--rounds 3] [--sessions 64] [--no-docs]

Both sides play the same actions of the same tasks, in turns: the stock wrapper in a Java machine of its own with its
own flags, ours as sessions do.
"""

import argparse
import os
import statistics
import threading
import time
from collections.abc import Callable, Iterable

import psutil
import sections
from scienceworld import ScienceWorldEnv

from agentenv.protocol import Action, Task
from agentenv.testing import machine
from agentenv.testing.measure import latency
from envservers.science.sciworld.env import SciWorld
from envservers.science.sciworld.pool import pool_of
from envservers.science.sciworld.spec import SPEC

KINDS = ("boil", "use-thermometer", "find-plant", "power-component", "chemistry-mix", "grow-plant")
"""One task of each is played to the end of its solution; quick ones and such with many objects."""
HEAP_MB = 192
JVMS = 2
WARM_UP, WARM_UP_STOCK = 12, 2
"""Rounds that count for nothing, until the compiler of Java has little left to do: a stock step runs more code."""
NAMES = ("stock step", "our step", "stock reset", "our reset", "our actions")
TURNS = 20
"""Steps of each of many sessions."""
SHORT = ("look around", "open door to hallway", "go to hallway", "open door to kitchen", "wait1")

Pairs = list[tuple[SciWorld, Task]]


class Clock:
    """Milliseconds of wall and processor time, of this process and some others."""

    def __init__(self, pids: Iterable[int]) -> None:
        self._processes = [psutil.Process(), *map(psutil.Process, pids)]
        self.wall: list[float] = []
        self.cpu = 0.0

    def _spent(self) -> float:
        return sum(p.cpu_times().user + p.cpu_times().system for p in self._processes)

    def time(self, calls: Iterable[Callable[[], object]]) -> None:
        """Do the calls, one after the other."""
        before = self._spent()
        for call in calls:
            began = time.perf_counter()
            call()
            self.wall.append(1e3 * (time.perf_counter() - began))
        self.cpu += 1e3 * (self._spent() - before)

    @property
    def median(self) -> float:
        return statistics.median(self.wall)

    @property
    def mean_cpu(self) -> float:
        return self.cpu / len(self.wall)


def tasks() -> list[Task]:
    listed = [SPEC.task_set().get("test", index) for index in range(30)]
    return [next(task for task in listed if task.category == kind) for kind in KINDS]


def short_of_the_end(task: Task) -> tuple[str, ...]:
    """The solution without the action that ends the episode and what follows it."""
    pool = pool_of(jvms=1, heap_mb=HEAP_MB)
    place = task.payload["task"], task.payload["variation"]
    actions = pool.solution(*place, "")
    world = pool.load(*place, "")
    world.step("look around")
    ends = next(number for number, action in enumerate(actions) if world.step(action).over)
    return actions[:ends]


def side_by_side(rounds: int) -> dict[str, Clock]:
    pool = pool_of(jvms=1, heap_mb=HEAP_MB)
    env = SciWorld(jvms=1, heap_mb=HEAP_MB)
    stock = ScienceWorldEnv("", envStepLimit=10_000)
    played = [(task, short_of_the_end(task)) for task in tasks()]
    env.reset(played[0][0])
    pids = {"stock": stock._gateway.java_process.pid, "our": pool.pids()[0]}
    clocks = {name: Clock([pids[name.split()[0]]]) for name in NAMES}
    warming = {name: Clock([]) for name in NAMES}
    for number in range(-WARM_UP, rounds):
        counted = clocks if number >= 0 else warming
        for task, actions in played:
            place = task.payload["task"], task.payload["variation"]
            if number >= -WARM_UP_STOCK:
                counted["stock reset"].time([lambda place=place: (stock.load(*place), stock.reset())])
                counted["stock step"].time((lambda a=a: stock.step(a)) for a in actions)
            counted["our reset"].time([lambda task=task: env.reset(task)])
            counted["our step"].time((lambda a=a: env.step(Action(text=a))) for a in actions)
            counted["our actions"].time([env.available_actions])
    stock.close()
    env.close()
    pool.close()
    return clocks


def begin(part: Pairs) -> None:
    for env, task in part:
        env.reset(task)


def step(part: Pairs) -> None:
    for turn in range(TURNS):
        for env, _ in part:
            env.step(Action(text=SHORT[turn % len(SHORT)]))


def in_threads(job: Callable[[Pairs], None], pairs: Pairs) -> float:
    """Seconds that the job takes, the sessions divided among as many threads as there are machines."""
    threads = [threading.Thread(target=job, args=(pairs[n::JVMS],)) for n in range(JVMS)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - began


def many(count: int) -> dict[str, float]:
    """Sessions that are all open and take turns."""
    listed = [SPEC.task_set().get("test", index) for index in range(count)]
    pairs = [(SciWorld(jvms=JVMS, heap_mb=HEAP_MB), task) for task in listed]
    pool = pool_of(jvms=JVMS, heap_mb=HEAP_MB)
    in_threads(begin, pairs)
    in_threads(step, pairs)  # warms up
    took = in_threads(step, pairs)
    rss = sum(psutil.Process(pid).memory_info().rss for pid in pool.pids()) / 2**20
    heap = 0.0
    for jvm in pool._jvms:
        with jvm.calls("weigh"):
            java = jvm._gateway.jvm.java.lang
            java.System.gc()
            runtime = java.Runtime.getRuntime()
            heap += (runtime.totalMemory() - runtime.freeMemory()) / 2**20
    for env, _ in pairs:
        env.close()
    pool.close()
    return {"rate": count * TURNS / took, "rss_mb": rss, "heap_mb": heap}


def section(clocks: dict[str, Clock], crowd: dict[str, float], sessions: int, load: str) -> str:
    stock, ours = clocks["stock step"], clocks["our step"]
    p99 = {name: latency([ms / 1e3 for ms in clocks[name].wall]).p99_ms for name in NAMES}
    return "\n".join(
        [
            "## SciWorld",
            "",
            "Written by `python benchmarks/sciworld.py`.",
            "",
            f"A step takes **{stock.median / ours.median:.1f} times** less than by the simulator's stock wrapper in "
            f"the same run ({stock.mean_cpu / ours.mean_cpu:.1f} times less processor time), which lists every valid "
            "action after each one.",
            "",
            "| | stock wrapper | agentenv |",
            "|---|---:|---:|",
            f"| step, median, ms | {stock.median:.1f} | {ours.median:.2f} |",
            f"| step, 99th percentile, ms | {p99['stock step']:.1f} | {p99['our step']:.1f} |",
            f"| step, processor time, mean, ms | {stock.mean_cpu:.1f} | {ours.mean_cpu:.2f} |",
            f"| reset, median, ms | {clocks['stock reset'].median:.0f} | {clocks['our reset'].median:.0f} |",
            f"| reset, 99th percentile, ms | {p99['stock reset']:.0f} | {p99['our reset']:.0f} |",
            f"| listing the valid actions, median, ms | with every step | {clocks['our actions'].median:.0f} |",
            "",
            f"{sessions} open sessions in {JVMS} Java machines of {HEAP_MB} MB heap take {crowd['rss_mb']:.0f} MB, of "
            f"which {crowd['heap_mb']:.0f} MB are heap in use, and do {crowd['rate']:.0f} steps per second.",
            "",
            f"The same actions of one test task each of {', '.join(KINDS)}, up to the one that ends the episode, in "
            f"turns; {len(ours.wall)} steps a side after {WARM_UP} rounds that do not count ({WARM_UP_STOCK} of the "
            f"stock wrapper). Processor time is of the Python process and its Java machine. {load}",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sessions", type=int, default=64)
    parser.add_argument("--no-docs", action="store_true", help="leave docs/benchmarks.md as it is")
    wanted = parser.parse_args()
    about = machine.describe()
    clocks = side_by_side(wanted.rounds)
    crowd = many(wanted.sessions)
    load = f"Load average {about['load_1m']} before, {os.getloadavg()[0]:.2f} after, on {about['cores']} cores."
    text = section(clocks, crowd, wanted.sessions, load)
    print(text)
    if not wanted.no_docs:
        sections.put("sciworld", text)


if __name__ == "__main__":
    main()
