"""Actions of a record, played again."""

from __future__ import annotations

from agentenv.agents.base import AgentSpec, Move, Seat
from agentenv.errors import EpisodeCut
from agentenv.protocol import Action
from agentenv.trajectory import Trajectory


class Recorded:
    """Sends a record's actions, one a turn, and ends as it ended."""

    def __init__(self, trajectory: Trajectory) -> None:
        self._left = iter(trajectory.turns)
        self._outcome = trajectory.outcome

    async def start(self, seat: Seat) -> None:
        """Nothing is needed of the seat."""

    async def act(self, observation: str) -> Move:
        """The next recorded action, whatever is shown."""
        turn = next(self._left, None)
        if turn is None:
            raise EpisodeCut(self._outcome, "as recorded")
        return Move(action=Action(text=turn.action, malformed=turn.malformed))


def recorded(trajectory: Trajectory) -> AgentSpec:
    """The agent that plays this record again, once."""
    return AgentSpec(name="replay", describe={"name": "replay"}, make=lambda: Recorded(trajectory))
