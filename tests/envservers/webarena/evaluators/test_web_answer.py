"""Free replies read by type: what is right, what is near, and what names too much."""

import pytest

from envservers.webarena.evaluators.answer import LONGEST, Answer
from envservers.webarena.evaluators.evidence import Evidence


def judge(check: Answer, reply: str | None) -> bool:
    return check.judge(Evidence(answer=reply, tabs=(), active=0)).passed


def one(type: str, value: str, **more: object) -> Answer:
    return Answer(type=type, values=(value,), **more)  # type: ignore[arg-type]


def some(type: str, *values: str, ordered: bool = False) -> Answer:
    return Answer(type=type, values=values, many=True, ordered=ordered)


RIGHT = [
    (one("number", "10"), "10"),
    (one("number", "10"), "There are 10 orders."),
    (one("number", "10"), "ten"),
    (one("number", "0"), "0 orders"),
    (one("number", "1250"), "1,250"),
    (one("number", "4.5"), "4.50 stars"),
    (one("number", "15"), "15%"),
    (one("number", "3"), "3 on March 2, 2026"),
    (one("money", "0.00"), "$0.00"),
    (one("money", "1234.50"), "The total is $1,234.50."),
    (one("money", "45"), "Order 000000123 cost $45.00"),
    (one("money", "12.5"), "12.50"),
    (one("money", "12.5"), "USD 12.50"),
    (one("money", "-5"), "-$5.00"),
    (one("money", "10", tolerance="0.1"), "$10.05"),
    (one("date", "2026-03-02"), "March 2, 2026"),
    (one("date", "2026-03-02"), "2 Mar 2026"),
    (one("date", "2026-03-02"), "03/02/2026"),
    (one("date", "2026-03-02"), "It was placed on 2026-03-02."),
    (one("date", "2026-03-02"), "March 2nd, 2026"),
    (one("identifier", "000000170"), "170"),
    (one("identifier", "000000170"), "Order #000000170"),
    (one("yes_no", "yes"), "Yes, it is."),
    (one("text", "Blue Kettle"), ' "blue  kettle". '),
    (one("text", "Blue Kettle"), "The answer is: Blue Kettle"),
    (one("text", "O'Brien"), "O\u2019Brien"),
    (one("text", "Blue Kettle", alternatives=("Kettle, Blue",)), "kettle, blue"),
    (one("text", "Blue Kettle"), "**Blue Kettle**"),
    (one("money", "12.50"), "12.50 dollars, shipping not included"),
    (one("number", "10"), "10 orders, no more"),
    (one("money", "12.50"), "The totals add up to $12.50, over 3 orders."),
    (one("identifier", "170"), "It is filed under 000000170."),
    (some("text", "a b", "c"), "c, a b"),
    (some("text", "a b", "c"), "- a b\n- c"),
    (some("text", "a b", "c"), '["c", "a b"]'),
    (some("text", "Salt, fine", "Pepper"), "Pepper; Salt, fine"),
    (some("text", "Salt and Pepper Mill"), "Salt and Pepper Mill"),
    (some("text", "x", "y", "z"), "x, y, and z"),
    (some("text", "x", "y", ordered=True), "1. x\n2. y"),
    (some("money", "1.50", "20"), "$1.50; $20.00"),
    (some("identifier", "12", "13"), "#0012, #0013"),
    (some("text"), "none"),
]

WRONG = [
    (one("number", "0"), "10"),
    (one("number", "10"), "2010"),
    (one("number", "10"), "10 or 12"),
    (one("number", "10"), ""),
    (one("number", "10"), "   "),
    (one("number", "10"), "N/A"),
    (one("number", "10"), "model A10"),
    (one("number", "10"), "10 " * LONGEST),
    (one("money", "45"), "$45.00 or $46.00"),
    (one("money", "45"), "45.01"),
    (one("date", "2026-03-02"), "2026-03-02 or 2026-03-03"),
    (one("date", "2026-03-02"), "2026-02-30"),
    (one("date", "2026-03-02"), "March"),
    (one("identifier", "170"), "17"),
    (one("identifier", "170"), "170 171"),
    (one("yes_no", "yes"), "yes or no"),
    (one("yes_no", "yes"), "maybe"),
    (one("yes_no", "yes"), "not yes"),
    (one("number", "12"), "not 12"),
    (one("number", "12"), "Not 12"),
    (one("number", "12"), "It isn't 12."),
    (one("number", "12"), "more than 12"),
    (one("number", "12"), "at least 12"),
    (one("number", "12"), "12 or more"),
    (one("number", "12"), "12 items or fewer"),
    (one("money", "12.50"), "less than $12.50"),
    (one("money", "12.50"), "it is not $12.50"),
    (one("money", "12.50"), "\u20ac12.50"),
    (one("money", "12.50"), "12.50 EUR"),
    (one("date", "2026-03-02"), "not 2026-03-02"),
    (one("date", "2026-03-02"), "not on March 2, 2026"),
    (one("identifier", "170"), "not order #170"),
    (one("text", "Blue Kettle"), "Blue Kettle, Red Kettle"),
    (one("text", "Blue Kettle"), "Blue Kettles"),
    (some("text", "x", "y"), "x"),
    (some("text", "x", "y"), "x, y, z"),
    (some("text", "x", "x"), "x"),
    (some("text", "x", "y", ordered=True), "y, x"),
    (some("text"), "x"),
    (some("number", "1", "2"), "1 2, 3"),
]


@pytest.mark.parametrize(("check", "reply"), RIGHT)
def test_a_reply_that_names_the_value_is_right(check: Answer, reply: str) -> None:
    assert judge(check, reply)


@pytest.mark.parametrize(("check", "reply"), WRONG)
def test_a_reply_that_names_another_or_more_is_wrong(check: Answer, reply: str) -> None:
    assert not judge(check, reply)


def test_an_episode_without_stop_has_no_answer() -> None:
    assert not judge(one("text", "x"), None)


def test_a_verdict_does_not_give_the_answer_away() -> None:
    verdict = one("text", "Blue Kettle").judge(Evidence(answer="Red Kettle", tabs=(), active=0))
    assert "Blue" not in verdict.reason
