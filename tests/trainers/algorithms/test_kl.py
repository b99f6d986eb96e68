"""Distance to the reference, and the controllers of its coefficient."""

import pytest
from made_batches import Plan, batch_of, dense

from trainers.algorithms.kl import adapted, controller, measured
from trainers.algorithms.mismatch import mismatch
from trainers.config import KlSettings


@pytest.mark.parametrize(("kl", "expected"), [(12, 0.200256), (3, 0.199744), (6, 0.2)])
def test_the_coefficient_moves_towards_the_target(kl, expected):
    assert adapted(0.2, kl=kl, episodes=64, target=6, horizon=10_000) == pytest.approx(expected, abs=1e-12)


def test_an_adaptive_controller_goes_on_from_its_state():
    settings = KlSettings(controller="adaptive", coef=0.2, target=6.0, horizon=10_000)
    first, second = controller(settings), controller(settings)
    for kl in (12.0, 12.0, 3.0):
        first.update(kl, episodes=64)
    second.restore(first.state())
    for one in (first, second):
        one.update(1.0, episodes=64)
    assert first.coef == second.coef
    assert first.coef == pytest.approx(0.2 * 1.00128**2 * 0.99872**2)


def test_a_fixed_controller_keeps_the_coefficient_of_the_settings():
    fixed = controller(KlSettings(coef=0.3))
    fixed.update(1e9, episodes=64)
    fixed.restore({"coef": 7.0})
    assert fixed.coef == 0.3
    assert fixed.state() == {"coef": 0.3}


def test_the_measure_is_nats_of_an_episode_over_its_sampled_tokens():
    plans = [Plan(turns=[(1, 2), (2, 1)], rewards=[0, 0], seed=i, member=i) for i in range(3)]
    batch = batch_of(plans, cuts=[(), (1,), ()])
    nats = [sum(k for k, m in zip(d["k1"], d["mask"], strict=True) if m) for d in map(dense, batch.episodes)]
    assert measured(batch) == pytest.approx(sum(nats) / 3)
    assert measured(batch_of([])) == 0.0


def test_a_measure_without_a_reference_is_refused():
    batch = batch_of([Plan(turns=[(1, 1)], rewards=[0])])
    next(batch.segments).ref_logprobs = None
    with pytest.raises(ValueError, match="1 episodes have no log-probabilities of the reference"):
        measured(batch)


def test_the_gap_between_engine_and_learner_is_told_by_turn():
    batch = batch_of([Plan(turns=[(1, 2), (1, 1)], rewards=[0, 0])], cuts=[(1,)])
    arrays = [segment.engine_logprobs.copy() for segment in batch.segments]
    assert set(mismatch(batch, arrays).values()) == {0.0}
    first, second = arrays
    first[1] += 0.25
    second[list(batch.segments)[1].mask] -= 0.5
    found = mismatch(batch, arrays)
    assert found == pytest.approx(
        {
            "mismatch/mean": 0.25,
            "mismatch/max": 0.5,
            "mismatch/turn_0/mean": 0.125,
            "mismatch/turn_0/max": 0.25,
            "mismatch/turn_1/mean": 0.5,
            "mismatch/turn_1/max": 0.5,
        },
        rel=1e-5,
    )
    assert mismatch(batch, [None, second]) == pytest.approx(
        {f"mismatch/{name}": 0.5 for name in ("mean", "max", "turn_1/mean", "turn_1/max")}, rel=1e-5
    )
    assert mismatch(batch, [None, None]) == mismatch(batch_of([]), []) == {}
