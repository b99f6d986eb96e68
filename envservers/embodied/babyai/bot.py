"""minigrid's own bot as a second opinion: it solves by primitive moves what the planner cannot."""

from __future__ import annotations

import copy
from typing import Any

from envservers.embodied.babyai.generate import make_env
from envservers.embodied.babyai.play import make_moves
from envservers.embodied.babyai.words import PRIMITIVES
from envservers.embodied.babyai.world import World

MOST_SUBGOALS = 600
"""After which the bot goes round in circles."""
TEXTS = {move: text for text, move in reversed([*PRIMITIVES.items()])}
"""The first spelling of each primitive move."""


class _Stack(list[Any]):
    """The bot's stack of subgoals, which ends endless planning."""

    pushed = 0

    def append(self, subgoal: Any) -> None:
        """Push a subgoal; RecursionError after too many."""
        self.pushed += 1
        if self.pushed > MOST_SUBGOALS:
            raise RecursionError("the bot goes round in circles")
        super().append(subgoal)


def bot_plan(level: str, seed: int, world: World) -> list[str] | None:
    """The bot's moves from the start, as actions; None where it fails. `world` is that level's, not yet played."""
    from minigrid.utils.baby_ai_bot import BabyAIBot, DisappearedBoxError

    env = make_env(level, seed)
    own = copy.deepcopy(world)
    actions: list[str] = []
    try:
        bot = BabyAIBot(env)
        bot.stack = _Stack(bot.stack)
        while own.success is None:
            move = int(bot.replan())
            if move not in TEXTS:  # `done`
                return None
            env.step(move)
            make_moves(own, (move,))
            actions.append(TEXTS[move])
    except (AssertionError, AttributeError, DisappearedBoxError, IndexError, RecursionError, TypeError):
        return None  # how the bot gives up
    return actions if own.success else None
