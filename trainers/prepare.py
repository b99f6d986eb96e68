"""From a collected phase to a batch that can be learned from: tokens, rewards, log-probabilities, values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from agentenv.render import Renderer
from trainers.algorithms.rewards import keeps, normalizes, turn_rewards
from trainers.batch import Episode, TokenBatch
from trainers.collect import GREEDY, Collected, Played
from trainers.config import TrainConfig
from trainers.episodes import episode_of, policy_version_of
from trainers.learner import Learner
from trainers.rooms import Room


def batch_of(
    collected: Collected, rooms: Sequence[Room], config: TrainConfig, renderer: Renderer, *, step: int
) -> TokenBatch:
    """The episodes whose outcome trains, with shaped rewards. Every turn must come from one version of the weights."""
    kept = [p for p in collected.played if p.trajectory.outcome.trains and p.trajectory.turns]
    members = [p for p in kept if p.place.member != GREEDY]
    greedy = [p for p in kept if p.place.member == GREEDY and keeps(p.trajectory.outcome, config.loss)]
    baselines = {p.place.slot.group: sum(_rewards(p, rooms, config)) for p in greedy}
    episodes = [_episode(p, rooms, config, renderer, baselines.get(p.place.slot.group)) for p in members]
    version = policy_version_of([p.trajectory for p in kept]) if kept else -1
    left_out = Counter(p.trajectory.outcome.value for p in collected.played if p not in kept)
    return TokenBatch(
        step=step,
        policy_version=version,
        episodes=episodes,
        counts=collected.counts | {f"not_trained_{name}": n for name, n in sorted(left_out.items())},
    )


def _episode(
    played: Played, rooms: Sequence[Room], config: TrainConfig, renderer: Renderer, baseline: float | None
) -> Episode:
    critic = config.algorithm.estimator == "gae"
    episode = episode_of(
        played.trajectory,
        group=played.place.slot.group,
        member=played.place.member,
        renderer=renderer if critic else None,
        max_tokens=config.rollout.max_episode_tokens,
    )
    episode.env = rooms[played.place.slot.env].name
    episode.turn_rewards = _rewards(played, rooms, config)
    episode.baseline = baseline
    return episode


def _rewards(played: Played, rooms: Sequence[Room], config: TrainConfig) -> list[float]:
    room = rooms[played.place.slot.env]
    return turn_rewards(
        played.trajectory,
        env=room.settings,
        reward=config.reward,
        spec=room.pool.spec,
        normalize=normalizes(config),
    )


def score(batch: TokenBatch, learner: Learner, config: TrainConfig) -> None:
    """Set what the learner says about a batch before it learns from it: old and reference log-probabilities, values."""
    segments = list(batch.segments)
    if not segments:
        return
    if config.loss.old_logprobs == "learner" and needs_old(config, batch.step):
        for segment, array in zip(segments, learner.logprobs(batch), strict=True):
            segment.old_logprobs = array
    elif config.loss.old_logprobs == "engine":
        for segment in segments:
            segment.old_logprobs = segment.engine_logprobs
    if config.kl.placement != "none":
        for segment, array in zip(segments, learner.logprobs(batch, reference=True), strict=True):
            segment.ref_logprobs = array
    if config.algorithm.estimator == "gae":
        values, finals = learner.values(batch)
        for segment, array in zip(segments, values, strict=True):
            segment.values = array
        for episode, value in zip(batch.episodes, finals, strict=True):
            episode.truncated_value = value if episode.outcome.bootstraps else None


def needs_old(config: TrainConfig, step: int) -> bool:
    """Whether a pass for old log-probabilities is made: not when one optimizer step is all that a batch gets.

    While the critic warms up the policy runs here alone, so that the distance to the engine is told.
    """
    size = config.batch.tasks_per_minibatch or config.batch.tasks_per_step
    several = config.loss.epochs > 1 or size < config.batch.tasks_per_step
    warming_up = config.algorithm.estimator == "gae" and step <= config.critic.warmup_steps
    return several or config.kl.placement != "none" or config.loss.tis.enabled or warming_up
