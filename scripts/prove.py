"""Prove that the scripted solution of an env solves its tasks, and write down how.

    python scripts/prove.py webarena --split dev --split test --option engine=lite
    python scripts/prove.py webarena --split test --option engine=chromium --sample 150

The report has a line for the task set and one for each task: its digest, the steps taken, the score, and what else the
env finds wrong. It is checked in. A run keeps the lines whose digest still holds and plays the rest, so it may be
stopped and started again. A sample takes the templates in turns and has a report of its own, `proof_sample.jsonl`.
"""

from __future__ import annotations

import argparse
import asyncio
import inspect
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from agentenv.env import AsyncEnv
from agentenv.errors import AgentEnvError
from agentenv.protocol import UNPROVEN, Task
from agentenv.registry import EnvSpec, get_spec
from agentenv.server.host import AsyncEnvHost, EnvHost


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What came of one task."""

    id: str
    digest: str
    """The first 16 characters of the task's digest."""
    steps: int
    score: float
    """The episode's return."""
    problem: str = ""
    """Why the task is not proved; empty of a task that is."""

    @property
    def holds(self) -> bool:
        """Whether the task is proved."""
        return not self.problem


def report_path(spec: EnvSpec, name: str = "proof.jsonl") -> Path:
    """Where the report of an env lies: beside its engine."""
    module = find_spec(spec.entry.partition(":")[0])
    assert module is not None
    assert module.origin is not None
    return Path(module.origin).with_name(name)


def read_report(path: Path) -> tuple[dict[str, Any], dict[str, Proof]]:
    """What a report is of, and its lines by task id; both empty without one."""
    if not path.exists():
        return {}, {}
    head, *lines = (json.loads(line) for line in path.read_text().splitlines())
    return head, {proof.id: proof for proof in (Proof(**line) for line in lines)}


def write_report(path: Path, head: dict[str, Any], proofs: Sequence[Proof]) -> None:
    """The head, and one line a task; defaults are left out."""
    lines = [head, *({k: v for k, v in asdict(p).items() if v != ""} for p in proofs)]
    path.write_text("".join(f"{json.dumps(line, separators=(',', ':'))}\n" for line in lines))


def tasks_of(spec: EnvSpec, options: dict[str, Any], splits: Sequence[str]) -> Iterator[Task]:
    """Every task of the splits but those that are known to have no scripted solution."""
    tasks = spec.task_set(options)
    for split in splits:
        for index in range(tasks.count(split)):
            task = tasks.get(split, index)
            if task.category != UNPROVEN:
                yield task


def sampled(tasks: Iterable[Task], most: int) -> list[Task]:
    """At most so many tasks: the first of each template, then the second of each, and so on."""
    met: Counter[str] = Counter()
    placed = []
    for place, task in enumerate(tasks):
        placed.append((met[task.template], place, task))
        met[task.template] += 1
    chosen = sorted(placed, key=lambda item: item[:2])[:most]
    return [task for _, _, task in sorted(chosen, key=lambda item: item[1])]


async def prove(host: EnvHost | AsyncEnvHost, task: Task) -> Proof:
    """Play one task by its scripted solution."""
    steps, score, problem = 0, 0.0, ""
    try:
        result = await _done(host.reset(task))
        while not result.terminated:
            result = await _done(host.step(await _done(host.oracle())))
            steps, score = steps + 1, score + result.reward
        problem = "" if result.success else f"no success: {json.dumps(result.info)[:300]}"
        if not problem and task.max_steps is not None and steps > task.max_steps:
            problem = f"{steps} steps, and the task allows {task.max_steps}"
        if not problem and hasattr(host.env, "surviving_mutants"):
            survivors = await host.env.surviving_mutants()
            problem = f"the checks let through: {', '.join(survivors)}" if survivors else ""
    except AgentEnvError as error:
        problem = str(error)[:300]
    return Proof(id=task.id, digest=task.digest[:16], steps=steps, score=score, problem=problem)


async def _done(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


async def run(
    spec: EnvSpec, options: dict[str, Any], splits: Sequence[str], path: Path, sample: int | None = None
) -> list[Proof]:
    """Prove every task of the splits, or a sample; the report is written now and then, and at the end."""
    resolved = spec.resolve_options(options)
    asynchronous = issubclass(spec.load_class(), AsyncEnv)
    host = (AsyncEnvHost if asynchronous else EnvHost)(spec, resolved)
    head = {"env": spec.id, "version": spec.version, "options": options, "tasks": spec.task_set(options).digest}
    kept, proofs, saved = read_report(path)[1], [], time.monotonic()
    others = [p for p in kept.values() if p.id.split("/")[1] not in splits]
    try:
        tasks = tasks_of(spec, resolved, splits)
        for task in tasks if sample is None else sampled(tasks, sample):
            known = kept.get(task.id)
            fresh = known is None or known.digest != task.digest[:16] or not known.holds
            proofs.append(await prove(host, task) if fresh or known is None else known)
            if not proofs[-1].holds:
                print(f"{task.id} {task.template}: {proofs[-1].problem}", file=sys.stderr)
            if time.monotonic() - saved > 20:
                write_report(path, head, [*others, *proofs])
                saved = time.monotonic()
    finally:
        write_report(path, head, [*others, *proofs])
        await _done(host.close())
    return proofs


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit status: 1 when a task is not proved."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("env")
    parser.add_argument("--split", action="append", help="a split to prove (may be repeated); default: all but train")
    parser.add_argument("--option", action="append", default=[], help="NAME=VALUE of the env")
    parser.add_argument("--report", type=Path, help="default: proof.jsonl beside the env's engine")
    parser.add_argument("--sample", type=int, metavar="N", help="prove N tasks, the templates in turns")
    given = parser.parse_args(arguments)
    spec = get_spec(given.env)
    options = dict(pair.split("=", 1) for pair in given.option)
    splits = given.split or [split for split in spec.task_set(options).splits() if split != "train"]
    began = time.monotonic()
    path = given.report or report_path(spec, "proof.jsonl" if given.sample is None else "proof_sample.jsonl")
    proofs = asyncio.run(run(spec, options, splits, path, given.sample))
    bad = sum(not proof.holds for proof in proofs)
    took = time.monotonic() - began
    print(f"{spec.id} {', '.join(splits)}: {len(proofs) - bad} of {len(proofs)} tasks proved, {took:.0f} s")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
