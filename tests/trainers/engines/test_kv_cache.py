"""Blocks of keys and values: joined at the end of their slots, grown in place, kept by prefix under a cap."""

import torch

from trainers.engines.kv_cache import ROOM, PrefixStore, all_of, block_of, empty_cache, join, part, slots_of


def block(rows: int, slots: int, start: float = 0.0, layers: int = 2):
    """Keys and values with a number of their own in every place; one head of two."""
    size = rows * slots * 2
    return [
        (
            torch.arange(size, dtype=torch.float32).view(rows, 1, slots, 2) + start + 1000 * layer,
            -torch.arange(size, dtype=torch.float32).view(rows, 1, slots, 2) - start,
        )
        for layer in range(layers)
    ]


def test_joined_blocks_end_at_the_last_slot():
    short, long = block(1, 2), block(2, 3, 100)
    cache = join([short, [], long], [1, 1, 2], 4)
    for layer, (keys, values) in enumerate(all_of(cache)):
        assert keys.shape == (4, 1, 4, 2)
        assert torch.equal(keys[0, :, 2:], short[layer][0][0])
        assert torch.equal(keys[2:, :, 1:], long[layer][0])
        assert torch.equal(values[2:, :, 1:], long[layer][1])
        assert not keys[0, :, :2].any()
        assert not keys[1].any()
    taken = block_of(cache, [3, 0], 2)
    assert torch.equal(taken[1][0][0], long[1][0][1, :, 1:])
    assert torch.equal(taken[1][0][1], short[1][0][0])


def test_blocks_without_slots_join_to_an_empty_cache():
    assert join([[], []], [1, 1], 0).get_seq_length() == 0
    assert join([part(block(1, 3), 0)], [1], 0).get_seq_length() == 0
    assert slots_of([]) == 0


def test_a_cache_grows_as_if_its_parts_were_put_side_by_side():
    whole = block(2, 3 * ROOM)
    cache = empty_cache()
    at = 0
    for step in [1, 5, 1, ROOM, 1, 1, ROOM - 2, ROOM - 7]:
        for layer, (keys, values) in enumerate(whole):
            found = cache.update(keys[:, :, at : at + step], values[:, :, at : at + step], layer)
            assert torch.equal(found[0], keys[:, :, : at + step])
            assert torch.equal(found[1], values[:, :, : at + step])
        at += step
        assert cache.get_seq_length() == at


def test_the_store_gives_the_longest_common_prefix():
    store = PrefixStore(10**6)
    one, two = block(1, 4), block(1, 3, 50)
    store.add([1, 2, 3, 4], one)
    store.add([1, 2, 9], two)
    count, found = store.longest([1, 2, 3, 7, 8])
    assert (count, slots_of(found)) == (3, 3)
    assert torch.equal(found[0][0], one[0][0][:, :, :3])
    assert store.longest([1, 2, 9, 9])[0] == 3
    assert store.longest([7]) == (0, [])
    assert store.longest([]) == (0, [])


def test_a_longer_row_takes_the_place_of_what_it_continues():
    store = PrefixStore(10**6)
    store.add([1, 2], block(1, 2))
    store.add([1, 3], block(1, 2))
    store.add([1, 2, 3], block(1, 3))
    assert len(store) == 2
    store.add([1, 2, 3], block(1, 3))
    assert len(store) == 2
    assert store.bytes == sum(t.nbytes for b in (block(1, 3), block(1, 2)) for pair in b for t in pair)


def test_at_its_cap_the_store_drops_what_was_used_least_recently():
    size = sum(t.nbytes for pair in block(1, 2) for t in pair)
    store = PrefixStore(2 * size)
    store.add([1, 1], block(1, 2))
    store.add([2, 2], block(1, 2))
    store.longest([1, 1, 5])
    store.add([3, 3], block(1, 2))
    assert [store.longest([n, n])[0] for n in (1, 2, 3)] == [2, 0, 2]
    store.add([4] * 9, block(1, 9))  # more than the cap: not kept, and nothing goes for it
    assert store.bytes == 2 * size
    store.clear()
    assert (len(store), store.bytes) == (0, 0)
