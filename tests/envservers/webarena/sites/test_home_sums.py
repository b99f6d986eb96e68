"""The calculator: exact decimals, and nothing but sums."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from envservers.webarena.sites.home.sums import SumError, calculate, written


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("1+2*3", "7"),
        ("(1 + 2) * 3", "9"),
        ("0.1 + 0.2", "0.3"),
        ("10 / 4", "2.5"),
        ("1/3", "0.3333333333"),
        ("2^10", "1024"),
        ("2**3**2", "512"),
        ("-2^2", "-4"),
        ("(-2)^2", "4"),
        ("2^-1", "0.5"),
        ("7 % 3", "1"),
        ("1,299.00 * 2", "2598"),
        ("$19.90 + $0.10", "20"),
        ("6 × 7 ÷ 2 − 1", "20"),
        ("--5", "5"),
        (".5 + 1.", "1.5"),
        ("0 * -1", "0"),
        ("10-2-3", "5"),
        ("100/10/5", "2"),
    ],
)
def test_sums_have_their_results(text: str, result: str) -> None:
    assert written(calculate(text)) == result


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "1 +", "* 2", "(1", "1)", "1 2", "()", "1..2", "abc", "1 / 0", "5 % 0", "0 ^ -1"),
        *("__import__('os')", "1e5", "9^9^9^9", "10^1001", "(-8)^0.5", "2;3", "1=1", "٣ + 1", "x" * 200),
        *("(" * 60 + "1" + ")" * 60, "-" * 300 + "1", "10^300*10^300"),
    ],
)
def test_what_is_no_sum_says_what_is_wrong(text: str) -> None:
    with pytest.raises(SumError, match=r"\w"):
        calculate(text)


def test_sums_made_at_random_agree_with_fractions() -> None:
    draw = random.Random(7)
    for _ in range(300):
        text, value = _sum(draw, 3)
        assert abs(Fraction(calculate(text)) - value) < Fraction(1, 10**30), text


def _sum(draw: random.Random, depth: int) -> tuple[str, Fraction]:
    if depth == 0 or draw.random() < 0.2:
        number = draw.randint(1, 9999)
        return f"{number / 100:.2f}", Fraction(number, 100)
    left, a = _sum(draw, depth - 1)
    right, b = _sum(draw, depth - 1)
    sign = draw.choice("+-*/" if b else "+-*")
    value = {"+": a + b, "-": a - b, "*": a * b, "/": a / b if b else a}[sign]
    return f"({left} {sign} {right})", value
