"""Paths and queries compared by segments and pairs, never as substrings."""

from __future__ import annotations

from collections.abc import Sequence

Pairs = Sequence[tuple[str, str]]


def path_matches(pattern: str, path: str) -> bool:
    """Whether the segments are the same; `*` stands for any one, a slash at the end does not count."""
    wanted, found = pattern.strip("/").split("/"), path.strip("/").split("/")
    return len(wanted) == len(found) and all(w in ("*", f) for w, f in zip(wanted, found, strict=True))


def has_pairs(pairs: Pairs, wanted: Pairs) -> bool:
    """Whether every wanted name and value is among the pairs, as often as it is wanted."""
    left = list(pairs)
    for pair in wanted:
        if tuple(pair) not in left:
            return False
        left.remove((pair[0], pair[1]))
    return True
