import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentenv.endpoint.refusals import Verdict, adaptation_for, fold_system, is_context_full, verdict_on
from agentenv.endpoint.replies import Answer, Failure, model_names, read_reply

TOO_LONG = {
    "OpenAI by code": Failure(status=400, words="too much", code="context_length_exceeded"),
    "OpenAI": Failure(
        status=400,
        words="This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    ),
    "OpenAI, newer": Failure(status=400, words="Your input exceeds the context window of this model."),
    "vLLM": Failure(
        status=400,
        words="'max_completion_tokens' is too large: 4096. This model's maximum context length is 2048 tokens.",
    ),
    "llama.cpp by type": Failure(status=400, words="too long", code="exceed_context_size_error"),
    "llama.cpp": Failure(
        status=400, words="the request exceeds the available context size. try increasing the context size"
    ),
    "llama.cpp, older": Failure(status=500, words="request (4100 tokens) exceeds the available context size"),
    "Anthropic": Failure(status=400, words="prompt is too long: 213462 tokens > 200000 maximum"),
    "Gemini": Failure(status=400, words="The input token count (1196265) exceeds the maximum number of tokens allowed"),
    "xAI": Failure(status=400, words="This model's maximum prompt length is 131072 but the request contains 537812"),
    "Groq": Failure(status=400, words="Please reduce the length of the messages or completion."),
    "LM Studio": Failure(
        status=400, words="The number of tokens to keep from the initial prompt is greater than the context length"
    ),
    "SGLang": Failure(
        status=400, words="The input (5000 tokens) is longer than the model's context length (4096 tokens)."
    ),
    "Bedrock": Failure(status=400, words="Input is too long for requested model."),
    "text-generation-inference": Failure(status=422, words="`inputs` tokens + `max_new_tokens` must be <= 2048"),
    "under status 200": Failure(status=200, words="maximum context length is 4096 tokens"),
}


@pytest.mark.parametrize("failure", TOO_LONG.values(), ids=TOO_LONG)
def test_every_way_to_say_that_the_context_is_full_is_understood(failure):
    assert is_context_full(failure)
    assert verdict_on(failure) is Verdict.CONTEXT_FULL


@pytest.mark.parametrize(
    "failure",
    [
        Failure(
            status=429, words="Request too large for model on tokens per minute; reduce the length of the messages"
        ),
        Failure(status=404, words="The model `long-context-length` does not exist"),
        Failure(status=400, words="max_tokens must be at least 1"),
        Failure(status=500, words="out of memory"),
    ],
)
def test_other_failures_are_not_taken_for_a_full_context(failure):
    assert not is_context_full(failure)


@pytest.mark.parametrize(
    ("failure", "verdict"),
    [
        (Failure(status=400, words="filtered", code="content_filter"), Verdict.REFUSED),
        (Failure(status=400, words="Your request was rejected as a result of our safety system"), Verdict.REFUSED),
        (Failure(status=400, words="prompt potentially violating our usage policy"), Verdict.REFUSED),
        (Failure(status=403, words="no access to this model"), Verdict.FATAL),
        (Failure(status=429, words="slow down"), Verdict.RETRY),
        (Failure(status=429, words="no money", code="insufficient_quota"), Verdict.FATAL),
        (Failure(status=529, words="overloaded"), Verdict.RETRY),
        (Failure(status=400, words="unknown"), Verdict.FATAL),
    ],
)
def test_a_failure_has_one_meaning(failure, verdict):
    assert verdict_on(failure) is verdict


@pytest.mark.parametrize("status", [401, 403, 404, 429])
def test_refusals_of_access_never_change_a_request(status):
    failure = Failure(status=status, words="temperature is not supported", param="temperature")
    assert adaptation_for(failure, {"messages": [], "temperature": 1.0}) is None


def test_what_a_request_does_not_have_is_not_adapted():
    failure = Failure(status=400, words="temperature is not supported", param="temperature")
    assert adaptation_for(failure, {"messages": []}) is None


USER, ASSISTANT = {"role": "user", "content": "u"}, {"role": "assistant", "content": "a"}
SYSTEM = {"role": "system", "content": "s"}


@pytest.mark.parametrize(
    ("messages", "folded"),
    [
        ([], []),
        ([USER, ASSISTANT], [USER, ASSISTANT]),
        ([SYSTEM, USER, ASSISTANT], [{"role": "user", "content": "s\n\nu"}, ASSISTANT]),
        ([SYSTEM, ASSISTANT], [{"role": "user", "content": "s"}, ASSISTANT]),
        ([SYSTEM, USER, SYSTEM], [{"role": "user", "content": "s\n\ns\n\nu"}]),
    ],
)
def test_system_messages_are_folded_into_the_first_user_message(messages, folded):
    assert fold_system(messages) == folded


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (500, b"", Failure(status=500, words="")),
        (502, b"<html>\n bad  gateway", Failure(status=502, words="<html> bad gateway")),
        (400, b'{"error": "no"}', Failure(status=400, words="no")),
        (400, b'{"error": {"code": 7, "type": "t"}}', Failure(status=400, words='{"code":7,"type":"t"}', code="t")),
        (422, b'{"detail": "Not Found"}', Failure(status=422, words="Not Found")),
        (400, b'{"object": "error", "message": "m", "type": "t"}', Failure(status=400, words="m", code="t")),
    ],
)
def test_failures_are_read_in_many_shapes(status, body, expected):
    assert read_reply(status, body) == expected


def test_an_endpoints_words_are_quoted_up_to_a_bound():
    failure = read_reply(400, b'{"error": {"message": "' + b"x" * 10_000 + b'"}}')
    assert isinstance(failure, Failure)
    assert len(failure.words) == 500


def test_an_endpoints_words_hold_no_commands_for_a_terminal():
    failure = read_reply(400, b'{"error": {"message": "a\\u001b[2Jb"}}')
    assert isinstance(failure, Failure)
    assert failure.words == "a?[2Jb"
    answer = read_reply(200, b'{"model": "m\\u001b]0;x", "choices": [{"message": {"content": "\\u001b"}}]}')
    assert isinstance(answer, Answer)
    assert (answer.model, answer.content) == ("m?]0;x", "\x1b")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["choices", "message", "content", "usage", "error", "code", "prompt_tokens", "data", "id"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(status=st.sampled_from([200, 400, 500]), value=JSON)
def test_any_json_is_read_as_an_answer_or_a_failure(status, value):
    import json

    body = json.dumps(value).encode()
    result = read_reply(status, body)
    assert isinstance(result, Answer | Failure)
    assert status == 200 or isinstance(result, Failure)
    if isinstance(result, Failure):
        assert verdict_on(result) in Verdict
    assert all(isinstance(name, str) for name in model_names(body))


@given(body=st.binary(max_size=60))
def test_any_bytes_are_read_as_an_answer_or_a_failure(body):
    assert isinstance(read_reply(200, body), Answer | Failure)
