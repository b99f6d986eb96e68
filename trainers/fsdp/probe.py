"""What a model does with packed sequences and with its logits, found out by running it.

Legend of dimensions: N wanted positions of all items of a pass, in order.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from trainers.fsdp import attention
from trainers.fsdp.model import on_device, runnable
from trainers.fsdp.packing import EMPTY, Item, layout
from trainers.settings import BadSetting

log = logging.getLogger(__name__)

Forward = Callable[..., torch.Tensor]
"""`(targets_N, **arguments of a forward)` gives the outputs at the wanted positions."""

PROBE_LENGTHS = (5, 17, 9)
"""Tokens of the sequences that the leak probe packs."""

LOUD = 100.0
"""Logits are made so much larger when the head is checked: a soft cap on small ones would not be seen."""

GAP = 1e-4
"""Largest relative difference of a log-probability from the model's own forward, in float32."""

LEAK = {torch.float32: 1e-4, torch.bfloat16: 0.1}
"""Share of a full leak that packed outputs may lie away from separate ones, by the rounding of a type."""


def leak(hf_model: Any, run: Forward, device: torch.device, limit: float) -> str | None:
    """Why sequences in one row would see each other; None when they do not.

    Three passes: each sequence alone, all as one long text (a full leak, to measure against), and packed.
    """
    items = probe_items(hf_model.config.get_text_config().vocab_size)
    own = hf_model.config._attn_implementation

    def outputs(some: Sequence[Item], *, packed: bool) -> torch.Tensor:
        targets = torch.tensor(np.concatenate([i.targets for i in some]), device=device)
        return run(targets, **on_device(layout(some, packed=packed), device)).float()

    with torch.no_grad():
        alone = torch.cat([outputs([item], packed=False) for item in items])
        leaking = outputs([joined(items)], packed=False)
        hf_model.set_attn_implementation(attention.PACKED)
        try:
            packed = outputs(items, packed=True)
        except attention.UnfitAttention as exc:
            return str(exc)
        finally:
            hf_model.set_attn_implementation(own)
    full, seen = ((other - alone).abs().mean().item() for other in (leaking, packed))
    log.debug("leak probe: %.3g packed, %.3g for a full leak", seen, full)
    return None if seen <= limit * full else f"packed sequences see each other: {seen:.3g}, all of it is {full:.3g}"


def probe_items(vocabulary: int) -> list[Item]:
    """Sequences of fixed random tokens, every position but the last wanted."""
    draw = np.random.Generator(np.random.PCG64(0))
    texts = [draw.integers(0, vocabulary, length) for length in PROBE_LENGTHS]
    return [Item(tokens=text, at=np.arange(len(text) - 1), targets=text[1:]) for text in texts]


def check_head(model: Any, hf_model: Any) -> None:
    """Raise BadSetting for a model that does more to its logits than its head; before sharding, on rank 0's copy."""
    item = probe_items(hf_model.config.get_text_config().vocab_size)[1]
    tokens, targets = torch.tensor(item.tokens), torch.tensor(item.targets)
    louder = hf_model.get_output_embeddings().register_forward_hook(lambda _head, _input, logits: logits * LOUD)
    try:
        with torch.no_grad(), runnable(hf_model):
            plain = hf_model(input_ids=tokens[None], use_cache=False).logits[0, item.at].float().log_softmax(-1)
            laid = on_device(layout([item], packed=False), tokens.device)
            own, _ = model(**laid, targets=targets, temperature=1.0)
    finally:
        louder.remove()
    plain = plain.gather(-1, targets[:, None])[:, 0]
    gap = ((own - plain).abs() / (1 + plain.abs())).max().item()
    if not gap <= GAP:
        raise BadSetting(
            f"{type(hf_model).__name__} does more to its logits than its head (off by {gap:.0%}); such "
            "a model cannot be trained here yet"
        )


def check_sharded(hf_model: Any, run: Forward, device: torch.device) -> None:
    """Raise BadSetting for a model that FSDP cannot hold; every rank calls."""
    with torch.no_grad(), runnable(hf_model):
        run(torch.tensor(EMPTY.targets, device=device), **on_device(layout([EMPTY], packed=False), device))


def joined(items: Sequence[Item]) -> Item:
    """All items as one text, the same positions wanted."""
    laid = layout(items, packed=True)
    return Item(tokens=laid.tokens[0], at=laid.at, targets=laid.targets)
