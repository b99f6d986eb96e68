"""Micro-batches hold every sequence once, within their budget, in equal numbers on every rank."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from token_batches import made_segment

from trainers.batch import Segment
from trainers.fsdp.packing import Item, Sizes, extended, item_of, layout, plan

LENGTHS = st.lists(st.integers(2, 60), max_size=40)


@given(LENGTHS, st.integers(1, 4), st.booleans(), st.integers(1, 100), st.integers(1, 5))
def test_a_plan_holds_each_item_once_and_keeps_its_budget(lengths, ranks, packed, tokens, rows):
    shares = plan(lengths, ranks, Sizes(packed=packed, tokens=tokens, rows=rows))
    assert sorted(i for share in shares for part in share for i in part) == list(range(len(lengths)))
    assert len({len(share) for share in shares}) == 1
    for part in (part for share in shares for part in share):
        if packed:
            assert len(part) <= 1 or sum(lengths[i] for i in part) <= tokens
        else:
            assert len(part) <= rows


@given(LENGTHS, st.integers(1, 4))
def test_ranks_are_even_up_to_one_sequence(lengths, ranks):
    shares = plan(lengths, ranks, Sizes(packed=True, tokens=50, rows=1))
    loads = [sum(lengths[i] for part in share for i in part) for share in shares]
    assert max(loads) - min(loads) <= max(lengths, default=0)


def test_padded_rows_are_sorted_by_length():
    (share,) = plan([3, 50, 4, 49], 1, Sizes(packed=False, tokens=1, rows=2))
    assert share == [[1, 3], [2, 0]]


@given(st.integers(0, 50), st.integers(1, 6), st.booleans())
def test_wanted_positions_point_at_the_token_before_each_target(seed, count, packed):
    draw = np.random.default_rng(seed)
    segments = [made_segment(draw) for _ in range(count)]
    laid = layout([item_of(s) for s in segments], packed=packed)
    expected = np.concatenate([s.tokens[s.mask] for s in segments])
    assert np.array_equal(laid.targets, expected)
    assert np.array_equal(laid.tokens.reshape(-1)[laid.at + 1], expected)
    assert (laid.positions.reshape(-1)[laid.at] + 1 == np.concatenate([np.flatnonzero(s.mask) for s in segments])).all()
    assert laid.tokens.shape == laid.positions.shape
    if packed:
        assert sum(laid.lengths) == laid.tokens.size


def test_the_rows_of_logits_of_a_three_turn_chat():
    """One before each sampled token; positions without gaps, whether the row is padded or packed."""
    sampled = [9, 10, 11, 23, 24, 35, 36, 37]
    mask = np.isin(np.arange(38), sampled)
    chat = Segment(
        tokens=np.arange(100, 138), mask=mask, turn=np.where(mask, 0, -1), engine_logprobs=np.zeros(38, np.float32)
    )
    item = item_of(chat)
    assert item.at.tolist() == [8, 9, 10, 22, 23, 34, 35, 36]
    assert item.targets.tolist() == [100 + t for t in sampled]
    longer = Item(tokens=np.arange(50), at=np.array([48]), targets=np.array([49]))
    for packed in (True, False):
        laid = layout([longer, item], packed=packed)
        assert laid.positions.reshape(-1)[50:88].tolist() == list(range(38))


def test_an_extended_item_also_wants_its_last_token():
    item = Item(tokens=np.array([5, 6, 7]), at=np.array([1]), targets=np.array([7]))
    longer = extended(item, np.array([8, 9]))
    assert longer.tokens.tolist() == [5, 6, 7, 8, 9]
    assert longer.at.tolist() == [1, 4]


def test_a_segment_cannot_begin_with_a_sampled_token():
    segment = made_segment(np.random.default_rng(0))
    segment.mask[0] = True
    with pytest.raises(ValueError, match="nothing predicts it"):
        item_of(segment)
