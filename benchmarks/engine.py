"""Measure the engine `vllm` beside bare vLLM, and pushes of weights; write its section of docs/benchmarks.md.

    python benchmarks/engine.py [--rounds 3] [--no-docs]          (make bench-engine makes what it needs)

Bare vLLM is its class LLM, driven by a script in vLLM's own environment; both sides have the same arguments, one thread
and the same prompts, and must sample the same tokens. They take turns, the first one of a pair alternates, and the
ratios of the pairs count: other work on the machine slows both of a pair. It hardly changes CPU time, which for the
engine is that of its process and of this one together.
"""

import argparse
import asyncio
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import sections

from agentenv.policy import Sampling
from agentenv.testing import machine
from trainers.demo.model import make_model
from trainers.engines import hf, vllm
from trainers.engines.vllm_process import DEFAULTS

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
VLLM = ROOT / ".venv-vllm" / "bin" / "python"
REAL = ROOT / "models" / "smollm2"
PROMPT, TOKENS, CONTEXT = 64, 32, 256
AT_ONCE = (1, 8, 32)
ARGS = {
    "skip_tokenizer_init": True, "dtype": "float32", "enforce_eager": True, "gpu_memory_utilization": 0.2,
    "max_num_seqs": 64, "max_model_len": CONTEXT, "logprobs_mode": "processed_logprobs", "generation_config": "vllm",
    "disable_log_stats": True,
}  # fmt: skip
"""Of bare vLLM: what the engine gives it."""
REAL_NAME, TINY_NAME = "SmolLM2-135M", "0.8 million parameters"


@dataclass(frozen=True, slots=True)
class Run:
    """One side's seconds for all requests."""

    wall_s: float
    cpu_s: float


@dataclass(frozen=True, slots=True)
class Pair:
    """Two runs next to each other."""

    ours: Run
    bare: Run

    @property
    def share(self) -> float:
        """Our rate as a share of bare vLLM's."""
        return self.bare.wall_s / self.ours.wall_s

    @property
    def cpu(self) -> float:
        """Our CPU time as a multiple of bare vLLM's."""
        return self.ours.cpu_s / self.bare.cpu_s


Rows = dict[tuple[str, int], list[Pair]]
"""By model and requests at once."""


@dataclass(frozen=True, slots=True)
class Pushes:
    """Megabytes of float32, and the seconds of each way."""

    megabytes: float
    seconds: dict[str, list[float]]


class Bare:
    """vLLM without us."""

    def __init__(self, model: Path) -> None:
        self._process = subprocess.Popen(
            [VLLM, HERE / "vllm_bare.py", model, json.dumps(ARGS)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=DEFAULTS | os.environ | {"OMP_NUM_THREADS": "1", "VLLM_LOGGING_LEVEL": "ERROR"},
            start_new_session=True,  # as the engine's process: Linux may share out its time by session
        )  # fmt: skip
        self._answer()

    def ask(self, **question: object) -> dict:
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict:
        line = self._process.stdout.readline()
        if not line:
            sys.exit(f"bare vLLM ended with {self._process.wait()}; its message stands above")
        return json.loads(line)

    def close(self) -> None:
        self._process.stdin.close()
        self._process.wait(30)


@contextmanager
def bare(model: Path) -> Iterator[Bare]:
    side = Bare(model)
    try:
        yield side
    finally:
        side.close()


def prompts_of(model: Path, seed: int, count: int) -> list[list[int]]:
    """Token ids at random: what is in a prompt changes no speed."""
    vocabulary = json.loads((model / "config.json").read_text(encoding="utf-8"))["vocab_size"]
    draw = random.Random(seed)
    return [[draw.randrange(3, vocabulary) for _ in range(PROMPT)] for _ in range(count)]


async def measure_ours(engine: vllm.VllmEngine, prompts: list[list[int]]) -> tuple[Run, list[list[int]]]:
    """All prompts side by side, and what was sampled."""
    process = psutil.Process(engine._process.pid)

    def cpu_s() -> float:
        return time.process_time() + sum(process.cpu_times()[:2])

    wanted = [Sampling(max_tokens=TOKENS, seed=n) for n in range(len(prompts))]
    cpu, began = cpu_s(), time.perf_counter()
    found = await asyncio.gather(*(engine.generate(p, w) for p, w in zip(prompts, wanted, strict=True)))
    return Run(time.perf_counter() - began, cpu_s() - cpu), [sampled.token_ids for sampled in found]


def measure_bare(side: Bare, prompts: list[list[int]]) -> tuple[Run, list[list[int]]]:
    """The same by bare vLLM."""
    sampling = [
        {"temperature": 1.0, "max_tokens": TOKENS, "seed": n, "ignore_eos": True, "logprobs": 0, "detokenize": False}
        for n in range(len(prompts))
    ]
    found = side.ask(generate=[prompts, sampling])
    return Run(found["wall_s"], found["cpu_s"]), found["token_ids"]


async def measure_sampling(name: str, engine: vllm.VllmEngine, side: Bare, model: Path, rounds: int) -> Rows:
    """Each number of requests in each round by both sides; a round before the first warms up."""
    rows: Rows = {}
    for number in range(-1, rounds):
        for count in AT_ONCE:
            prompts = prompts_of(model, 100 * number + count, count)
            if number % 2:
                ours = await measure_ours(engine, prompts)
                theirs = measure_bare(side, prompts)
            else:
                theirs = measure_bare(side, prompts)
                ours = await measure_ours(engine, prompts)
            if ours[1] != theirs[1]:
                sys.exit(f"{name}, {count} requests: the sides sample other tokens; they do not do the same work")
            pair = Pair(ours[0], theirs[0])
            if number >= 0:
                rows.setdefault((name, count), []).append(pair)
            told = f"agentenv {pair.ours.wall_s:.2f} s, bare {pair.bare.wall_s:.2f} s"
            print(f"{name}, {count} at once: {told}", file=sys.stderr)
    return rows


async def measure_pushes(model: Path, side: Bare, rounds: int) -> Pushes:
    """Each way to bring weights into an engine once in a round; a round before the first warms up."""
    import torch
    from transformers import AutoModelForCausalLM

    torch.set_num_threads(1)
    weights = dict(AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32).named_parameters())
    common = {"python": str(VLLM), "threads": 1, "context_tokens": CONTEXT}
    async with AsyncExitStack() as stack:
        engines = {
            "vllm, files in shared memory": vllm.make(str(model), push_through="files", **common),
            "vllm, one message of bytes": vllm.make(str(model), push_through="bytes", **common),
            "hf, in this process": hf.make(str(model), threads=1),
        }
        for engine in engines.values():
            stack.push_async_callback(engine.close)
        found: dict[str, list[float]] = {}
        for number in range(-1, rounds):
            took = {}
            for name, engine in engines.items():
                began = time.perf_counter()
                await engine.push(weights.items(), number + 1)
                took[name] = time.perf_counter() - began
            took["vLLM's own reload of a folder"] = side.ask(reload=str(model))["seconds"]
            for name, seconds in took.items():
                if number >= 0:
                    found.setdefault(name, []).append(seconds)
                print(f"push, {name}: {seconds:.2f} s", file=sys.stderr)
    return Pushes(sum(t.nbytes for t in weights.values()) / 1e6, found)


async def measure(rounds: int) -> tuple[Rows, Pushes]:
    """Sampling by both models, then pushes of the real one."""
    rows: Rows = {}
    with tempfile.TemporaryDirectory(prefix="bench-engine-") as folder:
        tiny = make_model(Path(folder) / "tiny", ["north south east west"], seed=0)
        for name, model, times in ((TINY_NAME, tiny, 5 * rounds), (REAL_NAME, REAL, rounds)):
            with bare(model) as side:
                engine = vllm.make(str(model), python=str(VLLM), threads=1, context_tokens=CONTEXT)
                engine.stop_ids = []
                try:
                    rows |= await measure_sampling(name, engine, side, model, times)
                finally:
                    await engine.close()
                if model == REAL:
                    pushes = await measure_pushes(model, side, rounds)
    return rows, pushes


def section(rows: Rows, pushes: Pushes, about: str) -> str:
    """The page's part."""
    counts = [count for name, count in rows if name == REAL_NAME]
    shares = [_median(p.share for p in rows[REAL_NAME, count]) for count in counts]
    spent = [_median(p.cpu for p in rows[REAL_NAME, count]) for count in counts]
    return "\n".join(
        [
            "## Engine vllm",
            "",
            "Written by `make bench-engine`.",
            "",
            f"With {REAL_NAME} the engine samples at {_listed(shares, '.0%')} of the rate of bare vLLM, and takes "
            f"{_listed(spent, '.2f')} times its CPU time, with {', '.join(map(str, counts))} requests at once. Tokens "
            "per second:",
            "",
            "| model | requests at once | bare vLLM | agentenv | ratio | least and most "
            "| CPU ms per token, bare | agentenv |",
            "|---|---:|---:|---:|---:|---:|---:|---:|",
            *(_sampling_row(name, count, pairs) for (name, count), pairs in rows.items()),
            "",
            f"Prompts of {PROMPT} tokens, {TOKENS} sampled from each, float32, one thread. The engine is a process "
            "behind a socket; bare vLLM is its class LLM with the same arguments in a script of its own. Both sampled "
            f"the same tokens. A ratio is the median over {len(rows[REAL_NAME, counts[0]])} pairs of runs next to each "
            "other (five times as many with the small model). Rates suffer from other work on the machine, CPU time "
            "hardly does; the engine's is that of both processes.",
            "",
            f"A push of the weights of {REAL_NAME}, {pushes.megabytes:,.0f} MB in float32:",
            "",
            "| way | seconds | least and most | MB per second |",
            "|---|---:|---:|---:|",
            *(_push_row(name, seconds, pushes.megabytes) for name, seconds in pushes.seconds.items()),
            "",
            "From the learner's tensors to an engine that samples by them. The last row is what vLLM takes by itself, "
            "from a folder in bfloat16 that is in the system's file cache.",
            "",
            about,
        ]
    )


def _sampling_row(name: str, count: int, pairs: list[Pair]) -> str:
    tokens, shares = count * TOKENS, [p.share for p in pairs]
    rates = [tokens / _median(run.wall_s for run in runs) for runs in _sides(pairs)]
    spent = [1e3 * _median(run.cpu_s for run in runs) / tokens for runs in _sides(pairs)]
    return (
        f"| {name} | {count} | {rates[0]:,.0f} | {rates[1]:,.0f} | {_median(shares):.0%} "
        f"| {min(shares):.0%}, {max(shares):.0%} | {spent[0]:.2f} | {spent[1]:.2f} |"
    )


def _sides(pairs: list[Pair]) -> tuple[list[Run], list[Run]]:
    return [p.bare for p in pairs], [p.ours for p in pairs]


def _push_row(name: str, seconds: list[float], megabytes: float) -> str:
    middle = _median(seconds)
    return f"| {name} | {middle:.2f} | {min(seconds):.2f}, {max(seconds):.2f} | {megabytes / middle:,.0f} |"


def _listed(numbers: list[float], form: str) -> str:
    return ", ".join(f"**{number:{form}}**" for number in numbers)


def _median(numbers: Iterable[float]) -> float:
    return statistics.median(numbers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-docs", action="store_true", help="leave docs/benchmarks.md as it is")
    wanted = parser.parse_args()
    for needed in (VLLM, REAL / "config.json"):
        if not needed.exists():
            sys.exit(f"{needed} is not there; `make bench-engine` makes it")
    about = machine.describe(("torch", "transformers"))
    rows, pushes = asyncio.run(measure(wanted.rounds))
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    text = section(
        rows,
        pushes,
        f"Machine: {about['cpu']}, {about['cores']} cores, {versions}; load average {about['load_1m']} before, "
        f"{os.getloadavg()[0]:.2f} after.",
    )
    print(text)
    if not wanted.no_docs:
        sections.put("engine", text)


if __name__ == "__main__":
    main()
