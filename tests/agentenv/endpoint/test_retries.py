import asyncio
import itertools
import socket

import pytest
from scripted_endpoint import Reply, ScriptedEndpoint, chat, refusal

from agentenv.endpoint import EndpointSettings, OpenAIPolicy
from agentenv.endpoint.policy import LONGEST_PAUSE_S, retry_after_s
from agentenv.errors import EpisodeCut
from agentenv.testing import FakeClock

ASK = [{"role": "user", "content": "look"}]
BUSY = refusal(429, "Rate limit reached", headers={"Retry-After": "7"})


def complete(script, *, url=None, **settings):
    """The completion or EpisodeCut of one call, how many requests it took, and the pauses in seconds."""
    pauses, clock = [], FakeClock()

    async def sleep(seconds):
        pauses.append(seconds)
        await clock.sleep(seconds)

    async def run():
        async with ScriptedEndpoint(script) as endpoint:
            policy = OpenAIPolicy(
                EndpointSettings(model="tiny", url=url or endpoint.url, **settings), sleep=sleep, clock=clock
            )
            try:
                result = await policy.complete(ASK)
            except EpisodeCut as cut:
                result = cut
            finally:
                await policy.close()
            return result, endpoint

    result, endpoint = asyncio.run(run())
    return result, endpoint, pauses


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
def test_a_passing_failure_is_tried_again_and_counted(status):
    completion, endpoint, pauses = complete([refusal(status, "later"), chat("x")])
    assert (completion.text, completion.retries, len(endpoint.requests), len(pauses)) == ("x", 1, 2, 1)


def test_the_endpoint_says_how_long_to_wait():
    _, _, pauses = complete([BUSY, chat("x")])
    assert pauses == [7.0]


def test_no_wait_is_longer_than_the_bound():
    _, _, pauses = complete([refusal(429, "later", headers={"Retry-After": "86400"}), chat("x")])
    assert pauses == [LONGEST_PAUSE_S]


def test_pauses_grow_and_are_bounded():
    _, _, pauses = complete([refusal(503, "down")], retries=12)
    assert len(pauses) == 12
    assert pauses[0] < 1.0
    assert all(later > earlier for earlier, later in itertools.pairwise(pauses[:7]))
    assert max(pauses) == LONGEST_PAUSE_S


def test_after_the_last_retry_the_episode_is_lost_in_the_endpoints_own_words():
    cut, endpoint, _ = complete([refusal(503, "The engine is overloaded")], retries=2)
    assert (cut.outcome, len(endpoint.requests)) == ("infra_lost", 3)
    assert "after 2 retries: HTTP 503: The engine is overloaded" in cut.detail


@pytest.mark.parametrize(
    ("status", "words"),
    [(401, "Incorrect API key provided"), (404, "The model `tiny` does not exist"), (400, "bad value"), (307, "moved")],
)
def test_a_lasting_failure_is_not_tried_again(status, words):
    cut, endpoint, _ = complete([refusal(status, words)])
    assert (cut.outcome, len(endpoint.requests)) == ("infra_lost", 1)
    assert words in cut.detail


def test_an_account_without_credit_is_not_tried_again():
    cut, endpoint, _ = complete([refusal(429, "You exceeded your current quota", code="insufficient_quota")])
    assert (cut.outcome, len(endpoint.requests)) == ("infra_lost", 1)


def test_a_dropped_connection_is_tried_again():
    completion, endpoint, _ = complete([Reply(body="", drop=True), chat("x")])
    assert (completion.text, completion.retries, len(endpoint.requests)) == ("x", 1, 2)


def test_an_endpoint_that_is_not_there_is_lost_after_the_retries():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        cut, _, pauses = complete([chat("x")], url=url, retries=2)
    assert (cut.outcome, len(pauses)) == ("infra_lost", 2)
    assert url in cut.detail


def test_a_reply_that_takes_too_long_is_lost_by_name():
    cut, _, _ = complete([Reply(body="", delay_s=0.3)], timeout_s=0.05, retries=0)
    assert cut.outcome == "infra_lost"
    assert "no reply within 0.05 s" in cut.detail


def test_the_key_comes_from_the_environment_and_is_never_quoted(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret\n")
    cut, endpoint, _ = complete([refusal(401, "Incorrect API key provided: sk-very-secret")])
    assert endpoint.headers[0]["Authorization"] == "Bearer sk-very-secret"
    assert "sk-very-secret" not in cut.detail
    assert "***" in cut.detail


def test_without_a_key_no_authorization_is_sent(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    _, endpoint, _ = complete([chat("x")])
    assert "Authorization" not in endpoint.headers[0]


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("3", 3.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("nan", None),
        ("soon", None),
        ("Thu, 01 Jan 1970 00:00:30 GMT", 20.0),
        ("Thu, 01 Jan 1970 00:00:05 GMT", 0.0),
    ],
)
def test_retry_after_is_a_number_or_a_date(header, seconds):
    assert retry_after_s(header, now=10.0) == seconds
