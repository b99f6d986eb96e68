"""ScienceWorld as an environment: one world of the simulator at a time, its score as the reward."""

from __future__ import annotations

from collections.abc import Generator

from agentenv.env import Env
from agentenv.errors import EpisodeOver, ResetNeeded
from agentenv.protocol import Action, Outcome, StepResult, Task
from envservers.science.sciworld.functions import spoken
from envservers.science.sciworld.pool import Pool, pool_of
from envservers.science.sciworld.proof import FULL
from envservers.science.sciworld.world import World


class SciWorld(Env):
    """Success is a score of 100. A step's reward is the change of the score in hundredths.

    `numbering` takes effect through the tasks that it makes. The Java machines are the process's and outlive the env.
    """

    def __init__(
        self,
        *,
        numbering: str = "own",
        simplifications: str = "none",
        jvms: int | None = None,
        heap_mb: int = 192,
    ) -> None:
        self.numbering = numbering
        self.simplifications = simplifications
        self._pool: Pool = pool_of(jvms=jvms, heap_mb=heap_mb)
        self._world: World | None = None  # None until reset(), and again after the end
        self._score = 0
        self._outcome: Outcome | None = None

    def reset(self, task: Task) -> StepResult:
        """Load the task's variation and look around."""
        self.close()
        self._score, self._outcome = 0, None
        self._world = self._pool.load(task.payload["task"], task.payload["variation"], self._simplified)
        seen = self._world.step("look around")
        return StepResult(observation=f"{self._world.goal}\n{seen.text}", score=0.0)

    @property
    def _simplified(self) -> str:
        return "" if self.simplifications == "none" else self.simplifications

    def step(self, action: Action) -> StepResult:
        """Do one action; one that the simulator does not know changes nothing."""
        if self._world is None:
            if self._outcome is not None:
                raise EpisodeOver(f"the task has ended ({self._outcome}); reset or close", outcome=str(self._outcome))
            raise ResetNeeded("SciWorld.step() before reset(); call reset(task) first")
        moved = self._world.step(spoken(action.text))
        gained, self._score = moved.score - self._score, moved.score
        success = None
        if moved.over or moved.score < 0:
            success = moved.score == FULL
            self._outcome = Outcome.SUCCESS if success else Outcome.FAILURE
            self.close()
        return StepResult(
            observation=moved.text,
            reward=gained / FULL,
            terminated=success is not None,
            success=success,
            score=float(moved.score),
        )

    def available_actions(self) -> list[str] | None:
        """Every action that the simulator holds for valid, sorted; the numbers alone while it asks which is meant."""
        if self._world is None:
            if self._outcome is not None:
                return []
            raise ResetNeeded("SciWorld.available_actions() before reset(); call reset(task) first")
        return self._world.actions()

    def solve(self, task: Task) -> Generator[Action, StepResult, None]:
        """The simulator's own solution of the task, found beside this episode. The first action takes seconds."""
        for text in self._pool.solution(task.payload["task"], task.payload["variation"], self._simplified):
            yield Action(text=text)

    def close(self) -> None:
        """Give the world back; the Java machine stays for others."""
        if self._world is not None:
            self._world.close()
            self._world = None
