import asyncio

import pytest
from scripted_endpoint import ScriptedEndpoint, chat, refusal

from agentenv.endpoint import EndpointSettings, OpenAIPolicy
from agentenv.endpoint.pace import Pace
from agentenv.endpoint.policy import asked_wait_s
from agentenv.testing import FakeClock

ASK = [{"role": "user", "content": "x" * 400}]


def test_without_a_limit_nothing_waits():
    pace = Pace(clock=FakeClock())
    assert [pace.book(1000) for _ in range(3)] == [0, 0, 0]


def test_requests_are_spread_evenly_over_the_minute():
    clock = FakeClock(100.0)
    pace = Pace(requests_per_minute=30, clock=clock)
    assert [pace.book(0) for _ in range(3)] == [0, 2, 4]
    clock.advance(60)
    assert pace.book(0) == 0


def test_tokens_are_booked_by_estimate_and_put_right_by_the_count():
    pace = Pace(tokens_per_minute=600, clock=FakeClock())
    assert pace.book(100) == 0
    pace.correct(-50)
    assert pace.book(100) == 5
    pace.correct(+20)
    assert pace.book(1) == 17


def test_a_hold_is_for_everybody_and_the_longest_counts():
    clock = FakeClock()
    pace = Pace(clock=clock)
    pace.hold(7)
    pace.hold(3)
    assert (pace.book(0), pace.held_s()) == (7, 7)
    clock.advance(8)
    assert (pace.book(0), pace.held_s()) == (0, 0)


def asked(script, *, times, **settings):
    """When each of several simultaneous requests was sent, by a clock that only waiting moves."""
    clock, sent = FakeClock(), []

    async def sleep(seconds):
        until = clock.now_s + seconds
        await asyncio.sleep(0)
        clock.now_s = max(clock.now_s, until)

    def note(reply):
        def answer(request):
            sent.append(round(clock.now_s, 3))
            return reply

        return answer

    async def run():
        async with ScriptedEndpoint([note(reply) for reply in script]) as endpoint:
            policy = OpenAIPolicy(EndpointSettings(model="m", url=endpoint.url, **settings), sleep=sleep, clock=clock)
            for _ in range(times):
                await policy.complete(ASK)
            await policy.close()

    asyncio.run(run())
    return sent


def test_a_policy_keeps_to_requests_per_minute():
    assert asked([chat("x")], times=3, requests_per_minute=60) == [0, 1, 2]


def test_a_policy_keeps_to_tokens_per_minute_by_the_endpoints_counts():
    usage = {"prompt_tokens": 100, "completion_tokens": 20}
    assert asked([chat("x", usage=usage)], times=3, tokens_per_minute=1200, max_tokens=100) == [0, 6, 12]


def test_without_counts_the_estimate_holds():
    assert asked([chat("x", usage=None)], times=2, tokens_per_minute=1200, max_tokens=100) == [0, 10]


def test_one_episodes_retry_after_holds_the_others_too():
    clock, sent = FakeClock(), []

    async def run():
        held = asyncio.Event()

        async def sleep(seconds):
            held.set()
            clock.advance(seconds)

        def busy(request):
            sent.append(clock.now_s)
            return refusal(429, "slow down", headers={"Retry-After": "9"})

        def fine(request):
            sent.append(clock.now_s)
            return chat("x")

        async with ScriptedEndpoint([busy, fine]) as endpoint:
            policy = OpenAIPolicy(EndpointSettings(model="m", url=endpoint.url), sleep=sleep, clock=clock)
            first = asyncio.create_task(policy.complete(ASK))
            await held.wait()
            await policy.complete(ASK)
            await first
            await policy.close()

    asyncio.run(run())
    assert sent == [0, 9, 9]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "2"}, 2),
        ({"Retry-After-Ms": "1500", "Retry-After": "2"}, 1.5),
        ({"Retry-After-Ms": "soon", "Retry-After": "2"}, 2),
    ],
)
def test_milliseconds_are_read_before_seconds(headers, seconds):
    assert asked_wait_s(headers, now=0.0) == seconds
