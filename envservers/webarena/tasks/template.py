"""What a kind of task is: how its slots are filled from a world, asked for, judged and solved."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentenv.protocol import digest_of
from envservers.webarena.evaluators.combine import TaskKind
from envservers.webarena.evaluators.evidence import Check
from envservers.webarena.evaluators.replies import plain
from envservers.webarena.tasks.plan import HARDEST, Plan, level

if TYPE_CHECKING:
    from envservers.webarena.world.world import World

Params = Mapping[str, Any]
"""Slots: JSON values, all that a plan may know. `absent: true` makes the task unachievable."""

SHOP = "http://shop.test/"
ADMIN = "http://admin.shop.test/"
HOME = "http://home.test/"

HELD_OUT_PHRASINGS = 2
"""The last phrasings of a template, which only `test_ood` uses."""
LEAST_PHRASINGS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """Makes tasks. `expect` asks the world's tables alone; `plan` sees the slots alone."""

    name: str
    """`shop.order_total`"""
    family: str
    """Templates with equal evaluators share one."""
    kind: TaskKind
    phrasings: tuple[str, ...]
    """With the slots in braces."""
    generate: Callable[[World, random.Random], dict[str, Any] | None]
    """Slots drawn from a world; None when the draw does not fit."""
    expect: Callable[[World, Params], tuple[Check, ...]]
    plan: Callable[[Params], Plan]
    start: tuple[str, ...] = (SHOP,)
    account: str = "shopper"
    """Who is logged in: `shopper`, `manager`, or nobody when empty."""
    most: int = 0
    """Tasks in a world; 0 leaves it to the difficulty."""
    extra: int = 0
    """Scrolls and further pages that a solution takes at the most, beside the plan's actions."""
    twins: bool = False
    """Whether it makes tasks that cannot be done (`absent`), in turns with those that can."""
    crosses: bool = False
    """Whether a solution needs more than one site: of the highest difficulty then."""
    held_out: bool = False
    """Whether only `test_ood` has it."""

    def difficulty(self, params: Params) -> int:
        """Of a task with these slots, 1 to 4."""
        return HARDEST if self.crosses else level(self.plan(params))

    def kind_of(self, params: Params) -> TaskKind:
        """The kind of a task with these slots."""
        return TaskKind.UNACHIEVABLE if params.get("absent") else self.kind

    def intent(self, params: Params, phrasing: int) -> str:
        """What is asked, in one of the phrasings."""
        return self.phrasings[phrasing].format(**params)

    def canonical(self, params: Params) -> str:
        """Names the task whatever its world and phrasing: tasks of one form ask for the same."""
        slots = {name: plain(value) if isinstance(value, str) else value for name, value in params.items()}
        return digest_of([self.name, slots])
