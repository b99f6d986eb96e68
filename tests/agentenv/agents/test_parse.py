import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentenv.agents.parse import MAX_MALFORMED, MAX_READ, Parsed, parse
from agentenv.agents.prompts import load_format
from agentenv.reasoning import split_reasoning

REACT = load_format("react")


def read(text, **kwargs):
    return parse(text, REACT, **kwargs)


def test_of_several_actions_the_first_is_taken_and_a_self_written_observation_is_dropped():
    text = "Thought: a\nAction:\nturn left\nObservation: ok\nThought: b\nAction:\nmove forward"
    assert read(text) == Parsed(action="turn left", extra_text=True)


def test_a_marker_in_the_middle_of_a_thought_is_no_action():
    text = "Thought: my Action: plan\nAction: get 1 oak logs"
    assert read(text) == Parsed(action="get 1 oak logs")


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("Action:\r\nget 2 oak logs\r\n", "get 2 oak logs"),
        ("Action:\n\nget 2 stick", "get 2 stick"),
        ("Action:\n```\nget 2 stick\n```", "get 2 stick"),
        ("Action: `get 2 stick`", "get 2 stick"),
        ("action: get 2 stick", "get 2 stick"),
        ("Action: look", "look"),
        ("Action: Action: look", "look"),
        ("Action: action : Action:\nlook", "look"),
        ("**Action:** get 2 stick", "get 2 stick"),
    ],
)
def test_small_variations_of_the_form_are_read(text, action):
    assert read(text) == Parsed(action=action)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("get 2 stick", 'no line starts with "Action:"'),
        ("Action:", 'nothing follows "Action:"'),
        ("Action:\n \n\t\n", 'nothing follows "Action:"'),
        ("Action:\n```\n```", 'nothing follows "Action:"'),
        ("", "the answer is empty"),
        (" \r\n ", "the answer is empty"),
        ("Thought: I look around.", 'no line starts with "Action:"'),
        ("Action get 2 stick", 'no line starts with "Action:"'),
        ("Actions: get 2 stick", 'no line starts with "Action:"'),
        ("Observation: ok\nAction: get 2 stick", 'no line starts with "Action:" before "Observation:"'),
        ("Action:\nObservation: ok\nAction: look", 'nothing follows "Action:"'),
    ],
)
def test_a_text_without_an_action_is_a_parse_failure_with_its_reason(text, reason):
    assert read(text) == Parsed(reason=reason)


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("Thought:\nI need sticks.\n\nAction:\nget 2 stick", "get 2 stick"),
        ("ACTION : get 2 stick", "get 2 stick"),
        ("   Action: get 2 stick", "get 2 stick"),
        ("**Action**: get 2 stick", "get 2 stick"),
        ("**Action: get 2 stick**", "get 2 stick"),
        ("__Action:__ get 2 stick", "get 2 stick"),
        ("Action: **get 2 stick**", "get 2 stick"),
        ("Action: **`get 2 stick`**", "get 2 stick"),
        ("Action: `**get**`", "**get**"),
        ("Action: `` get `2` stick ``", "get `2` stick"),
        ("### Action: get 2 stick", "get 2 stick"),
        ("### Action:\nget 2 stick", "get 2 stick"),
        ("Action: ```get 2 stick```", "get 2 stick"),
        ("Action:\n~~~text\nget 2 stick\n~~~", "get 2 stick"),
        ("Action: ```sql\nSELECT 1;\nSELECT 2;\n```", "SELECT 1;\nSELECT 2;"),
        ("Action:\n```\nsay Hi\nObservation: mine\n```", "say Hi\nObservation: mine"),
        ("Action:\n````\n```\ninner\n```\n````", "```\ninner\n```"),
        ("Action:\n```python\nget()", "get()"),
        ("Action:\n\nAction: get 2 stick", "get 2 stick"),
        ("Action:\nThought: or rather\nAction: get 2 stick", "get 2 stick"),
        ("```\nThought: x\nAction: get 2 stick\n```", "get 2 stick"),
        ("Action: get `2` stick", "get `2` stick"),
        ("Action: it's *x* or *y*", "it's *x* or *y*"),
        ("Action: search[a: b]", "search[a: b]"),
        ("Action: 打开 门", "打开 门"),
    ],
)
def test_the_written_rules_hold(text, action):
    assert read(text) == Parsed(action=action)


@pytest.mark.parametrize(
    "text",
    [
        "Action: get 2 stick\nThis will help.",
        "Action: get 2 stick\n\nThought: and then",
        "Action: get 2 stick\nAction: get 1 coal",
        "Action:\n```\nget 2 stick\n```\nDone.",
        "Action:\n```\nget 2 stick\nObservation: Got 2 stick",
        "Action: get 2 stick\rObservation: Got 2 stick",
    ],
)
def test_what_follows_the_action_is_dropped_and_flagged(text):
    assert read(text) == Parsed(action="get 2 stick", extra_text=True)


@pytest.mark.parametrize("text", ["Action: get 2 sti", "Action:\n```\nget 2 sti", "Action:\n get 2 sti"])
def test_an_action_that_the_length_limit_cut_is_not_sent(text):
    assert read(text, cut=True).action is None
    assert "length limit" in read(text, cut=True).reason


@pytest.mark.parametrize("text", ["Action: get 2 stick\nI thi", "Action:\n```\nget 2 stick\n```\nI th"])
def test_an_action_that_ended_before_the_length_limit_is_sent(text):
    assert read(text, cut=True) == Parsed(action="get 2 stick", extra_text=True)


def test_a_failure_becomes_a_malformed_action_of_bounded_size():
    action = read("x" * 100_000).as_action("x" * 100_000)
    assert action.malformed == 'no line starts with "Action:"'
    assert action.text == "x" * MAX_MALFORMED


@pytest.mark.parametrize(
    ("text", "visible", "hidden"),
    [
        ("Action: a", "Action: a", ""),
        ("<think>Action: b</think>\nAction: a", "Action: a", "<think>Action: b</think>"),
        ("<THINK>x</THINK> Action: a", "Action: a", "<THINK>x</THINK>"),
        ("<thinking>x</thinking>Action: a", "Action: a", "<thinking>x</thinking>"),
        ("<think>Action: b", "", "<think>Action: b"),
        ("so be it</think>Action: a", "Action: a", "so be it</think>"),
        ("<think>1<think>2</think>3</think>Action: a", "Action: a", "3</think>\n<think>1<think>2</think>"),
        ("Thought: <think>x</think>\nAction: a", "Thought: \nAction: a", "<think>x</think>"),
    ],
)
def test_reasoning_is_taken_out_before_an_action_is_looked_for(text, visible, hidden):
    assert split_reasoning(text) == (visible, hidden)


MARKS = ["Thought:", "Action:", "Observation:", "**", "`", "```", "~~~", "#", "<think>", "</think>"]
TEXTURE = ["\n", "\r\n", " ", "get 1 log", "\x00", "\ud800", "💥", "\u2028"]
PIECES = st.sampled_from([*MARKS, *TEXTURE])
TEXTS = st.one_of(st.text(), st.lists(PIECES, max_size=40).map("".join))


@given(text=TEXTS, cut=st.booleans())
def test_no_text_raises_and_the_reading_is_bounded_and_repeatable(text, cut):
    parsed = read(text, cut=cut)
    assert parsed == read(text, cut=cut)
    assert (parsed.action is None) != (parsed.reason is None)
    if parsed.action is not None:
        assert parsed.action == parsed.action.strip() != ""
        assert parsed.action in text.replace("\r\n", "\n").replace("\r", "\n")
    assert len(parsed.as_action(text).text) <= max(MAX_MALFORMED, MAX_READ)


@given(text=TEXTS)
def test_taking_reasoning_out_never_raises_and_leaves_none(text):
    visible, hidden = split_reasoning(text)
    assert len(visible) + len(hidden) <= 2 * len(text) + 1
    assert "</think>" not in visible.lower()


@given(action=st.from_regex(r"[a-z0-9][a-z0-9 ]{0,30}[a-z0-9]", fullmatch=True), thought=st.text(max_size=40))
def test_the_form_that_models_are_shown_is_read_back(action, thought):
    thought = thought.replace(":", "").replace("`", "")
    assert read(f"Thought:\n{thought}\n\nAction:\n{action}").action == action


@pytest.mark.parametrize(
    "piece", ["Action:\n", "Action: ", "```\n", "Action:\n```\n", "**", "`", "<think>", "~~~\nAction:\n"]
)
def test_long_repetitions_are_read_in_linear_time(piece):
    text = piece * (MAX_READ // len(piece))
    read(text)
    assert split_reasoning(text) is not None  # a quadratic reading of either would run into the test's time limit
