"""The audit of recorded episodes: would exactly what was sampled be trained?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agentenv.errors import BadCall
from agentenv.policy import Message
from agentenv.render import Renderer, prefix_break, prompt_hash
from agentenv.trajectory import Trajectory, Turn
from trainers.audit.report import Report, joined
from trainers.audit.turns import check_end, check_join, check_logprobs, check_size, check_vocabulary
from trainers.episodes import segments_of


def audit_records(trajectories: Iterable[Trajectory], renderer: Renderer) -> Report:
    """Every episode by itself, then what must hold for all together."""
    versions: set[int] = set()
    reports = []
    for number, trajectory in enumerate(trajectories):
        reports.append(audit_record(trajectory, renderer, where=f"episode {number} ({trajectory.task.id})"))
        versions |= {t.policy_version for t in trajectory.turns if t.policy_version is not None}
    report = joined(reports)
    if renderer.facts.unescapable:
        report.warn("unescapable", "chat template", renderer.facts.unescapable)
    if len(versions) > 1:
        report.warn("policy_version", "file", f"several weight versions: {sorted(versions)}; no batch may mix them")
    report.counts = {name: report.counts.get(name, 0) for name in COUNTS}
    return report


COUNTS = (
    "episodes",
    "untrained_episodes",
    "turns",
    "tokens",
    "trained",
    "cut_turns",
    "splits",
    "retokenized_turns",
    "drifted_prompts",
    "stripped_turns",
)
"""What is counted. Retokenized: decoded and encoded again, the ids would be others. Drifted: the added ids are not
those that the renderer gives now. Stripped: rendered again, the template would leave something out of the turn."""


def audit_record(trajectory: Trajectory, renderer: Renderer, *, where: str) -> Report:
    """One episode."""
    report = Report()
    report.count("episodes")
    report.count("turns", len(trajectory.turns))
    if not trajectory.outcome.trains:
        report.count("untrained_episodes")
    if not trajectory.turns:
        if trajectory.outcome.trains:
            report.error("no_turn", where, f"a trained outcome ({trajectory.outcome}) without a turn")
        return report
    missing = [n for n, t in enumerate(trajectory.turns) if _incomplete(t)]
    if missing:
        report.error("no_tokens", where, f"turns without tokens: {missing}")
        return report
    for number, turn in enumerate(trajectory.turns):
        _check_turn(report, f"{where}, turn {number}", turn, renderer)
    _check_chain(report, where, trajectory.turns, renderer)
    _check_versions(report, where, trajectory.turns)
    _check_masks(report, where, trajectory)
    return report


def _incomplete(turn: Turn) -> bool:
    return turn.prompt_ids is None or turn.token_ids is None or turn.logprobs is None or turn.fresh is None


def _check_turn(report: Report, where: str, turn: Turn, renderer: Renderer) -> None:
    """Whatever can be seen in the turn alone."""
    added, sampled, logprobs = turn.prompt_ids or [], turn.token_ids or [], turn.logprobs or []
    report.count("tokens", len(added) + len(sampled))
    check_vocabulary(report, where, added, renderer.vocab_size, "the prompt")
    check_vocabulary(report, where, sampled, renderer.vocab_size, "the sampled part")
    if len(sampled) != len(logprobs):
        report.error("logprobs", where, f"{len(sampled)} tokens with {len(logprobs)} log-probabilities")
    check_logprobs(report, where, logprobs, "engine")
    check_end(report, where, sampled, renderer)
    check_size(report, where, sampled, renderer)
    agent = turn.info.get("agent", {})
    reason = agent.get("finish_reason")
    if reason == "stop" and (not sampled or sampled[-1] not in renderer.stop_ids):
        report.error("end", where, "finish_reason is stop, but the last token is no end")
    if agent.get("cut") or reason == "length":
        report.count("cut_turns")
    if not any(i < 0 or i >= renderer.vocab_size for i in sampled):
        text = renderer.decode(sampled)
        again = renderer.reply(text, ended=False)
        if again != [i for i in sampled if i not in renderer.stop_ids]:
            report.count("retokenized_turns")


def _check_chain(report: Report, where: str, turns: Sequence[Turn], renderer: Renderer) -> None:
    """Each prompt continues all tokens before it, and is what the renderer makes of the messages."""
    ids: list[int] = []
    said: list[Message] = []
    before: Turn | None = None
    for number, turn in enumerate(turns):
        here = f"{where}, turn {number}"
        added, sampled = turn.prompt_ids or [], turn.token_ids or []
        if before is None and not turn.fresh:
            report.error("prefix", here, "the first turn is not fresh: it continues tokens that are not recorded")
        if before is not None and turn.fresh:
            report.count("splits")
            if renderer.history == "append":
                report.error("prefix", here, "the prompt was rendered anew; under history=append it only grows")
        ids = [*added] if turn.fresh else [*ids, *added]
        if turn.prompt_len is not None and turn.prompt_len != len(ids):
            report.error("prefix", here, f"the prompt had {turn.prompt_len} tokens, the recorded parts give {len(ids)}")
        noted = turn.info.get("agent", {}).get("prompt_hash")
        if noted is not None and noted != prompt_hash(ids):
            report.error("prefix", here, "the prompt that the engine saw is not made of the recorded parts")
        if before is not None and not turn.fresh:
            check_join(report, here, before.token_ids or [], added, renderer)
        said = _check_drift(report, here, turn, before, said, renderer)
        ids += sampled
        before = turn


def _check_drift(
    report: Report, where: str, turn: Turn, before: Turn | None, said: list[Message], renderer: Renderer
) -> list[Message]:
    """Render the turn's messages again; returns the conversation with the turn. Nothing is told without messages."""
    if not turn.messages or turn.messages[-1].get("role") != "assistant":
        return said
    new: list[Message] = [*turn.messages[:-1]]
    raw = turn.info.get("agent", {}).get("raw") or str(turn.messages[-1]["content"])
    grown = [*said, *new, {"role": "assistant", "content": raw}]
    try:
        if turn.fresh or before is None:
            expected = renderer.prompt([*said, *new])
        else:
            expected = renderer.extend(new, after=before.token_ids or [])
    except BadCall as exc:
        report.error("template", where, exc.message)
        return grown
    added = turn.prompt_ids or []
    if expected != added:
        report.count("drifted_prompts")
        _tell_drift(report, where, added, expected, renderer)
    if renderer.facts.strips_thinking and "</think>" in raw:
        report.count("stripped_turns")
    return grown


def _tell_drift(report: Report, where: str, added: Sequence[int], expected: Sequence[int], renderer: Renderer) -> None:
    """Other control tokens are an error: a marker is missing, or text of the environment became one."""
    at = prefix_break(added, expected)
    at = len(added) if at is None else at
    seen, wanted = ([i for i in ids if i in renderer.control_ids] for ids in (added, expected))
    got, want = ("".join(renderer.show([i for i in ids[at : at + 6] if 0 <= i < renderer.vocab_size]))
                 for ids in (added, expected))  # fmt: skip
    text = f"from token {at} of the prompt the record has {got!r}, the renderer gives {want!r}"
    if seen != wanted:
        report.error("control", where, f"other control tokens than the template's: {text}")
    else:
        report.warn("drift", where, text)


def _check_versions(report: Report, where: str, turns: Sequence[Turn]) -> None:
    versions = [t.policy_version for t in turns]
    if None in versions:
        report.error(
            "policy_version", where, f"turns without policy_version: {[n for n, v in enumerate(versions) if v is None]}"
        )
    elif len(set(versions)) > 1:
        report.error("policy_version", where, f"several weight versions in one episode: {versions}")


def _check_masks(report: Report, where: str, trajectory: Trajectory) -> None:
    """Built as the trainer builds it, the masked tokens are the sampled ones, each once and in order."""
    try:
        segments = segments_of(trajectory)
    except BadCall as exc:
        report.error("mask", where, exc.message)
        return
    trained = [int(i) for s in segments for i in s.tokens[s.mask]]
    sampled = [i for t in trajectory.turns for i in t.token_ids or []]
    if trained != sampled:
        report.error("mask", where, f"{len(sampled)} tokens were sampled, {len(trained)} would be trained")
    if trajectory.outcome.trains:
        report.count("trained", len(trained))
        if not trained:
            report.error("empty", where, "a trained episode without a sampled token")
