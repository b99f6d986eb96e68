"""One action in a world, as the environment and the planners do it."""

from __future__ import annotations

from collections.abc import Sequence

from envservers.embodied.babyai.words import IN_VAIN, PRIMITIVES, Menu
from envservers.embodied.babyai.world import World


def moves_of(text: str, menu: Menu) -> Sequence[int] | None:
    """The primitive moves of an action that `read_action` read; None for one that cannot be done."""
    if text in PRIMITIVES:
        return (PRIMITIVES[text],)
    return menu.get(text)


def make_moves(world: World, moves: Sequence[int]) -> str:
    """Make the moves until the mission is decided; what is to be said of a single one that changed nothing."""
    for move in moves:
        changed = world.do(move)
        if world.success is not None:
            break
        if not changed:
            return IN_VAIN[move]
    return ""
