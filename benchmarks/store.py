"""Measure the store of evaluations and the harness; write their section of docs/benchmarks.md.

    python benchmarks/store.py [--episodes 400] [--no-docs]

PostgreSQL is Debian's, started for this in a temporary folder with its own settings (it waits for the disk); without
its packages, SQLite alone is measured.
"""

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import sections
from sqlalchemy import Connection, inspect, text
from sqlalchemy.engine import URL

from agentenv import agents
from agentenv.agents import make_agent
from agentenv.pool import EnvPool
from agentenv.protocol import Outcome, TaskRef
from agentenv.rollout import rollout
from agentenv.testing import machine
from agentenv.trajectory import Trajectory, Turn
from evals.boards import board
from evals.harness import play_runs, require_unchanged, start
from evals.plan import Plan, PlannedTask, World, make_plan
from evals.players import Player
from evals.store.database import writing
from evals.store.plans import NewRun
from evals.store.store import Store
from evals.suite import Suite, SuiteEnv, parse

HERE = Path(__file__).parent
TURNS, OBSERVATION = 10, 600
"""Of a written episode; characters."""
SUITES, AGENTS, TASKS, ATTEMPTS = 4, 16, 1000, 16
"""Of the large database: 1,024,000 episodes."""
ROUNDS = 3
PLANNED = 50_000
WIDE = 100_000
"""Tasks of the widest run."""


def games(name: str = "games", **changes: object) -> Suite:
    envs = [{"env": env, "split": "train"} for env in ("textcraft", "wordle", "maze")]
    return parse({"name": name, "envs": envs, **changes}, where="benchmark")


@contextmanager
def databases() -> Iterator[dict[str, URL]]:
    """An empty one of each kind that there is."""
    sys.path.insert(0, str(HERE.parent / "tests" / "support"))
    import postgres

    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        found = {"SQLite": URL.create("sqlite", database=f"{folder}/runs.db")}
        why = postgres.missing()
        if why is None:
            server = postgres.Postgres(settings={})
            stack.callback(server.close)
            found["PostgreSQL"] = server.new()
        else:
            print(f"Without PostgreSQL: {why}", file=sys.stderr)
        yield found


def episode(task) -> Trajectory:
    turns = [Turn(observation=str(i) * OBSERVATION, action=f"go {i}", reward=0.0) for i in range(TURNS)]
    return Trajectory(
        task=task, env=task.env, env_version="1", agent={"name": "noop"}, outcome=Outcome.FAILURE, success=False,
        reward=0.0, last_reward=0.0, score=None, steps=TURNS, turns=turns, max_steps=TURNS, tasks_digest="",
        final_observation="", time={"total_s": 1.0},
    )  # fmt: skip


def write(url: str, run: str) -> None:
    """A writer's process: every open slot of the run, when told to begin."""
    from sqlalchemy.engine import make_url

    with Store.open(make_url(url)) as store:
        made = [(slot, episode(slot.task)) for slot in store.open_slots(run)]
        print("ready", flush=True)
        sys.stdin.readline()
        for slot, trajectory in made:
            store.record(run, slot.slot, 0, trajectory)


def written_per_second(url: URL, writers: int, episodes: int) -> float:
    """Each writer has a run of its own."""
    suite = parse({"name": "w", "envs": [{"env": "maze", "split": "train", "tasks": episodes}]}, where="benchmark")
    with Store.open(url) as store:
        runs = [start(store, suite, [Player(name="noop")])[0] for _ in range(writers)]
    words = [sys.executable, __file__, "--write", url.render_as_string(hide_password=False)]
    processes = [
        subprocess.Popen([*words, run], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for run in runs
    ]
    for process in processes:
        process.stdout.readline()
    began = time.perf_counter()
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.close()
    assert [process.wait() for process in processes] == [0] * writers
    return writers * episodes / (time.perf_counter() - began)


def fill(store: Store) -> int:
    """Write `SUITES` x `AGENTS` finished runs by the database's own statements; how many episodes."""
    for number in range(SUITES):
        [first] = start(store, _large(number), [Player(name="noop")])
        with writing(store.engine) as connection:
            for agent in range(AGENTS):
                given = {"first": first, "run": f"{first}-{agent}", "agent": f"agent{agent}", "shift": 31 * agent}
                for statement in [*_copies(connection), EPISODES]:
                    connection.execute(text(statement), {k: v for k, v in given.items() if f":{k}" in statement})
            for table, key in (("slots", "run_id"), ("tasks", "run_id"), ("runs", "id")):
                connection.execute(text(f"DELETE FROM {table} WHERE {key} = :first"), {"first": first})
    with writing(store.engine) as connection:
        connection.execute(text("ANALYZE"))
        return connection.execute(text("SELECT SUM(tries) FROM runs WHERE suite LIKE 'large%'")).scalar_one()


def _large(number: int) -> Suite:
    mazes = {"env": "maze", "split": "train", "tasks": TASKS}
    return parse({"name": f"large{number}", "attempts": ATTEMPTS, "envs": [mazes]}, where="benchmark")


def _copies(connection: Connection) -> list[str]:
    """Statements that make a finished run like the first one, of another agent."""
    statements = []
    for table, key, changed in (("runs", "id", RUN), ("tasks", "run_id", TASK), ("slots", "run_id", SLOT)):
        names = [column["name"] for column in inspect(connection).get_columns(table)]
        values = ", ".join(changed.get(name, name) for name in names)
        statements.append(f"INSERT INTO {table} ({', '.join(names)}) SELECT {values} FROM {table} WHERE {key} = :first")
    return statements


RUN = {
    "id": ":run", "agent": ":agent", "agent_hash": ":agent", "valid": "planned", "tries": "planned",
    "finished_at": "created_at",
}  # fmt: skip
TASK = {
    "run_id": ":run", "valid": "planned", "steps_sum": "10 * planned",
    "success": f"(position * 7919 + :shift + position * position) % {ATTEMPTS + 1}",
}  # fmt: skip
SLOT = {"run_id": ":run", "state": "'valid'", "tries": "1"}
EPISODES = (
    "INSERT INTO episodes (run_id, slot, try, finished_at, outcome, valid, success, reward, last_reward, steps,"
    " malformed, oracle, record) SELECT s.run_id, s.slot, 0, 'now', 'failure', s.slot = s.slot, s.attempt < t.success,"
    " 0, 0, 10, 0, s.slot < 0, '{}' FROM slots s JOIN tasks t ON t.run_id = s.run_id AND t.position = s.position"
    " WHERE s.run_id = :run"
)
VIEW = "SELECT agent, env, n, success FROM v_leaderboard"


def boards(url: URL) -> dict[str, float]:
    """Seconds of the board of the large database: first, again, after one new episode, and by the view; and of the
    board of a run with as many tasks as there may be."""
    with Store.open(url) as store:
        found = {"episodes": float(fill(store))}
        found["first"] = _seconds(lambda: board(store))
        found["again"] = statistics.median(_seconds(lambda: board(store)) for _ in range(5))
        found["view"] = statistics.median(_seconds(lambda: store.ask(VIEW)) for _ in range(3))
        found["unranked"] = _after_an_episode(store, _further(store, of="noop"))
        found["ranked"] = _after_an_episode(store, _further(store, of="agent0"))
        found["wide"] = _after_an_episode(store, _wide(store))
    return found


def _further(store: Store, *, of: str) -> str:
    """A run on the first of the large suites that has played nothing yet: one more of an agent."""
    [run] = start(store, _large(0), [Player(name="noop")])
    with writing(store.engine) as connection:
        changed = "UPDATE runs SET agent = :agent, agent_hash = :agent WHERE id = :run"
        connection.execute(text(changed), {"agent": of, "run": run})
    return run


def _wide(store: Store) -> str:
    """A run of very many tasks, all but a few of which have been played."""
    refs = [TaskRef(id=f"maze/train/{i}", env="maze", split="train", index=i) for i in range(WIDE)]
    world = World(
        label="maze", env="maze", version="1", tasks_digest="d", split="train", options={}, max_steps=9, tasks=WIDE,
        world="",
    )  # fmt: skip
    new = NewRun(
        id="wide", batch="wide", suite=Suite(name="wide", envs=(SuiteEnv(env="maze", tasks=WIDE),), source="wide"),
        plan=Plan(worlds=(world,), tasks=tuple(PlannedTask(label="maze", task=ref) for ref in refs), attempts=1),
        task_limit=None, agent="noop", agent_data={"name": "noop"}, agent_settings={}, reference=False, software={},
    )  # fmt: skip
    store.add_runs([new])
    played = "UPDATE tasks SET valid = 1, success = position % 2, steps_sum = 10 WHERE run_id = 'wide' AND position > 9"
    with writing(store.engine) as connection:
        connection.execute(text(played))
    return new.id


def _after_an_episode(store: Store, run: str) -> float:
    """Seconds of the board after one more episode of the run, each time; the median."""
    took = []
    for slot in store.open_slots(run)[:6]:
        store.record(run, slot.slot, 0, episode(slot.task))
        took.append(_seconds(lambda: board(store)))
    return statistics.median(took[1:])  # the first one finds what the new run itself has changed


def resumed(url: URL) -> tuple[int, float]:
    """Episodes of a plan, and seconds from opening the database to the first one's slot."""
    suite = games(attempts=-(-PLANNED // len(make_plan(games()).tasks)))
    with Store.open(url) as store:
        [run] = start(store, suite, [Player(name="noop")])

    def resume() -> None:
        with Store.open(url) as store:
            [row] = [row for row in store.unfinished() if row.id == run]
            require_unchanged(row)
            store.open_slots(run)

    took = _seconds(resume)
    with Store.open(url) as store:
        planned = store.progress(run).planned
        store.delete(run, reason="measured")
    return planned, took


def overhead(url: URL) -> tuple[float, float]:
    """Seconds of bare rollouts and of the harness, over the same episodes in turns; medians."""
    agents.BUILT_IN = {**agents.BUILT_IN, "slow": "slow_agent:slow"}
    suite = parse({"name": "o", "envs": [{"env": "maze", "split": "test", "tasks": 48, "max_steps": 20}]}, where="b")
    plan = make_plan(suite)

    async def bare() -> None:
        async with EnvPool("maze", size=16, max_steps=20) as pool:
            await rollout(pool, [planned.task for planned in plan.tasks], make_agent("slow"), concurrency=16)

    took: dict[str, list[float]] = {"bare": [], "harness": []}
    with Store.open(url) as store:
        for number in range(ROUNDS + 1):
            [run] = start(store, suite, [Player(name="slow")])
            pair = {
                "bare": _seconds(lambda: asyncio.run(bare())),
                "harness": _seconds(lambda run=run: asyncio.run(play_runs(store, [run], concurrency=16))),
            }
            for name, seconds in pair.items():
                took[name] += [seconds] if number else []  # the first round warms up
    return statistics.median(took["bare"]), statistics.median(took["harness"])


def _seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def section(figures: dict[str, dict], episodes: int, load: str) -> str:
    names, large = list(figures), SUITES * AGENTS * TASKS * ATTEMPTS

    def row(words: str, value: Callable[[dict], str]) -> str:
        return " | ".join([f"| {words}", *(value(figures[name]) for name in names)]) + " |"

    return "\n".join(
        [
            "## Store and harness",
            "",
            "Written by `python benchmarks/store.py`.",
            "",
            f"| | {' | '.join(names)} |",
            f"|---|{'---:|' * len(names)}",
            row("episodes written per second, 1 writer", lambda f: f"{f['one']:.0f}"),
            row("the same, 8 processes at once", lambda f: f"{f['eight']:.0f}"),
            row(
                f"board of {large:,} episodes, nothing changed since, ms",
                lambda f: f"{1e3 * f['again']:.0f}",
            ),
            row("after one new episode, of an agent without a rank, ms", lambda f: f"{1e3 * f['unranked']:.0f}"),
            row("after one new episode, of a ranked agent, ms", lambda f: f"{1e3 * f['ranked']:.0f}"),
            row(f"after one new episode, of a run of {WIDE:,} tasks beside them, s", lambda f: f"{f['wide']:.1f}"),
            row("computed for the first time, s", lambda f: f"{f['first']:.1f}"),
            row("`v_leaderboard` over them, ms", lambda f: f"{1e3 * f['view']:.0f}"),
            row(f"resume of a plan of {figures[names[0]]['planned']:,} episodes, s", lambda f: f"{f['resume']:.2f}"),
            row("bare rollouts at 50 ms of model latency, s", lambda f: f"{f['bare']:.2f}"),
            row("the harness over the same episodes, s", lambda f: f"{f['harness']:.2f}"),
            row("its overhead", lambda f: f"{100 * (f['harness'] / f['bare'] - 1):.1f} %"),
            "",
            f"A written episode has {TURNS} turns of {OBSERVATION} characters; each writer writes {episodes} into a "
            f"run of its own. The large database has {SUITES} suites, {AGENTS} agents each, {TASKS} tasks, {ATTEMPTS} "
            "attempts, and no turns. Its board is computed from the counters of tasks, and what it says of an agent is "
            "kept until one of that agent's runs changes: a new episode costs the rows of its agent, by the number of "
            "its tasks, and the agent's tests against the others, if it is ranked. Here that is a further run of one "
            "of them, so that tasks have unequal numbers of attempts and tests take random flips. A resume is measured "
            "from opening the database to the list of what is to be played. Rollouts are "
            f"48 mazes of at most 20 steps, 16 at once; medians of {ROUNDS} rounds in turns. SQLite writes ahead with "
            f"synchronous=NORMAL, PostgreSQL waits for the disk at each commit. {load}",
        ]
    )


def measure(url: URL, episodes: int) -> dict[str, float]:
    """Everything about one database; the small things first, before the large one takes the memory."""
    found = {"one": written_per_second(url, 1, episodes), "eight": written_per_second(url, 8, episodes)}
    found["planned"], found["resume"] = resumed(url)
    found["bare"], found["harness"] = overhead(url)
    return {**found, **boards(url)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--episodes", type=int, default=400, help="of each writer")
    parser.add_argument("--no-docs", action="store_true", help="leave docs/benchmarks.md as it is")
    parser.add_argument("--write", nargs=2, metavar=("URL", "RUN"), help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.write:
        return write(*wanted.write)
    about = machine.describe()
    figures: dict[str, dict[str, float]] = {}
    with databases() as urls:
        for name, url in urls.items():
            print(name, flush=True)
            figures[name] = measure(url, wanted.episodes)
            print(figures[name], flush=True)
    load = f"Load average {about['load_1m']} before, {os.getloadavg()[0]:.2f} after, on {about['cores']} cores."
    text_ = section(figures, wanted.episodes, load)
    print(text_)
    if not wanted.no_docs:
        sections.put("store", text_)


if __name__ == "__main__":
    main()
