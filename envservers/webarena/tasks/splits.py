"""Which worlds, templates and phrasings a split has. No two splits can share a task: each owns its forms by hash."""

from __future__ import annotations

from dataclasses import dataclass

from envservers.webarena.tasks.template import HELD_OUT_PHRASINGS, Template

BUCKETS = 12
"""Canonical forms are dealt into these by hash."""


MOST = {1: 36, 2: 10, 3: 36, 4: 60}
"""Tasks of a template in one world by difficulty: most templates are of the second, and no level shall prevail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """One split."""

    name: str
    worlds: tuple[int, ...]
    buckets: tuple[int, ...]
    held_out: bool = False
    """Whether it has the held-out templates, and the others in held-out phrasings alone."""
    share: float = 1.0
    """Of the tasks that a template makes of a world."""

    def has(self, template: Template) -> bool:
        """Whether the template's tasks are in it."""
        return self.held_out or not template.held_out

    def most(self, template: Template, difficulty: int) -> int:
        """Tasks of a template in one world."""
        most = template.most or MOST[difficulty]
        return most if self.held_out and template.held_out else max(1, round(most * self.share))

    def phrasing(self, template: Template, number: int) -> int:
        """Which phrasing the template's task of this number has."""
        seen = len(template.phrasings) - HELD_OUT_PHRASINGS
        return seen + number % HELD_OUT_PHRASINGS if self.held_out else number % seen


TRAIN = Split(name="train", worlds=tuple(range(1, 9)), buckets=(0, 1, 2, 3))
DEV = Split(name="dev", worlds=(9,), buckets=(4,))
TEST = Split(name="test", worlds=(0,), buckets=(5, 6, 7))
TEST_OOD = Split(name="test_ood", worlds=(0,), buckets=(8, 9, 10), held_out=True, share=0.4)
MINI_POOL = Split(name="mini", worlds=(9,), buckets=(11,), share=0.2)
"""What `mini` and `smoke` are chosen from."""

GENERATED = (TRAIN, DEV, TEST, TEST_OOD, MINI_POOL)
MINI = 60
SMOKE = 12
