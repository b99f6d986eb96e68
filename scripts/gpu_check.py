"""Does the trainer do on this GPU what it does on a CPU, and how fast? One NVIDIA GPU, some minutes.

    python scripts/gpu_check.py [--json FILE]
    python scripts/gpu_check.py --device cpu --tiny        # everything in small, where there is no GPU

Needs torch and transformers beside this repository, nothing to download and no environment. Checked: log-probabilities
(packed, padded, a plain forward, the engine), learning with bfloat16 compute, a GRPO step with sampling and push.
Measured on a random model in the shape of Qwen2.5-0.5B: tokens per second of learner and engine, the learner's share of
the GPU's peak, memory. Exit code 0: all checks hold; 1: one does not; 2: no GPU.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
try:
    import wrapt  # noqa: F401 - imported by agentenv, for gymnasium, which nothing here needs
except ImportError:
    sys.modules["wrapt"] = types.SimpleNamespace(register_post_import_hook=lambda *_: None)  # type: ignore[assignment]

import numpy as np

PEAKS = {
    "B200": 2250, "H200": 989, "GH200": 989, "H100": 989, "H100 PCIe": 756, "H100 NVL": 835, "H800": 989, "H20": 148,
    "A100": 312, "A800": 312, "A40": 150, "A30": 165, "A10": 125, "L40S": 362, "L40": 181, "L4": 121,
    "RTX A6000": 155, "RTX 6000 Ada": 364, "RTX 4090": 165, "RTX 3090": 71,
}  # fmt: skip
"""Dense bfloat16 TFLOP/s as published, by a part of the device's name; the longest that fits counts."""

LIMITS = {"float32": 1e-4, "bfloat16": 0.05}
"""Of the mean |difference| of two log-probabilities of a token, as the push check of a run has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A Qwen2 model and how much it is given."""

    hidden: int
    inner: int
    layers: int
    heads: int
    kv_heads: int
    vocabulary: int
    episodes: int
    """In a batch whose step is timed."""
    longest: int
    """Tokens of an episode."""
    microbatch: int
    sampled: int
    """Tokens that the engine samples for each episode."""
    lr: float
    """With which it learns by heart in 60 steps."""


SMALL = Shape(
    hidden=256, inner=768, layers=4, heads=8, kv_heads=2, vocabulary=1024, episodes=16, longest=512, microbatch=4096,
    sampled=8, lr=2e-3,
)  # fmt: skip
HALF_BILLION = Shape(
    hidden=896, inner=4864, layers=24, heads=14, kv_heads=2, vocabulary=151936, episodes=64, longest=2048,
    microbatch=16384, sampled=32, lr=1e-6,
)  # fmt: skip
TINY = Shape(
    hidden=32, inner=64, layers=2, heads=4, kv_heads=2, vocabulary=128, episodes=4, longest=48, microbatch=256,
    sampled=4, lr=1e-2,
)  # fmt: skip


@dataclass(slots=True, kw_only=True)
class Findings:
    """Everything that is printed."""

    device: dict[str, Any]
    checks: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By name: `ok` and what was seen."""
    figures: dict[str, float | None] = field(default_factory=dict)

    def check(self, name: str, ok: bool, **seen: Any) -> None:
        """Note a check."""
        self.checks[name] = {"ok": bool(ok), **seen}

    @property
    def ok(self) -> bool:
        """Whether every check holds."""
        return all(check["ok"] for check in self.checks.values())


def main() -> int:
    """Run everything; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--tiny", action="store_true", help="models of a few thousand parameters")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the findings there, too")
    wanted = parser.parse_args()
    if wanted.device == "cpu":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""  # the learner takes a GPU where it sees one
    import torch

    if wanted.device == "cuda" and not torch.cuda.is_available():
        print("no NVIDIA GPU is visible to torch; --device cpu --tiny tries everything in small", file=sys.stderr)
        return 2
    started = time.monotonic()
    findings = Findings(device=describe(wanted.device))
    small, large = (TINY, TINY) if wanted.tiny else (SMALL, HALF_BILLION)
    with tempfile.TemporaryDirectory(prefix="gpu_check-") as folder:
        model = make_model(Path(folder) / "small", small)
        for dtype in LIMITS:
            with noted(findings, f"parity/{dtype}"):
                parity(findings, model, small, dtype)
        with noted(findings, "bf16"):
            memorising(findings, model, small)
            asyncio.run(bandit(findings, model, small))
        shaped = make_model(Path(folder) / "large", large)
        with noted(findings, "throughput"):
            throughput(findings, shaped, large)
        with noted(findings, "step"):
            asyncio.run(one_step(findings, shaped, large))
    findings.figures["seconds"] = round(time.monotonic() - started, 1)
    print(table(findings))
    text = json.dumps(asdict(findings) | {"ok": findings.ok})
    print(text)
    if wanted.json:
        wanted.json.write_text(text + "\n", encoding="utf-8")
    return 0 if findings.ok else 1


@contextmanager
def noted(findings: Findings, name: str) -> Iterator[None]:
    """What a part raises is a failed check, and the next part runs."""
    try:
        yield
    except Exception as exc:  # whatever a GPU's kernels raise
        findings.check(name, False, error=f"{type(exc).__name__}: {exc}")


def describe(device: str) -> dict[str, Any]:
    """The device and what runs on it."""
    import torch
    import transformers

    name = torch.cuda.get_device_name() if device == "cuda" else "CPU"
    versions = {"torch": torch.__version__, "transformers": transformers.__version__, "cuda": torch.version.cuda}
    return {"name": name, "peak_tflops": peak_of(name), "threads": torch.get_num_threads(), **versions}


def peak_of(name: str) -> float | None:
    """Published dense bfloat16 TFLOP/s; None for a device that the table does not have."""
    fitting = [part for part in PEAKS if part in name]
    return float(PEAKS[max(fitting, key=len)]) if fitting else None


def make_model(folder: Path, shape: Shape) -> Path:
    """Random weights, always the same."""
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    config = Qwen2Config(
        vocab_size=shape.vocabulary, hidden_size=shape.hidden, intermediate_size=shape.inner,
        num_hidden_layers=shape.layers, num_attention_heads=shape.heads, num_key_value_heads=shape.kv_heads,
        max_position_embeddings=4096, initializer_range=0.02, tie_word_embeddings=True, bos_token_id=None,
        eos_token_id=0,
    )  # fmt: skip
    torch.manual_seed(0)
    model = Qwen2ForCausalLM(config)
    model.generation_config.eos_token_id = 0
    model.to(torch.bfloat16).save_pretrained(folder)
    return folder


# --- what a learner is given


def made_batch(shape: Shape, *, seed: int, step: int = 1) -> Any:
    """Ragged episodes of several turns: random tokens, a third of them sampled, advantages of both signs."""
    draw = np.random.default_rng(seed)
    episodes = []
    for number in range(shape.episodes):
        length = int(draw.integers(shape.longest // 4, shape.longest + 1))
        mask = np.zeros(length, bool)
        for start in range(length // 8, length - 2, max(6, length // 8)):
            mask[start : start + max(2, length // 24)] = True
        advantage = 1.0 if number % 2 else -1.0
        episodes.append(episode_of(draw.integers(1, shape.vocabulary, length), mask, advantage, number))
    return batch_of(episodes, step)


def episode_of(tokens: np.ndarray, mask: np.ndarray, advantage: float, number: int, reward: float = 1.0) -> Any:
    """An episode of one segment; every sampled token has the advantage."""
    from agentenv.protocol import Outcome
    from trainers.batch import Episode, Segment

    segment = Segment(
        tokens=tokens, mask=mask, turn=np.where(mask, 0, -1), engine_logprobs=np.zeros(len(tokens), np.float32),
        advantages=np.where(mask, advantage, 0).astype(np.float32),
    )  # fmt: skip
    return Episode(
        env="made", task=f"made/train/{number // 8}", group=number // 8, member=number % 8, outcome=Outcome.SUCCESS,
        segments=[segment], turn_rewards=[reward],
    )  # fmt: skip


def batch_of(episodes: list[Any], step: int) -> Any:
    """A batch of one weight version."""
    from trainers.batch import TokenBatch

    return TokenBatch(step=step, policy_version=0, episodes=episodes)


@contextmanager
def learner_of(model: Path, shape: Shape, change: Callable[[Any], None] = lambda _config: None) -> Iterator[Any]:
    """A learner of the backend fsdp."""
    from trainers.config import EnvironmentSettings, TrainConfig
    from trainers.fsdp.learner import FsdpLearner

    config = TrainConfig(environments=[EnvironmentSettings(env="made")])
    config.model.path = str(model)
    config.rollout.max_episode_tokens = 4096
    config.batch.tokens_per_microbatch = config.batch.tokens_per_forward = shape.microbatch
    config.batch.episodes_per_microbatch = max(1, shape.microbatch // shape.longest)
    change(config)
    learner = FsdpLearner(config)
    try:
        yield learner
    finally:
        learner.close()


def engine_of(model: Path, dtype: str) -> Any:
    """The engine hf; its options are made directly, for their reader needs another package."""
    from trainers.engines.hf import HfEngine, HfOptions

    return HfEngine(str(model), HfOptions(dtype=dtype, max_batch=64))


# --- checks


def parity(findings: Findings, model: Path, shape: Shape, dtype: str) -> None:
    """One batch, four ways to its log-probabilities."""
    batch = made_batch(shape, seed=1)

    def scores(packing: str) -> np.ndarray:
        def change(config: Any) -> None:
            config.batch.packing, config.model.compute_dtype = packing, dtype

        with learner_of(model, shape, change) as learner:
            return on_mask(batch, learner.logprobs(batch))

    packed, padded = scores("on"), scores("off")
    plain = on_mask(batch, plain_logprobs(model, batch, dtype))
    engine = on_mask(batch, asyncio.run(engine_logprobs(model, batch, dtype)))
    pairs = {
        "packed_padded": (packed, padded), "packed_plain": (packed, plain), "padded_plain": (padded, plain),
        "engine_packed": (engine, packed),
    }  # fmt: skip
    for name, (one, other) in pairs.items():
        gaps = np.abs(one - other)
        findings.check(
            f"parity/{dtype}/{name}", gaps.mean() <= LIMITS[dtype], mean=float(gaps.mean()), max=float(gaps.max()),
            limit=LIMITS[dtype], tokens=len(gaps),
        )  # fmt: skip


def on_mask(batch: Any, arrays: list[np.ndarray]) -> np.ndarray:
    """Values at sampled tokens, in order."""
    return np.concatenate([a[s.mask] for s, a in zip(batch.segments, arrays, strict=True)])


def plain_logprobs(model: Path, batch: Any, dtype: str) -> list[np.ndarray]:
    """By transformers, one sequence at a time."""
    import torch
    from transformers import AutoModelForCausalLM

    device = "cuda" if torch.cuda.is_available() else "cpu"
    lm = AutoModelForCausalLM.from_pretrained(model, dtype=getattr(torch, dtype)).to(device).eval()
    found = []
    with torch.no_grad():
        for segment in batch.segments:
            ids = torch.tensor(segment.tokens, device=device)
            logp = lm(ids[None], use_cache=False).logits[0, :-1].float().log_softmax(-1)
            found.append(np.append(0.0, logp.gather(-1, ids[1:, None])[:, 0].cpu().numpy()))
    return found


async def engine_logprobs(model: Path, batch: Any, dtype: str) -> list[np.ndarray]:
    """By the engine's own scoring."""
    engine = engine_of(model, dtype)
    try:
        found = []
        for segment in batch.segments:
            found.append(np.append(0.0, await engine.score(segment.tokens.tolist(), 1)))
        return found
    finally:
        await engine.close()


def memorising(findings: Findings, model: Path, shape: Shape) -> None:
    """Eight sequences are learned by heart with bfloat16 compute, and small steps reach the float32 masters."""
    draw = np.random.default_rng(2)
    rows = []
    for number in range(8):
        mask = np.arange(24) >= 8
        rows.append(episode_of(draw.integers(1, shape.vocabulary, 24), mask, 1.0, number))

    def change(config: Any) -> None:
        config.model.compute_dtype, config.optim.lr = "bfloat16", shape.lr

    with learner_of(model, shape, change) as learner:
        before = on_mask(batch_of(rows, 1), learner.logprobs(batch_of(rows, 1))).mean()
        for step in range(1, 61):
            learner.update(batch_of(rows, step))
        after = on_mask(batch_of(rows, 1), learner.logprobs(batch_of(rows, 1))).mean()
    findings.check("bf16/memorising", after > before / 4, before=float(before), after=float(after), steps=60)

    def small_steps(config: Any) -> None:
        config.model.compute_dtype, config.optim.lr = "bfloat16", 1e-6

    with learner_of(model, shape, small_steps) as learner:
        start = {name: tensor.clone() for name, tensor in learner.weights()}
        for step in range(1, 6):
            learner.update(made_batch(shape, seed=3, step=step))
        moved = sum(int((t != start[n]).sum()) for n, t in learner.weights())
        share = moved / sum(t.numel() for t in start.values())
    findings.check("bf16/small_steps", share > 0.9, moved=share, lr=1e-6, steps=5)


async def bandit(findings: Findings, model: Path, shape: Shape) -> None:
    """GRPO with the engine in the loop: tokens of the lower half of the vocabulary pay."""

    def change(config: Any) -> None:
        config.model.compute_dtype, config.optim.lr = "bfloat16", shape.lr

    engine, paid = engine_of(model, "bfloat16"), []
    try:
        with learner_of(model, shape, change) as learner:
            for step in range(1, 21):
                await engine.push(learner.weights(), step)
                batch, mean = await sampled_batch(engine, shape, prompt=8, sampled=4, step=step)
                paid.append(mean)
                if batch.episodes:
                    learner.update(batch)
    finally:
        await engine.close()
    first, last = float(np.mean(paid[:2])), float(np.mean(paid[-2:]))
    findings.check("bf16/bandit", last > first + 0.2, first=first, last=last, steps=len(paid))


async def sampled_batch(engine: Any, shape: Shape, *, prompt: int, sampled: int, step: int) -> tuple[Any, float]:
    """Eight tasks of eight episodes, sampled; the reward is the share of cheap tokens, advantages are grpo's."""
    from agentenv.policy import Sampling
    from trainers.algorithms import estimators

    draw = np.random.default_rng(4)
    prompts = [draw.integers(1, shape.vocabulary, prompt).tolist() for _ in range(8)]
    asked = [
        engine.generate(prompts[n // 8], Sampling(max_tokens=sampled, seed=1000 * step + n)) for n in range(64)
    ]  # fmt: skip
    answers = [a.token_ids for a in await asyncio.gather(*asked)]
    rewards = np.array([np.mean(np.array(ids) < shape.vocabulary // 2) for ids in answers])
    advantages = np.concatenate([estimators.grpo(rewards[g : g + 8]) for g in range(0, 64, 8)])
    episodes = []
    for n, ids in enumerate(answers):
        tokens = np.array([*prompts[n // 8], *ids])
        episodes.append(episode_of(tokens, np.arange(len(tokens)) >= prompt, advantages[n], n, float(rewards[n])))
    return batch_of([e for e, a in zip(episodes, advantages, strict=True) if a], step), float(rewards.mean())


# --- figures


def throughput(findings: Findings, model: Path, shape: Shape) -> None:
    """The timed step: two warm-ups, then one; packed and padded."""
    batch = made_batch(shape, seed=5)
    tokens = sum(len(s) for s in batch.segments)
    findings.figures["learner/tokens"] = float(tokens)
    findings.figures["learner/trained_tokens"] = float(batch.sampled)
    for name, packing in (("packed", "auto"), ("padded", "off")):

        def change(config: Any, packing: str = packing) -> None:
            config.batch.packing, config.model.gradient_checkpointing = packing, True
            config.model.compute_dtype = "bfloat16" if on_gpu() else "float32"

        with learner_of(model, shape, change) as learner:
            learner.update(batch)
            learner.logprobs(batch)
            reset_memory()
            seconds, stats = timed(lambda learner=learner: learner.update(batch))
            scoring, _ = timed(lambda learner=learner: learner.logprobs(batch))
        norm = stats.metrics["optim/grad_norm"]
        findings.check(f"step/{name}", np.isfinite(norm) and norm > 0, grad_norm=norm)
        rate, peak = flops_of(shape, batch) / seconds, findings.device["peak_tflops"]
        findings.figures |= {
            f"learner/{name}/update_s": seconds,
            f"learner/{name}/update_tokens_per_s": tokens / seconds,
            f"learner/{name}/score_tokens_per_s": tokens / scoring,
            f"learner/{name}/tflops": rate / 1e12,
            f"learner/{name}/share_of_peak": rate / 1e12 / peak if peak else None,
            f"learner/{name}/memory_gib": peak_memory_gib(),
        }


def flops_of(shape: Shape, batch: Any) -> float:
    """Of forward and backward as the model needs them, recomputed activations not counted."""
    head = shape.hidden // shape.heads
    attention = shape.hidden * shape.hidden * 2 + 2 * shape.hidden * head * shape.kv_heads
    layer = attention + 3 * shape.hidden * shape.inner
    lengths = np.array([len(s) for s in batch.segments], np.float64)
    dense = 6 * shape.layers * layer * lengths.sum() + 6 * shape.vocabulary * shape.hidden * batch.sampled
    return float(dense + 6 * shape.layers * shape.hidden * (lengths**2).sum())


async def one_step(findings: Findings, model: Path, shape: Shape) -> None:
    """Sample, learn, push on the large model."""

    def change(config: Any) -> None:
        config.model.gradient_checkpointing = True
        config.model.compute_dtype = "bfloat16" if on_gpu() else "float32"

    engine = engine_of(model, "bfloat16" if on_gpu() else "float32")
    try:
        with learner_of(model, shape, change) as learner:
            reset_memory()
            prompt = max(8, shape.longest // 8)
            await sampled_batch(engine, shape, prompt=prompt, sampled=2, step=1)  # warm-up
            began = time.monotonic()
            batch, _ = await sampled_batch(engine, shape, prompt=prompt, sampled=shape.sampled, step=2)
            collected = time.monotonic()
            learner.update(batch)
            learned = time.monotonic()
            await engine.push(learner.weights(), 1)
            synchronize()
            pushed = time.monotonic()
            probe = list(batch.segments)[:2]
            ours = learner.logprobs(batch)
            gaps = []
            for segment, own in zip(probe, ours, strict=False):
                start = int(np.flatnonzero(segment.mask)[0])
                theirs = np.array(await engine.score(segment.tokens.tolist(), start))
                gaps.append(np.abs(theirs - own[start:])[segment.mask[start:]])
    finally:
        await engine.close()
    gap = float(np.concatenate(gaps).mean())
    limit = LIMITS["bfloat16" if on_gpu() else "float32"]
    findings.check("step/engine_after_push", gap <= limit, mean=gap, limit=limit)
    sampled = 64 * shape.sampled
    findings.figures |= {
        "engine/sampled_tokens_per_s": sampled / (collected - began),
        "step/collect_s": collected - began, "step/learn_s": learned - collected, "step/push_s": pushed - learned,
        "step/memory_gib": peak_memory_gib(),
    }  # fmt: skip


def on_gpu() -> bool:
    """Whether the learner takes a GPU."""
    import torch

    return torch.cuda.is_available()


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Seconds of a call, the GPU's work included."""
    synchronize()
    before = time.monotonic()
    result = call()
    synchronize()
    return time.monotonic() - before, result


def synchronize() -> None:
    """Wait for the GPU."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.synchronize()


def reset_memory() -> None:
    """Begin to look for the highest use of memory."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()


def peak_memory_gib() -> float | None:
    """Highest use of the GPU's memory since; None on a CPU."""
    import torch

    return torch.cuda.max_memory_allocated() / 2**30 if torch.cuda.is_available() else None


def table(findings: Findings) -> str:
    """For people."""
    lines = [", ".join(f"{name} {value}" for name, value in findings.device.items()), ""]
    for name, check in findings.checks.items():
        seen = "  ".join(f"{k} {v if isinstance(v, str) else f'{v:.3g}'}" for k, v in check.items() if k != "ok")
        lines.append(f"{'ok   ' if check['ok'] else 'FAILS'}  {name:34} {seen}")
    lines.append("")
    lines += [f"{name:41} {'-' if value is None else f'{value:,.4g}'}" for name, value in findings.figures.items()]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.exit(main())
