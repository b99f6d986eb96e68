"""Where a run stands: everything beside the learner's own parameters that a resumed run goes on from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentenv.errors import AgentEnvError, BadCall
from trainers.algorithms.kl import KlController
from trainers.collect import ErrorRate
from trainers.config import StopSettings
from trainers.tasks import TaskCursor

FORMAT = 1


@dataclass(slots=True, kw_only=True)
class RunState:
    """Counters of a run. `state` and `restore` are what a checkpoint has of it."""

    cursor: TaskCursor
    kl: KlController
    errors: ErrorRate
    step: int = 0
    """Steps that are done."""
    best: float | None = None
    """Highest validation score so far."""
    best_step: int = 0
    zero_batches: int = 0
    """Batches in a row with nothing to learn."""
    seconds: float = 0.0
    """Spent on the steps that are done, over every start of the run."""

    def state(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "format": FORMAT,
            "step": self.step,
            "cursor": self.cursor.state(),
            "kl": self.kl.state(),
            "errors": self.errors.state(),
            "best": self.best,
            "best_step": self.best_step,
            "zero_batches": self.zero_batches,
            "seconds": self.seconds,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over what `state` gave; BadCall for a newer format, BadSetting when the tasks are others now."""
        if state["format"] > FORMAT:
            raise BadCall(f"the checkpoint has format {state['format']}, newer than {FORMAT}; upgrade agentenv")
        self.step = int(state["step"])
        self.cursor.restore(state["cursor"])
        self.kl.restore(state["kl"])
        self.errors.restore(state["errors"])
        self.best, self.best_step = state["best"], int(state["best_step"])
        self.zero_batches = int(state["zero_batches"])
        self.seconds = float(state["seconds"])


class Stopped(Exception):
    """A stop rule ended the run; the message says which, and what its setting is."""


class NothingLearned(AgentEnvError):
    """A resumed run came to its end without one optimizer step."""

    code = "nothing_learned"


def check_stops(metrics: Mapping[str, float], state: RunState, stop: StopSettings) -> None:
    """Raise Stopped when a step's figures say so."""
    kl = metrics.get("kl/token", metrics.get("policy/approx_kl"))
    if stop.kl is not None and kl is not None and kl > stop.kl:
        raise Stopped(f"step {state.step}: mean KL {kl:.4g} is over stop.kl={stop.kl:g}")
    entropy = metrics.get("policy/entropy")
    if stop.entropy is not None and entropy is not None and entropy < stop.entropy:
        raise Stopped(f"step {state.step}: mean entropy {entropy:.4g} is under stop.entropy={stop.entropy:g}")
    if state.zero_batches >= stop.zero_groups:
        raise Stopped(
            f"step {state.step}: {state.zero_batches} batches in a row had nothing to learn from "
            f"(stop.zero_groups={stop.zero_groups}): every group's rewards are equal"
        )
    rate = metrics.get("errors/rate", 0.0)
    if state.errors.over(rate):
        raise Stopped(
            f"step {state.step}: {rate:.0%} of the episodes were lost over the last steps "
            f"(rollout.max_error_rate={state.errors.most:g}); the records in the folder rollouts say why"
        )
