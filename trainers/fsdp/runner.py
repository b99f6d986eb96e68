"""Running sequences through a model, packed or padded as this model allows.

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
from trainers.fsdp.packing import EMPTY, Item, Layout, Sizes, layout, plan
from trainers.fsdp.world import World
from trainers.settings import BadSetting

log = logging.getLogger(__name__)

PROBE_LENGTHS = (5, 17, 9)
"""Tokens of the sequences that the leak probe packs."""

LEAK = 0.1
"""Packed outputs may lie this share of a full leak away from separate ones; rounding in bfloat16 stays far below."""


class Runner:
    """One model of the learner, with the attention that it gets."""

    def __init__(self, name: str, model: Any, hf_model: Any, world: World, config: TrainConfig) -> None:
        self.name, self.model, self.world = name, model, world
        self._hf_model, self._batch, self._temperature = hf_model, config.batch, config.rollout.temperature
        self._own_attention = hf_model.config._attn_implementation
        self.packed = False

    def __call__(self, items: Sequence[Item], **options: Any) -> Any:
        """The model's outputs at the wanted positions of `items`, in one pass."""
        return self._forward(layout(items, packed=self.packed), **options)

    def _forward(self, laid: Layout, **options: Any) -> Any:
        return self.model(**on_device(laid, self.world.device), **options)

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
        with torch.no_grad():
            for part in plan([len(i) for i in items], self.world.size, self.sizes(gradient=False))[self.world.rank]:
                outputs = run([items[i] for i in part] or [EMPTY]).float().cpu()
                for i, output in zip(part, outputs.split([counts[i] for i in part]) if part else (), strict=True):
                    flat[starts[i] : starts[i + 1]] = output
        if self.world.control is not None:  # each entry is one rank's, the others add 0
            dist.all_reduce(flat, group=self.world.control)
        return np.split(flat.numpy(), starts[1:-1])

    def choose(self, run: Callable[..., torch.Tensor]) -> None:
        """Decide between packed and padded by `batch.packing` and by what the model does; every rank decides alike."""
        wanted = self._batch.packing
        reason = "batch.packing=off" if wanted == "off" else self._leak(run)
        if reason is not None and wanted == "on":
            raise BadSetting(f"batch.packing=on, but the {self.name} cannot: {reason}; use auto or off")
        self._set(packed=reason is None)
        how = "packed" if reason is None else f"padded, sorted by length ({reason})"
        if self.world.rank == 0:
            log.info("the %s runs %s", self.name, how)

    def _set(self, *, packed: bool) -> None:
        self.packed = packed
        self._hf_model.set_attn_implementation(attention.PACKED if packed else self._own_attention)

    def _leak(self, run: Callable[..., torch.Tensor]) -> str | None:
        """Why sequences in one row would see each other; None when they do not.

        Three passes: each sequence alone, all as one long text (a full leak, to measure against), and packed.
        """
        items = probe_items(self._hf_model.config.get_text_config().vocab_size)
        with torch.no_grad():
            self._set(packed=False)
            alone = torch.cat([run([item]).float() for item in items])
            leaking = run([joined(items)]).float()
            self._set(packed=True)
            try:
                packed = run(items).float()
            except attention.UnfitAttention as exc:
                return str(exc)
        full, seen = ((other - alone).abs().mean().item() for other in (leaking, packed))
        log.debug("leak probe of the %s: %.3g packed, %.3g for a full leak", self.name, seen, full)
        return None if seen <= LEAK * full else f"packed sequences leak: {seen:.3g} against {full:.3g} for a full leak"


def probe_items(vocabulary: int) -> list[Item]:
    """Sequences of fixed random tokens, every position but the last wanted."""
    draw = np.random.Generator(np.random.PCG64(0))
    texts = [draw.integers(0, vocabulary, length) for length in PROBE_LENGTHS]
    return [Item(tokens=text, at=np.arange(len(text) - 1), targets=text[1:]) for text in texts]


def joined(items: Sequence[Item]) -> Item:
    """All items as one text, the same positions wanted."""
    laid = layout(items, packed=True)
    return Item(tokens=laid.tokens[0], at=laid.at, targets=laid.targets)
