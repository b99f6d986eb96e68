"""Paths and queries compared by segments and pairs, never as substrings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from envservers.webarena.evaluators.replies import plain

Pairs = Sequence[tuple[str, str]]


def path_matches(pattern: str, path: str) -> bool:
    """Whether the segments are the same; `*` stands for any one, a slash at the end does not count."""
    wanted, found = pattern.strip("/").split("/"), path.strip("/").split("/")
    return len(wanted) == len(found) and all(w in ("*", f) for w, f in zip(wanted, found, strict=True))


def has_pairs(pairs: Pairs, wanted: Pairs) -> bool:
    """Whether every wanted name and value is among the pairs, as often as it is wanted."""
    left = list(pairs)
    for name, value in wanted:
        found = next((pair for pair in left if pair[0] == name and _same(name, pair[1], value)), None)
        if found is None:
            return False
        left.remove(found)
    return True


def _same(name: str, found: str, wanted: str) -> bool:
    """Whether the sites do the same with both."""
    if name in AMOUNTS:
        one, other = _AMOUNT.fullmatch(found.strip()), _AMOUNT.fullmatch(wanted)
        return found == wanted or (one is not None and other is not None and _value(one[1]) == _value(other[1]))
    return plain(found) == plain(wanted) if name in TEXTS else found == wanted


def _value(digits: str) -> Decimal:
    return Decimal(digits.replace(",", ""))


TEXTS = frozenset({"q"})
"""Names of queries whose case and blanks do not count: a search."""
AMOUNTS = frozenset({"total_from", "total_to", "price_from", "price_to"})
"""Names of queries that are amounts of money: 450 is $450.00."""
_AMOUNT = re.compile(r"\$?\s*([0-9]{1,7}(?:,[0-9]{3})*(?:\.[0-9]{1,2})?)")
"""As the sites' fields read one."""
