"""Whether repeats of an agent say anything new: attempts that do the same again are one attempt, counted twice."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

LOOKED_AT = 200
"""Tasks whose attempts are compared, the first of the plan, which are a fair sample of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats:
    """How alike the attempts at one task are."""

    greedy: bool
    """The agent says that it samples at temperature 0."""
    tasks: int
    """Looked at, with two valid attempts or more."""
    same: int
    """Of those, tasks in which every attempt took the same actions."""

    @property
    def dependent(self) -> bool:
        """Whether the attempts must not be taken for independent ones."""
        return self.tasks > 0 and (self.greedy or self.same == self.tasks)


def repeats(actions: Iterable[tuple[int, int, str]], *, greedy: bool) -> Repeats:
    """From `(task, episode, action)` in order of play."""
    episodes: dict[tuple[int, int], hashlib._Hash] = {}
    for task, episode, action in actions:
        digest = episodes.setdefault((task, episode), hashlib.sha256())
        digest.update(action.encode("utf-8", "surrogatepass") + b"\0")
    found: dict[int, list[bytes]] = defaultdict(list)
    for (task, _), digest in episodes.items():
        found[task].append(digest.digest())
    several = [digests for digests in found.values() if len(digests) > 1]
    return Repeats(greedy=greedy, tasks=len(several), same=sum(len(set(digests)) == 1 for digests in several))
