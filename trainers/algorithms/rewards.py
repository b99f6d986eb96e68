"""From what an episode earned to what is learned, and which outcomes are learned from.

`keeps`, `refills` and `bootstraps` are the table of outcomes; `turn_rewards` is the reward of each turn.
"""

from __future__ import annotations

import math

from agentenv.errors import AgentEnvError
from agentenv.protocol import Outcome
from agentenv.registry import EnvSpec
from agentenv.trajectory import Trajectory
from trainers.config import EnvironmentSettings, LossSettings, RewardSettings, TrainConfig

LOST = frozenset({Outcome.ENV_ERROR, Outcome.INFRA_LOST, Outcome.AGENT_ERROR})


class MissingReward(AgentEnvError):
    """An episode has no reward of the kind that was asked for; 0 in its place would teach something false."""

    code = "missing_reward"


def keeps(outcome: Outcome, loss: LossSettings) -> bool:
    """Whether an episode stands in the statistics of its group and in the loss."""
    return outcome.trains and not (outcome is Outcome.CONTEXT_FULL and loss.mask_context_full)


def refills(outcome: Outcome) -> bool:
    """Whether the same task is played again in its place: it was lost through no act of the policy."""
    return outcome in LOST


def bootstraps(outcome: Outcome) -> bool:
    """Whether the value of the state after the last action counts (gae)."""
    return outcome.bootstraps


def normalizes(config: TrainConfig) -> bool:
    """Whether sums and last rewards are mapped to [0, 1]: as set, by default with several environments."""
    chosen = config.reward.normalize
    return len(config.environments) > 1 if chosen is None else chosen


def turn_rewards(
    trajectory: Trajectory, *, env: EnvironmentSettings, reward: RewardSettings, spec: EnvSpec, normalize: bool
) -> list[float]:
    """The reward of each turn, after every `reward.*` setting; their sum is the episode's reward.

    With `placement: outcome`, and for a source that exists only once, all of it stands on the last turn. A shift of
    the range by `normalize` stands there too, so that the sum is the mapped return.
    Raises MissingReward where the source has no finite value.
    """
    if not trajectory.turns:
        raise MissingReward(f"{trajectory.task.id}: an episode without a turn has no place for a reward")
    earned = _earned(trajectory, env.reward)
    if normalize:
        shift, width = _range(spec, env.reward)
        earned = [r / width for r in earned]
        earned[-1] -= shift / width
    scaled = [r * reward.scale for r in earned]
    if reward.placement == "outcome":
        return [0.0] * (len(scaled) - 1) + [math.fsum(scaled)]
    return scaled


def _earned(trajectory: Trajectory, source: str) -> list[float]:
    """What the source says, by turn."""
    before = [0.0] * (len(trajectory.turns) - 1)
    if source == "sum":
        return [_number(t.reward, trajectory, f"the reward of turn {i}") for i, t in enumerate(trajectory.turns)]
    if source == "last":
        return [*before, _number(trajectory.turns[-1].reward, trajectory, "the reward of the last turn")]
    if source == "success":
        return [*before, _number(trajectory.success, trajectory, "success")]
    return [*before, _number(trajectory.score, trajectory, "the score (environments[].reward=score)")]


def _number(value: float | None, trajectory: Trajectory, what: str) -> float:
    if value is None or not math.isfinite(value):
        raise MissingReward(f"{trajectory.task.id}: {what} is {value}; a missing reward is never taken as 0")
    return float(value)


def _range(spec: EnvSpec, source: str) -> tuple[float, float]:
    """Low end and width of the card's range for this source; success and score are left as they are."""
    if source not in ("sum", "last"):
        return 0.0, 1.0
    name = "return_range" if source == "sum" else "reward_range"
    low, high = getattr(spec, name)
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise MissingReward(
            f"the card of {spec.id} has {name} {low}..{high}, which cannot be mapped to 0..1; "
            "set reward.normalize=false or another environments[].reward"
        )
    return low, high - low
