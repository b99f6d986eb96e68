"""Whether the weights that a push sends are the weights that sample: engine and learner compared by log-probabilities.

`check_push_stream`, once at the start, sends the stream with one tensor scaled at a time: log-probabilities must move,
and come back with the true weights. A tied output head gets its own probe, for an engine may hold a second copy of
the embedding that no push reaches: only rows of the embedding that the text does not contain are scaled, so that the
head alone can make a difference. `check_push`, after every push, samples at least 64 tokens and has the learner say
what it thinks of them.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from agentenv.policy import Engine, Sampled, Sampling
from agentenv.protocol import Outcome
from trainers.batch import Episode, Floats, Segment, TokenBatch
from trainers.engines import folder
from trainers.engines.errors import PushCheckFailed

if TYPE_CHECKING:
    import torch

    from trainers.config import TrainConfig

TOLERANCES = {"float32": 1e-4}
"""Mean |difference| of log-probabilities by dtype; others have LOW_PRECISION."""
LOW_PRECISION = 0.05
TOKENS = 64
"""Compared at least."""
PROMPT_TOKENS, TURN_TOKENS, ROUND = 8, 16, 8
CONTEXT = PROMPT_TOKENS + TURN_TOKENS + 1
"""Tokens that an engine must take at least; one is for engines that sample when they score."""
SCALE = 3.0
"""Of a probed tensor."""
NOISE = 1e-6
"""A mean difference below this, or below three times that of scoring twice, is no movement."""

LAYER = re.compile(r"(?:^|\.)(?:layers|h|blocks|block)\.(\d+)\.")
EMBEDDING = re.compile(r"(?:^|\.)(?:embed_tokens|wte|word_embeddings|embed_in|tok_embeddings)\.weight$")
HEAD = re.compile(r"(?:^|\.)(?:lm_head|embed_out|output)\.weight$")
NORM = re.compile(r"norm|ln_f")

Weights = Iterator[tuple[str, "torch.Tensor"]]


class WeightSource(Protocol):
    """The part of a learner that is needed here."""

    def weights(self) -> Weights:
        """Name and full tensor of each policy parameter."""

    def logprobs(self, batch: TokenBatch, *, reference: bool = False) -> list[Floats]:
        """One array for each segment, at the run's temperature."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Engine against learner."""

    mean: float
    max: float
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A tensor to scale."""

    role: str
    names: tuple[str, ...]
    """Of one tensor: a tied head may be in the stream twice."""
    spared: tuple[int, ...] = ()
    """Rows that stay as they are."""

    def applied(self, weights: Weights) -> Weights:
        """The stream with this tensor scaled, in a copy."""
        for name, tensor in weights:
            if name not in self.names:
                yield name, tensor
                continue
            scaled = tensor.detach() * SCALE
            if self.spared:
                rows = list(self.spared)
                scaled[rows] = tensor.detach()[rows]
            yield name, scaled


async def check_push_stream(engine: Engine, learner: WeightSource, config: TrainConfig) -> list[Probe]:
    """Push probes, then the true weights under the engine's version; what was probed.

    Raises PushCheckFailed with the name of the tensor whose push changes nothing, or with the difference that the
    true weights leave behind.
    """
    version = engine.version
    await engine.push(learner.weights(), version)
    prompts = _prompts(config.model.path, seed=config.run.seed, count=ROUND)
    text = [p + s.token_ids for p, s in zip(prompts, await _sample(engine, prompts, config), strict=True)]

    async def scores() -> Floats:
        return np.concatenate([np.asarray(await engine.score(t, 1), np.float32) for t in text])

    before, again = await scores(), await scores()
    still = max(NOISE, 3 * float(np.abs(again - before).mean()))
    inputs = {token for t in text for token in t[:-1]}
    may_be_tied = bool(folder.config_of(config.model.path).get("tie_word_embeddings", True))
    probes = find_probes(learner.weights(), inputs, may_be_tied=may_be_tied)
    for probe in probes:
        await engine.push(probe.applied(learner.weights()), version)
        moved = float(np.abs(await scores() - before).mean())
        if not moved > still:
            raise PushCheckFailed(
                f"pushing {probe.names[0]} ({probe.role}) times {SCALE:g} does not reach the engine: its "
                f"log-probabilities moved by {moved:.2g} on average"
            )
    await engine.push(learner.weights(), version)
    left = float(np.abs(await scores() - before).mean())
    if not left <= tolerance_of(engine, config):
        raise PushCheckFailed(
            f"after {len(probes)} probes the true weights do not bring the engine's log-probabilities back: they "
            f"differ by {left:.2g} on average; probed were {', '.join(p.names[0] for p in probes)}"
        )
    return probes


async def check_push(engine: Engine, learner: WeightSource, config: TrainConfig) -> Difference:
    """Compare what the engine samples with what the learner thinks of it, at the run's temperature.

    Raises PushCheckFailed when the mean |difference| passes `tolerance_of`.
    """
    prompts: list[list[int]] = []
    sampled: list[Sampled] = []
    while sum(len(s.token_ids) for s in sampled) < TOKENS:
        new = _prompts(config.model.path, seed=config.run.seed + len(prompts), count=ROUND)
        sampled += await _sample(engine, new, config)
        prompts += new
    batch = _batch(prompts, sampled, engine.version)
    found = learner.logprobs(batch)
    gaps = np.concatenate([np.abs(f - s.engine_logprobs)[s.mask] for f, s in zip(found, batch.segments, strict=True)])
    difference = Difference(mean=float(gaps.mean()), max=float(gaps.max()), tokens=len(gaps))
    limit = tolerance_of(engine, config)
    if not difference.mean <= limit:
        raise PushCheckFailed(
            f"after the push of version {engine.version} engine and learner differ: |difference| of log-probabilities "
            f"over {difference.tokens} tokens is {difference.mean:.2g} on average (limit {limit:g}), "
            f"at most {difference.max:.2g}"
        )
    return difference


def tolerance_of(engine: Engine, config: TrainConfig) -> float:
    """`rollout.push_tolerance`, or what the coarser dtype of engine and learner gives."""
    wanted = config.rollout.push_tolerance
    if wanted is not None:
        return float(wanted)
    learner = config.model.compute_dtype
    if learner == "auto":
        import torch

        learner = "bfloat16" if torch.cuda.is_available() else "float32"
    return max(TOLERANCES.get(dtype, LOW_PRECISION) for dtype in (learner, getattr(engine, "dtype", "float32")))


def find_probes(weights: Weights, inputs: set[int], *, may_be_tied: bool) -> list[Probe]:
    """Embedding, output head, first and last layer, final norm: one tensor of each, by its name.

    `inputs` are the token ids that the scored text feeds to the model. Without a head in the stream the model is tied
    where it may be.
    """
    embedding: tuple[str, torch.Tensor] | None = None
    heads: list[str] = []
    tied = may_be_tied
    norm = ""
    layers: dict[int, tuple[str, int]] = {}
    for name, tensor in weights:
        if match := LAYER.search(name):
            layer = int(match[1])
            # The largest matrix that every token passes: an expert may see none of the text.
            if tensor.ndim == 2 and "expert" not in name and tensor.numel() >= layers.get(layer, ("", 0))[1]:
                layers[layer] = (name, tensor.numel())
        elif EMBEDDING.search(name):
            embedding = (name, tensor.detach())
        elif HEAD.search(name):
            heads.append(name)
            tied = embedding is not None and _equal(embedding[1], tensor)
        elif NORM.search(name):
            norm = name
    probes: list[Probe] = []
    if embedding is not None:
        names = (embedding[0], *heads) if tied else (embedding[0],)
        probes.append(Probe(role="embedding", names=names))
        if tied:
            probes.append(Probe(role="tied output head", names=names, spared=tuple(sorted(inputs))))
    if heads and not tied:
        probes.append(Probe(role="output head", names=(heads[0],)))
    if layers:
        ends = (("first layer", min(layers)), ("last layer", max(layers)))
        probes += [Probe(role=role, names=(layers[number][0],)) for role, number in ends]
    if norm:
        probes.append(Probe(role="final norm", names=(norm,)))
    if not probes:
        raise PushCheckFailed("no tensor of the stream has a name that tells an embedding, a layer, a norm or a head")
    return probes


def _equal(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.shape == b.shape and bool((a == b.detach()).all())


def _prompts(path: str, *, seed: int, count: int) -> list[list[int]]:
    """Token ids at random: weights can be compared on any text."""
    vocabulary = int(folder.config_of(path)["vocab_size"])
    rng = random.Random(seed)
    return [[rng.randrange(vocabulary) for _ in range(PROMPT_TOKENS)] for _ in range(count)]


async def _sample(engine: Engine, prompts: Sequence[Sequence[int]], config: TrainConfig) -> list[Sampled]:
    temperature = config.rollout.temperature
    wanted = [Sampling(temperature=temperature, max_tokens=TURN_TOKENS, seed=i) for i in range(len(prompts))]
    return await asyncio.gather(*(engine.generate(p, w) for p, w in zip(prompts, wanted, strict=True)))


def _batch(prompts: Sequence[list[int]], sampled: Sequence[Sampled], version: int) -> TokenBatch:
    episodes = []
    for number, (prompt, completion) in enumerate(zip(prompts, sampled, strict=True)):
        tokens = np.asarray(prompt + completion.token_ids, np.int64)
        mask = np.arange(len(tokens)) >= len(prompt)
        engine_logprobs = np.zeros(len(tokens), np.float32)
        engine_logprobs[mask] = completion.logprobs
        segment = Segment(tokens=tokens, mask=mask, turn=np.where(mask, 0, -1), engine_logprobs=engine_logprobs)
        episodes.append(
            Episode(
                env="push_check",
                task=str(number),
                group=number,
                member=0,
                outcome=Outcome.SUCCESS,
                segments=[segment],
                turn_rewards=[0.0],
            )
        )
    return TokenBatch(step=0, policy_version=version, episodes=episodes)
