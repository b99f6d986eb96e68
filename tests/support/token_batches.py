"""Batches of made-up episodes, and configurations, for tests of learners."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from agentenv.protocol import Outcome
from trainers.batch import Episode, Segment, TokenBatch
from trainers.config import EnvironmentSettings, TrainConfig


def made_segment(draw: np.random.Generator, *, turns: int = 2, vocabulary: int = 300, scale: int = 6) -> Segment:
    """Prompt, action, observation, action, ...: lengths from 1 to `scale`, random tokens."""
    tokens: list[int] = []
    mask: list[bool] = []
    turn: list[int] = []
    for number in range(turns):
        for sampled in (False, True):
            length = int(draw.integers(1, scale + 1))
            tokens += draw.integers(3, vocabulary, length).tolist()
            mask += [sampled] * length
            turn += [number if sampled else -1] * length
    return Segment(
        tokens=np.array(tokens, np.int64), mask=np.array(mask), turn=np.array(turn, np.int64),
        engine_logprobs=np.zeros(len(tokens), np.float32),
    )  # fmt: skip


def made_batch(
    *, seed: int = 0, tasks: int = 2, members: int = 4, step: int = 1, scale: int = 6, advantages: bool = True
) -> TokenBatch:
    """Episodes of one to three turns; every third has two segments. Advantages are normal draws."""
    draw = np.random.default_rng(seed)
    episodes = []
    for number in range(tasks * members):
        parts = [made_segment(draw, turns=1 + number % 3, scale=scale) for _ in range(2 if number % 3 == 2 else 1)]
        if advantages:
            for part in parts:
                part.advantages = np.where(part.mask, draw.normal(size=len(part)), 0).astype(np.float32)
        episodes.append(
            Episode(
                env="toy", task=f"toy/train/{number // members}", group=number // members, member=number % members,
                outcome=Outcome.SUCCESS, segments=parts, turn_rewards=[1.0],
            )
        )  # fmt: skip
    return TokenBatch(step=step, policy_version=0, episodes=episodes)


def learner_config(model: Path, **settings: object) -> TrainConfig:
    """A configuration for a small model; settings by dotted name, dots written `__`: `optim__lr=1e-3`."""
    config = TrainConfig(environments=[EnvironmentSettings(env="toy")])
    config.model.path = str(model)
    config.run.threads = 1
    config.rollout.max_episode_tokens = 256
    for name, value in settings.items():
        *folders, key = name.split("__")
        target: object = config
        for folder in folders:
            target = getattr(target, folder)
        if not hasattr(target, key):
            raise AttributeError(f"no setting {name}")
        setattr(target, key, value)
    return config


def gradients(learner: object, batch: TokenBatch, role: str = "policy") -> dict[str, np.ndarray]:
    """Whole gradients of one optimizer step over all of `batch`, by an `FsdpLearner`; they are dropped afterwards."""
    from trainers.algorithms.losses import Totals
    from trainers.fsdp.model import full_tensor
    from trainers.fsdp.update import Losses, pieces_of

    envs = sorted({e.env for e in batch.episodes})
    pieces, totals = pieces_of(batch.episodes, envs), Totals.of(batch.episodes)
    losses, one = Losses(learner.config, learner.world, envs), learner._roles[role]
    if role == "policy":
        losses.policy(one, pieces, totals, batch=batch, only_step=True)
    else:
        losses.critic(one, pieces, totals)
    found = {name: full_tensor(p.grad).numpy().copy() for name, p in one.parameters.items()}
    one.drop_gradients()
    return found


def with_values(batch: TokenBatch, seed: int = 1) -> TokenBatch:
    """The batch with values and returns drawn at random."""
    draw = np.random.default_rng(seed)
    for segment in batch.segments:
        segment.values = np.where(segment.mask, draw.normal(size=len(segment)), 0).astype(np.float32)
        segment.returns = np.where(segment.mask, draw.normal(size=len(segment)), 0).astype(np.float32)
    return batch
