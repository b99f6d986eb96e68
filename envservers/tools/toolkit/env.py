"""The episode of every tool environment: calls, then `finish`, judged by the end state and the answer."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from agentenv.env import Env
from agentenv.errors import EpisodeOver, ResetNeeded
from agentenv.functions.table import Refused
from agentenv.protocol import Action, StepResult, Task
from envservers.tools.toolkit.answers import right
from envservers.tools.toolkit.table import Arguments, Called, CheckValidActions, Finish, Toolkit, action_of

S = TypeVar("S")
_ID = re.compile(r'"([0-9]{10})"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Case(Generic[S]):
    """A task with its world made."""

    goal: str
    start: S
    expected: S
    """What the state has to be at the end."""
    answer: Mapping[str, Any] | None
    """`{"type": ..., "value": ...}`; None where nothing is asked."""
    calls: tuple[Arguments, ...]
    """The scripted solution but for `finish`; it uses no id that was not shown before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode(Generic[S]):
    """All that changes."""

    case: Case[S]
    state: S
    shown: frozenset[str] = frozenset()
    """Ids that replies named so far."""
    outcome: str = ""
    """`success` or `failure` once finished."""


class ToolEnv(Env, Generic[S]):
    """Success: at `finish` the state is the expected one, nothing else is changed, and the answer is right."""

    toolkit: Toolkit[S]

    def __init__(self) -> None:
        self._episode: Episode[S] | None = None  # None until reset()

    @abstractmethod
    def case_of(self, task: Task) -> Case[S]:
        """The world of a task; equal tasks, equal cases."""

    def same(self, end: S, case: Case[S]) -> bool:
        """Whether a state is the expected one; here: equal."""
        return bool(end == case.expected)

    @abstractmethod
    def candidates(self, state: S, shown: frozenset[str]) -> list[Arguments]:
        """Calls, also of `finish`, that make sense to somebody who knows these ids."""

    @abstractmethod
    def mutants(self, case: Case[S]) -> Mapping[str, tuple[Sequence[Arguments], object]]:
        """Wrong ways of doing the task, each as its calls and answer."""

    def reset(self, task: Task) -> StepResult:
        """Tell the goal."""
        case = self.case_of(task)
        self._episode = Episode(case=case, state=case.start)
        return StepResult(observation=f"Goal: {case.goal}\nGive me one action.")

    def step(self, action: Action) -> StepResult:
        """One call; one that cannot be done is answered with the reason."""
        episode = self._running()
        called = self.toolkit.act(episode.state, action.text)
        if called.finished is not None:
            return self._judge(episode, called.finished)
        shown = episode.shown.union(_ID.findall(called.text))
        self._episode = replace(episode, state=called.state, shown=shown)
        return StepResult(observation=called.text, info=_info(called))

    def available_actions(self) -> list[str] | None:
        """Calls with the ids that were shown, in order of their text."""
        episode = self._running()
        calls = self.candidates(episode.state, episode.shown)
        return sorted(map(action_of, [*calls, CheckValidActions()]))

    def solve(self, task: Task) -> Generator[Action, StepResult, None]:
        """Look up what is needed, change it, finish. Stops where a call needs an id that no reply has named."""
        case = self.case_of(task)
        seen: set[str] = set()
        for call in case.calls:
            text = action_of(call)
            if not seen.issuperset(_ID.findall(text)):
                return
            result = yield Action(text=text)
            seen.update(_ID.findall(result.observation))
        yield Action(text=action_of(Finish(answer=None if case.answer is None else case.answer["value"])))

    def snapshot(self) -> Episode[S] | None:
        """The whole state; immutable."""
        return self._episode

    def restore(self, snapshot: object) -> None:
        """Take over a state."""
        assert snapshot is None or isinstance(snapshot, Episode)
        self._episode = snapshot

    async def surviving_mutants(self) -> list[str]:
        """Wrong ways of doing this episode's task that would count as a success; there should be none."""
        assert self._episode is not None
        return self.survivors(self._episode.case)

    def survivors(self, case: Case[S]) -> list[str]:
        """Names of the mutants of a case that would count as a success."""
        return [name for name, (calls, answer) in self.mutants(case).items() if self._passes(case, calls, answer)]

    def _passes(self, case: Case[S], calls: Sequence[Arguments], answer: object) -> bool:
        state = case.start
        for call in calls:
            try:
                state, _ = self.toolkit.run(state, call)
            except Refused:
                continue
        return self.same(state, case) and right(answer, case.answer)

    def _judge(self, episode: Episode[S], finish: Finish) -> StepResult:
        state_right = self.same(episode.state, episode.case)
        answer_right = right(finish.answer, episode.case.answer)
        success = state_right and answer_right
        self._episode = replace(episode, outcome="success" if success else "failure")
        info = {"tool": "finish", "state_right": state_right, "answer_right": answer_right}
        return StepResult(observation="Finished.", reward=float(success), terminated=True, success=success, info=info)

    def _running(self) -> Episode[S]:
        if self._episode is None:
            raise ResetNeeded(f"{type(self).__name__}.step() before reset(); call reset(task) first")
        if self._episode.outcome:
            raise EpisodeOver("the task is finished; reset or close", outcome=self._episode.outcome)
        return self._episode


def _info(called: Called[S]) -> dict[str, Any]:
    return {"tool": called.tool, "refused": called.refused}
