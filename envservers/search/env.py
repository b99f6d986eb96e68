"""The episode: a question, searches, one answer."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace

from agentenv.env import Env
from agentenv.errors import EpisodeOver, ResetNeeded
from agentenv.protocol import Action, StepResult, Task
from envservers.search.passages import information
from envservers.search.retrieve.base import Retriever
from envservers.search.scoring import exact_match, f1
from envservers.search.sources import BM25, retriever_of
from envservers.search.spec import SPEC
from envservers.search.turns import Kind, read_turn


@dataclass(frozen=True, slots=True)
class Asked:
    """The question of an episode."""

    question: str
    answers: tuple[str, ...]
    outcome: str = ""
    """`success` or `failure` once answered."""


class SearchEnv(Env):
    """Success is an exact match; the first answer ends the episode."""

    def __init__(
        self,
        *,
        topk: int = 3,
        size: str = "full",
        corpus: str = "",
        questions: str = "",
        retriever: str = BM25,
        dense_model: str = "",
        match: str = "classic",
    ) -> None:
        self.topk, self.match = topk, match
        self.questions = questions  # already in the tasks
        self._source = {"size": size, "corpus": corpus, "retriever": retriever, "dense_model": dense_model}
        self._asked: Asked | None = None  # None until reset()

    def reset(self, task: Task) -> StepResult:
        """Ask the task's question."""
        self._asked = Asked(task.payload["question"], tuple(task.payload["answers"]))
        self._retriever()  # built or opened now, so that a search is quick
        return StepResult(observation=f"Question: {self._asked.question}")

    def step(self, action: Action) -> StepResult:
        """One search or the answer; anything else is told what is wrong."""
        asked = self._running()
        turn = read_turn(action.text)
        match turn.kind:
            case Kind.ANSWER:
                return self._judge(asked, turn.text)
            case Kind.SEARCH:
                [hits] = self._retriever().search([turn.text], self.topk)
                text = information([hit.passage for hit in hits])
                return StepResult(observation=text, info={"documents": [hit.id for hit in hits]})
        text = SPEC.malformed_text.format(reason=turn.text)
        return StepResult(observation=text, info={"refused": turn.text})

    def solve(self, task: Task) -> Generator[Action, StepResult, None]:
        """Find each fact in turn and answer with what the passages say. A question from a file is answered by its gold.

        An answer is given only where every passage was really shown with its evidence.
        """
        payload = task.payload
        for step in payload["steps"]:
            result = yield Action(text=f"<search>{step['query']}</search>")
            if step["evidence"] not in result.observation:
                return
        if not payload["steps"]:
            yield Action(text=f"<search>{' '.join(payload['question'].split())[:200]}</search>")
        read = payload["steps"][-1]["read"] if payload["steps"] and payload["kind"] in READING else ""
        yield Action(text=f"<answer>{read or payload['answers'][0]}</answer>")

    def snapshot(self) -> Asked | None:
        """The whole state; immutable."""
        return self._asked

    def restore(self, snapshot: object) -> None:
        """Take over a state."""
        assert snapshot is None or isinstance(snapshot, Asked)
        self._asked = snapshot

    def _judge(self, asked: Asked, answer: str) -> StepResult:
        right = exact_match(answer, asked.answers, robust=self.match == "robust")
        score = 1.0 if right else f1(answer, asked.answers)
        self._asked = replace(asked, outcome="success" if right else "failure")
        text = "The answer is correct." if right else "The answer is wrong."
        info = {"match": self.match, "exact_match": right, "f1": score}
        return StepResult(observation=text, reward=float(right), terminated=True, success=right, score=score, info=info)

    def _retriever(self) -> Retriever:
        return retriever_of(**self._source)

    def _running(self) -> Asked:
        if self._asked is None:
            raise ResetNeeded("Search.step() before reset(); call reset(task) first")
        if self._asked.outcome:
            raise EpisodeOver("this question is answered; reset or close", outcome=self._asked.outcome)
        return self._asked


READING = frozenset({"single", "hop2", "hop3", "hop4"})
"""Kinds whose answer is what the last passage says; the others compare, or find nothing."""
