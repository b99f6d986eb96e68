"""The calculator: sums in decimal arithmetic, read by a small parser of its own.

    sum     = product (("+" | "-") product)*
    product = sign (("*" | "/" | "%") sign)*          % is the remainder
    sign    = ("+" | "-") sign | power
    power   = place ("^" sign)?                       ^ binds tighter than a sign before it, from right to left
    place   = number | "(" sum ")"

Commas between digits are left out, `×`, `÷`, `−`, `**` and a dollar sign before a number are understood.
"""

from __future__ import annotations

import re
from decimal import Context, Decimal, DecimalException, DivisionByZero, InvalidOperation, Overflow, localcontext

PLACES = 10
"""Digits after the point in a result."""
DEEPEST = 50
"""Brackets and signs inside each other."""
LARGEST_POWER = 1000

_TOKEN = re.compile(r"\s*(?:\$?([0-9][0-9,]*(?:\.[0-9]*)?|\.[0-9]+)|(\*\*|[-+*/%^()×÷−]))")
_OTHER_SIGNS = {"×": "*", "÷": "/", "−": "-", "**": "^"}
_CONTEXT = Context(prec=50, Emax=300, Emin=-300, traps=[DivisionByZero, InvalidOperation, Overflow])


class SumError(ValueError):
    """What is wrong with a sum, in words for who typed it."""


def calculate(text: str) -> Decimal:
    """The value of a sum; SumError when it is none."""
    with localcontext(_CONTEXT):
        reader = _Reader(_tokens(text))
        try:
            value = reader.sum()
        except (DivisionByZero, InvalidOperation) as fault:
            raise SumError("Division by zero has no result.") from fault
        except DecimalException as fault:
            raise SumError("The result is too large.") from fault
        if reader.token is not None:
            raise SumError(f"“{reader.token}” was not expected there.")
        return value


def written(value: Decimal) -> str:
    """Rounded to ten places, without zeros at the end."""
    with localcontext(_CONTEXT):
        if value.adjusted() > 30:
            return f"{value.normalize():E}"
        text = f"{round(value, PLACES):f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def _tokens(text: str) -> list[str]:
    found, place = [], 0
    text = text.rstrip()
    while place < len(text):
        token = _TOKEN.match(text, place)
        if token is None:
            raise SumError(f"“{text[place:].strip()[:1]}” is not part of a sum.")
        number, sign = token.groups()
        found.append(number.replace(",", "") if number else _OTHER_SIGNS.get(sign, sign))
        place = token.end()
    if not found:
        raise SumError("Please enter a sum, for example 12.5 * (3 + 4).")
    return found


class _Reader:
    """Reads tokens from left to right."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._place = 0
        self._depth = 0

    @property
    def token(self) -> str | None:
        """The next one, None at the end."""
        return self._tokens[self._place] if self._place < len(self._tokens) else None

    def sum(self) -> Decimal:
        value = self._product()
        while (sign := self._take("+", "-")) is not None:
            other = self._product()
            value = value + other if sign == "+" else value - other
        return value

    def _product(self) -> Decimal:
        value = self._sign()
        while (sign := self._take("*", "/", "%")) is not None:
            other = self._sign()
            value = value * other if sign == "*" else value / other if sign == "/" else value % other
        return value

    def _sign(self) -> Decimal:
        sign = self._take("+", "-")
        if sign is None:
            return self._power()
        self._deeper()
        value = self._sign()
        self._depth -= 1
        return -value if sign == "-" else value

    def _power(self) -> Decimal:
        value = self._value()
        if self._take("^") is None:
            return value
        self._deeper()
        power = self._sign()
        self._depth -= 1
        if abs(power) > LARGEST_POWER:
            raise SumError(f"Powers go up to {LARGEST_POWER}.")
        if value < 0 and power != power.to_integral_value():
            raise SumError("A negative number has no such power.")
        if not value and power < 0:
            raise DivisionByZero
        return value**power

    def _value(self) -> Decimal:
        token = self.token
        if token is None:
            raise SumError("The sum ends too early.")
        self._place += 1
        if token == "(":
            self._deeper()
            value = self.sum()
            self._depth -= 1
            if self._take(")") is None:
                raise SumError("A bracket is not closed.")
            return value
        if token[0] in "0123456789.":
            return Decimal(token)
        raise SumError(f"“{token}” was not expected there.")

    def _take(self, *wanted: str) -> str | None:
        token = self.token
        if token not in wanted:
            return None
        self._place += 1
        return token

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise SumError("This sum has too many brackets inside each other.")
