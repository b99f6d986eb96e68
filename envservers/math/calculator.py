"""A pocket calculator: an expression is parsed into a tree and worked out by a closed table of operations.

Nothing is evaluated by Python. Numbers, the operators `+ - * / // % **` and parentheses are all there is. The length of
an expression, the size of every value and of every exponent are bounded, so that no expression takes long.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from fractions import Fraction

from envservers.math.numbers import decimal_places, exact_text

MAX_LENGTH = 200
"""Characters of an expression."""
MAX_BITS = 128
"""Of numerator and denominator of every value."""
MAX_EXPONENT = 64
PLACES = 6
"""Digits behind the point of a result that has no end."""

_GROUPS = re.compile(r"(?<![0-9.,])[0-9]{1,3}(?:,[0-9]{3})+(?![0-9,])")
_SIGNS = str.maketrans({"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "^": "^", "$": ""})
_ALLOWED = re.compile(r"[0-9+\-*/%(). ]+")

_BINARY: Mapping[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: lambda a, b: Fraction(a // b),
    ast.Mod: operator.mod,
}
_UNARY: Mapping[type[ast.unaryop], Callable[[Fraction], Fraction]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}


class Refused(ValueError):
    """The expression cannot be worked out; the message says why, for a model to read."""


def calculate(expression: str) -> str:
    """The value of an expression as text, exact or said to be rounded; Refused where there is none."""
    value = evaluate(expression)
    if decimal_places(value) is not None:
        return exact_text(value)
    return f"{exact_text(_rounded(value))} (rounded)"


def evaluate(expression: str) -> Fraction:
    """The exact value of an expression; Refused where there is none."""
    if len(expression) > MAX_LENGTH:
        raise Refused(f"the expression is over {MAX_LENGTH} characters long")
    plain = expression.translate(_SIGNS).replace("^", "**").strip()
    plain = _GROUPS.sub(lambda found: found[0].replace(",", ""), plain)
    if not plain:
        raise Refused("the expression is empty")
    if not _ALLOWED.fullmatch(plain):
        odd = next(c for c in plain if not _ALLOWED.fullmatch(c))
        raise Refused(f"{odd!r} is not understood; use numbers, + - * / // % ** and parentheses")
    try:
        tree = ast.parse(plain, mode="eval")
        return _value(tree.body)
    except (SyntaxError, RecursionError, MemoryError) as exc:
        raise Refused("the expression is not complete or not well formed") from exc


def _value(node: ast.expr) -> Fraction:
    match node:
        case ast.Constant(value=int() | float() as number):
            return _bounded(Fraction(repr(number)))  # 0.1 is a tenth, not the nearest binary fraction
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
            return _UNARY[type(op)](_value(operand))
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(_value(left), _value(right))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            one, other = _value(left), _value(right)
            if other == 0 and isinstance(op, ast.Div | ast.FloorDiv | ast.Mod):
                raise Refused("division by zero")
            return _bounded(_BINARY[type(op)](one, other))
    raise Refused("only numbers, + - * / // % ** and parentheses are understood")


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1 or abs(exponent) > MAX_EXPONENT:
        raise Refused(f"an exponent must be a whole number from -{MAX_EXPONENT} to {MAX_EXPONENT}")
    if base == 0 and exponent < 0:
        raise Refused("division by zero")
    bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if (bits - 1) * abs(exponent) > MAX_BITS:  # a lower bound of the result's size, known before it is made
        raise Refused("the result is too large")
    return _bounded(Fraction(base) ** exponent.numerator)


def _bounded(value: Fraction) -> Fraction:
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MAX_BITS:
        raise Refused("the result is too large or has too many digits")
    return value


def _rounded(value: Fraction) -> Fraction:
    places = PLACES
    while places < 30 and abs(value) * 10**places < 100_000:  # a small value keeps six digits that mean something
        places += 1
    return round(value, places)
