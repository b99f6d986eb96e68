"""The audit of a batch that is about to be learned from: masks against advantages, and every number in its place.

Legend of dimensions: T tokens of one segment.
"""

from __future__ import annotations

import itertools

import numpy as np

from agentenv.render import Renderer
from trainers.audit.report import Report
from trainers.audit.turns import check_end, check_join, check_logprobs, check_size, check_vocabulary
from trainers.batch import Episode, Floats, Segment, TokenBatch

OPTIONAL = ("old_logprobs", "ref_logprobs", "values", "advantages", "returns")
"""Arrays that a batch gets on its way; each is 0 where nothing was sampled."""


def audit_batch(batch: TokenBatch, renderer: Renderer) -> Report:
    """What stands in the way of learning from this batch; call `raise_on_error` on the report."""
    report = Report(counts={"episodes": len(batch.episodes), "turns": 0, "tokens": 0, "trained": 0})
    if not batch.episodes:
        report.error("empty", f"step {batch.step}", "a batch without episodes")
    seen: set[tuple[int, int]] = set()
    for number, episode in enumerate(batch.episodes):
        where = f"episode {number} ({episode.task}, member {episode.member})"
        if (episode.group, episode.member) in seen:
            report.error("once", where, f"member {episode.member} of group {episode.group} stands in the batch twice")
        seen.add((episode.group, episode.member))
        _check_episode(report, where, episode, renderer)
    return report


def _check_episode(report: Report, where: str, episode: Episode, renderer: Renderer) -> None:
    report.count("turns", len(episode.turn_rewards))
    if not episode.outcome.trains:
        report.error("outcome", where, f"an episode that ended as {episode.outcome} is not trained")
    if not np.isfinite(episode.turn_rewards).all():
        report.error("reward", where, f"rewards must be finite: {episode.turn_rewards}")
    sound = [_check_shape(report, f"{where}, segment {n}", s) for n, s in enumerate(episode.segments)]
    if not all(sound):
        return
    report.count("tokens", sum(len(s) for s in episode.segments))
    report.count("trained", episode.sampled)
    if not episode.sampled:
        report.error("empty", where, "an episode without a sampled token")
    for number, segment in enumerate(episode.segments):
        _check_segment(report, f"{where}, segment {number}", segment, renderer)
    _check_turns(report, where, episode)
    if episode.final_tokens is not None:
        check_vocabulary(report, where, episode.final_tokens.tolist(), renderer.vocab_size, "the final observation")


def _check_shape(report: Report, where: str, segment: Segment) -> bool:
    """Every array has one number for each token."""
    names = ("mask", "turn", "engine_logprobs", *OPTIONAL, "value_mask")
    arrays = {name: getattr(segment, name) for name in names}
    wrong = {n: a.shape for n, a in arrays.items() if a is not None and a.shape != segment.tokens.shape}
    if wrong:
        report.error("shape", where, f"{len(segment)} tokens, but {wrong}")
    return not wrong


def _check_segment(report: Report, where: str, segment: Segment, renderer: Renderer) -> None:
    mask_T = segment.mask
    check_vocabulary(report, where, segment.tokens.tolist(), renderer.vocab_size, "the segment")
    if len(segment) and mask_T[0]:
        report.error("mask", where, "the first token is trained, but nothing stands before it to predict it from")
    if not np.array_equal(mask_T, segment.turn >= 0):
        report.error("mask", where, "the mask and the turns of the tokens do not agree")
    if segment.advantages is None:
        report.error("advantage", where, "no advantages")
    check_logprobs(report, where, segment.engine_logprobs[mask_T].tolist(), "engine")
    for name in ("old_logprobs", "ref_logprobs"):
        array: Floats | None = getattr(segment, name)
        if array is not None:
            check_logprobs(report, where, array[mask_T].tolist(), name)
    for name in ("engine_logprobs", *OPTIONAL):
        _check_numbers(report, where, segment, name)
    _check_ends(report, where, segment, renderer)


def _check_numbers(report: Report, where: str, segment: Segment, name: str) -> None:
    """Finite on every sampled token, 0 on every other."""
    array: Floats | None = getattr(segment, name)
    if array is None:
        return
    rule = "advantage" if name == "advantages" else "numbers"
    lost = int((~np.isfinite(array[segment.mask])).sum())
    if lost:
        report.error(rule, where, f"{name}: {lost} of {segment.sampled} sampled tokens have no finite number")
    stray = np.flatnonzero(array[~segment.mask])
    if len(stray):
        report.error(rule, where, f"{name}: {len(stray)} tokens that were not sampled have one")


def _check_ends(report: Report, where: str, segment: Segment, renderer: Renderer) -> None:
    tokens = segment.tokens.tolist()
    spans = _spans(segment)
    for number, (start, stop) in enumerate(spans):
        here = f"{where}, turn {int(segment.turn[start])}"
        check_end(report, here, tokens[start:stop], renderer)
        check_size(report, here, tokens[start:stop], renderer)
        if number + 1 < len(spans):
            check_join(report, here, tokens[start:stop], tokens[stop : spans[number + 1][0]], renderer)


def _check_turns(report: Report, where: str, episode: Episode) -> None:
    """Every turn's tokens stand together, once, in order, and the turns are those that have a reward."""
    order = [int(s.turn[start]) for s in episode.segments for start, _ in _spans(s)]
    if order != sorted(set(order)):
        report.error("once", where, f"the turns of the sampled tokens stand as {order}")
    strange = [n for n in order if n >= len(episode.turn_rewards)]
    if strange:
        report.error("reward", where, f"turns {strange} have no reward; there are {len(episode.turn_rewards)}")
    unsaid = sorted(set(range(len(episode.turn_rewards))) - set(order))
    if unsaid:
        report.warn("empty", where, f"turns {unsaid} have no sampled token")


def _spans(segment: Segment) -> list[tuple[int, int]]:
    """Start and end of each stretch of sampled tokens of one turn."""
    turn_T = np.where(segment.mask, segment.turn, -1)
    edges = np.flatnonzero(np.diff(turn_T)) + 1
    bounds = [0, *edges.tolist(), len(turn_T)]
    return [(a, b) for a, b in itertools.pairwise(bounds) if a < b and turn_T[a] >= 0]
