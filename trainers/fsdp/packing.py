"""From segments to micro-batches: which rank takes which, what goes in one forward pass, and how it lies in memory.

Every rank holds the whole batch and computes the same plan, so no rank has to ask another how much there is to do.

Legend of dimensions: T tokens of one segment, N positions whose next token is wanted, B rows, L tokens of a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trainers.batch import Ints, Segment


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One sequence to run, and the places in it whose output is wanted.

    Example: tokens [5, 6, 7], 7 was sampled: `at` is [1] (the model says at 6 what follows) and `targets` is [7].
    """

    tokens: Ints
    """[T]"""
    at: Ints
    """[N] positions whose hidden state is used."""
    targets: Ints
    """[N] the token after each; 0 where there is none."""

    def __len__(self) -> int:
        return len(self.tokens)


EMPTY = Item(tokens=np.zeros(2, np.int64), at=np.zeros(1, np.int64), targets=np.zeros(1, np.int64))
"""Runs on a rank that has less to do than the others; its loss weighs nothing."""


def item_of(segment: Segment) -> Item:
    """Every sampled token of a segment, predicted from the position before it."""
    at = np.flatnonzero(segment.mask) - 1
    if len(at) and at[0] < 0:
        raise ValueError("the first token of a segment cannot be a sampled one: nothing predicts it")
    return Item(tokens=segment.tokens, at=at, targets=segment.tokens[at + 1])


def extended(item: Item, final_tokens: Ints) -> Item:
    """`item` with an observation after it; the output at its very last token is wanted too."""
    tokens = np.concatenate([item.tokens, final_tokens])
    at = np.append(item.at, len(tokens) - 1)
    return Item(tokens=tokens, at=at, targets=np.append(item.targets, 0))


PAD = 0
"""Stands behind shorter rows; nothing looks at it, so any id would do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How much goes in one forward pass."""

    packed: bool
    tokens: int
    """Packed: tokens in one pass; a longer sequence goes alone."""
    rows: int
    """Padded: sequences in one pass."""


def plan(lengths: Sequence[int], ranks: int, sizes: Sizes) -> list[list[list[int]]]:
    """Indices of items by rank and micro-batch: ranks even in tokens, equal in micro-batches (some are empty)."""
    shares = _balance(lengths, ranks)
    by_rank = [_bins(lengths, share, sizes) for share in shares]
    most = max(len(bins) for bins in by_rank)
    return [bins + [[]] * (most - len(bins)) for bins in by_rank]


def _balance(lengths: Sequence[int], ranks: int) -> list[list[int]]:
    """Longest first, each to the rank with the least so far."""
    shares: list[list[int]] = [[] for _ in range(ranks)]
    loads = [0] * ranks
    for i in sorted(range(len(lengths)), key=lambda i: (-lengths[i], i)):
        rank = loads.index(min(loads))
        shares[rank].append(i)
        loads[rank] += lengths[i]
    return shares


def _bins(lengths: Sequence[int], share: list[int], sizes: Sizes) -> list[list[int]]:
    """The share, longest first, cut into passes: by budget of tokens (first fit) or by rows."""
    if not sizes.packed:
        return [share[i : i + sizes.rows] for i in range(0, len(share), sizes.rows)]
    bins: list[list[int]] = []
    room: list[int] = []
    for i in share:
        fits = next((b for b, left in enumerate(room) if lengths[i] <= left), None)
        if fits is None:
            bins.append([])
            room.append(sizes.tokens)
            fits = len(bins) - 1
        bins[fits].append(i)
        room[fits] -= lengths[i]
    return bins


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """One micro-batch as the model takes it: all sequences in one row (packed), or one a row, padded on the right."""

    tokens: Ints
    """[B, L]"""
    positions: Ints
    """[B, L] from 0 in each sequence."""
    lengths: tuple[int, ...] | None
    """Of the packed sequences in order; None: padded, and causal attention alone keeps the padding out."""
    at: Ints
    """[N] into the flattened [B * L], items in order."""
    targets: Ints
    """[N]"""


def layout(items: Sequence[Item], *, packed: bool) -> Layout:
    """Lay items out for one forward pass."""
    targets = np.concatenate([i.targets for i in items])
    if packed:
        lengths = tuple(len(i) for i in items)
        starts = np.cumsum((0, *lengths[:-1]))
        return Layout(
            tokens=np.concatenate([i.tokens for i in items])[None],
            positions=np.concatenate([np.arange(n) for n in lengths])[None],
            lengths=lengths,
            at=np.concatenate([i.at + start for i, start in zip(items, starts, strict=True)]),
            targets=targets,
        )
    longest = max(len(i) for i in items)
    tokens = np.full((len(items), longest), PAD, np.int64)
    for row, item in enumerate(items):
        tokens[row, : len(item)] = item.tokens
    return Layout(
        tokens=tokens,
        positions=np.broadcast_to(np.arange(longest), tokens.shape),
        lengths=None,
        at=np.concatenate([i.at + row * longest for row, i in enumerate(items)]),
        targets=targets,
    )
