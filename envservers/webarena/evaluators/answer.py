"""The answer that came with `stop`, read by its type. One value was asked for: two values are wrong, also when one
of them is right. So no reply scores by naming everything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum

from envservers.webarena.evaluators import replies
from envservers.webarena.evaluators.evidence import Evidence, Verdict

LONGEST = 300
"""Characters of a reply with one value."""
LONGEST_LIST = 3000
"""Characters of a reply with a list."""


class Kind(StrEnum):
    """What a value is."""

    TEXT = "text"
    NUMBER = "number"
    MONEY = "money"
    DATE = "date"
    IDENTIFIER = "identifier"  # order and invoice numbers: leading zeros do not count
    YES_NO = "yes_no"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A retrieve task's expected answer."""

    type: str
    """A `Kind`."""
    values: tuple[str, ...]
    """One value, or the items of a list."""
    many: bool = False
    """Whether a list was asked for; it may have one item, or none ("none")."""
    ordered: bool = False
    alternatives: tuple[str, ...] = ()
    """Of a single value: other spellings that are right too."""
    tolerance: str = "0"
    """Of numbers and amounts: the greatest difference, as a decimal."""

    def judge(self, evidence: Evidence) -> Verdict:
        """Right when the reply names the expected value or list, and nothing more of that type."""
        reply = evidence.answer
        if reply is None:
            return self._verdict(False, "the episode ended without stop")
        if not reply.strip():
            return self._verdict(False, "the answer is empty")
        if len(reply) > (LONGEST_LIST if self.many else LONGEST):
            return self._verdict(False, f"the answer has {len(reply)} characters")
        return self._list(reply) if self.many else self._one(reply)

    def _one(self, reply: str) -> Verdict:
        kind = Kind(self.type)
        if kind is not Kind.TEXT and replies.in_other_words(reply):
            return self._verdict(False, "the answer says what the value is not, or a bound of it")
        if kind is Kind.MONEY and replies.in_other_money(reply):
            return self._verdict(False, "another currency than the sites have")
        found = _distinct(READERS[kind](reply))
        if not found:
            return self._verdict(False, f"no {self.type} in the answer")
        if len(found) > 1:
            return self._verdict(False, f"{len(found)} values of type {self.type} where one was asked for")
        if any(self._same(found[0], right) for right in (*self.values, *self.alternatives)):
            return self._verdict(True, "the answer is right")
        return self._verdict(False, f"another {self.type} than expected")

    def _list(self, reply: str) -> Verdict:
        if not self.values:
            none = replies.text_of(reply) in ("none", "nothing", "no items", "[]", "0")
            return self._verdict(none, "an empty list" if none else "items where there are none")
        lengths = []
        for items in replies.splits(reply):
            read = [READERS[Kind(self.type)](item) for item in items]
            lengths.append(len(items))
            if all(len(_distinct(values)) == 1 for values in read) and self._same_lists([v[0] for v in read]):
                return self._verdict(True, f"the list of {len(items)} is right")
        return self._verdict(False, f"another list than expected (read as {max(lengths, default=0)} items)")

    def _same_lists(self, found: Sequence[str]) -> bool:
        if len(found) != len(self.values):
            return False
        if self.ordered:
            return all(map(self._same, found, self.values))
        left = list(self.values)
        for value in found:
            match = next((right for right in left if self._same(value, right)), None)
            if match is None:
                return False
            left.remove(match)
        return True

    def _same(self, found: str, right: str) -> bool:
        if Kind(self.type) in (Kind.NUMBER, Kind.MONEY):
            return abs(Decimal(found) - Decimal(right)) <= Decimal(self.tolerance)
        return found == READERS[Kind(self.type)](right)[0]

    def _verdict(self, passed: bool, reason: str) -> Verdict:
        return Verdict(check="answer", passed=passed, reason=reason)


def _distinct(values: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(values))


READERS: dict[Kind, Callable[[str], list[str]]] = {
    Kind.TEXT: lambda reply: [replies.text_of(reply)],
    Kind.NUMBER: lambda reply: [_canonical(number) for number in replies.numbers(reply)],
    Kind.MONEY: lambda reply: [_canonical(amount) for amount in replies.amounts(reply)],
    Kind.DATE: replies.dates,
    Kind.IDENTIFIER: replies.identifiers,
    Kind.YES_NO: replies.truths,
}
"""Every value of a kind that a reply names, in one spelling each."""


def _canonical(number: Decimal) -> str:
    return format(number.normalize() + 0, "f")
