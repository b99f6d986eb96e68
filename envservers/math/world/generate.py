"""From a template and a seed to a word problem. Equal template, seed and pool of words: equal bytes, anywhere."""

from __future__ import annotations

import math
import operator
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

from envservers.math.numbers import WORDS, digits_in, exact_text, numbers_in
from envservers.math.world.language import HELD_OUT, Template, Words, asides, words

T = TypeVar("T")

WITH_ASIDE = 3
"""Of ten seeds, so many give a problem with a number that does not matter."""
LOWEST, HIGHEST = 10, 1_000_000
"""Of answers. Small ones would be guessed."""
TRIES = 20_000
"""Draws until one fits; a template that needs more is wrong."""
_SIGNS: Mapping[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
_PRONOUNS = {"he": ("he", "his", "him"), "she": ("she", "her", "her")}
_LEANING = re.compile(
    r"{He}|They|It |The rest|The others|The remain|This|Then|From this|From the others|In it|Each|All "
)
"""How a sentence begins that leans on the one before it, so that nothing may stand between them."""
_SENTENCE = re.compile(r"(?<=[.?!]) (?=[A-Z{$0-9])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A word problem with its solution."""

    question: str
    answer: Fraction
    steps: tuple[tuple[str, Fraction], ...]
    """Each operation with the numbers filled in, such as `12 * 7`, and its value."""
    slots: tuple[Fraction, ...]
    aside: bool
    """Whether a number does not matter."""

    def canonical(self, template: str) -> str:
        """What is asked, whoever it is about and however it is told: template and numbers."""
        return f"{template}({', '.join(map(exact_text, self.slots))})"


class Number:
    """A value in a text: `{a}` in digits, `{a:w}` in words up to twelve, `{a:m}` as an amount of money."""

    def __init__(self, value: Fraction) -> None:
        self.value = value

    def __format__(self, form: str) -> str:
        value = self.value
        if form == "w" and value.denominator == 1 and value <= len(WORDS):
            return WORDS[value.numerator - 1]
        digits = f"{value.numerator:,}" if value.denominator == 1 else f"{float(value):,.2f}"
        return f"${digits}" if form == "m" else digits


def make_problem(template: Template, seed: int, *, held_out: bool) -> Problem:
    """The problem of a seed. `held_out`: with the words and phrasings of test_ood."""
    rng = random.Random(f"math/{template.name}/{seed}")
    aside = seed % 10 < WITH_ASIDE
    for _ in range(TRIES):
        slots = {name: Fraction(_pick(rng, values), 100) for name, values in template.slots.items()}
        steps = _worked(template, slots)
        if steps is None or not LOWEST <= steps[-1][1] <= HIGHEST:
            continue
        question = _told(template, slots, rng, held_out=held_out, aside=aside)
        if _is_hard_to_guess(question, steps[-1][1]):
            return Problem(
                question=question, answer=steps[-1][1], steps=steps, slots=tuple(slots.values()), aside=aside
            )
    raise ValueError(f"template {template.name!r}, seed {seed}: no numbers fit after {TRIES} draws")


def _worked(template: Template, slots: Mapping[str, Fraction]) -> tuple[tuple[str, Fraction], ...] | None:
    """The steps of the solution; None where a value is not above 0, or has more decimals than it may."""
    values, steps = dict(slots), []
    for step in template.steps:
        left, right = (values.get(name) or Fraction(name) for name in (step.left, step.right))
        value = _SIGNS[step.sign](left, right)
        decimals = 100 if template.cents and step.name not in template.whole else 1
        if value <= 0 or decimals % value.denominator:
            return None
        steps.append((f"{exact_text(left)} {step.sign} {exact_text(right)}", value))
        values[step.name] = value
    return tuple(steps)


def _told(template: Template, slots: Mapping[str, Fraction], rng: random.Random, *, held_out: bool, aside: bool) -> str:
    pool = words(held_out=held_out)
    texts = template.texts
    if not template.held_out:
        texts = texts[-HELD_OUT:] if held_out else texts[:-HELD_OUT]
    names: dict[str, object] = {**_cast(template, pool, rng), **{n: Number(v) for n, v in slots.items()}}
    sentences = _SENTENCE.split(_pick(rng, texts))
    if aside:
        names["aside"] = Number(Fraction(3 + int(rng.random() * 95)))
        said = _pick(rng, asides(template.category, held_out=held_out)).replace("{d", "{aside")
        places = [at for at, text in enumerate(sentences) if at and not _LEANING.match(text)]
        sentences.insert(_pick(rng, places or [len(sentences) - 1]), said)
    told = " ".join(sentences).format_map(names)
    return told[0].upper() + told[1:]


def _cast(template: Template, pool: Words, rng: random.Random) -> dict[str, str]:
    """Who and what the text is about."""
    (one, gender), (two, _) = _some(rng, pool.people, 2)
    other = _pick(rng, [name for name, he in pool.people if he != gender and name != two])  # no doubt who "he" is
    he, his, him = _PRONOUNS[gender]
    cast = {"n": one, "m": two, "other": other, "he": he, "his": his, "him": him, "He": he.capitalize()}
    if template.things:
        cast["x"], cast["y"] = _some(rng, pool.things[template.things], 2)
    return cast


def _is_hard_to_guess(question: str, answer: Fraction) -> bool:
    """Whether the answer is neither in the text nor the sum or the product of its numbers."""
    spelled, digits = numbers_in(question), digits_in(question)
    guesses = {*spelled, *(f(numbers) for numbers in (spelled, digits) for f in (sum, math.prod))}
    return answer not in guesses


def _pick(rng: random.Random, options: Sequence[T]) -> T:
    return options[int(rng.random() * len(options))]


def _some(rng: random.Random, options: Sequence[T], count: int) -> list[T]:
    left = list(options)
    return [left.pop(int(rng.random() * len(left))) for _ in range(count)]
