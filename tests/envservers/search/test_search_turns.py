import pytest

from envservers.search.turns import Kind, read_turn


@pytest.mark.parametrize(
    ("reply", "query"),
    [
        ("<search>who built it</search>", "who built it"),
        ("<think>I wonder</think>\n<search> a\n b </search>", "a b"),
        ("Some words. <search>x</search> More words.", "x"),
        ("<think><answer>Rome</answer></think><search>x</search>", "x"),
        ("<think><information>old</information></think><search>x</search>", "x"),
        ("I might <search>y</search> or not.</think><search>x</search>", "x"),
    ],
)
def test_one_search_outside_the_thought_is_a_search(reply, query):
    turn = read_turn(reply)
    assert (turn.kind, turn.text) == (Kind.SEARCH, query)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("<answer>Rome</answer> ... <answer> Paris </answer>", "Paris"),
        ("<answer></answer>", ""),
        ("<answer>a<answer>b</answer>", "b"),
        ("<answer>x\ny</answer>", "x y"),
        ("<think>easy</think><answer>Paris</answer>", "Paris"),
        ("<think>easy</think><answer>Paris</answer></think>", "Paris"),
    ],
)
def test_the_last_and_innermost_answer_counts(reply, answer):
    turn = read_turn(reply)
    assert (turn.kind, turn.text) == (Kind.ANSWER, answer)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("Beijing", "neither"),
        ("", "neither"),
        ("<answer>Paris", "<answer> is not closed"),
        ("<search>x", "<search> is not closed"),
        ("<Answer>Paris</Answer>", "neither"),
        ("<SEARCH>x</SEARCH>", "neither"),
        ("<think><answer>Paris</answer></think>", "neither"),
        ("<think>endless <answer>Paris</answer>", "neither"),
        ("It is <answer>Paris</answer> perhaps</think>", "neither"),
        ("<search>x</search><answer>y</answer>", "not both"),
        ("<answer>y</answer><search>x", "<search> is not closed"),
        ("<search>x</search><answer>y", "<answer> is not closed"),
        ("<search>x</search><search>y</search>", "only one <search>"),
        ("<search>x<search>y</search>", "only one <search>"),
        ("<search>x</search><information>It is y.</information>", "only the environment"),
        ("<information>It is y.</information><answer>y</answer>", "only the environment"),
        ("<search> \n </search>", "empty"),
        (f"<search>{'x' * 1001}</search>", "over 1000"),
    ],
)
def test_every_other_reply_is_refused_with_its_reason(reply, reason):
    turn = read_turn(reply)
    assert turn.kind is Kind.REFUSED
    assert reason in turn.text


def test_a_reply_of_thousands_of_open_tags_is_read_at_once():
    for tag in ("<answer>", "<search>", "<think>", "</think>", "<information"):
        assert read_turn(tag * 8_000).kind is Kind.REFUSED
