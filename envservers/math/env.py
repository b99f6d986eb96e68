"""The environment: a word problem, perhaps a calculator, one final answer."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from fractions import Fraction

from agentenv.env import Env
from agentenv.errors import EpisodeOver, ResetNeeded
from agentenv.protocol import Action, StepResult, Task
from envservers.math.calculator import Refused, calculate
from envservers.math.numbers import exact_text
from envservers.math.replies import Answer, Kind, read_answer, read_turn

CALCULATOR = "You have a calculator: calculate[expression]"
ANOTHER_TRY = "Invalid reply: {reason}. Give one calculate[expression], or the answer on a line such as `#### 42`."


@dataclass(frozen=True, slots=True)
class Posed:
    """The problem of an episode."""

    answer: Fraction
    outcome: str = ""
    """`success` or `failure` once answered."""


class MathEnv(Env):
    """Success is the right number; the first final answer ends the episode."""

    def __init__(self, *, mode: str = "answer", gsm8k: str = "") -> None:
        self.mode = mode
        self.gsm8k = gsm8k  # already in the tasks
        self._posed: Posed | None = None  # None until reset()

    def reset(self, task: Task) -> StepResult:
        """Pose the task's problem."""
        self._posed = Posed(Fraction(task.payload["answer"]))
        question = str(task.payload["question"])
        return StepResult(observation=f"{question}\n{CALCULATOR}" if self.mode == "calculator" else question)

    def step(self, action: Action) -> StepResult:
        """The answer, or with a calculator one calculation; anything else there is told what is wrong."""
        posed = self._running()
        if self.mode == "answer":
            return self._judge(posed, read_answer(action.text))
        turn = read_turn(action.text)
        match turn.kind:
            case Kind.ANSWER:
                return self._judge(posed, Answer(turn.value))
            case Kind.CALCULATE:
                return _calculated(turn.text)
        return StepResult(observation=ANOTHER_TRY.format(reason=turn.text), info={"refused": turn.text})

    def solve(self, task: Task) -> Generator[Action, StepResult, None]:
        """Work the steps out, with the calculator where there is one, and answer with the last value.

        A problem from a file is answered by its solution.
        """
        steps = task.payload["steps"]
        if self.mode == "answer":
            lines = [*(f"{step} = {value}" for step, value in steps), *task.payload.get("solution", ())]
            yield Action(text="\n".join([*lines, f"#### {task.payload['answer']}"]))
            return
        shown = str(task.payload["answer"])
        for step, _ in steps:
            result = yield Action(text=f"calculate[{step}]")
            shown = result.observation
        yield Action(text=f"#### {shown}")

    def snapshot(self) -> Posed | None:
        """The whole state; immutable."""
        return self._posed

    def restore(self, snapshot: object) -> None:
        """Take over a state."""
        assert snapshot is None or isinstance(snapshot, Posed)
        self._posed = snapshot

    def _judge(self, posed: Posed, answer: Answer) -> StepResult:
        right = answer.value == posed.answer
        self._posed = replace(posed, outcome="success" if right else "failure")
        text = "The answer is right." if right else f"The answer is wrong{answer.reason and f': {answer.reason}'}."
        info = {"answer": None if answer.value is None else exact_text(answer.value)}
        return StepResult(observation=text, reward=float(right), terminated=True, success=right, info=info)

    def _running(self) -> Posed:
        if self._posed is None:
            raise ResetNeeded("Math.step() before reset(); call reset(task) first")
        if self._posed.outcome:
            raise EpisodeOver("this problem is answered; reset or close", outcome=self._posed.outcome)
        return self._posed


def _calculated(expression: str) -> StepResult:
    try:
        return StepResult(observation=calculate(expression))
    except Refused as exc:
        return StepResult(observation=f"No result: {exc}.", info={"refused": str(exc)})
