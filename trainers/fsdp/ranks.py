"""Several ranks behind one learner: rank 0 calls, the others follow.

Rank 0 holds the loop; the rest sit in `follow()`. Each call goes with its arguments over a gloo group that never times
out, since a phase of collecting may take hours; every rank makes the call and says how it went.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from agentenv.errors import AgentEnvError, BadCall
from trainers.batch import Floats, TokenBatch
from trainers.config import TrainConfig
from trainers.fsdp.learner import FsdpLearner
from trainers.learner import Learner, UpdateStats

SURVIVED = (AgentEnvError, OSError, ValueError)
"""Errors that every rank meets or that leave no rank waiting; after others the process ends, and torchrun the rest."""


def make(config: TrainConfig) -> Learner:
    """The entry point `fsdp`: alone a plain learner, under torchrun one that leads or follows."""
    learner = FsdpLearner(config)
    return RankedLearner(learner) if learner.world.size > 1 else learner


class RankLost(AgentEnvError):
    """Another rank ended without a word."""

    code = "rank_lost"


class RankedLearner:
    """On rank 0 a `Learner` for all ranks; on the others an object whose `follow()` is the whole work."""

    def __init__(self, learner: FsdpLearner) -> None:
        self._learner, self._world = learner, learner.world
        self._open = True

    @property
    def leads(self) -> bool:
        """Whether this is rank 0."""
        return self._world.rank == 0

    def follow(self) -> None:
        """Make rank 0's calls until it closes."""
        if self.leads:
            raise BadCall("rank 0 leads; it calls the learner's methods")
        while self._open:
            received: list[Any] = [None]
            try:
                dist.broadcast_object_list(received, src=0, group=self._world.control)
            except RuntimeError as exc:  # of gloo, when the connection is closed
                raise RankLost(f"rank {self._world.rank}: rank 0 has gone") from exc
            method, arguments, options = received[0]
            self._run(method, arguments, options)

    def logprobs(self, batch: TokenBatch, *, reference: bool = False) -> list[Floats]:
        """See `Learner.logprobs`."""
        arrays: list[Floats] = self._call("logprobs", batch, reference=reference)
        return arrays

    def values(self, batch: TokenBatch) -> tuple[list[Floats], list[float]]:
        """See `Learner.values`."""
        found: tuple[list[Floats], list[float]] = self._call("values", batch)
        return found

    def update(self, batch: TokenBatch) -> UpdateStats:
        """See `Learner.update`."""
        stats: UpdateStats = self._call("update", batch)
        return stats

    def weights(self) -> Iterator[tuple[str, torch.Tensor]]:
        """See `Learner.weights`. All ranks go through to the end, also when the caller stops early."""
        self._announce("weights")
        stream = self._learner.weights()
        try:
            for pair in stream:  # noqa: UP028 - `yield from` would close the stream with this generator
                yield pair
        finally:
            for _ in stream:
                pass
            self._agree(None)

    def save(self, folder: Path) -> None:
        """See `Learner.save`."""
        self._call("save", folder)

    def load(self, folder: Path) -> None:
        """See `Learner.load`."""
        self._call("load", folder)

    def export(self, folder: Path) -> None:
        """See `Learner.export`."""
        self._call("export", folder)

    def close(self) -> None:
        """See `Learner.close`; the followers' `follow()` returns."""
        if self._open:
            self._call("close")

    def _call(self, method: str, *arguments: Any, **options: Any) -> Any:
        self._announce(method, *arguments, **options)
        return self._run(method, arguments, options)

    def _announce(self, method: str, *arguments: Any, **options: Any) -> None:
        if not self.leads:
            raise BadCall("only rank 0 calls; the others are in follow()")
        if not self._open:
            raise BadCall("the learner is closed")
        dist.broadcast_object_list([(method, arguments, options)], src=0, group=self._world.control)

    def _run(self, method: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """This rank's part of a call; an error of any rank is raised on rank 0 once all are through."""
        if method == "close":
            self._open = False
            return self._learner.close()
        result, error = None, None
        try:
            result = getattr(self._learner, method)(*arguments, **options)
            if method == "weights":
                for _ in result:
                    pass
        except SURVIVED as exc:
            error = exc
        self._agree(error)
        return result

    def _agree(self, error: Exception | None) -> None:
        errors: list[Exception | None] = [None] * self._world.size
        dist.all_gather_object(errors, error, group=self._world.control)
        first = next((e for e in errors if e is not None), None)
        if first is not None and self.leads:
            raise first
