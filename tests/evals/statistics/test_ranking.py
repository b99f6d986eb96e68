"""What ranking locks: Holm's steps, ranges that claim only what was tested, and one weight for every env."""

import random
from itertools import combinations

import numpy as np
import pytest

from agentenv.paired import mcnemar, sign_flip
from evals.statistics.ranking import Attempts, RankRange, holm, pair_p_values, rank_ranges


def test_holm_steps_down_and_never_comes_back():
    found = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})
    assert found == {
        "d": pytest.approx(0.02), "a": pytest.approx(0.03), "c": pytest.approx(0.06), "b": pytest.approx(0.06),
    }  # fmt: skip
    assert holm({"a": 0.6, "b": 0.9}) == {"a": 1.0, "b": 1.0}
    assert holm({}) == {}


def test_a_settled_order_has_single_ranks_and_no_claim_gives_everybody_all_of_them():
    scores = [0.9, 0.5, 0.1]
    settled = rank_ranges(scores, {(0, 1): 0.01, (0, 2): 0.001, (1, 2): 0.05})
    assert [str(r) for r in settled] == ["1", "2", "3"]
    unsure = rank_ranges(scores, {(0, 1): 0.2, (0, 2): 0.06, (1, 2): 1.0})
    assert [str(r) for r in unsure] == ["1-3", "1-3", "1-3"]


def test_only_the_pairs_that_differ_narrow_a_range():
    """The best and the worst are told apart, the one between from neither."""
    found = rank_ranges([0.5, 0.9, 0.1], {(0, 1): 0.3, (0, 2): 0.3, (1, 2): 0.01})
    assert found == [RankRange(low=1, high=3), RankRange(low=1, high=2), RankRange(low=2, high=3)]


def rows(success, valid=None, scores=None):
    """The rows of arrays of each env, one line a row."""
    success = [np.array(part) for part in success]
    valid = [np.ones_like(part) if valid is None else np.array(valid[i]) for i, part in enumerate(success)]
    graded = scores or [[None] * len(part) for part in success]
    return [
        [Attempts(success=s[row], valid=v[row], scores=g[row]) for s, v, g in zip(success, valid, graded, strict=True)]
        for row in range(len(success[0]))
    ]


def p_values(rows, seed=1):
    pairs = list(combinations(range(len(rows)), 2))
    return dict(zip(pairs, pair_p_values([(rows[i], rows[j]) for i, j in pairs], seed=seed), strict=True))


def test_one_attempt_each_is_mcnemar_s_test():
    a, b = [1] * 12 + [0] * 3 + [1] * 45, [0] * 12 + [1] * 3 + [1] * 45
    assert p_values(rows([[a, b]])) == {(0, 1): pytest.approx(mcnemar(12, 3))}


def test_several_attempts_are_flipped_by_task():
    c = [[4, 3, 4, 2, 4, 1], [0, 1, 2, 2, 0, 1], [4, 3, 4, 2, 4, 1]]
    found = p_values(rows([c], valid=[np.full((3, 6), 4)]))
    assert found[0, 1] == pytest.approx(sign_flip([4, 2, 2, 0, 4, 0], seed=1)) == 0.125
    assert found[0, 2] == 1.0


def test_numbers_of_attempts_that_differ_are_brought_to_one_unit():
    found = p_values(rows([[[1, 1, 1, 2, 3], [0, 1, 0, 0, 1]]], valid=[[[1, 2, 3, 2, 3], [1, 1, 1, 3, 2]]]))
    d = [1, 1 / 2 - 1, 1 / 3, 1, 1 - 1 / 2]
    assert found[0, 1] == pytest.approx(sign_flip(d, seed=1))


def test_a_small_env_weighs_as_much_as_a_large_one():
    """One task of the small env weighs ten of the large one."""
    large = [[1] * 10 + [0] * 10, [0] * 10 + [0] * 10]
    small = [[0, 1], [1, 1]]
    found = p_values(rows([large, small]))
    weighted = [1] * 10 + [-10]  # sums to 0: every pattern is as extreme
    assert found[0, 1] == pytest.approx(sign_flip(weighted, seed=1)) == 1.0


def test_graded_scores_replace_the_rates():
    scores = [np.array([[1.0, 2.0, 3.5, 4.0, 2.25, 9.0], [0.5, 1.0, 3.0, 1.0, 2.0, 0.0]])]
    assert p_values(rows([[[1] * 6, [1] * 6]], scores=scores))[0, 1] == 2 / 2**6


def test_no_row_and_one_row_have_no_pair():
    assert p_values([]) == p_values(rows([[[1, 0]]])) == {}


@pytest.mark.parametrize("seed", range(8))
def test_a_pair_has_the_same_p_alone_and_among_others_to_the_last_bit(seed):
    """Of rates, of scores, of single attempts: whatever the others are, and in either order."""
    rng = random.Random(seed)
    envs = [rng.randint(5, 90) for _ in range(rng.randint(1, 3))]
    graded = seed % 2 == 0

    def row():
        most = rng.choice((1, 1, 3, 1013))
        valid = [np.array([rng.randint(max(1, most - 9), most) for _ in range(tasks)]) for tasks in envs]
        return [
            Attempts(
                success=np.array([rng.randint(0, n) for n in part]),
                valid=part,
                scores=np.array([rng.gauss(1, 3) for _ in part]) if graded else None,
            )
            for part in valid
        ]

    made = [row() for _ in range(6)]
    together = p_values(made, seed=seed)
    for (i, j), p in together.items():
        assert pair_p_values([(made[i], made[j])], seed=seed) == pair_p_values([(made[j], made[i])], seed=seed) == [p]


@pytest.mark.parametrize("attempts", [1, 4])
def test_among_equal_agents_a_false_claim_is_as_rare_as_promised(attempts):
    """Eight agents of the same skill, task by task: any claim is false, and at most 5 % of the tables hold one."""
    rng, tables, wrong = np.random.default_rng(attempts), 200, 0
    for _ in range(tables):
        skill = np.broadcast_to(rng.beta(0.5, 0.5, size=40), (8, 40))
        success = rng.binomial(attempts, skill)
        found = holm(p_values(rows([success], valid=[np.full((8, 40), attempts)])))
        wrong += any(r != RankRange(low=1, high=8) for r in rank_ranges(list(success.sum(axis=1)), found))
    assert wrong / tables <= 0.08  # 5 % and two and a half standard errors of so many tables


def test_a_real_difference_is_found():
    rng = np.random.default_rng(1)
    skill = rng.beta(0.5, 0.5, size=200)
    success = np.stack([rng.binomial(4, skill), rng.binomial(4, skill * 0.7)])
    found = holm(p_values(rows([success], valid=[np.full((2, 200), 4)])))
    assert rank_ranges(list(success.sum(axis=1)), found) == [RankRange(low=1, high=1), RankRange(low=2, high=2)]
