"""The only retry loop: what is sent again, how long, how far apart, and what is told in the end.

The transport is a script and the clock moves only when the loop sleeps.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from toy_envs import Clock

from agentenv.client.core import AT_ONCE, Connection, Patience
from agentenv.errors import (
    BY_CODE,
    AgentEnvError,
    BadRequest,
    ClientClosed,
    InfraError,
    NoCapacity,
    ServerUnreachable,
    TransportLost,
)
from agentenv.wire import Call, Problem, Reply, StateReply, StepBody, StepCall, TaskRefBody

STATE = StateReply("s", "e", TaskRefBody("e/t/0", "e", "t", 0, "", 0, "", ""), "hello", 0, 0, None, 1.0)
DONE = Reply(200, STATE)


def problem(error: type[AgentEnvError], retry_after_s: float | None = None) -> Reply:
    return Reply(error.status, Problem.of(error("no")), retry_after_s)


FULL = problem(NoCapacity, 1.0)
Answer = Exception | Reply | list[Reply]


class Scripted:
    """A transport whose every answer is written in the test; the last one is for ever."""

    address = "the script"

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.sent: list[list[Call]] = []

    async def exchange(self, calls: Sequence[Call], timeout_s: float) -> list[Reply]:
        answer = self.answers[min(len(self.sent), len(self.answers) - 1)]
        self.sent.append(list(calls))
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, list) else [answer] * len(calls)

    async def get_json(self, path: str) -> bytes:
        return b"{}"

    async def close(self) -> None:
        pass


class Loop:
    """A connection over a script, with the pauses that it made."""

    def __init__(self, *answers: Answer, patience: Patience | None = None, met: bool = True) -> None:
        self.clock, self.pauses = Clock(), list[float]()
        self.transport = Scripted(*answers)
        self.connection = Connection(self.transport, patience=patience, clock=self.clock, sleep=self._sleep)
        if met:
            asyncio.run(self.connection.get_json("/v1"))

    async def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.clock.advance(seconds)

    def send(self, count: int = 1, **kwargs: Any) -> list[Reply]:
        calls = [StepCall(f"s{i}", StepBody("go", 0, 0)) for i in range(count)]
        return asyncio.run(self.connection.send(calls, 5.0, **kwargs))


def test_a_lost_call_is_sent_again_exactly_as_it_was() -> None:
    loop = Loop(TransportLost("lost"), TransportLost("lost"), DONE)
    assert loop.send() == [DONE]
    first, *others = loop.transport.sent
    assert others == [first, first]
    assert len(loop.pauses) == 2


def test_only_the_refused_calls_of_many_are_sent_again_and_the_order_stays() -> None:
    loop = Loop([FULL, DONE, FULL], [FULL, DONE], DONE)
    assert loop.send(3) == [DONE] * 3
    assert [[c.session for c in calls] for calls in loop.transport.sent] == [["s0", "s1", "s2"], ["s0", "s2"], ["s0"]]


@pytest.mark.parametrize("code", sorted(code for code, cls in BY_CODE.items() if not cls.retryable))
def test_a_problem_that_is_not_retryable_is_never_sent_again(code: str) -> None:
    loop = Loop(problem(BY_CODE[code]))
    [reply] = loop.send()
    assert isinstance(reply.body, Problem)
    assert reply.body.code == code
    assert (len(loop.transport.sent), loop.pauses) == (1, [])


@pytest.mark.parametrize("code", sorted(code for code, cls in BY_CODE.items() if cls.retryable))
def test_a_retryable_problem_is_sent_again_and_told_when_patience_ends(code: str) -> None:
    loop = Loop(problem(BY_CODE[code]), patience=Patience(total_s=3.0))
    [reply] = loop.send()
    assert isinstance(reply.body, Problem)
    assert type(reply.body.error()) is BY_CODE[code]
    assert len(loop.transport.sent) > 2
    assert 1.0 < sum(loop.pauses) <= 3.0


@pytest.mark.parametrize("total_s", [0.0, 0.3, 3.0, 30.0])
def test_patience_bounds_the_pauses_and_the_cause_is_raised_in_the_end(total_s: float) -> None:
    cause = TransportLost("the wire was cut")
    loop = Loop(cause, patience=Patience(total_s=total_s))
    with pytest.raises(TransportLost, match="the wire was cut") as caught:
        loop.send()
    assert caught.value is cause
    assert sum(loop.pauses) <= total_s
    assert len(loop.transport.sent) == len(loop.pauses) + 1
    assert (len(loop.pauses) > 0) is (total_s > 0)


def test_at_once_means_one_try() -> None:
    for answer in (TransportLost("lost"), FULL):
        loop = Loop(answer, DONE)
        try:
            assert loop.send(patience=AT_ONCE) == [FULL]
        except TransportLost:
            assert answer is not FULL
        assert (len(loop.transport.sent), loop.pauses) == (1, [])


@pytest.mark.parametrize("asked_s", [0.0, 0.7, 1.0, 5.0])
def test_the_servers_retry_after_is_the_least_pause(asked_s: float) -> None:
    loop = Loop(problem(NoCapacity, asked_s), DONE)
    assert loop.send() == [DONE]
    assert loop.pauses[0] >= asked_s
    assert loop.pauses[0] <= max(asked_s, 0.05 * 1.5)


def test_a_retry_after_beyond_patience_ends_at_once() -> None:
    loop = Loop(problem(NoCapacity, 31.0), DONE)
    [reply] = loop.send()
    assert isinstance(reply.body, Problem)
    assert loop.pauses == []


def test_pauses_double_up_to_the_longest_and_jitter_stays_within_half() -> None:
    patience = Patience(total_s=1e6, first_s=0.05, longest_s=2.0)
    loop = Loop(*[TransportLost("lost")] * 12, DONE, patience=patience)
    loop.send()
    for attempt, pause in enumerate(loop.pauses, 1):
        middle = min(2.0, 0.05 * 2 ** (attempt - 1))
        assert 0.5 * middle <= pause <= 1.5 * middle
    assert len({round(p, 9) for p in loop.pauses}) == 12  # no two clients keep in step


def test_a_very_long_wait_does_not_overflow() -> None:
    import random

    assert Patience().wait_s(5000, random.Random(0)) <= 3.0


def test_a_server_that_was_never_met_is_told_at_once_and_one_that_was_met_is_waited_for() -> None:
    gone = ServerUnreachable("nobody there")
    loop = Loop(gone, DONE, met=False)
    with pytest.raises(ServerUnreachable):
        loop.send()
    assert loop.pauses == []
    assert loop.send() == [DONE]
    loop = Loop(DONE, gone, gone, DONE, met=False)
    assert loop.send() == loop.send() == [DONE]
    assert len(loop.pauses) == 2


@pytest.mark.parametrize("error", [AgentEnvError("odd"), BadRequest("bad"), RuntimeError("a bug")], ids=type)
def test_what_another_try_cannot_help_is_raised_at_once(error: Exception) -> None:
    loop = Loop(error, DONE)
    with pytest.raises(type(error)):
        loop.send()
    assert loop.pauses == []


def test_no_calls_are_no_exchange() -> None:
    loop = Loop(DONE)
    assert loop.send(0) == []
    assert loop.transport.sent == []


def test_a_closed_connection_says_so() -> None:
    loop = Loop(DONE)
    asyncio.run(loop.connection.close())
    asyncio.run(loop.connection.close())
    calls: list[Callable[[], Any]] = [loop.send, lambda: asyncio.run(loop.connection.get_json("/v1"))]
    for call in calls:
        with pytest.raises(ClientClosed, match="the connection to the script is closed"):
            call()


def test_the_retryable_errors_are_those_of_the_infrastructure() -> None:
    assert {cls for cls in BY_CODE.values() if cls.retryable} == {
        InfraError,
        NoCapacity,
        ServerUnreachable,
        TransportLost,
    }
