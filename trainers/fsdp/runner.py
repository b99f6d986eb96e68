"""Running sequences through a model.

Legend of dimensions: N wanted positions of all items of a pass, in order.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from trainers.batch import Floats
from trainers.config import TrainConfig
from trainers.fsdp import attention
from trainers.fsdp.model import on_device
from trainers.fsdp.packing import EMPTY, Item, Sizes, layout, plan
from trainers.fsdp.probe import LEAK, Forward, leak
from trainers.fsdp.world import World, from_first
from trainers.settings import BadSetting

log = logging.getLogger(__name__)


class Runner:
    """One model of the learner, with the attention that it gets."""

    def __init__(self, name: str, model: Any, hf_model: Any, world: World, config: TrainConfig) -> None:
        self.name, self.model, self.world = name, model, world
        self._hf_model, self._batch, self._temperature = hf_model, config.batch, config.rollout.temperature
        self.packed = False

    def __call__(self, items: Sequence[Item], **options: Any) -> Any:
        """The model's outputs at the wanted positions of `items`, in one pass."""
        return self.model(**on_device(layout(items, packed=self.packed), self.world.device), **options)

    def score(self, items: Sequence[Item], *, entropy_gradient: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
        """Log-probability and entropy at the wanted positions, by a policy model; both [N]."""
        targets = np.concatenate([item.targets for item in items])
        scored: tuple[torch.Tensor, torch.Tensor] = self(
            items, targets=torch.tensor(targets, device=self.world.device),
            temperature=self._temperature, entropy_gradient=entropy_gradient,
        )  # fmt: skip
        return scored

    def sizes(self, *, gradient: bool) -> Sizes:
        """How much goes in one pass."""
        tokens = self._batch.tokens_per_microbatch if gradient else self._batch.tokens_per_forward
        return Sizes(packed=self.packed, tokens=tokens, rows=self._batch.episodes_per_microbatch)

    def map(self, items: Sequence[Item], run: Callable[[Sequence[Item]], torch.Tensor]) -> list[Floats]:
        """`run` without gradients over all items, spread over the ranks; each item's [N] outputs, on every rank."""
        counts = [len(i.at) for i in items]
        starts = np.cumsum([0, *counts])
        flat = torch.zeros(int(starts[-1]), dtype=torch.float32)
        asked = [i for i, count in enumerate(counts) if count]
        parts = plan([len(items[i]) for i in asked], self.world.size, self.sizes(gradient=False))
        with torch.no_grad():
            for part in parts[self.world.rank]:
                some = [asked[i] for i in part]
                outputs = run([items[i] for i in some] or [EMPTY]).float().cpu()
                for i, output in zip(some, outputs.split([counts[i] for i in some]) if some else (), strict=True):
                    flat[starts[i] : starts[i + 1]] = output
        if self.world.control is not None:  # each entry is one rank's, the others add 0
            dist.all_reduce(flat, group=self.world.control)
        return [flat.numpy()[start : start + count] for start, count in zip(starts, counts, strict=False)]

    def choose(self, run: Forward, dtype: torch.dtype, *, reason: str | None) -> None:
        """Packed or padded, by `batch.packing` and by what the model does; rank 0 decides for all.

        `reason` is why packing is out of question already.
        """
        wanted = self._batch.packing
        if wanted == "off":
            reason = "batch.packing=off"
        reason = from_first(reason or leak(self._hf_model, run, self.world.device, LEAK[dtype]), self.world)
        if reason is not None and wanted == "on":
            raise BadSetting(f"batch.packing=on, but the {self.name} cannot: {reason}; use auto or off")
        self.packed = reason is None
        if self.packed:
            self._hf_model.set_attn_implementation(attention.PACKED)
        if self.world.rank == 0:
            log.info("the %s runs %s", self.name, "packed" if self.packed else f"padded, sorted by length ({reason})")
