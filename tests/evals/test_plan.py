"""What a plan locks: a seeded order whose every beginning is a fair sample, the same in any process."""

from collections import Counter

import pytest

from agentenv.protocol import TaskRef
from evals.plan import make_plan, merged, stratified
from evals.suite import BadSuite, Suite, SuiteEnv

TASKS = [
    TaskRef(id=f"e/test/{i}", env="e", split="test", index=i, category="aaabc"[i % 5], difficulty=i * i % 7)
    for i in range(100)
]


def order(seed: int, tasks=TASKS):
    return stratified(tasks, seed=seed, key=lambda t: t.id, by=(lambda t: t.category, lambda t: t.difficulty))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("prop", ["category", "difficulty"])
def test_every_beginning_holds_each_category_and_difficulty_in_proportion(seed, prop):
    ordered = order(seed)
    assert sorted(t.index for t in ordered) == list(range(100))
    whole = Counter(getattr(t, prop) for t in TASKS)
    for n in range(1, 101):
        found = Counter(getattr(t, prop) for t in ordered[:n])
        for value, size in whole.items():
            assert abs(found[value] - size / 100 * n) < 2, (n, value)


def test_seeds_differ_and_one_seed_does_not():
    assert order(1) == order(1, TASKS[::-1])
    assert order(1) != order(2)
    assert [t.index for t in order(1)] != list(range(100))


def test_the_order_is_the_same_for_ever():
    """Golden: a change would change which tasks every suite measures."""
    assert [t.index for t in order(1)[:8]] == [92, 52, 23, 59, 12, 7, 13, 90]


def test_envs_are_spread_over_the_whole():
    together = merged([["a"] * 10, ["b"] * 5, ["c"]])
    assert "".join(together) == "abaabaabcaabaaba"
    assert merged([]) == []


def test_options_that_leave_the_machine_to_decide_what_is_measured_are_refused():
    with pytest.raises(BadSuite, match=r"webarena: with engine=auto .* say engine: chromium or lite"):
        make_plan(Suite(name="s", envs=(SuiteEnv(env="webarena", split="smoke", options={"size": "small"}),)))
    settled = {"engine": "lite", "size": "small"}
    plan = make_plan(Suite(name="s", envs=(SuiteEnv(env="webarena", split="smoke", options=settled),)))
    assert plan.worlds[0].options == settled
