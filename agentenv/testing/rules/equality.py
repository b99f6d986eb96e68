"""Rules about equal bytes: everything that an env answers comes from the task and the actions."""

from __future__ import annotations

import msgspec

from agentenv.protocol import StepResult
from agentenv.server.limits import ServerLimits
from agentenv.testing.players import ObjectPlayer, Player, closing
from agentenv.testing.rules.base import Broken, NotApplicable
from agentenv.testing.scripts import Episode, Seen, difference, replay
from agentenv.testing.subject import Subject
from agentenv.testing.trace import ChildFailed
from agentenv.wire import StepReply, clean_text


async def same_bytes_elsewhere(subject: Subject) -> str:
    """The scripted episodes are the same in other processes under other hash seeds."""
    mine = await subject.played()
    try:
        others = await subject.traces()
    except ChildFailed as exc:
        raise Broken(str(exc)) from exc
    for trace in others:
        for episode, other in zip(mine, trace.episodes, strict=True):
            _same(episode, other.answers, "in another process")
    return f"{_count(mine)} in {len(others)} other processes, each with its own hash seed"


async def asking_changes_nothing(subject: Subject) -> str:
    """An episode is the same whether available actions and the solution are asked for or not."""
    replayed = await subject.replayed()
    for asked, silent in zip(await subject.played(), replayed, strict=True):
        _same(silent, asked.seen, "when solve() or available_actions() is called")
    return _count(replayed)


async def reset_in_mid_episode(subject: Subject) -> str:
    """An env that is reset in the middle of an episode, or after one, answers like a fresh one."""
    if subject.local and not subject.spec.reuse:
        raise NotApplicable("the card says reuse=False")
    replayed = await subject.replayed()
    async with closing(subject.player()) as player:
        for number, episode in enumerate(replayed):
            unfinished = replayed[number - 1]
            await _begin(player, unfinished, len(unfinished.texts) // 2)
            again = await replay(player, episode)
            _same(episode, again.seen, "after a reset in mid-episode")
    return f"{_count(replayed)}, one env"


async def _begin(player: Player, episode: Episode, steps: int) -> None:
    """Play the first steps of an episode."""
    await replay(player, Episode(task=episode.task, script="begun", seen=episode.seen[: steps + 1]))


async def snapshots_restore(subject: Subject) -> str:
    """A fresh env takes over a snapshot and goes on like the original, which is not disturbed."""
    spec = subject.spec
    if not spec.has_snapshots(spec.resolve_options(subject.options)):
        needed = ", ".join(f"{name}={value}" for name, value in spec.snapshot_options.items())
        raise NotApplicable(f"the card declares {f'snapshots under {needed}' if needed else 'no snapshots'}")
    replayed = await subject.replayed()
    for episode in replayed:
        await _restores(subject, episode, len(episode.texts) // 2)
    return _count(replayed)


async def _restores(subject: Subject, episode: Episode, steps: int) -> None:
    head, tail = episode.seen[: steps + 1], episode.seen[steps + 1 :]
    async with closing(subject.object()) as original:
        await _begin(original, episode, steps)
        if original.over or head[-1].result is None:
            return
        snapshot = await original.snapshot()
        copies = [subject.object(), subject.object()]
        for copy in copies:
            await copy.restore(snapshot, original)
            _same(episode, [*head, *await _go_on(copy, tail)], "after restore() in a fresh env")
            await copy.close()
        _same(episode, [*head, *await _go_on(original, tail)], "after a copy of its snapshot has played")


async def _go_on(player: ObjectPlayer, tail: tuple[Seen, ...]) -> list[Seen]:
    from agentenv.testing.scripts import step

    return [await step(player, seen.action or "") for seen in tail]


async def replies_are_json(subject: Subject) -> str:
    """Observations and info come out of the wire's JSON as they went in."""
    episodes = await subject.played()
    for episode in episodes:
        for number, seen in enumerate(episode.seen):
            if seen.result is not None and (problem := _json_problem(seen.result)):
                raise Broken(f"{episode.task.id}, {episode.script}, step {number}: {problem}")
    return _count(episodes)


def _json_problem(result: StepResult) -> str | None:
    """What is lost when the result travels."""
    if clean_text(result.observation) != result.observation:
        return "the observation has a lone surrogate"
    reply = StepReply(result.observation, 0.0, False, False, None, None, None, dict(result.info), episode=0, step=0)
    try:
        data = msgspec.json.encode(reply)
    except (TypeError, ValueError) as exc:
        return f"info is not JSON: {exc}"
    back = msgspec.json.decode(data, type=StepReply)
    if back.observation != result.observation:
        return "the observation changes"
    if back.info != reply.info:
        return f"info changes: {str(reply.info)[:60]!r} becomes {str(back.info)[:60]!r}"
    size, most = len(msgspec.json.encode(reply.info)), ServerLimits().max_info_bytes
    return f"info has {size} bytes, over {most}" if size > most else None


def _same(expected: Episode, found: list[Seen] | tuple[Seen, ...], when: str) -> None:
    if differs := difference(expected.seen, found):
        raise Broken(f"{expected.task.id}, {expected.script}, {when}: {differs}")


def _count(episodes: list[Episode]) -> str:
    return f"{len(episodes)} episodes, {sum(len(e.texts) for e in episodes)} steps"
