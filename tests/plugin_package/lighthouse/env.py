from collections.abc import Generator

from agentenv.env import Env
from agentenv.errors import EpisodeOver, ResetNeeded
from agentenv.protocol import Action, StepResult, Task


class Lighthouse(Env):
    def __init__(self) -> None:
        self._wanted: str | None = None
        self._over = False

    def reset(self, task: Task) -> StepResult:
        self._wanted = "off" if task.payload["time"] == "day" else "on"
        self._over = False
        return StepResult(observation=f"It is {task.payload['time']}.")

    def step(self, action: Action) -> StepResult:
        if self._wanted is None:
            raise ResetNeeded("reset first")
        if self._over:
            raise EpisodeOver("reset first")
        text = action.text.strip()
        if text not in ("on", "off"):
            return StepResult(observation="The lamp knows on and off.")
        self._over = True
        good = text == self._wanted
        return StepResult(observation=f"The lamp is {text}.", reward=float(good), terminated=True, success=good)

    def available_actions(self) -> list[str]:
        return ["on", "off"]

    def solve(self, task: Task) -> Generator[Action, StepResult, None]:
        yield Action(text="off" if task.payload["time"] == "day" else "on")
