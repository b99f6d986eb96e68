"""Keys and values of tokens that a model has seen, as blocks that join into batches, and a store of them by prefix.

Legend: B rows, H key/value heads, S slots, D size of a head.
A row of n tokens fills the last n of S slots; nothing attends to the slots before it. So tokens of a row are always
next to each other, which also sliding windows count on.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers.cache_utils import Cache, DynamicLayer

Block = list[tuple[Tensor, Tensor]]
"""By layer: keys and values [B, H, S, D]."""

ROOM = 64
"""Slots that a layer takes in advance, so that most tokens are written in place."""


class GrowingLayer(DynamicLayer):
    """A layer of a cache that writes new slots into room taken in advance instead of copying all the old ones."""

    def __init__(self, keys: Tensor | None = None, values: Tensor | None = None, slots: int = 0) -> None:
        super().__init__()
        if keys is not None and values is not None:
            self.lazy_initialization(keys, values)
            self._buffers = (keys, values)
            self.keys, self.values = keys[:, :, :slots], values[:, :, :slots]

    def update(self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        """Append slots; return all."""
        old = self.get_seq_length()
        slots = old + key_states.shape[2]
        if not self.is_initialized or slots > self._buffers[0].shape[2]:
            roomy = (_roomy(key_states, slots), _roomy(value_states, slots))
            if self.is_initialized:
                for buffer, full in zip(roomy, self._buffers, strict=True):
                    buffer[:, :, :old] = full[:, :, :old]
            else:
                self.lazy_initialization(key_states, value_states)
            self._buffers = roomy
        keys, values = self._buffers
        keys[:, :, old:slots], values[:, :, old:slots] = key_states, value_states
        self.keys, self.values = keys[:, :, :slots], values[:, :, :slots]
        return self.keys, self.values


def _roomy(like: Tensor, slots: int) -> Tensor:
    return like.new_zeros(*like.shape[:2], slots + ROOM, like.shape[3])


def empty_cache() -> Cache:
    """A cache without slots."""
    return Cache(layer_class_to_replicate=GrowingLayer)


def block_of(cache: Cache, rows: Sequence[int], slots: int) -> Block:
    """A copy of the last `slots` slots of some rows."""
    first = cache.get_seq_length() - slots
    layers = all_of(cache)
    index_B = torch.tensor(rows, device=layers[0][0].device)
    return [
        (keys[:, :, first:].index_select(0, index_B), values[:, :, first:].index_select(0, index_B))
        for keys, values in layers
    ]


def all_of(cache: Cache) -> Block:
    """Every slot of every row, not copied."""
    layers: list[Any] = cache.layers
    return [(layer.keys, layer.values) for layer in layers]


def part(block: Block, slots: int) -> Block:
    """The first `slots` slots, not copied."""
    return [(keys[:, :, :slots], values[:, :, :slots]) for keys, values in block]


def slots_of(block: Block) -> int:
    """Slots of each row."""
    return block[0][0].shape[2] if block else 0


def join(blocks: Sequence[Block], rows: Sequence[int], slots: int) -> Cache:
    """Blocks, of `rows` rows each, one under the other, each at the end of `slots` slots.

    A block without slots may be empty: [].
    """
    like = next((b for b in blocks if b), None)
    if like is None or slots == 0:
        return empty_cache()
    layers: list[Any] = []
    for number, pair in enumerate(like):
        joined_keys, joined_values = (t.new_zeros(sum(rows), t.shape[1], slots + ROOM, t.shape[3]) for t in pair)
        top = 0
        for block, count in zip(blocks, rows, strict=True):
            if block:
                first = slots - slots_of(block)
                joined_keys[top : top + count, :, first:slots] = block[number][0]
                joined_values[top : top + count, :, first:slots] = block[number][1]
            top += count
        layers.append(GrowingLayer(joined_keys, joined_values, slots))
    return Cache(layers=layers)


class PrefixStore:
    """Blocks of single rows by their tokens, the least recently used dropped at `max_bytes`."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.bytes = 0
        self._entries: OrderedDict[bytes, tuple[NDArray[np.int64], Block]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def longest(self, tokens: Sequence[int]) -> tuple[int, Block]:
        """The most tokens at the start of `tokens` that are known, and their block; (0, []) without any."""
        wanted = np.asarray(tokens, np.int64)
        best, found = 0, None
        for key, (known, _) in self._entries.items():
            n = min(len(known), len(wanted))
            if n <= best:
                continue
            differs = known[:n] != wanted[:n]
            same = int(differs.argmax()) if differs.any() else n
            if same > best:
                best, found = same, key
        if found is None:
            return 0, []
        self._entries.move_to_end(found)
        return best, part(self._entries[found][1], best)

    def add(self, tokens: Sequence[int], block: Block) -> None:
        """Remember a row. What it continues is dropped: the longer one serves for both."""
        size = sum(t.nbytes for pair in block for t in pair)
        if size > self.max_bytes:
            return
        known = np.asarray(tokens, np.int64)
        continued = [
            k for k, (old, _) in self._entries.items() if len(old) <= len(known) and (old == known[: len(old)]).all()
        ]
        for key in continued:
            self._drop(key)
        self._entries[known.tobytes()] = (known, block)
        self.bytes += size
        while self.bytes > self.max_bytes:
            self._drop(next(iter(self._entries)))

    def clear(self) -> None:
        """Forget all."""
        self._entries.clear()
        self.bytes = 0

    def _drop(self, key: bytes) -> None:
        _, block = self._entries.pop(key)
        self.bytes -= sum(t.nbytes for pair in block for t in pair)
