"""How numbers are read out of answers and texts."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envservers.math.numbers import decimal_places, digits_in, exact_text, numbers_in, parse_number

READ = {
    "42": 42,
    " 42. ": 42,
    "42.00": 42,
    "1,234": 1234,
    "$1,234.50": "1234.5",
    "12,345,678": 12345678,
    ".5": "1/2",
    "-5": -5,
    "−5": -5,
    "-$5": -5,
    "$-5": -5,
    "+5": 5,
    "3/4": "3/4",
    "1 1/2": "3/2",
    "25%": 25,
    "25 %": 25,
    "€42": 42,
    "42 USD": 42,
    "USD 42": 42,
    "US$42": 42,
    "“42”": 42,
    "'42'": 42,
    "42 ✅": 42,
    "42\\,\\text{m}^2": 42,
    "42 apples": 42,
    "42 apples.": 42,
    "42 km/h": 42,
    "42/hour": 42,
    "42 (dollars)": 42,
    "42 m^2": 42,
    "42 m²": 42,
    "90°": 90,
    "**42**": 42,
    "**42** apples": 42,
    "`42`": 42,
    "$42$": 42,
    "\\$42": 42,
    "90\\%": 90,
    "\\frac{3}{4}": "3/4",
    "-\\frac{1}{2}": "-1/2",
    "1\\frac{1}{2}": "3/2",
    "$\\dfrac12$": "1/2",
    "42\\text{ apples}": 42,
    "12{,}345": 12345,
    "1\u202f234": 1234,
    "\\(42\\)": 42,
    "90^\\circ": 90,
    "x = 42": 42,
    "12 * 3 = 36": 36,
    "The answer is 42.": 42,
    "Answer: 42": 42,
}
REFUSED = (
    "",
    "x",
    "seven",
    "42 or 43",
    "12 people, 3 cars",
    "4 2",
    "Step 2",
    "about 42",
    "1,23",
    "1234,567",
    "1.234.567",
    "5e3",
    "10^3",
    "2**3",
    "0x10",
    "1_000",
    "--5",
    "-$-5",
    "1/0",
    "1 1/0",
    "NaN",
    "inf",
    "٤٢",
    "1" * 31,
    "42 " + "a" * 300,
)


@pytest.mark.parametrize(("text", "value"), READ.items())
def test_a_number_is_read_however_it_is_dressed(text, value):
    assert parse_number(text) == Fraction(value)


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_not_one_number_is_none(text):
    assert parse_number(text) is None


@given(st.text(max_size=250))
def test_any_text_is_a_number_or_none(text):
    assert parse_number(text) is None or isinstance(parse_number(text), Fraction)


@given(st.fractions(min_value=-(10**9), max_value=10**9, max_denominator=10_000))
def test_a_number_that_was_written_is_read_as_itself(value):
    assert parse_number(exact_text(value)) == value


def test_exact_text_is_the_shortest_decimal_or_a_fraction():
    shown = [exact_text(Fraction(v)) for v in ("84", "-84", "12.5", "0.05", "-0.25", "7/3", "1234567.89")]
    assert shown == ["84", "-84", "12.5", "0.05", "-0.25", "7/3", "1234567.89"]
    assert [decimal_places(Fraction(v)) for v in ("3", "0.25", "1/3")] == [0, 2, None]


def test_numbers_of_a_text_are_found_in_digits_and_in_words():
    text = "Twelve hens lay 1,250 eggs, twice as many as in 2.5 days, two dozen a day. Someone pays $3.00."
    assert numbers_in(text) == [Fraction(v) for v in ("12", "1250", "2", "2.5", "2", "12", "3")]
    assert digits_in(text) == [Fraction(v) for v in ("1250", "2.5", "3")]
