"""Measure the trainer's rollouts beside rollouts in rounds; write its section of docs/benchmarks.md.

    python benchmarks/rollouts.py [--seeds 5] [--no-docs]

Both sides play the same 64 episodes of the same environment, by the same pool in this process, with the same engine: it
takes a fixed time a token, for any number of requests at once. In rounds, all completions of a round are one batch,
which is done when the longest is, and the next round begins when the slowest environment has answered; sessions are
opened side by side in both. Waiting is all that happens, so the load of the machine hardly matters.
"""

import argparse
import asyncio
import json
import os
import statistics
import sys
import time
from contextlib import AsyncExitStack

import sections
from latency_env import COUNT, HIGH_S, LOW_S, SPEC, TAIL, TOKENS, TURNS, plan_of

from agentenv.agents.base import AgentSpec, Move, Seat
from agentenv.pool import EnvPool
from agentenv.protocol import Action, TaskRef
from agentenv.registry import register
from agentenv.testing import machine
from trainers.collect import Place, collect
from trainers.config import EnvironmentSettings, EvaluationSettings, RolloutSettings, TrainConfig
from trainers.rooms import open_rooms
from trainers.tasks import Slot

TOKEN_S = 0.005
GO = Action(text="go on")


class Script:
    """Plays one episode: each turn has as many tokens as the plan says."""

    async def start(self, seat: Seat) -> None:
        self._tokens = iter(plan_at(seat.task).tokens)

    async def act(self, observation: str) -> Move:
        await asyncio.sleep(TOKEN_S * next(self._tokens))
        return Move(action=GO)


def plan_at(task: TaskRef):
    seed, index = task.id.split("/")[1], task.index
    return plan_of(int(seed.removeprefix("seed")), index)


async def freely(seed: int) -> float:
    """Seconds of a phase as the trainer collects it."""
    config = TrainConfig(
        environments=[EnvironmentSettings(env=SPEC.id, split=f"seed{seed}")],
        rollout=RolloutSettings(concurrency=COUNT),
        evaluation=EvaluationSettings(before=False),
    )
    agent = AgentSpec(name="script", describe={}, make=Script)
    async with open_rooms(config) as rooms:
        places = [Place(slot=Slot(env=0, task=t, group=n), member=0) for n, t in enumerate(rooms[0].tasks)]
        began = time.monotonic()
        found = await collect(rooms, places, lambda *_: agent, config.rollout)
        took = time.monotonic() - began
    assert sum(p.trajectory.success for p in found.played) == COUNT
    return took


async def in_rounds(seed: int) -> float:
    """Seconds of the same episodes when every round waits for its slowest."""
    async with EnvPool(SPEC.id, size=COUNT) as pool:
        tasks = await pool.task_refs(f"seed{seed}")
        began = time.monotonic()
        async with AsyncExitStack() as stack:
            sessions = await asyncio.gather(*(stack.enter_async_context(pool.session(t.id)) for t in tasks))
            live = [(session, iter(plan_at(task).tokens)) for session, task in zip(sessions, tasks, strict=True)]
            while live:
                await asyncio.sleep(TOKEN_S * max(next(tokens) for _, tokens in live))
                await asyncio.gather(*(session.step(GO) for session, _ in live))
                live = [(session, tokens) for session, tokens in live if session.outcome is None]
            took = time.monotonic() - began
    return took


def bound(seed: int) -> float:
    """The longest episode alone: no way to collect is faster."""
    return max(plan_of(seed, n).alone_s(TOKEN_S) for n in range(COUNT))


async def measure(seeds: range) -> list[dict[str, float]]:
    rows = []
    for seed in seeds:
        row = {"seed": seed, "free_s": await freely(seed), "rounds_s": await in_rounds(seed), "bound_s": bound(seed)}
        row["times"] = row["rounds_s"] / row["free_s"]
        rows.append(row)
        print(json.dumps(row), file=sys.stderr)
    return rows


def section(rows: list[dict[str, float]], load: str) -> str:
    shown = [
        f"| {r['seed']:.0f} | {r['rounds_s']:.2f} | {r['free_s']:.2f} | {r['bound_s']:.2f} | {r['times']:.1f} |"
        for r in rows
    ]
    over = max(r["free_s"] / r["bound_s"] - 1 for r in rows)
    return "\n".join(
        [
            "## Rollouts",
            "",
            "Written by `python benchmarks/rollouts.py`.",
            "",
            f"{COUNT} episodes take the trainer **{statistics.median(r['times'] for r in rows):.1f} times** less than "
            f"rollouts in rounds (median of {len(rows)} seeds; least {min(r['times'] for r in rows):.1f}), and at most "
            f"{over:.1%} more than the longest of them alone. Seconds:",
            "",
            "| seed | in rounds | agentenv | longest episode alone | times |",
            "|---|---:|---:|---:|---:|",
            *shown,
            "",
            f"Episodes have {TURNS[0]} to {TURNS[1]} turns of {TOKENS[0]} to {TOKENS[1]} tokens at {1e3 * TOKEN_S:g} "
            f"ms; an environment answers in {1e3 * LOW_S:g} to {1e3 * HIGH_S:,.0f} ms, from a Pareto distribution with "
            f"index {TAIL:g}. All of it comes from the seed, the same for both sides; they share environment, pool and "
            "engine; in rounds, completions wait for the longest one and steps for the slowest environment, as in "
            f"trainers that generate and step a batch at a time. {load}",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--no-docs", action="store_true", help="leave docs/benchmarks.md as it is")
    wanted = parser.parse_args()
    register(SPEC)
    about = machine.describe()
    rows = asyncio.run(measure(range(wanted.seeds)))
    load = f"Load average {about['load_1m']} before, {os.getloadavg()[0]:.2f} after, on {about['cores']} cores."
    text = section(rows, load)
    print(text)
    if not wanted.no_docs:
        sections.put("rollouts", text)


if __name__ == "__main__":
    main()
