"""Rules about single calls: odd and malformed actions, calls out of order, close."""

from __future__ import annotations

from typing import cast

from agentenv.env import AsyncEnv
from agentenv.errors import AgentEnvError, EnvFailed, EpisodeOver, InfraError, ResetNeeded, SessionGone
from agentenv.protocol import Action, StepResult, Task, TaskRef
from agentenv.server.host import AsyncEnvHost, EnvHost
from agentenv.testing.players import Player, closing
from agentenv.testing.rules.base import Broken
from agentenv.testing.scripts import ODD_ACTIONS
from agentenv.testing.subject import Subject
from agentenv.wire import ActionBody, StepBody

REASON = "no action in the completion"


async def odd_actions_answered(subject: Subject) -> str:
    """Empty, huge, control-character and nonsense actions are answered, never raised."""
    tasks = subject.few(3)
    for task in tasks:
        async with closing(subject.player()) as player:
            await _send_odd(player, task)
    return f"{len(ODD_ACTIONS)} odd actions on {len(tasks)} tasks"


async def _send_odd(player: Player, task: Task | TaskRef) -> None:
    await player.reset(task)
    for text in ODD_ACTIONS:
        if player.over:
            await player.reset(task)
        try:
            result = await player.step(Action(text=text))
        except InfraError:
            raise
        except Exception as exc:
            raise Broken(f"{_short(text)} raises {type(exc).__name__}: {str(exc)[:80]}") from exc
        if not isinstance(result, StepResult) or not isinstance(result.observation, str):
            raise Broken(f"{_short(text)} is answered by a {type(result).__name__}")


async def malformed_actions_count(subject: Subject) -> str:
    """A malformed action is answered with the card's text, earns nothing and is a step like any other."""
    spec, task = subject.spec, subject.tasks[0]
    text = spec.malformed_text.replace("{reason}", REASON)
    async with closing(subject.session(max_steps=3)) as session:
        await session.reset(task)
        for number in range(1, 4):
            reply = await session.step_reply(StepBody(ActionBody("", REASON), 0, session.at))
            if (reply.observation, reply.step) != (text, number) or (reply.reward != 0 and number < 3):
                raise Broken(f"step {number} is answered by {reply.observation[:60]!r}, reward {reply.reward:g}")
            if reply.truncated:  # a task's own limit may be smaller
                break
        if reply.outcome != "step_limit":
            raise Broken(f"three malformed actions at max_steps=3 end as {reply.outcome}")
    if subject.local:
        await _env_counts(subject, cast(Task, task))
    return f"{number} of them reach the limit of steps"


async def _env_counts(subject: Subject, task: Task) -> None:
    """`Env.steps` is the session's to keep: it counts malformed actions, and an env that writes it loses count."""
    player = subject.object()
    kind = AsyncEnvHost if issubclass(subject.spec.load_class(), AsyncEnv) else EnvHost
    host: EnvHost | AsyncEnvHost = kind(subject.spec, subject.spec.resolve_options(subject.options))
    await player.call(host.reset, task)
    try:
        for expected, action in enumerate([Action(text="", malformed=REASON), Action(text="noop")], 1):
            await player.call(host.step, action)
            if host.env is not None and host.env.steps != expected:
                raise Broken(f"Env.steps is {host.env.steps} after {expected} steps; only the session may write it")
    except EnvFailed:
        pass  # what an ordinary action raises is another rule's business
    finally:
        await player.call(host.close)


async def calls_out_of_order(subject: Subject) -> str:
    """A step before the first reset and after the end is a typed error and earns nothing."""
    looked = "a step after the end"
    if subject.local:
        await _step_before_reset(subject)
        looked = f"a step before reset; {looked}" if await _step_after_end(subject) else "a step before reset"
    async with closing(subject.session(max_steps=1)) as session:
        await session.reset(subject.tasks[0])
        await session.step(Action(text="", malformed=REASON))
        for _ in range(2):
            try:
                await session.step(Action(text="noop"))
            except EpisodeOver:
                continue
            raise Broken("the session does a step after the end")
        await session.reset(subject.tasks[0])
    return looked


async def _step_before_reset(subject: Subject) -> None:
    async with closing(subject.object()) as player:
        env = await player.make()
        await _refused(player.call(env.step, Action(text="noop")), "step() before reset()", (ResetNeeded,))


async def _step_after_end(subject: Subject) -> bool:
    """False where no scripted episode comes to an end of its own."""
    ends = [e for e in await subject.played() if e.results and e.results[-1].terminated]
    for episode in ends[:2]:
        async with closing(subject.object()) as player:
            await player.reset(episode.task)
            for text in episode.texts:
                await player.step(Action(text=text))
            for _ in range(2):
                await _refused(player.step(Action(text="noop")), "step() after the end", (EpisodeOver, ResetNeeded))
    return bool(ends)


async def _refused(call: object, what: str, wanted: tuple[type[AgentEnvError], ...]) -> None:
    names = " or ".join(w.__name__ for w in wanted)
    try:
        result = await call  # type: ignore[misc]
    except wanted:
        return
    except Exception as exc:
        raise Broken(f"{what} raises {type(exc).__name__}, not {names}") from exc
    raise Broken(f"{what} returns {str(getattr(result, 'observation', result))[:60]!r} instead of raising {names}")


async def close_twice(subject: Subject) -> str:
    """A second close does nothing: of a fresh env, in mid-episode and of a session."""
    if subject.local:
        await _close_object_twice(subject)
    session = subject.session()
    await session.reset(subject.tasks[0])
    first, second = await session.delete(), await session.delete()
    if first != second:
        raise Broken(f"a second close of a session is answered by {second}, the first by {first}")
    try:
        await session.step(Action(text="noop"))
    except SessionGone:
        return "env and session" if subject.local else "session"
    raise Broken("a closed session does a step")


async def _close_object_twice(subject: Subject) -> None:
    for when in ("before reset()", "in mid-episode"):
        player = subject.object()
        env = await player.make()
        if when == "in mid-episode":
            await player.reset(subject.tasks[0])
            env = await player.make()
        for nth in ("first", "second"):
            try:
                await player.call(env.close)
            except Exception as exc:
                raise Broken(f"the {nth} close() {when} raises {type(exc).__name__}: {exc}") from exc


def _short(text: str) -> str:
    return repr(text) if len(text) <= 40 else f"{text[:20]!r}... ({len(text)} characters)"
