"""The habits of real endpoints, one test each, against a real socket."""

import asyncio

import pytest
from scripted_endpoint import Reply, ScriptedEndpoint, chat, refusal

from agentenv.endpoint import EndpointSettings, OpenAIPolicy
from agentenv.errors import EpisodeCut
from agentenv.testing import FakeClock

ASK = [{"role": "user", "content": "look"}]
WITH_SYSTEM = [{"role": "system", "content": "Be brief."}, *ASK]


def complete(script, messages=ASK, *, times=1, seed=None, **settings):
    """Completions (or the EpisodeCut) of so many calls, the requests made, and the policy."""

    async def run():
        async with ScriptedEndpoint(script) as endpoint:
            policy = OpenAIPolicy(EndpointSettings(model="tiny", url=endpoint.url, **settings), sleep=FakeClock().sleep)
            try:
                done = [await policy.complete(messages, seed=seed) for _ in range(times)]
            except EpisodeCut as cut:
                done = [cut]
            finally:
                await policy.close()
            return done, endpoint.requests, policy

    return asyncio.run(run())


def test_an_ordinary_completion_is_read_with_its_token_counts():
    [completion], [request], _ = complete([chat("Action: look")], temperature=0.5, max_tokens=32, seed=7)
    assert completion.text == "Action: look"
    assert (completion.prompt_tokens, completion.completion_tokens) == (11, 5)
    assert (completion.finish_reason, completion.retries, completion.raw) == ("stop", 0, "")
    assert completion.latency_s > 0
    assert request == {
        "model": "tiny",
        "messages": ASK,
        "stream": False,
        "temperature": 0.5,
        "max_tokens": 32,
        "seed": 7,
    }


def test_settings_that_are_not_given_are_not_sent():
    _, [request], _ = complete([chat("x")], max_tokens=None)
    assert request == {"model": "tiny", "messages": ASK, "stream": False}


@pytest.mark.parametrize("usage", [None, "many", {}, {"prompt_tokens": -1, "completion_tokens": True}, []])
def test_without_readable_usage_token_counts_are_unknown_and_never_zero(usage):
    [completion], _, _ = complete([chat("x", usage=usage)])
    assert completion.prompt_tokens is None
    assert completion.completion_tokens is None


def test_reasoning_and_cached_tokens_are_counted_apart():
    usage = {
        "prompt_tokens": 20,
        "completion_tokens": 9,
        "completion_tokens_details": {"reasoning_tokens": 4},
        "prompt_tokens_details": {"cached_tokens": 16},
    }
    [completion], _, _ = complete([chat("x", usage=usage)])
    assert (completion.reasoning_tokens, completion.cached_tokens) == (4, 16)


UNSUPPORTED_LIMIT = refusal(
    400,
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    code="unsupported_parameter",
    param="max_tokens",
)
UNSUPPORTED_TEMPERATURE = refusal(
    400,
    "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
    code="unsupported_value",
    param="temperature",
)


def test_an_endpoint_that_wants_max_completion_tokens_gets_them_from_then_on():
    done, requests, policy = complete([UNSUPPORTED_LIMIT, chat("x")], times=2, max_tokens=32)
    assert [r.get("max_tokens") for r in requests] == [32, None, None]
    assert [r.get("max_completion_tokens") for r in requests] == [None, 32, 32]
    assert policy.adaptations == ["max_completion_tokens"]
    assert [c.notes["adaptations"] for c in done] == [["max_completion_tokens"]] * 2
    assert [c.retries for c in done] == [0, 0]


@pytest.mark.parametrize(
    "words",
    [
        UNSUPPORTED_TEMPERATURE,
        refusal(400, "`temperature` is deprecated for this model."),
        refusal(422, "[{'loc': ['body', 'temperature'], 'msg': 'Extra inputs are not permitted'}]"),
    ],
)
def test_an_endpoint_that_refuses_a_temperature_is_asked_without_one_and_the_record_says_so(words):
    [completion], requests, _ = complete([words, chat("x")], temperature=0.2)
    assert ["temperature" in r for r in requests] == [True, False]
    assert completion.notes["adaptations"] == ["no_temperature"]


def test_a_temperature_out_of_range_is_no_refusal_of_temperatures():
    words = refusal(400, "Invalid 'temperature': must be at most 2.", param="temperature")
    [cut], requests, policy = complete([words], temperature=3.0)
    assert (cut.outcome, len(requests), policy.adaptations) == ("infra_lost", 1, [])
    assert "must be at most 2" in cut.detail


def test_an_endpoint_that_refuses_a_seed_is_asked_without_one():
    [completion], requests, _ = complete(
        [refusal(400, "Unrecognized request argument supplied: seed"), chat("x")], seed=3
    )
    assert ["seed" in r for r in requests] == [True, False]
    assert completion.text == "x"


def test_two_refusals_are_both_learned():
    _, requests, policy = complete(
        [UNSUPPORTED_LIMIT, UNSUPPORTED_TEMPERATURE, chat("x")], max_tokens=32, temperature=0.2
    )
    assert policy.adaptations == ["max_completion_tokens", "no_temperature"]
    assert requests[-1] == {"model": "tiny", "messages": ASK, "stream": False, "max_completion_tokens": 32}


@pytest.mark.parametrize(
    "words",
    [
        refusal(400, "System role not supported"),
        refusal(500, "Only user and assistant roles are supported!"),
        refusal(400, "Developer instruction is not enabled for models/gemma-3"),
        refusal(400, "Unsupported value: 'messages[0].role' does not support 'system' with this model."),
    ],
)
def test_without_a_system_role_its_words_go_before_the_first_user_message(words):
    _, requests, policy = complete([words, chat("x")], WITH_SYSTEM)
    assert policy.adaptations == ["no_system_role"]
    assert requests[1]["messages"] == [{"role": "user", "content": "Be brief.\n\nlook"}]


def test_reasoning_in_the_content_is_taken_out_and_kept_as_raw():
    [completion], _, _ = complete([chat("<think>Action: b</think>\n\nAction: a")])
    assert completion.text == "Action: a"
    assert completion.raw == "<think>Action: b</think>\n\nAction: a"


def test_reasoning_that_never_ends_leaves_no_text():
    [completion], _, _ = complete([chat("<think>so Action: b", finish_reason="length")])
    assert (completion.text, completion.raw) == ("", "<think>so Action: b")


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_beside_the_content_is_kept_in_the_notes(field):
    [completion], _, _ = complete([chat("Action: a", **{field: "Action: b"})])
    assert completion.text == "Action: a"
    assert completion.notes["reasoning"] == "Action: b"


@pytest.mark.parametrize("content", ["", None, [], {"no": "text"}, 7])
def test_content_that_is_empty_or_no_text_is_an_empty_completion(content):
    [completion], _, _ = complete([chat(content)])
    assert completion.text == ""


def test_content_in_parts_is_joined():
    [completion], _, _ = complete([chat([{"type": "text", "text": "Action:"}, {"type": "text", "text": " a"}])])
    assert completion.text == "Action: a"


def test_an_empty_earlier_completion_is_not_sent_as_an_empty_message():
    conversation = [*ASK, {"role": "assistant", "content": ""}, {"role": "user", "content": "again"}]
    _, [request], _ = complete([chat("x")], conversation)
    assert [m["content"] for m in request["messages"]] == ["look", "(no answer)", "again"]
    assert conversation[1]["content"] == ""


def test_a_completion_cut_at_the_length_limit_says_so():
    [completion], _, _ = complete([chat("Action: ge", finish_reason="length")])
    assert completion.finish_reason == "length"


@pytest.mark.parametrize(
    "reply",
    [
        Reply(body={"error": {"message": "Overloaded", "code": 529}}),
        Reply(body={"error": "upstream is gone"}),
        Reply(body={"choices": [{"error": {"message": "Provider returned error", "code": 502}, "message": None}]}),
        Reply(body='data: {"error": {"message": "engine died"}}\n\ndata: [DONE]\n\n'),
        Reply(body='error: {"message": "slot unavailable"}\n\n'),
        Reply(body={"choices": []}),
        Reply(body="<html>gateway</html>"),
        Reply(body=""),
        Reply(body=b"\xff\xfe"),
        Reply(body="[" * 100_000),
        Reply(body="null"),
    ],
)
def test_an_error_or_no_answer_under_status_200_is_tried_again(reply):
    [completion], requests, _ = complete([reply, reply, chat("x")])
    assert (completion.text, completion.retries, len(requests)) == ("x", 2, 3)


def test_an_error_under_status_200_keeps_its_true_meaning():
    [cut], requests, _ = complete([Reply(body={"error": {"message": "No auth credentials found", "code": 401}})])
    assert (cut.outcome, len(requests)) == ("infra_lost", 1)
    assert "HTTP 401: No auth credentials found" in cut.detail


@pytest.mark.parametrize(
    "reply",
    [
        chat(None, finish_reason="content_filter"),
        chat(None, refusal="I can't help with that."),
        refusal(
            400, "The response was filtered due to the prompt triggering our content policy.", code="content_filter"
        ),
    ],
)
def test_a_refusal_ends_the_episode_as_the_agents_error_at_once(reply):
    [cut], requests, _ = complete([reply])
    assert (cut.outcome, len(requests)) == ("agent_error", 1)
    assert "tiny" in cut.detail


def test_the_model_that_really_answered_is_noted_when_its_name_differs():
    def renamed(request):
        reply = chat("x")
        return Reply(body={**reply.body, "model": "tiny-2026-01-01"})

    [completion], _, _ = complete([renamed])
    assert completion.notes["model"] == "tiny-2026-01-01"


def test_lone_surrogates_in_a_reply_become_replacement_characters():
    body = '{"choices": [{"message": {"content": "a\\ud800b"}}]}'
    [completion], _, _ = complete([Reply(body=body)])
    assert completion.text == "a\ufffdb"


def test_a_reply_without_end_is_not_read_without_end(monkeypatch):
    monkeypatch.setattr("agentenv.endpoint.policy.MAX_REPLY_BYTES", 100_000)
    [cut], _, _ = complete([chat("x" * 200_000)], retries=1)
    assert cut.outcome == "infra_lost"
    assert "over 100000 bytes" in cut.detail


def test_episodes_that_run_at_once_learn_an_adaptation_once():
    async def run():
        async with ScriptedEndpoint(
            [lambda asked: UNSUPPORTED_LIMIT if "max_tokens" in asked else chat("x")]
        ) as endpoint:
            policy = OpenAIPolicy(EndpointSettings(model="tiny", url=endpoint.url))
            completions = await asyncio.gather(*(policy.complete(ASK) for _ in range(16)))
            await policy.close()
            return completions, policy.adaptations

    completions, adaptations = asyncio.run(run())
    assert [c.text for c in completions] == ["x"] * 16
    assert adaptations == ["max_completion_tokens"]
