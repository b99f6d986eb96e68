"""The calculator: exact, closed, bounded."""

import contextlib
import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envservers.math.calculator import MAX_BITS, MAX_LENGTH, Refused, calculate, evaluate

VALUES = {
    "12 * (7 + 3)": "120",
    "1,234 + 1": "1235",
    "0.1 + 0.2": "0.3",
    "-3 ** 2": "-9",
    "2^10": "1024",
    "2 ** -2": "0.25",
    "7 // 2": "3",
    "7 % 3": "1",
    "12 × 3 ÷ 4": "9",
    "$5 * 3": "15",
    "100 / 3": "33.333333 (rounded)",
    "-2 / 3": "-0.666667 (rounded)",
    "0.000001 / 3": "0.000000333333 (rounded)",
    "((((((1))))))": "1",
}
REFUSALS = {
    "": "empty",
    "   ": "empty",
    "1 / 0": "division by zero",
    "1 // (2 - 2)": "division by zero",
    "1 % 0": "division by zero",
    "0 ** -1": "division by zero",
    "2 ** 65": "exponent",
    "2 ** 0.5": "exponent",
    "9 ** 64": "too large",
    "9 ** 9 ** 9": "exponent",
    "9" * 60: "too large",
    "1 / 7 ** 60": "too large",
    "3 4": "well formed",
    "(1": "well formed",
    "0777": "well formed",
    "(" * 101: "well formed",
    "15% * 80": "well formed",
    "(1)(2)": "only numbers",
    "1, 2": "not understood",
    "1e9": "not understood",
    "1_000": "not understood",
    "1 < 2": "not understood",
    "abs(3)": "not understood",
    "x": "not understood",
    "__import__('os')": "not understood",
    "[1][0]": "not understood",
    "1\n+ 1": "not understood",
    "1\x00": "not understood",
    "1" * (MAX_LENGTH + 1): "characters long",
}


@pytest.mark.parametrize(("expression", "value"), VALUES.items())
def test_a_value_is_exact_or_said_to_be_rounded(expression, value):
    assert calculate(expression) == value


@pytest.mark.parametrize(("expression", "reason"), REFUSALS.items())
def test_everything_else_is_refused_with_a_reason(expression, reason):
    with pytest.raises(Refused, match=reason):
        calculate(expression)


@given(st.text(alphabet="0123456789+-*/%(). ", max_size=MAX_LENGTH + 5))
def test_any_expression_is_worked_out_or_refused_and_stays_small(expression):
    try:
        value = evaluate(expression)
    except Refused:
        return
    assert max(value.numerator.bit_length(), value.denominator.bit_length()) <= MAX_BITS


@given(st.text(max_size=60))
def test_any_text_is_worked_out_or_refused(text):
    with contextlib.suppress(Refused):
        assert calculate(text)


def test_no_expression_takes_long():
    began = time.thread_time()
    for expression in ("-" * 199 + "1", "(" * 99 + "1" + ")" * 99, "9**64" + "*9**64" * 20, "1/3" + "+1/3" * 45):
        with contextlib.suppress(Refused):
            calculate(expression)
    assert time.thread_time() - began < 0.2


def test_long_sums_stay_exact():
    assert evaluate("+".join(["0.1"] * 49)) == Fraction("4.9")
