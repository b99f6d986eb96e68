"""Measure the pages over 100,000 episodes; write their section of docs/benchmarks.md.

    python benchmarks/pages.py [--episodes 100000] [--turns 4] [--repeats 20] [--folder DIR] [--no-docs]

The episodes are once those of 20 runs, and once those of a single one. Every page is asked for over HTTP on loopback.
"""

import argparse
import http.client
import os
import random
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from urllib.parse import quote

import sections
import uvicorn
from sqlalchemy.engine import URL

from agentenv.protocol import Outcome, TaskRef
from agentenv.testing import machine
from agentenv.trajectory import Trajectory, Turn
from evals.plan import Plan, PlannedTask, World
from evals.store.plans import NewRun
from evals.store.store import Store
from evals.suite import Suite, SuiteEnv
from evals.web.app import make_app
from evals.web.database import ReadOnlyStore

ENVS = ("maze", "shop")
CATEGORIES = 8
ATTEMPTS = 10
MANY = 20
GOAL_MS = 100.0


@dataclass(frozen=True, kw_only=True)
class Timed:
    """One page of one database, in milliseconds."""

    page: str
    first: float
    median: float
    worst: float
    cpu: float
    """Median of the processor time of server and client, whatever else the machine does."""
    kilobytes: float


def plan(tasks: int) -> Plan:
    """Of each env half of the tasks, in eight categories."""
    planned = tuple(
        PlannedTask(
            label=env,
            task=TaskRef(
                id=f"{env}/test/{i}", env=env, split="test", index=i, category=f"kind {i % CATEGORIES}", digest=""
            ),
        )
        for i in range(tasks // len(ENVS))
        for env in ENVS
    )
    worlds = tuple(
        World(
            label=env, env=env, version="1", tasks_digest="d", split="test", options={}, max_steps=30,
            tasks=tasks // len(ENVS), world="",
        )
        for env in ENVS
    )  # fmt: skip
    return Plan(worlds=worlds, tasks=planned, attempts=ATTEMPTS)


def run_of(name: str, plan: Plan) -> NewRun:
    suite = Suite(name="pages", envs=tuple(SuiteEnv(env=env, tasks=plan.worlds[0].tasks) for env in ENVS))
    return NewRun(
        id=f"pages-{name}", batch="b", suite=suite, plan=plan, task_limit=None, agent=name, agent_data={"name": name},
        agent_settings={}, reference=False, software={},
    )  # fmt: skip


def episodes(turns: int) -> list[Trajectory]:
    """Sixteen that the runs are made of, with the texts and the messages of a model's."""
    rng = random.Random("pages")
    words = [f"word{i}" for i in range(400)]

    def text(count: int) -> str:
        return " ".join(rng.choices(words, k=count))

    def turn(last: bool, success: bool) -> Turn:
        action = f"go {rng.choice(('north', 'south', 'east'))}"
        messages = [{"role": "user", "content": text(60)}, {"role": "assistant", "content": f"{text(30)} {action}"}]
        notes = {"prompt_tokens": 500, "completion_tokens": 40, "cost": 0.001}
        refused = {"refused": "a wall"} if rng.random() < 0.1 else {}
        reward = float(last and success)
        info = {"agent": notes, **refused}
        return Turn(observation=text(60), action=action, reward=reward, messages=messages, info=info)

    ends = [Outcome.SUCCESS] * 7 + [Outcome.FAILURE] * 5 + [Outcome.STEP_LIMIT] * 3 + [Outcome.CONTEXT_FULL]
    return [
        Trajectory(
            task=TaskRef(id="", env="", split="", index=0), env="maze", env_version="1", agent={"name": "a"},
            outcome=end, success=end is Outcome.SUCCESS, reward=float(end is Outcome.SUCCESS), last_reward=0.0,
            score=None, steps=turns, turns=[turn(i == turns - 1, end is Outcome.SUCCESS) for i in range(turns)],
            max_steps=30, tasks_digest="d", final_observation=text(40), time={"total_s": 1.0},
        )
        for end in ends
    ]  # fmt: skip


def build(url: URL, runs: int, total: int, turns: int) -> None:
    """So many episodes, written as the harness writes them."""
    made = plan(total // runs // ATTEMPTS)
    whole = episodes(turns)
    rng = random.Random("order")
    with Store.open(url) as store:
        for number in range(runs):
            run = run_of(f"agent{number}", made)
            store.add_runs([run])
            for slot in store.open_slots(run.id):
                store.record(run.id, slot.slot, 0, replace(rng.choice(whole), task=slot.task))
            store.finish(run.id)


@contextmanager
def served(url: URL) -> Iterator[int]:
    """The pages on a port of loopback."""
    listener = socket.create_server(("127.0.0.1", 0))
    with ReadOnlyStore.open(url) as store:
        server = uvicorn.Server(uvicorn.Config(make_app(store), log_level="warning"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join()
            listener.close()


def paths(store: Store, episode: int) -> dict[str, str]:
    """What is looked at, by what the table calls it."""
    run = store.runs()[-1].id
    other = store.runs()[0].id
    found = {
        "leaderboard": "/",
        "leaderboard, one env": "/?suite=pages&env=maze",
        "runs": "/runs",
        "run": f"/run/{run}",
        "run, one cell of the matrix": f"/run/{run}?env=maze&category={quote('kind 3')}&outcome=failure",
        "run, a page in the middle": f"/run/{run}?after=2000.0",
        "run, tag `invalid action`": f"/run/{run}?tag=invalid+action",
        "run, text that is everywhere": f"/run/{run}?q=word77",
        "run, text that is nowhere": f"/run/{run}?q=nowhere+at+all",
        "live part of a run": f"/live/{run}",
        "episode": f"/episode/{episode}",
    }
    if other != run:
        task = "env=maze&task=maze/test/3"
        found |= {
            "comparison": f"/compare?a={run}&b={other}",
            "two episodes": f"/compare/task?a={run}&b={other}&{task}",
        }
    return found


def measure(port: int, wanted: dict[str, str], repeats: int) -> list[Timed]:
    """Every page once, then again and again."""
    timed = []
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for name, path in wanted.items():
        took, cpu, size = [], [], 0
        for _ in range(repeats + 1):
            began, busy = time.perf_counter(), time.process_time()
            connection.request("GET", path)
            reply = connection.getresponse()
            size = len(reply.read())
            took.append(1e3 * (time.perf_counter() - began))
            cpu.append(1e3 * (time.process_time() - busy))
            assert reply.status == 200, (path, reply.status)
        first, *again = took
        timed.append(
            Timed(
                page=name, first=first, median=median(again), worst=max(again), cpu=median(cpu[1:]),
                kilobytes=size / 1024,
            )
        )  # fmt: skip
    connection.close()
    return timed


def section(tables: dict[str, list[Timed]], total: int, turns: int, sizes: dict[str, float], load: str) -> str:
    lines = ["## Pages", "", "Written by `python benchmarks/pages.py`.", ""]
    for title, rows in tables.items():
        slow = [row.page for row in rows if row.median > GOAL_MS]
        lines += [
            f"{total:,} episodes of {turns} turns in {title} ({sizes[title]:.0f} MB of SQLite), in milliseconds; goal: "
            f"{GOAL_MS:.0f}, " + (f"missed by {', '.join(slow)}." if slow else "kept by every page."),
            "",
            "| page | first | median | worst | processor time | KB |",
            "|---|---:|---:|---:|---:|---:|",
            *(
                f"| {r.page} | {r.first:.0f} | {r.median:.0f} | {r.worst:.0f} | {r.cpu:.0f} | {r.kilobytes:.0f} |"
                for r in rows
            ),
            "",
        ]
    return "\n".join(
        [
            *lines,
            "`first` is the first time that the page is asked for in the life of the server: the board is computed "
            "with its ranks (and not where `agentenv leaderboard` has kept it), and the few facts of a run's episodes "
            f"are read into memory. The others are {REPEATED}. {load}",
        ]
    )


REPEATED = "the same page again, over HTTP on loopback, server and client in one process"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--episodes", type=int, default=100_000)
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--folder", type=Path, help="keep the databases there, and use those that are there")
    parser.add_argument("--no-docs", action="store_true", help="leave docs/benchmarks.md as it is")
    wanted = parser.parse_args()
    tables, sizes = {}, {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = wanted.folder or Path(temporary)
        for runs, title in ((MANY, f"{MANY} runs"), (1, "one run")):
            file = folder / f"pages-{wanted.episodes}-{wanted.turns}-{runs}.db"
            url = URL.create("sqlite", database=str(file))
            if not file.exists():
                build(url, runs, wanted.episodes, wanted.turns)
            sizes[title] = file.stat().st_size / 1e6
            with Store.open(url) as store:
                pages = paths(store, wanted.episodes // 3)
            about = machine.describe()
            with served(url) as port:
                tables[title] = measure(port, pages, wanted.repeats)
    load = f"Load average {about['load_1m']} before, {os.getloadavg()[0]:.2f} after, on {about['cores']} cores."
    text = section(tables, wanted.episodes, wanted.turns, sizes, load)
    print(text)
    if not wanted.no_docs:
        sections.put("pages", text)


if __name__ == "__main__":
    main()
