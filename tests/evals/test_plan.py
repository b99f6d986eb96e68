"""What a plan locks: a seeded order whose every beginning is a fair sample, the same in any process."""

from collections import Counter

import pytest

from agentenv.protocol import TaskRef
from evals.plan import merged, stratified

TASKS = [TaskRef(id=f"e/test/{i}", env="e", split="test", index=i, category="aaabc"[i % 5]) for i in range(100)]


def order(seed: int, tasks=TASKS):
    return stratified(tasks, seed=seed, key=lambda t: t.id, stratum=lambda t: t.category)


@pytest.mark.parametrize("seed", range(20))
def test_every_beginning_holds_each_category_in_proportion(seed):
    ordered = order(seed)
    assert sorted(t.index for t in ordered) == list(range(100))
    for n in range(1, 101):
        found = Counter(t.category for t in ordered[:n])
        for category, share in (("a", 0.6), ("b", 0.2), ("c", 0.2)):
            assert abs(found[category] - share * n) <= 1.5, (n, category)


def test_seeds_differ_and_one_seed_does_not():
    assert order(1) == order(1, TASKS[::-1])
    assert order(1) != order(2)
    assert [t.index for t in order(1)] != list(range(100))


def test_the_order_is_the_same_for_ever():
    """Golden: a change would change which tasks every suite measures."""
    assert [t.index for t in order(1)[:8]] == [98, 52, 59, 92, 12, 88, 61, 89]


def test_envs_are_spread_over_the_whole():
    together = merged([["a"] * 10, ["b"] * 5, ["c"]])
    assert "".join(together) == "abaabaabcaabaaba"
    assert merged([]) == []
