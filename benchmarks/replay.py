"""Measure how fast a run is verified beside how fast it was rolled out; write a section of docs/benchmarks.md.

    python benchmarks/replay.py [--rounds 3] [--no-docs]

The oracle plays test tasks of some environments; the same tasks are rolled out and the records played again in turns,
at equal concurrency, in one process.
"""

import argparse
import asyncio
import os
import statistics
import time

import sections

from agentenv.agents import make_agent
from agentenv.at_once import at_once
from agentenv.pool import EnvPool
from agentenv.rollout import rollout
from agentenv.testing import machine
from evals.verify.replay import replay

ENVS = {"textcraft": 120, "maze": 120, "alfworld": 120, "todo": 50, "sql": 120}
"""Test tasks of each."""
CONCURRENCY = 16


async def replayed(pool: EnvPool, records) -> None:
    async def again(record) -> None:
        divergence = await replay(pool, record)
        assert divergence is None, divergence

    await at_once(records, again, most=CONCURRENCY)


async def measure(env: str, tasks: int, rounds: int) -> dict[str, float]:
    """Episodes a second of both."""
    rates: dict[str, list[float]] = {"rollout": [], "replay": []}
    async with EnvPool(env, size=CONCURRENCY) as pool:
        refs = await pool.task_refs("test", tasks)
        records = await rollout(pool, refs, make_agent("oracle"))  # warms up, too
        for _ in range(rounds):
            began = time.perf_counter()
            await rollout(pool, refs, make_agent("oracle"))
            rates["rollout"].append(len(refs) / (time.perf_counter() - began))
            began = time.perf_counter()
            await replayed(pool, records)
            rates["replay"].append(len(refs) / (time.perf_counter() - began))
    return {name: statistics.median(found) for name, found in rates.items()}


def section(rows: dict[str, dict[str, float]], load: str) -> str:
    lines = [
        f"| `{env}` | {r['rollout']:,.0f} | {r['replay']:,.0f} | {r['replay'] / r['rollout']:.2f} |"
        for env, r in rows.items()
    ]
    worst = min(r["replay"] / r["rollout"] for r in rows.values())
    return "\n".join(
        [
            "## Verification",
            "",
            "Written by `python benchmarks/replay.py`.",
            "",
            f"Recorded episodes are played again at **{worst:.2f} times** the oracle's rate of rollouts or faster.",
            "",
            "| environment | rollouts/s | replays/s | ratio |",
            "|---|---:|---:|---:|",
            *lines,
            "",
            f"The same test tasks in turns, {CONCURRENCY} at a time in one process; medians. A replay is compared with "
            f"its record, observation by observation. {load}",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-docs", action="store_true", help="leave docs/benchmarks.md as it is")
    wanted = parser.parse_args()
    about = machine.describe()
    rows = {env: asyncio.run(measure(env, tasks, wanted.rounds)) for env, tasks in ENVS.items()}
    load = f"Load average {about['load_1m']} before, {os.getloadavg()[0]:.2f} after, on {about['cores']} cores."
    text = section(rows, load)
    print(text)
    if not wanted.no_docs:
        sections.put("replay", text)


if __name__ == "__main__":
    main()
