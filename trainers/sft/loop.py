"""The loop of the warm start. Its gradient is that of the mean log-probability of demonstrated tokens.

A batch of demonstrations with every advantage 1 and one optimizer step is exactly that: the ratio is 1, and the
gradient of -ratio * 1 is the gradient of -log p. So the learner of reinforcement learning is the learner here.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from agentenv.errors import AgentEnvError
from agentenv.protocol import digest_of
from agentenv.registry import get_spec
from agentenv.render import load_renderer
from agentenv.trajectory import Trajectory
from trainers.batch import Episode, TokenBatch
from trainers.config import EnvironmentSettings, EvaluationSettings, LossSettings, RolloutSettings, TrainConfig
from trainers.episodes import episode_of
from trainers.learner import Learner
from trainers.loop import Summary
from trainers.parts import make_engine, make_learner
from trainers.players import validation_players
from trainers.rooms import Room, open_rooms
from trainers.settings import BadSetting, plain
from trainers.sft.config import SftConfig
from trainers.sft.demonstrations import chosen, demonstrate, read
from trainers.trackers import open_trackers
from trainers.validate import validate


class WentTooFar(AgentEnvError):
    """Success passed the mark between two evaluations."""

    code = "went_too_far"


def sft(config: SftConfig, *, backend: str = "fsdp") -> Summary | None:
    """Imitate, and export the model. None on ranks that only learn."""
    learner = make_learner(learner_config(config), backend)
    follow = getattr(learner, "follow", None)
    if follow is not None and not learner.leads:  # type: ignore[attr-defined]
        follow()
        return None
    try:
        return asyncio.run(_sft(config, learner))
    finally:
        learner.close()


def learner_config(config: SftConfig) -> TrainConfig:
    """The settings of a learner (and of the players of an evaluation) for a warm start."""
    data, evaluation = config.data, config.evaluation
    environments = []
    if data.env is not None:
        environments = [EnvironmentSettings(env=data.env, options=data.options, format=data.format)]
    return TrainConfig(
        run=config.run,
        model=config.model,
        environments=environments,
        rollout=RolloutSettings(
            max_prompt_tokens=data.max_tokens,
            max_episode_tokens=data.max_tokens,
            max_turn_tokens=evaluation.max_turn_tokens,
        ),
        batch=config.batch,
        loss=LossSettings(old_logprobs="learner", shuffle=False),
        optim=config.optim,
        fsdp=config.fsdp,
        evaluation=EvaluationSettings(
            every=evaluation.every,
            before=False,
            split=evaluation.split,
            tasks=evaluation.tasks,
            temperature=evaluation.temperature,
            max_steps=evaluation.max_steps,
        ),
        launch=config.launch,
    )


async def _sft(config: SftConfig, learner: Learner) -> Summary:
    renderer = load_renderer(config.model.path)
    if config.data.files:
        records = read(config.data, renderer)
    elif config.data.env is not None:
        records = await demonstrate(get_spec(config.data.env), config.data, renderer)
    else:
        raise BadSetting("data: name an environment (data.env=maze) or files of records (data.files=[o.jsonl])")
    kept, left = chosen(records, config.data)
    steps = config.run.steps or max(1, len(kept) * config.run.epochs // config.episodes_per_step)
    trackers = open_trackers(
        config.run.trackers,
        Path(config.run.dir),
        project=config.run.project,
        name=config.run.name,
        config=plain(config),
        first=1,
        total=steps,
    )
    try:
        summary = await _steps(config, learner, kept, steps, trackers)
    finally:
        for tracker in trackers:
            tracker.close()
    learner.export(Path(config.out) if config.out else Path(config.run.dir) / "model")
    summary.metrics |= {f"left_out/{reason}": float(n) for reason, n in left.items()}
    return summary


async def _steps(
    config: SftConfig, learner: Learner, kept: Sequence[Trajectory], steps: int, trackers: Sequence[object]
) -> Summary:
    from contextlib import AsyncExitStack

    settings = learner_config(config)
    renderer = load_renderer(config.model.path)
    reason, metrics, step = "complete", {}, 0
    async with AsyncExitStack() as stack:
        rooms: list[Room] = []
        if config.evaluation.every is not None:
            rooms = await stack.enter_async_context(open_rooms(settings))
            engine = await stack.enter_async_context(make_engine(settings))
        for step in range(1, steps + 1):
            batch = demonstration_batch(kept, config, step)
            metrics = dict(learner.update(batch).metrics)
            metrics["train/episodes"] = float(len(batch.episodes))
            if config.evaluation.every is not None and step % config.evaluation.every == 0:
                await engine.push(learner.weights(), step)
                found = await validate(rooms, validation_players(engine, renderer, settings), settings)
                metrics |= found.metrics
                reason = _mark(config, found.metrics["validation/success"], step)
            for tracker in trackers:
                tracker.log(step, metrics)  # type: ignore[attr-defined]
            if reason != "complete":
                break
    if config.evaluation.stop_at is not None and reason == "complete":
        raise WentTooFar(f"{steps} steps, and success never reached evaluation.stop_at={config.evaluation.stop_at:g}")
    return Summary(step=step, updates=step, reason=reason, metrics=metrics)


def _mark(config: SftConfig, success: float, step: int) -> str:
    stop_at, too_far = config.evaluation.stop_at, config.evaluation.too_far
    if stop_at is None or success < stop_at:
        return "complete"
    if too_far is not None and success > too_far:
        raise WentTooFar(
            f"step {step}: success {success:.3f} is past evaluation.too_far={too_far:g}; "
            "set evaluation.every or optim.lr smaller"
        )
    return f"success {success:.3f} reached evaluation.stop_at={stop_at:g}"


def demonstration_batch(records: Sequence[Trajectory], config: SftConfig, step: int) -> TokenBatch:
    """The episodes of a step, every sampled token with advantage 1; an order of its own each pass."""
    size = config.episodes_per_step
    chosen_records = [_at(records, (step - 1) * size + i, config.run.seed) for i in range(size)]
    return TokenBatch(step=step, policy_version=0, episodes=[_imitated(r, n) for n, r in enumerate(chosen_records)])


def _at(records: Sequence[Trajectory], position: int, seed: int) -> Trajectory:
    epoch, index = divmod(position, len(records))
    order = list(range(len(records)))
    random.Random(digest_of(["sft", seed, epoch])).shuffle(order)
    return records[order[index]]


def _imitated(record: Trajectory, group: int) -> Episode:
    episode = episode_of(record, group=group)
    for segment in episode.segments:
        segment.advantages = segment.mask.astype(np.float32)
    return episode
