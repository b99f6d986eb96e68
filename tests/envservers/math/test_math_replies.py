"""Which part of a reply is its answer, and which its calculation."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envservers.math.replies import Kind, read_answer, read_turn

ANSWERS = {
    "#### 42": 42,
    "6 * 7 = 42\n#### 42": 42,
    "####42": 42,
    "####\n42": 42,
    "####\r\n\r\n42\r\n": 42,
    "#### 42\r\n": 42,
    "So it is #### 42": 42,
    "#### **42**": 42,
    "**#### 42**": 42,
    "#### $1,042.50 per week.": "1042.5",
    r"Hence $\boxed{42}$.": 42,
    r"\boxed {42}": 42,
    r"\boxed{\frac{3}{4}}": "3/4",
    r"\boxed{42\text{ apples}}": 42,
    r"#### \boxed{42}": 42,
    "#### 1\n#### 42": 42,  # of several the last one
    r"\boxed{1} no: #### 42": 42,
    r"#### 1 no: \boxed{42}": 42,
    "#### Step 1\n6 * 7\n#### Step 2\nadd\n#### 42": 42,  # headings of Markdown
    "#### 42\n#### That is all": 42,
    "```\n#### 42\n```": 42,
    "<think>#### 7</think>#### 42": 42,
    "7 </think> #### 42": 42,
    "<think>\\boxed{7}</think>\\boxed{42}": 42,
}
WITHOUT = (
    "",
    "42",
    "The answer is 42.",
    "### 42",
    "##### 42",
    "####",
    "#### ",
    "#### seven",
    "#### 42 or 43",
    r"\boxed{}",
    r"\boxed{42",
    r"boxed{42}",
    "<think>#### 42</think>",
    "<think>#### 42",
    "<answer>42</answer>",
)


@pytest.mark.parametrize(("reply", "value"), ANSWERS.items())
def test_the_last_number_after_the_mark_or_in_a_box_is_the_answer(reply, value):
    assert read_answer(reply).value == Fraction(value)


@pytest.mark.parametrize("reply", WITHOUT)
def test_a_reply_without_it_has_no_answer_but_a_reason(reply):
    answer = read_answer(reply)
    assert answer.value is None
    assert answer.reason


@pytest.mark.parametrize(
    ("reply", "expression"),
    {
        "calculate[12 * 7]": "12 * 7",
        "I need the cost first. calculate[12 * 7]": "12 * 7",
        "Calculate [ 12 * 7 ]\r\n": "12 * 7",
        "```\ncalculate[12 * 7]\n```": "12 * 7",
        "<think>calculate[1 + 1]</think>calculate[12 * 7]": "12 * 7",
        "calculate[]": "",
    }.items(),
)
def test_one_calculation_is_a_turn(reply, expression):
    turn = read_turn(reply)
    assert (turn.kind, turn.text) == (Kind.CALCULATE, expression)


@pytest.mark.parametrize(
    ("reply", "reason"),
    {
        "calculate[1 + 1]\n#### 2": "not both",
        "calculate[1 + 1]\n2\n#### the answer": "not both",
        "\\boxed{2} calculate[1 + 1]": "not both",
        "calculate[1 + 1] calculate[2 + 2]": "only one",
        "calculate[1 + 1": "not closed",
        "calculate[1 +\n1]": "not closed",
        "calculate 1 + 1": "no line says",
        "": "no line says",
        "#### two": "no single number stands after ####",
        "\\boxed{two}": "no single number stands in \\boxed{}",
        "calculate(1 + 1)": "brackets of calculate[expression] are square",
        "<think>calculate[1 + 1]</think>": "no line says",
    }.items(),
)
def test_any_other_turn_is_refused_with_a_reason(reply, reason):
    turn = read_turn(reply)
    assert turn.kind == Kind.REFUSED
    assert reason in turn.text


@given(st.text(alphabet="#\\boxed{}0123calculate[]<think>/ \n", max_size=300))
def test_no_reply_raises(reply):
    assert read_answer(reply)
    assert read_turn(reply)
