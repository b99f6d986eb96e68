"""Batches of episodes made by hand or by hypothesis: ragged, with observations between actions, whole or split.

Where a token was not sampled, every array holds NaN: whatever reads there shows it.
"""

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from agentenv.protocol import Outcome
from trainers.batch import Episode, Segment, TokenBatch

LEARNED = (Outcome.SUCCESS, Outcome.FAILURE, Outcome.STEP_LIMIT, Outcome.CONTEXT_FULL)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Plan:
    """An episode before it is cut into segments."""

    turns: Sequence[tuple[int, int]]
    """By turn: tokens of the observation, tokens sampled."""
    rewards: Sequence[float]
    seed: int = 0
    """Of values and log-probabilities."""
    outcome: Outcome = Outcome.SUCCESS
    group: int = 0
    member: int = 0
    env: str = "maze"
    after: float | None = None
    baseline: float | None = None

    @property
    def sampled(self) -> int:
        return sum(n for _, n in self.turns)

    def numbers(self, name: str) -> np.ndarray:
        """[N] one kind of numbers at the sampled tokens, as float32."""
        kinds = ("values", "engine_logprobs", "old_logprobs", "ref_logprobs")
        rng = np.random.default_rng([self.seed, kinds.index(name)])
        drawn = rng.normal(size=self.sampled)
        return (drawn if name == "values" else -np.abs(drawn)).astype(np.float32)


def episode_of(plan: Plan, *, cuts: Sequence[int] = (), context: int = 2) -> Episode:
    """The episode of `plan`, split before the turns in `cuts`; a split brings `context` further unsampled tokens."""
    starts = [0, *sorted({c for c in cuts if 0 < c < len(plan.turns)}), len(plan.turns)]
    segments, at = [], 0
    for first, end in itertools.pairwise(starts):
        turn: list[int] = [-1] * (context if first else 0)
        for k in range(first, end):
            turn += [-1] * plan.turns[k][0] + [k] * plan.turns[k][1]
        turn_T = np.array(turn, np.int64)
        mask_T = turn_T >= 0
        arrays = {}
        for name in ("values", "engine_logprobs", "old_logprobs", "ref_logprobs"):
            array_T = np.full(len(turn_T), np.nan, np.float32)
            array_T[mask_T] = plan.numbers(name)[at : at + mask_T.sum()]
            arrays[name] = array_T
        segments.append(Segment(tokens=np.arange(len(turn_T)), mask=mask_T, turn=turn_T, **arrays))
        at += int(mask_T.sum())
    return Episode(
        env=plan.env,
        task=f"{plan.env}/train/{plan.group}",
        group=plan.group,
        member=plan.member,
        outcome=plan.outcome,
        segments=segments,
        turn_rewards=list(plan.rewards),
        truncated_value=plan.after,
        baseline=plan.baseline,
    )


def batch_of(plans: Sequence[Plan], *, cuts: Sequence[Sequence[int]] | None = None) -> TokenBatch:
    """One episode for each plan."""
    every = cuts or [()] * len(plans)
    return TokenBatch(
        step=1, policy_version=1, episodes=[episode_of(p, cuts=c) for p, c in zip(plans, every, strict=True)]
    )


def dense(episode: Episode) -> dict[str, list]:
    """The episode as one row of positions: mask, turn, values, k1 and the reward of each, for the reference."""
    mask = [int(m) for s in episode.segments for m in s.mask]
    turn = [int(t) for s in episode.segments for t in s.turn]
    rewards = [0.0] * len(mask)
    for k, reward in enumerate(episode.turn_rewards):
        rewards[max(t for t in range(len(mask)) if turn[t] == k)] = reward
    values = [float(v) for s in episode.segments for v in s.values]
    k1 = [float(o) - float(r) for s in episode.segments for o, r in zip(s.old_logprobs, s.ref_logprobs, strict=True)]
    return {"mask": mask, "turn": turn, "rewards": rewards, "values": values, "k1": k1}


def joined(episode: Episode, name: str) -> list[float]:
    """One array over every segment."""
    return [float(x) for s in episode.segments for x in getattr(s, name)]


finite = st.floats(-2, 2, width=32)


@st.composite
def plans(draw, *, groups: int = 3, members: int = 3) -> list[Plan]:
    """The plans of a batch: groups of two or more, episodes of one to four turns."""
    made = []
    for group in range(draw(st.integers(1, groups))):
        baseline, env = draw(finite), draw(st.sampled_from(["maze", "wordle"]))
        for member in range(draw(st.integers(2, members))):
            turns = draw(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=4))
            outcome = draw(st.sampled_from(LEARNED))
            made.append(
                Plan(
                    turns=turns,
                    rewards=draw(st.lists(finite, min_size=len(turns), max_size=len(turns))),
                    seed=draw(st.integers(0, 2**20)),
                    outcome=outcome,
                    group=group,
                    member=member,
                    env=env,
                    after=draw(finite) if outcome.bootstraps else None,
                    baseline=baseline,
                )
            )
    return made


def splits(made: Sequence[Plan]) -> st.SearchStrategy[list[list[int]]]:
    """Where each episode of `made` is split."""
    return st.tuples(*(st.lists(st.integers(1, 3), max_size=3) for _ in made)).map(list)
