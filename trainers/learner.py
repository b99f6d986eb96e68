"""What a backend implements. `trainers.check_backend` is the contract in executable form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from agentenv.errors import AgentEnvError
from trainers.batch import Floats, TokenBatch

if TYPE_CHECKING:
    import torch


class NonFiniteLoss(AgentEnvError):
    """A loss or a gradient is NaN or infinite; parameters are as they were before that optimizer step.

    `extra` has `step` (of training), `optimizer_step` (within its batch, from 1) and the `tasks` learned from.
    """

    code = "non_finite_loss"


@dataclass(kw_only=True)
class UpdateStats:
    """What an update tells; means are over trained tokens of the whole batch and all ranks."""

    optimizer_steps: int
    metrics: dict[str, float] = field(default_factory=dict)
    """Such as `loss/policy`, `loss/kl`, `policy/clip_fraction`, `optim/grad_norm`, `optim/lr`, `tokens/trained`."""
    logprobs: list[Floats | None] | None = None
    """By the weights as the batch found them: one array [T] for each segment of the first optimizer step, None for the
    others. Left out, the distance to the engine is told only where `logprobs` was asked before."""


class Learner(Protocol):
    """Holds policy, reference and critic, and learns. With several ranks every rank makes the same calls.

    Made by an entry point in the group `agentenv.trainers`: a factory `(TrainConfig) -> Learner`.
    Arrays that come back are one float32 array [T] for each segment of the batch, 0 outside its mask.
    """

    def logprobs(self, batch: TokenBatch, *, reference: bool = False) -> list[Floats]:
        """Log-probabilities of sampled tokens at the run's temperature; `reference`: by the reference model."""

    def values(self, batch: TokenBatch) -> tuple[list[Floats], list[float]]:
        """The critic's V for each sampled token, and for each episode V after its final tokens (0 without any)."""

    def update(self, batch: TokenBatch) -> UpdateStats:
        """Learn from a batch whose advantages (and old log-probabilities, returns) are set.

        Non-finite losses or gradients raise NonFiniteLoss before any parameter changes.
        """

    def weights(self) -> Iterator[tuple[str, torch.Tensor]]:
        """Hugging Face name and full float32 tensor of each policy parameter; adapters merged."""

    def save(self, folder: Path) -> None:
        """Write parameters, optimizers and schedules of every role."""

    def load(self, folder: Path) -> None:
        """Read what `save` wrote, also on another number of ranks."""

    def export(self, folder: Path) -> None:
        """Write a Hugging Face folder of the policy, tokenizer included."""

    def close(self) -> None:
        """Free memory and process groups; idempotent."""
