"""Measure the learner beside TRL's GRPO trainer; write its section of docs/benchmarks.md.

    python benchmarks/learner.py [--rounds 3] [--no-docs]          (make bench-learner makes TRL's environment)

Both learn from one recorded batch: TextCraft as its scripted solution plays it, so that sequences are ragged and
observations stand between actions. One optimizer step over all of it, float32, one thread, no KL, no checkpointing, no
pass for old log-probabilities. TRL at its best micro-batch; tokens are counted here, for both. Gradient norms are
compared, so that both are known to do the same work.
"""

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import sections

from agentenv.protocol import Outcome
from agentenv.registry import get_spec
from agentenv.render import load_renderer
from agentenv.testing import machine
from trainers.algorithms import estimators
from trainers.batch import Episode, TokenBatch
from trainers.config import EnvironmentSettings, TrainConfig
from trainers.demo.model import make_model
from trainers.episodes import segments_of
from trainers.sft.config import DemonstrationSettings
from trainers.sft.demonstrations import demonstrate

HERE = Path(__file__).resolve().parent
TRL = HERE.parent / ".bench" / "trl" / "bin" / "python"
GROUPS, MEMBERS = 4, 8
MICRO_BATCHES = (1, 2, 4, 8, 16)
PACKED_TOKENS = (2048, 16384)
HIDDEN, LAYERS, LONGEST = 256, 4, 1024
SAME = 0.02
"""Relative difference of gradient norms, at most: TRL divides rewards by their deviation + 1e-4, not + 1e-6."""


def record(folder: Path) -> TokenBatch:
    """The batch, a model that fits it, and both as files for the other side."""
    settings = DemonstrationSettings(env="textcraft", tasks=GROUPS * MEMBERS, max_tokens=LONGEST, format="plain")
    model = make_model(folder / "model", words(), seed=0, hidden=HIDDEN, layers=LAYERS)
    played = asyncio.run(demonstrate(get_spec("textcraft"), settings, load_renderer(str(model))))
    draw = np.random.default_rng(0)
    episodes, rows = [], []
    for number, trajectory in enumerate(played):
        [segment] = segments_of(trajectory)
        reward = float(draw.random())
        episodes.append(
            Episode(
                env="textcraft", task=f"group/{number // MEMBERS}", group=number // MEMBERS, member=number % MEMBERS,
                outcome=Outcome.SUCCESS, segments=[segment], turn_rewards=[reward],
            )
        )  # fmt: skip
        rows.append({"tokens": segment.tokens.tolist(), "mask": segment.mask.astype(int).tolist(), "reward": reward})
    for group in range(GROUPS):
        members = episodes[group * MEMBERS : (group + 1) * MEMBERS]
        for episode, advantage in zip(members, estimators.grpo([e.reward for e in members]), strict=True):
            segment = episode.segments[0]
            segment.advantages = np.where(segment.mask, advantage, 0).astype(np.float32)
    (folder / "batch.json").write_text(json.dumps({"members": MEMBERS, "rows": rows}), encoding="utf-8")
    return TokenBatch(step=1, policy_version=0, episodes=episodes)


def words() -> list[str]:
    """What the environment says, for the tokenizer."""
    spec = get_spec("textcraft")
    env, tasks, found = spec.make({}), spec.task_set({}), []
    for index in range(20):
        found.append(env.reset(tasks.get("train", index)).observation)
    return found


@contextmanager
def ours(model: Path, **batch: object) -> Iterator[object]:
    """Our learner with settings of its micro-batches."""
    from trainers.fsdp.learner import FsdpLearner

    config = TrainConfig(environments=[EnvironmentSettings(env="textcraft")])
    config.model.path, config.run.threads, config.rollout.max_episode_tokens = str(model), 1, 2 * LONGEST
    for name, value in batch.items():
        setattr(config.batch, name, value)
    learner = FsdpLearner(config)
    try:
        yield learner
    finally:
        learner.close()


def measure_ours(model: Path, batch: TokenBatch, steps: int, **settings: object) -> dict[str, list[float]]:
    """Wall and CPU seconds of each step after the first, and its gradient norm."""
    found: dict[str, list[float]] = {"wall_s": [], "cpu_s": [], "norm": []}
    with ours(model, **settings) as learner:
        for _ in range(steps + 1):
            wall, cpu = time.perf_counter(), time.process_time()
            stats = learner.update(batch)
            found["wall_s"].append(time.perf_counter() - wall)
            found["cpu_s"].append(time.process_time() - cpu)
            found["norm"].append(stats.metrics["optim/grad_norm"])
    return {"wall_s": found["wall_s"][1:], "cpu_s": found["cpu_s"][1:], "norm": found["norm"][:1]}


def measure_trl(folder: Path, micro: int, steps: int) -> dict[str, list[float]]:
    """The same by TRL, in a process of its own."""
    done = subprocess.run(
        [TRL, HERE / "learner_trl.py", folder, str(micro), str(steps)],
        stdout=subprocess.PIPE, text=True, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])


def ways(folder: Path, batch: TokenBatch):
    """Everything that is measured, by name."""
    model = folder / "model"
    for tokens in PACKED_TOKENS:
        yield (
            f"agentenv, packed, micro-batches of {tokens:,} tokens",
            lambda n, t=tokens: measure_ours(model, batch, n, packing="on", tokens_per_microbatch=t),
        )
    for rows in (4, 8):
        yield (
            f"agentenv, padded, micro-batches of {rows}",
            lambda n, r=rows: measure_ours(model, batch, n, packing="off", episodes_per_microbatch=r),
        )
    for micro in MICRO_BATCHES:
        yield f"TRL, micro-batches of {micro}", lambda n, m=micro: measure_trl(folder, m, n)


def measure_all(folder: Path, batch: TokenBatch, rounds: int) -> dict[str, dict[str, list[float]]]:
    """Every way in the first round; afterwards the best of each kind, one after the other in each round."""
    found: dict[str, dict[str, list[float]]] = {}
    every = dict(ways(folder, batch))
    for number in range(rounds):
        for name in every if number == 0 else best(found).values():
            seen = every[name](1)
            into = found.setdefault(name, {"wall_s": [], "cpu_s": [], "norm": []})
            for key, values in seen.items():
                into[key] += values
            print(f"round {number + 1}: {name}: {seen}", file=sys.stderr)
    return found


def best(found: dict[str, dict[str, list[float]]]) -> dict[str, str]:
    """The way of each kind that took least CPU time in the first round: other work hardly changes that."""
    chosen = {}
    for kind in ("agentenv, packed", "agentenv, padded", "TRL"):
        chosen[kind] = min((n for n in found if n.startswith(kind)), key=lambda n: found[n]["cpu_s"][0])
    return chosen


def section(found: dict[str, dict[str, list[float]]], batch: TokenBatch, load: str) -> str:
    tokens = sum(len(s) for s in batch.segments)
    lengths = sorted(len(s) for s in batch.segments)
    chosen = best(found)
    wall = {name: tokens / statistics.median(seen["wall_s"]) for name, seen in found.items()}
    cpu = {name: 1e6 * statistics.median(seen["cpu_s"]) / tokens for name, seen in found.items()}
    packed, padded = chosen["agentenv, packed"], chosen["agentenv, padded"]
    trl_wall = max(rate for name, rate in wall.items() if name.startswith("TRL"))
    trl_cpu = min(spent for name, spent in cpu.items() if name.startswith("TRL"))
    norms = {name: seen["norm"][0] for name, seen in found.items()}
    gap = max(abs(n / norms[packed] - 1) for n in norms.values())
    if gap > SAME:
        sys.exit(f"gradient norms differ by {gap:.1%}: the sides do not do the same work: {norms}")
    rows = [
        f"| {name} | {wall[name]:,.0f} | {cpu[name]:.0f} | {len(found[name]['wall_s'])} |"
        for name in sorted(found, key=lambda n: (n.partition(",")[0], cpu[n]))
    ]
    return "\n".join(
        [
            "## Learner",
            "",
            "Written by `make bench-learner`.",
            "",
            f"One optimizer step, packed: **{wall[packed] / trl_wall:.2f} times** the tokens per second of TRL 1.16 "
            f"at its best micro-batch, and {trl_cpu / cpu[packed]:.2f} times less CPU time; padded "
            f"{wall[padded] / trl_wall:.2f} and {trl_cpu / cpu[padded]:.2f} times.",
            "",
            "| | tokens per second | CPU time per token, us | steps |",
            "|---|---:|---:|---:|",
            *rows,
            "",
            f"{len(lengths)} episodes of TextCraft with {lengths[0]} to {lengths[-1]} tokens (median "
            f"{lengths[len(lengths) // 2]}), {tokens:,} in all, {batch.sampled:,} of them trained; a Qwen2 model with "
            f"{LAYERS} layers and a hidden size of {HIDDEN}, float32, one thread. TRL gets the batch by `rollout_func` "
            "with `env_mask`, beta 0, one iteration; its time goes from the scored batch to the end of the step. It "
            "pads the whole batch to the longest prompt plus the longest rest before it cuts micro-batches and applies "
            "the head to every token after the prompt; here the head runs where a trained token is predicted. The "
            "first step of every process is left out, medians count, gradient norms agree within "
            f"{gap:.1%}. {load}",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-docs", action="store_true", help="leave docs/benchmarks.md as it is")
    wanted = parser.parse_args()
    if not TRL.exists():
        sys.exit(f"{TRL} is not there; `make bench-learner` makes it")
    about = machine.describe(("torch", "transformers"))
    with tempfile.TemporaryDirectory(prefix="bench-learner-") as folder:
        batch = record(Path(folder))
        found = measure_all(Path(folder), batch, wanted.rounds)
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    load = (
        f"Machine: {about['cpu']}, {about['cores']} cores, {versions}; load average {about['load_1m']} before, "
        f"{os.getloadavg()[0]:.2f} after."
    )
    text = section(found, batch, load)
    print(text)
    if not wanted.no_docs:
        sections.put("learner", text)


if __name__ == "__main__":
    main()
