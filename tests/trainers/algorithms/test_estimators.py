"""Estimators as functions of arrays: known cases, and the same formulas written as loops."""

import numpy as np
import pytest
import reference_rl as reference
from hypothesis import given, settings
from hypothesis import strategies as st

from trainers.algorithms import estimators

DTYPES = (np.float64, np.float32)
TOLERANCE = {np.float64: dict(atol=1e-6, rtol=0), np.float32: dict(atol=1e-7, rtol=1e-5)}

numbers = st.floats(-5, 5)
chains = st.lists(st.tuples(numbers, numbers), min_size=1, max_size=12)
factors = st.floats(0, 1)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("gamma", "lam", "expected"),
    [
        (0.99, 0.95, [0.446828575, 0.37515, 0.3]),
        (1, 1, [0.5, 0.4, 0.3]),
        (0.9, 0, [0.04, 0.03, 0.3]),
    ],
)
def test_gae_of_a_dense_episode(dtype, gamma, lam, expected):
    rewards, values = np.array([0, 0, 1], dtype), np.array([0.5, 0.6, 0.7], dtype)
    found = estimators.gae(rewards, values, bootstrap=0, gamma=gamma, lam=lam)
    np.testing.assert_allclose(found, expected, **TOLERANCE[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("after", "expected"),
    [(0.0, [0.00455845, -0.0951, -0.2]), (0.8, [0.705114328, 0.649776, 0.592])],
)
def test_a_cut_episode_goes_on_with_the_value_of_its_last_state(dtype, after, expected):
    rewards, values = np.array([0, 0, 0.5], dtype), np.array([0.5, 0.6, 0.7], dtype)
    found = estimators.gae(rewards, values, bootstrap=after, gamma=0.99, lam=0.95)
    np.testing.assert_allclose(found, expected, **TOLERANCE[dtype])


@settings(deadline=None)
@given(chains, factors, factors, numbers)
def test_gae_is_the_sum_of_its_discounted_deltas(chain, gamma, lam, after):
    rewards, values = zip(*chain, strict=True)
    slow = reference.gae(rewards, values, [1] * len(chain), after=after, gamma=gamma, lam=lam)
    fast = estimators.gae(rewards, values, bootstrap=after, gamma=gamma, lam=lam)
    np.testing.assert_allclose(fast, slow, atol=1e-9)


@settings(deadline=None)
@given(st.lists(numbers, min_size=1, max_size=12), factors)
def test_discounted_sums_are_those_of_the_definition(rewards, gamma):
    slow = reference.token_returns(rewards, [1] * len(rewards), gamma)
    np.testing.assert_allclose(estimators.discounted(rewards, gamma), slow, atol=1e-9)


@settings(deadline=None)
@given(st.lists(numbers, min_size=2, max_size=8), st.booleans())
def test_group_estimators_are_those_of_the_definition(rewards, normalize):
    spread = np.std(rewards, ddof=1)
    if abs(spread - 1e-6) < 1e-9:
        return  # on the threshold, rounding decides
    slow = reference.grpo(rewards, normalize=normalize)
    np.testing.assert_allclose(estimators.grpo(rewards, std_normalize=normalize), slow, atol=1e-6)
    np.testing.assert_allclose(estimators.rloo(rewards), reference.rloo(rewards), atol=1e-9)


@pytest.mark.parametrize("dtype", DTYPES)
def test_grpo_and_rloo_of_four_episodes(dtype):
    rewards = np.array([1, 0, 0, 1], dtype)
    std = np.sqrt(1 / 3)
    sign = np.array([1, -1, -1, 1])
    np.testing.assert_allclose(estimators.grpo(rewards), sign * 0.5 / (std + 1e-6), rtol=1e-6)
    np.testing.assert_allclose(estimators.grpo(rewards, std_normalize=False), sign * 0.5)
    np.testing.assert_allclose(estimators.rloo(rewards), sign * 2 / 3, rtol=1e-6)


@pytest.mark.parametrize("estimator", [estimators.grpo, estimators.rloo])
def test_rewards_that_differ_by_rounding_alone_give_exactly_zero(estimator):
    assert estimator([0.1 + 0.2, 0.3, 0.3]).tolist() == [0.0, 0.0, 0.0]
    assert estimator([0.7] * 7).tolist() == [0.0] * 7


@pytest.mark.parametrize("estimator", [estimators.grpo, estimators.rloo])
def test_a_group_of_one_is_refused(estimator):
    with pytest.raises(ValueError, match="a group of 1 has none"):
        estimator([1.0])


def test_remax_compares_with_the_greedy_episode_also_when_all_are_equal():
    assert estimators.remax([1.0, 1.0], baseline=0.25).tolist() == [0.75, 0.75]
    assert estimators.remax([0.3, 0.3], baseline=0.1 + 0.2).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("dtype", DTYPES)
def test_whitening_has_mean_zero_and_the_samples_deviation(dtype):
    white = estimators.whiten(np.array([1, 1, 1, 0, 0, 0], dtype))
    np.testing.assert_allclose(white, [0.912871] * 3 + [-0.912871] * 3, atol=1e-6)
    white = estimators.whiten(np.array([0.729, 0.81, 0.9, 1.0], dtype))
    np.testing.assert_allclose(white, [-1.120338, -0.426285, 0.344884, 1.201739], **TOLERANCE[dtype] | {"atol": 1e-6})


@pytest.mark.parametrize("numbers", [[], [3.0], [3.0, 3.0]])
def test_whitening_without_differences_gives_zeros(numbers):
    assert estimators.whiten(numbers).tolist() == [0.0] * len(numbers)
