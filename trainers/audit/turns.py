"""Rules for the ids of one sampled turn, wherever they are kept."""

from __future__ import annotations

import math
from collections.abc import Sequence

from agentenv.render import Renderer
from trainers.audit.report import Report

ABOVE_ZERO = 1e-5
"""How far over 0 rounding may carry a log-probability."""


def check_vocabulary(report: Report, where: str, ids: Sequence[int], size: int, what: str) -> None:
    """Every id is one that the tokenizer has."""
    outside = [i for i in ids if not 0 <= i < size]
    if outside:
        report.error("vocabulary", where, f"{what} has ids outside 0..{size - 1}: {outside[:5]}")


def check_logprobs(report: Report, where: str, logprobs: Sequence[float], what: str) -> None:
    """Every log-probability is finite and not over 0."""
    wrong = [v for v in logprobs if not math.isfinite(v) or v > ABOVE_ZERO]
    if wrong:
        report.error("logprobs", where, f"{what}: {len(wrong)} of {len(logprobs)} are no log-probability: {wrong[:5]}")


def check_end(report: Report, where: str, ids: Sequence[int], renderer: Renderer) -> None:
    """Sampling stops at an end; nothing is sampled behind one."""
    early = [n for n, i in enumerate(ids[:-1]) if i in renderer.stop_ids]
    if early:
        report.error("end", where, f"sampled on behind an end at token {early[0]} of {len(ids)}")


def check_size(report: Report, where: str, ids: Sequence[int], renderer: Renderer) -> None:
    """A turn has a token, and more than its end."""
    if not len(ids):
        report.warn("empty", where, "no token was sampled: nothing of this turn is trained")
    elif len(ids) == 1 and ids[0] in renderer.stop_ids:
        report.warn("only_end", where, "the end is all that was sampled")


def check_join(report: Report, where: str, sampled: Sequence[int], added: Sequence[int], renderer: Renderer) -> None:
    """What follows a turn begins with its end, where the turn itself has none."""
    end = renderer.missing_end(sampled)
    if end and list(added[: len(end)]) != end:
        report.error("turn_end", where, f"the turn has no end, and what follows does not begin with it ({end})")
