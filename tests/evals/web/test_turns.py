"""What of a turn is shown: the completion, images, tokens, and what an episode was judged by."""

import pytest
from made_pages import PIXEL

from agentenv.trajectory import Turn
from evals.web.turns import TOKENS, checks_of, drawn, message_of, shade, tokens_of, views


def turn(**changes) -> Turn:
    return Turn(**{"observation": "o", "action": "a", "reward": 0.5, **changes})


def test_the_completion_is_the_raw_text_else_the_models_last_reply_else_none():
    said = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "reply"}]
    raw = turn(messages=said, info={"agent": {"raw": "<think>x</think>reply"}})
    assert [view.completion for view in views([raw, turn(messages=said), turn()])] == [
        "<think>x</think>reply", "reply", None,
    ]  # fmt: skip


def test_a_call_of_a_function_is_shown_with_its_arguments():
    call = {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "go", "arguments": "{}"}}]}
    assert '"name": "go"' in str(views([turn(messages=[call])])[0].completion)


def test_rewards_add_up_and_the_same_action_again_is_told():
    shown = views([turn(), turn(), turn(action="b")])
    assert [view.total for view in shown] == [0.5, 1.0, 1.5]
    assert [view.repeated for view in shown] == [False, True, False]


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/x.png", "data:text/html;base64,PGI+", "data:image/svg+xml;base64,PHN2Zz4=",
        "javascript:1", 'data:image/png;base64,AA" onerror="x', "data:image/png;base64,", 7, None,
    ],
)  # fmt: skip
def test_only_images_that_are_in_the_record_are_images(url: object):
    assert message_of({"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}).images == []
    assert views([turn(info={"screenshot": url})])[0].images == []
    assert views([turn(info={"screenshot": PIXEL})])[0].images == [PIXEL]


@pytest.mark.parametrize("content", [None, 7, {"a": 1}, [None, 3, "x", {"text": 4}], []])
def test_a_message_of_any_form_is_shown(content: object):
    assert isinstance(message_of({"content": content, "extra": {"deep": [1]}}).text, str)


def test_tokens_are_shaded_from_sure_to_surprising_and_bounded():
    assert [shade(p) for p in (None, 0.0, -0.1, -1.0, -2.0, -9.0)] == [-1, 0, 1, 2, 3, 4]
    assert len(tokens_of(turn(token_ids=[1] * (TOKENS + 5), logprobs=[0.0] * (TOKENS + 5)))) == TOKENS
    assert [token.logprob for token in tokens_of(turn(token_ids=[1, 2], logprobs=[-0.5]))] == [-0.5, None]


def test_tokens_are_drawn_with_their_numbers():
    shown = drawn(tokens_of(turn(token_ids=[7, 8], logprobs=[-0.01])))
    assert shown == (
        '<span class="token t0" title="log-probability -0.0100">7</span> '
        '<span class="token tx" title="no log-probability">8</span>'
    )


def test_a_message_that_repeats_the_observation_is_not_shown_twice():
    said = [{"role": "user", "content": "o"}, {"role": "user", "content": "o "}]
    assert [message.repeats for message in views([turn(messages=said)])[0].messages] == [True, False]


def test_failed_checks_come_first_and_nonsense_is_none():
    told = [{"check": "url", "passed": True, "reason": ""}, {"check": "row", "passed": False, "reason": "no such row"}]
    assert [(c.passed, c.text) for c in checks_of([turn(), turn(info={"checks": told})])] == [
        (False, "row: no such row"),
        (True, "url"),
    ]
    for nonsense in (None, 3, {"passed": True}, ["x", {"check": "no verdict"}]):
        assert checks_of([turn(info={"checks": nonsense})]) == []
    assert checks_of([]) == []
