"""What an episode adds to the counters of its task and of its run; and the same from all episodes, counted anew."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnElement, Select, case, func, select

from evals.store.schema import EpisodeRow, SlotRow

TASK_SUMS = (
    "valid", "success", "lost", "invalid_tries", "reward_sum", "steps_sum", "success_steps_sum", "malformed_sum",
    "seconds_sum", "success_seconds_sum", "score_sum", "scored", "tokens_sum", "success_tokens_sum", "told", "cost_sum",
    "priced",
)  # fmt: skip
"""Columns of `tasks` that episodes add to."""

RUN_SUMS = ("tries", "valid", "lost", "prompt_tokens", "completion_tokens", "cost", "priced")
"""Columns of `runs`, likewise."""


def task_additions(episode: Mapping[str, Any], *, lost: bool) -> dict[str, int | float]:
    """By column of `tasks`; an invalid try counts as one and adds nothing else."""
    none: dict[str, int | float] = dict.fromkeys(TASK_SUMS, 0)
    if not episode["valid"]:
        return {**none, "invalid_tries": 1, "lost": int(lost)}
    success, seconds = bool(episode["success"]), episode["seconds"]
    known = _tokens(episode)
    return {
        **none,
        "valid": 1,
        "success": int(success),
        "reward_sum": episode["reward"],
        "steps_sum": episode["steps"],
        "success_steps_sum": episode["steps"] if success else 0,
        "malformed_sum": episode["malformed"],
        "seconds_sum": seconds,
        "success_seconds_sum": seconds if success else 0.0,
        "score_sum": episode["score"] or 0.0,
        "scored": int(episode["score"] is not None),
        "tokens_sum": known or 0,
        "success_tokens_sum": (known or 0) if success else 0,
        "told": int(known is not None),
        "cost_sum": episode["cost"] or 0.0,
        "priced": int(episode["cost"] is not None),
    }


def run_additions(episode: Mapping[str, Any], *, lost: bool) -> dict[str, int | float]:
    """By column of `runs`. Tokens and cost are those of every try: an invalid one was paid for, too."""
    return {
        "tries": 1,
        "valid": int(episode["valid"]),
        "lost": int(lost),
        "prompt_tokens": episode["prompt_tokens"] or 0,
        "completion_tokens": episode["completion_tokens"] or 0,
        "cost": episode["cost"] or 0.0,
        "priced": int(episode["cost"] is not None),
    }


def counted(run: str) -> Select[Any]:
    """`position` and the counters of each task of a run, from the episodes that count."""
    e = EpisodeRow
    valid: ColumnElement[bool] = e.valid.is_(True)
    success: ColumnElement[bool] = valid & e.success.is_(True)
    known = e.prompt_tokens + e.completion_tokens
    sums: dict[str, ColumnElement[Any]] = {
        "valid": _over(valid, 1),
        "success": _over(success, 1),
        "invalid_tries": _over(e.valid.is_(False), 1),
        "reward_sum": _over(valid, e.reward),
        "steps_sum": _over(valid, e.steps),
        "success_steps_sum": _over(success, e.steps),
        "malformed_sum": _over(valid, e.malformed),
        "seconds_sum": _over(valid, e.seconds),
        "success_seconds_sum": _over(success, e.seconds),
        "score_sum": _over(valid, func.coalesce(e.score, 0)),
        "scored": _over(valid & e.score.is_not(None), 1),
        "tokens_sum": _over(valid, func.coalesce(known, 0)),
        "success_tokens_sum": _over(success, func.coalesce(known, 0)),
        "told": _over(valid & known.is_not(None), 1),
        "cost_sum": _over(valid, func.coalesce(e.cost, 0)),
        "priced": _over(valid & e.cost.is_not(None), 1),
    }
    return (
        select(SlotRow.position, *(total.label(name) for name, total in sums.items()))
        .outerjoin(e, (e.run_id == SlotRow.run_id) & (e.slot == SlotRow.slot) & e.superseded.is_(False))
        .where(SlotRow.run_id == run)
        .group_by(SlotRow.position)
        .order_by(SlotRow.position)
    )


def _over(condition: ColumnElement[bool], value: Any) -> ColumnElement[Any]:
    """Sum of `value` over the rows on which the condition holds; 0 where there is none."""
    return func.coalesce(func.sum(case((condition, value), else_=0)), 0)


def _tokens(episode: Mapping[str, Any]) -> int | None:
    prompt, completion = episode["prompt_tokens"], episode["completion_tokens"]
    return None if prompt is None or completion is None else prompt + completion
