"""The loop of the warm start. Its gradient is that of the mean log-probability of demonstrated tokens.

A batch of demonstrations with every advantage 1 and one optimizer step is exactly that: the ratio is 1, and the
gradient of -ratio * 1 is the gradient of -log p. So the learner of reinforcement learning is the learner here.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import numpy as np

from agentenv.errors import AgentEnvError
from agentenv.protocol import digest_of
from agentenv.registry import get_spec
from agentenv.render import Renderer
from agentenv.trained_on import inherited, write_trained_on
from agentenv.trajectory import Trajectory
from trainers.audit import audit_batch
from trainers.batch import Episode, TokenBatch
from trainers.config import (
    BatchSettings,
    EnvironmentSettings,
    EvaluationSettings,
    LossSettings,
    RolloutSettings,
    TrainConfig,
)
from trainers.engines.folder import config_of
from trainers.episodes import episode_of
from trainers.learner import Learner
from trainers.loop import Summary
from trainers.parts import make_engine, make_learner, make_renderer
from trainers.players import validation_players
from trainers.plots import draw
from trainers.rooms import Room, open_rooms
from trainers.settings import BadSetting, plain
from trainers.sft.config import SftConfig
from trainers.sft.demonstrations import chosen, demonstrate, read
from trainers.trackers import Tracker, open_trackers
from trainers.validate import validate


class WentTooFar(AgentEnvError):
    """Success passed the mark between two evaluations."""

    code = "went_too_far"


class NeverReached(AgentEnvError):
    """Success did not reach the mark in the steps that there were."""

    code = "never_reached"


def sft(config: SftConfig, *, backend: str = "fsdp") -> Summary | None:
    """Imitate, and export the model. None on ranks that only learn."""
    check_together(config)
    learner = make_learner(learner_config(config), backend)
    follow = getattr(learner, "follow", None)
    if follow is not None and not learner.leads:  # type: ignore[attr-defined]
        follow()
        return None
    try:
        return asyncio.run(_sft(config, learner))
    finally:
        learner.close()


def check_together(config: SftConfig) -> None:
    """Raise BadSetting for settings that do not go together, or not with the model."""
    evaluation, problems = config.evaluation, []
    if not config.data.files and config.data.env is None:
        problems.append("data: name an environment (data.env=maze) or files of records (data.files=[o.jsonl])")
    if evaluation.every is not None and config.data.env is None:
        problems.append("evaluation.every needs data.env, the environment that is played")
    if evaluation.stop_at is not None and evaluation.every is None:
        problems.append(f"evaluation.stop_at={evaluation.stop_at:g} needs evaluation.every")
    if evaluation.too_far is not None and (evaluation.stop_at is None or evaluation.too_far < evaluation.stop_at):
        problems.append(f"evaluation.too_far={evaluation.too_far:g} needs an evaluation.stop_at below it")
    if problems:
        raise BadSetting("\n".join(problems))
    positions = config_of(config.model.path).get("max_position_embeddings")
    if positions is not None and config.data.max_tokens > positions:
        raise BadSetting(
            f"data.max_tokens={config.data.max_tokens} is more than the {positions} positions of {config.model.path}"
        )


def learner_config(config: SftConfig) -> TrainConfig:
    """The settings of a learner (and of the players of an evaluation) for a warm start."""
    data, evaluation = config.data, config.evaluation
    environments = []
    if data.env is not None:
        environments = [EnvironmentSettings(env=data.env, options=data.options, split=data.split, format=data.format)]
    return TrainConfig(
        run=config.run,
        model=config.model,
        environments=environments,
        rollout=RolloutSettings(
            max_prompt_tokens=data.max_tokens,
            max_episode_tokens=data.max_tokens,
            max_turn_tokens=evaluation.max_turn_tokens,
            template_date=data.template_date,
            template_options=data.template_options,
        ),
        batch=BatchSettings(
            episodes_per_microbatch=config.batch.episodes_per_microbatch,
            tokens_per_microbatch=config.batch.tokens_per_microbatch,
            packing=config.batch.packing,
        ),
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
    renderer = make_renderer(learner_config(config))
    if config.data.files:
        records = read(config.data, renderer)
    else:
        assert config.data.env is not None
        records = await demonstrate(get_spec(config.data.env), config.data, renderer)
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
        summary = await _steps(config, learner, renderer, kept, steps, trackers)
    finally:
        for tracker in trackers:
            tracker.close()
    out = Path(config.out) if config.out else Path(config.run.dir) / "model"
    learner.export(out)
    write_trained_on(out, {*(r.task.digest for r in kept), *inherited(config.model.path)})
    if config.run.plots:
        draw(Path(config.run.dir))
    summary.metrics |= {f"left_out/{reason}": float(n) for reason, n in left.items()}
    return summary


async def _steps(
    config: SftConfig,
    learner: Learner,
    renderer: Renderer,
    kept: Sequence[Trajectory],
    steps: int,
    trackers: Sequence[Tracker],
) -> Summary:
    settings = learner_config(config)
    reason, metrics, step = "complete", {}, 0
    async with AsyncExitStack() as stack:
        rooms: list[Room] = []
        if config.evaluation.every is not None:
            rooms = await stack.enter_async_context(open_rooms(settings))
            engine = await stack.enter_async_context(make_engine(settings, renderer.stop_ids))
        for step in range(1, steps + 1):
            started = time.monotonic()
            batch = demonstration_batch(kept, config, step, steps=steps)
            if step == 1:
                audit_batch(batch, renderer).raise_on_error("the first batch")
            metrics = figures(learner.update(batch).metrics)
            metrics["train/episodes"] = float(len(batch.episodes))
            metrics["time/learn_s"] = time.monotonic() - started
            if config.evaluation.every is not None and step % config.evaluation.every == 0:
                await engine.push(learner.weights(), step)
                found = await validate(rooms, validation_players(engine, renderer, settings), settings)
                metrics |= found.metrics
                metrics["time/validate_s"] = time.monotonic() - started - metrics["time/learn_s"]
            metrics["time/step_s"] = time.monotonic() - started
            for tracker in trackers:
                tracker.log(step, metrics)
            if "validation/success" in metrics:
                reason = _mark(config, metrics["validation/success"], step)
            if reason != "complete":
                break
    if config.evaluation.stop_at is not None and reason == "complete":
        raise NeverReached(f"{steps} steps, and success never reached evaluation.stop_at={config.evaluation.stop_at:g}")
    return Summary(step=step, updates=step, reason=reason, metrics=metrics)


def figures(metrics: Mapping[str, float]) -> dict[str, float]:
    """What an update tells, as a warm start means it: `loss/nll`, in place of what advantages of 1 make constant."""
    kept = {name: value for name, value in metrics.items() if not name.startswith(("loss/", "policy/", "share/"))}
    if "policy/logprob" in metrics:  # another backend may not tell it
        kept["loss/nll"] = -metrics["policy/logprob"]
    if "policy/entropy" in metrics:
        kept["policy/entropy"] = metrics["policy/entropy"]
    return kept


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


def demonstration_batch(
    records: Sequence[Trajectory], config: SftConfig, step: int, *, steps: int | None = None
) -> TokenBatch:
    """The episodes of a step, every sampled token with advantage 1; an order of its own each pass.

    `steps`: of the whole warm start.
    """
    size = config.episodes_per_step
    chosen_records = [_at(records, (step - 1) * size + i, config.run.seed) for i in range(size)]
    episodes = [_imitated(record, number) for number, record in enumerate(chosen_records)]
    return TokenBatch(step=step, policy_version=0, episodes=episodes, steps=steps)


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
