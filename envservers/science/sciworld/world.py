"""One episode's world in a Java machine: what can be done in it, without the costs of the stock wrapper.

The wrapper's `step` looks around, lists what is carried, describes the task and enumerates every valid action after
each move. Here a step is the move alone, and actions are listed when somebody asks.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from agentenv.errors import EnvFailed
from envservers.science.sciworld.jvm import Globals, Jvm

UNKNOWN = "Unknown action.  Type 'help' for a list of actions, and 'objects' for a list of possible object referents. "
"""What the simulator's own interface answers where an action has no description."""
QUESTION = "Ambiguous request:"
"""How the simulator begins when it asks which of several actions is meant."""
_NUMBER = re.compile(r"[+-]?[0-9]+")


@dataclass(frozen=True, slots=True)
class Moved:
    """The answer to an action."""

    text: str
    score: int
    """-100 to 100."""
    over: bool


class World:
    """A loaded task. EnvFailed when the machine dies or the simulator breaks."""

    def __init__(self, jvm: Jvm) -> None:
        self._jvm = jvm
        jvm.worlds.add(self)

    def load(self, task: str, variation: int, simplifications: str) -> None:
        """Make the world of one variation of a task; once, before anything else."""
        self._score, self._over = 0, False
        self._asked = False
        """Whether the simulator waits for the number of one of several actions."""
        with self._jvm.calls("load"):
            self._agent: Any = self._jvm.load(task, variation, simplifications)
            self.state: Globals = self._jvm.taken(self._agent.simplificationStr())
            with self._jvm.entered(self, None):
                self.goal: str = self._agent.getTaskDescription()

    def step(self, text: str) -> Moved:
        """Do one action. The number of an action answers a question; anything else drops it and is done."""
        with self._jvm.calls("step"), self._jvm.entered(self, self.state):
            if (told := self._told(text.strip().lower())) is not None:
                return Moved(told, self._score, self._over)
            if self._asked and text and not _NUMBER.fullmatch(text):
                self._agent.inputParser().clearAmbiguousState()
            return self._moved(self._agent.step(text))

    def _told(self, text: str) -> str | None:
        """What the simulator's interface answers by itself."""
        match text:
            case "help":
                return "Possible actions: \n\t" + "\n\t".join(self._agent.getPossibleActions())
            case "objects":
                return "Possible object references: \n\t" + "\n\t".join(self._agent.getPossibleObjects())
            case "task":
                return f"Task description:\n{self.goal}"
        return None

    def _moved(self, answer: Any) -> Moved:
        if self._agent.isInErrorState():  # it would answer -100 from now on, which is not the agent's fault
            raise EnvFailed(f"the simulator broke: {self._agent.getErrorStateMessage()}")
        text: str = answer._1()
        self._score, self._over = round(100 * answer._2()), answer._3()
        self._asked = text.startswith(QUESTION)
        return Moved(text or UNKNOWN, self._score, self._over)

    def actions(self) -> list[str]:
        """Every valid action, sorted. Listing them draws random numbers, so the state is put back."""
        with self._jvm.calls("actions"), self._jvm.entered(self, self.state):
            before = self._jvm.taken(self.state.simplifications)
            listed = self._agent.getValidActionObjectCombinationsJSON()
            self._jvm.put(before)
        return sorted({action["action"] for action in json.loads(listed, strict=False)["validActions"]})

    def close(self) -> None:
        """Leave the machine."""
        self._jvm.worlds.discard(self)
