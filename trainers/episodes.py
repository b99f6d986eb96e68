"""From the record of an episode to what is trained: its tokens in segments, with masks.

Example: prompt P, sampled A, added E, sampled B becomes one segment `P+A+E+B` with the mask True on A and B. A turn
whose prompt is fresh opens another segment. Lengths come from the record, never from the value of a token.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from agentenv.errors import BadCall
from agentenv.render import Renderer
from agentenv.trajectory import Trajectory, Turn
from trainers.batch import Episode, Ints, Segment


def episode_of(
    trajectory: Trajectory,
    *,
    group: int = 0,
    member: int = 0,
    renderer: Renderer | None = None,
    max_tokens: int | None = None,
) -> Episode:
    """The episode of a trajectory that carries tokens; its rewards are the steps' own, in the environment's scale.

    With a renderer, an episode that was cut at its step limit gets its final tokens, unless the last segment would
    grow over `max_tokens` by them. BadCall names a turn that cannot be trained.
    """
    segments = segments_of(trajectory)
    return Episode(
        env=trajectory.env,
        task=trajectory.task.id,
        group=group,
        member=member,
        outcome=trajectory.outcome,
        segments=segments,
        turn_rewards=[turn.reward for turn in trajectory.turns],
        final_tokens=_final_tokens(trajectory, segments, renderer, max_tokens) if renderer is not None else None,
    )


def segments_of(trajectory: Trajectory) -> list[Segment]:
    """The tokens of an episode in the contexts in which they were sampled."""
    contexts: list[list[tuple[int, Turn]]] = []
    for number, turn in enumerate(trajectory.turns):
        _check(trajectory, number, turn)
        if turn.fresh:
            contexts.append([])
        elif not contexts:
            raise BadCall(f"{_name(trajectory)}: the first turn continues a prompt that the record does not have")
        contexts[-1].append((number, turn))
    return [_segment(turns) for turns in contexts]


def policy_version_of(trajectories: Iterable[Trajectory]) -> int:
    """The one weight version that sampled every turn; BadCall when there are several, or none."""
    seen: dict[int, str] = {}
    for trajectory in trajectories:
        for number, turn in enumerate(trajectory.turns):
            if turn.policy_version is None:
                raise BadCall(f"{_name(trajectory)}, turn {number}: no policy_version")
            seen.setdefault(turn.policy_version, f"{_name(trajectory)}, turn {number}")
    if len(seen) != 1:
        found = "; ".join(f"{version} in {where}" for version, where in seen.items())
        raise BadCall(f"a batch must have one policy_version, not {len(seen)}{': ' if found else ''}{found}")
    return next(iter(seen))


def _segment(turns: Sequence[tuple[int, Turn]]) -> Segment:
    tokens: list[int] = []
    mask: list[bool] = []
    numbers: list[int] = []
    logprobs: list[float] = []
    for number, turn in turns:
        added, sampled = turn.prompt_ids or [], turn.token_ids or []
        tokens += [*added, *sampled]
        mask += [False] * len(added) + [True] * len(sampled)
        numbers += [-1] * len(added) + [number] * len(sampled)
        logprobs += [0.0] * len(added) + list(turn.logprobs or [])
    return Segment(
        tokens=np.asarray(tokens, np.int64),
        mask=np.asarray(mask, np.bool_),
        turn=np.asarray(numbers, np.int64),
        engine_logprobs=np.asarray(logprobs, np.float32),
    )


def _final_tokens(
    trajectory: Trajectory, segments: Sequence[Segment], renderer: Renderer, max_tokens: int | None
) -> Ints | None:
    if not trajectory.outcome.bootstraps or not segments:
        return None
    shown = [{"role": "user", "content": trajectory.final_observation}]
    ids = renderer.extend(shown, after=trajectory.turns[-1].token_ids or [])
    if max_tokens is not None and len(segments[-1]) + len(ids) > max_tokens:
        return None
    return np.asarray(ids, np.int64)


def _check(trajectory: Trajectory, number: int, turn: Turn) -> None:
    where = f"{_name(trajectory)}, turn {number}"
    if turn.prompt_ids is None or turn.token_ids is None or turn.logprobs is None or turn.fresh is None:
        raise BadCall(f"{where}: the record has no tokens; play it with an engine of this project")
    if len(turn.token_ids) != len(turn.logprobs):
        raise BadCall(f"{where}: {len(turn.token_ids)} tokens with {len(turn.logprobs)} log-probabilities")


def _name(trajectory: Trajectory) -> str:
    return trajectory.task.id
