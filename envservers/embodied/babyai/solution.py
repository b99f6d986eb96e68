"""A scripted solution of a world: the planner's, else that of minigrid's bot."""

from __future__ import annotations

from envservers.embodied.babyai.bot import bot_plan
from envservers.embodied.babyai.generate import make_layout
from envservers.embodied.babyai.planner import plan
from envservers.embodied.babyai.possible import is_possible
from envservers.embodied.babyai.world import World


def solution(level: str, seed: int, world: World) -> list[str] | None:
    """Actions that accomplish the mission from here; None where neither finds any. The world stays as it is."""
    if not is_possible(make_layout(level, seed)):
        return None
    actions = plan(world)
    if actions is None and world.moves == 0:  # the bot plays from the start
        actions = bot_plan(level, seed, world)
    return actions
