"""Losses: known cases, the reference, and that parts add up to the whole."""

import math

import numpy as np
import pytest
import reference_rl as reference
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from made_batches import Plan, batch_of

from trainers.algorithms.advantages import assign
from trainers.algorithms.losses import (
    Totals,
    actor_loss,
    kl_terms,
    metrics_of,
    policy_terms,
    token_weights,
    value_loss,
)
from trainers.config import AlgorithmSettings, KlSettings, LossSettings, TisSettings, TrainConfig
from trainers.settings import BadSetting

DTYPES = (torch.float64, torch.float32)
NO_KL = KlSettings()
AGGREGATES = ("token_mean", "episode_mean", "constant")


def tensor(numbers, dtype=torch.float64, *, grad=False):
    return torch.tensor(numbers, dtype=dtype, requires_grad=grad)


def case(dtype, **settings):
    """The four tokens of the known case, of which the last is not trained."""
    new = tensor([-0.7, -2.4, -0.5], dtype, grad=True)
    part = actor_loss(
        new,
        old_N=tensor([-1, -2, -0.5], dtype),
        advantage_N=tensor([1, -1, 2], dtype),
        weight_N=torch.full((3,), 1 / 3, dtype=dtype),
        loss=LossSettings(**settings),
        kl=NO_KL,
    )
    part.loss.backward()
    metrics = metrics_of({name: float(value) for name, value in part.sums.items()})
    return part.loss.item(), new.grad, metrics


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_clipped_loss_of_three_tokens(dtype):
    loss, gradient, metrics = case(dtype)
    assert loss == pytest.approx(-0.8, rel=1e-6)
    torch.testing.assert_close(gradient, tensor([0, 0, -2 / 3], dtype), rtol=1e-5, atol=1e-6)
    assert metrics["policy/clip_fraction"] == pytest.approx(2 / 3)
    assert metrics["policy/approx_kl"] == pytest.approx(0.1 / 3, rel=1e-5)
    assert metrics["policy/ratio"] == pytest.approx((1.349859 + 0.670320 + 1) / 3, rel=1e-6)
    assert metrics["loss/policy"] == metrics["loss/total"] == pytest.approx(-0.8, rel=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_upper_clip_is_its_own(dtype):
    assert case(dtype, clip_high=0.28)[0] == pytest.approx(-0.8266667, rel=1e-6)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("advantage", "expected"), [(-1.0, 3.0), (1.0, -1.2)])
def test_the_dual_clip_bounds_a_bad_ratio_for_negative_advantages_alone(dtype, advantage, expected):
    new = tensor([math.log(5)], dtype, grad=True)
    settings = LossSettings(dual_clip=3.0)
    term, sums = policy_terms(new, old_N=tensor([0], dtype), advantage_N=tensor([advantage], dtype), loss=settings)
    assert term.item() == pytest.approx(expected)
    assert sums["policy/dual_clip_fraction"].item() == (advantage < 0)
    free, _ = policy_terms(new, old_N=tensor([0], dtype), advantage_N=tensor([-1], dtype), loss=LossSettings())
    assert free.item() == pytest.approx(5.0)


rows = st.lists(
    st.tuples(st.floats(-4, 0), st.floats(-4, 0), st.floats(-3, 3), st.floats(-4, 0)), min_size=1, max_size=8
)


@settings(deadline=None)
@given(
    rows,
    st.sampled_from([0.0, 0.2, 0.5]),
    st.sampled_from([0.2, 0.28]),
    st.sampled_from([None, 1.5, 3.0]),
    st.booleans(),
    st.sampled_from(AGGREGATES),
)
def test_loss_and_gradient_are_those_of_the_reference(made, low, high, dual, tis, aggregate):
    new, old, advantage, engine = (list(numbers) for numbers in zip(*made, strict=True))
    if any(abs(math.exp(n - o) - edge) < 1e-6 for n, o in zip(new, old, strict=True) for edge in (1 - low, 1 + high)):
        return  # at an edge of the clip the derivative has two sides
    [weight] = reference.weights([len(new)], aggregate, 16)
    slow, slope = reference.policy_loss(
        new, old, advantage, weight, low=low, high=high, dual=dual, engine=engine if tis else None
    )
    logp = tensor(new, grad=True)
    sizes, totals = torch.full((len(new),), len(new)), Totals(tokens=len(new), episodes=1, values=0)
    part = actor_loss(
        logp,
        old_N=tensor(old),
        advantage_N=tensor(advantage),
        weight_N=token_weights(sizes, totals, aggregate, max_episode_tokens=16),
        loss=LossSettings(clip_low=low, clip_high=high, dual_clip=dual, tis=TisSettings(enabled=tis)),
        kl=NO_KL,
        engine_N=tensor(engine),
    )
    part.loss.backward()
    torch.testing.assert_close(part.loss.item(), slow, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(logp.grad, tensor(slope), rtol=1e-5, atol=1e-6)


@settings(deadline=None)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=5), st.sampled_from(AGGREGATES))
def test_token_weights_are_those_of_the_reference(lengths, aggregate):
    totals = Totals(tokens=sum(lengths), episodes=len(lengths), values=0)
    sizes = torch.tensor([n for n in lengths for _ in range(n)])
    expected = [w for row in reference.weights(lengths, aggregate, 9) for w in row]
    found = token_weights(sizes, totals, aggregate, max_episode_tokens=9)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)


def test_on_the_first_pass_every_ratio_is_one_and_nothing_is_clipped():
    logp = tensor([-1.0, -0.3, -5.0], torch.float32, grad=True)
    for old in (None, logp.detach().clone()):
        part = actor_loss(
            logp,
            old_N=old,
            advantage_N=tensor([1, -2, 0.5], torch.float32),
            weight_N=torch.full((3,), 1 / 3),
            loss=LossSettings(clip_low=0.0, clip_high=0.0),
            kl=NO_KL,
        )
        [gradient] = torch.autograd.grad(part.loss, logp)
        torch.testing.assert_close(gradient, -tensor([1, -2, 0.5], torch.float32) / 3)  # plain policy gradient
        metrics = metrics_of({k: float(v) for k, v in part.sums.items()})
        assert metrics["policy/ratio"] == 1.0
        assert metrics["policy/clip_fraction"] == metrics["policy/approx_kl"] == 0.0


@settings(deadline=None)
@given(rows)
def test_the_gradient_flips_with_the_advantage_on_the_first_pass(made):
    new, _, advantage, _ = (tensor(list(numbers)) for numbers in zip(*made, strict=True))
    new.requires_grad_(True)
    gradients = []
    for sign in (1, -1):
        part = actor_loss(
            new,
            old_N=None,
            advantage_N=sign * advantage,
            weight_N=torch.full(new.shape, 1 / len(new)),
            loss=LossSettings(),
            kl=NO_KL,
        )
        gradients += torch.autograd.grad(part.loss, new)
    torch.testing.assert_close(gradients[0], -gradients[1])
    assert not gradients[0][advantage == 0].any()


def test_a_drifted_token_stays_finite_and_is_counted():
    for new, old in ((-100.0, -1.0), (-1.0, -100.0)):
        logp = tensor([new], torch.float32, grad=True)
        for advantage in (1.0, -1.0):
            part = actor_loss(
                logp,
                old_N=tensor([old], torch.float32),
                advantage_N=tensor([advantage], torch.float32),
                weight_N=torch.ones(1),
                loss=LossSettings(),
                kl=NO_KL,
            )
            [gradient] = torch.autograd.grad(part.loss, logp)
            assert torch.isfinite(part.loss)
            assert torch.isfinite(gradient).all()
            assert part.sums["policy/clamped_fraction"].item() == 1


# --- importance sampling


def test_the_engines_weight_is_truncated_and_has_no_gradient():
    logp = tensor([-1.0, -1.0, -1.0], grad=True)
    settings = LossSettings(tis=TisSettings(enabled=True, cap=2.0))
    term, sums = policy_terms(
        logp, old_N=None, advantage_N=tensor([1, 1, 1]), loss=settings, engine_N=tensor([-1.0, -9.0, -0.5])
    )
    expected = [1.0, 2.0, math.exp(-0.5)]
    np.testing.assert_allclose(term.detach().numpy(), [-w for w in expected])
    [gradient] = torch.autograd.grad(term.sum(), logp)
    np.testing.assert_allclose(gradient.numpy(), [-w for w in expected])
    assert sums["policy/tis_capped_fraction"].item() == 1
    assert sums["policy/tis_weight"].item() == pytest.approx(sum(expected))


def test_the_engines_weight_acts_on_the_policy_term_alone():
    def parts_with(tis):
        return actor_loss(
            tensor([-1.0, -2.0]),
            old_N=None,
            advantage_N=tensor([1.0, 1.0]),
            weight_N=tensor([0.5, 0.5]),
            loss=LossSettings(entropy_coef=0.1, tis=TisSettings(enabled=tis)),
            kl=KlSettings(placement="loss", estimator="k2"),
            kl_coef=0.3,
            engine_N=tensor([-3.0, -3.0]),
            ref_N=tensor([-1.5, -1.5]),
            entropy_N=tensor([0.7, 0.9]),
        ).sums

    on, off = parts_with(True), parts_with(False)
    assert on["loss/policy"] != off["loss/policy"]
    assert (on["loss/kl"], on["loss/entropy"]) == (off["loss/kl"], off["loss/entropy"])


def test_importance_sampling_is_refused_where_the_engine_is_the_old_policy():
    settings = LossSettings(old_logprobs="engine", tis=TisSettings(enabled=True))
    with pytest.raises(BadSetting, match=r"loss\.tis\.enabled with loss\.old_logprobs=engine"):
        policy_terms(tensor([-1.0]), old_N=None, advantage_N=tensor([1.0]), loss=settings, engine_N=tensor([-1.0]))


# --- entropy and KL


def test_the_terms_add_up_with_their_signs():
    part = actor_loss(
        tensor([-1.0, -2.0]),
        old_N=None,
        advantage_N=tensor([1.0, 3.0]),
        weight_N=tensor([0.5, 0.5]),
        loss=LossSettings(entropy_coef=0.1),
        kl=KlSettings(placement="loss", estimator="k2"),
        kl_coef=0.3,
        ref_N=tensor([-1.5, -1.5]),
        entropy_N=tensor([0.7, 0.9]),
    )
    assert part.loss.item() == pytest.approx(-2.0 - 0.1 * 0.8 + 0.3 * 0.125)
    metrics = metrics_of({k: float(v) for k, v in part.sums.items()})
    assert metrics["loss/kl"] == metrics["kl/loss_token"] == pytest.approx(0.125)
    assert metrics["policy/entropy"] == pytest.approx(0.8)


def test_entropy_is_only_watched_without_a_coefficient():
    entropy = tensor([0.7], grad=True)
    logp = tensor([-1.0], grad=True)
    part = actor_loss(
        logp,
        old_N=None,
        advantage_N=tensor([1.0]),
        weight_N=tensor([1.0]),
        loss=LossSettings(),
        kl=NO_KL,
        entropy_N=entropy,
    )
    part.loss.backward()
    assert entropy.grad is None
    assert part.sums["policy/entropy"].item() == pytest.approx(0.7)


def test_a_term_without_its_data_is_refused():
    given = dict(old_N=None, advantage_N=tensor([1.0]), weight_N=tensor([1.0]))
    with pytest.raises(ValueError, match="needs the reference"):
        actor_loss(tensor([-1.0]), **given, loss=LossSettings(), kl=KlSettings(placement="loss"))
    with pytest.raises(ValueError, match="needs the entropy"):
        actor_loss(tensor([-1.0]), **given, loss=LossSettings(entropy_coef=0.1), kl=NO_KL)
    with pytest.raises(ValueError, match="needs the engine"):
        actor_loss(tensor([-1.0]), **given, loss=LossSettings(tis=TisSettings(enabled=True)), kl=NO_KL)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("estimator", "expected"),
    [("k2", [0.02, 0.125, 0]), ("k3", [0.0187307531, 0.1487212707, 0]), ("k3_k2grad", [0.0187307531, 0.1487212707, 0])],
)
def test_estimates_of_three_tokens(dtype, estimator, expected):
    policy, ref = tensor([-1, -2, -0.5], dtype), tensor([-1.2, -1.5, -0.5], dtype)
    found, clamped = kl_terms(policy, ref, estimator)
    tolerance = 1e-9 if dtype is torch.float64 else 1e-6
    np.testing.assert_allclose(found.numpy(), expected, atol=tolerance)
    assert not clamped.any()


@settings(deadline=None)
@given(st.floats(-60, 0), st.floats(-60, 0), st.sampled_from(["k2", "k3", "k3_k2grad"]))
def test_estimates_are_those_of_the_reference_and_never_negative(policy, ref, estimator):
    found, clamped = kl_terms(tensor([policy]), tensor([ref]), estimator)
    assert found.item() == pytest.approx(
        reference.kl_estimate(policy, ref, estimator.removesuffix("_k2grad")), abs=1e-9
    )
    assert found.item() >= -1e-12
    assert clamped.item() == (estimator != "k2" and abs(policy - ref) > 10)


def test_expectations_are_the_kl_from_policy_to_reference():
    p, q = tensor([0.7, 0.2, 0.1]), tensor([0.5, 0.3, 0.2])
    expected = {"k2": 0.0800875942, "k3": 0.0851228260, "k3_k2grad": 0.0851228260}
    for estimator, mean in expected.items():
        found, _ = kl_terms(p.log(), q.log(), estimator)
        assert (p * found).sum().item() == pytest.approx(mean, abs=1e-9)
    assert (p * (p / q).log()).sum().item() == pytest.approx(0.0851228260, abs=1e-9)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_token_far_from_the_reference_is_finite_and_counted_and_k2_keeps_its_gradient(dtype):
    for estimator, gradient in (("k2", -100.0), ("k3_k2grad", -100.0), ("k3", 0.0)):
        logp = tensor([-100.0], dtype, grad=True)
        found, clamped = kl_terms(logp, tensor([0.0], dtype), estimator)
        found.sum().backward()
        assert torch.isfinite(found).all()
        assert logp.grad.item() == gradient
        assert clamped.item() == (estimator != "k2")


def test_k1_in_the_loss_is_refused():
    with pytest.raises(BadSetting, match=r"kl\.estimator=k1"):
        kl_terms(tensor([-1.0]), tensor([-1.0]), "k1")


def expected_gradient(estimator, logits, reference_logp):
    """Of the estimate over the policy's own samples, as on-policy learning sees it: the samples are data."""
    logp = logits.log_softmax(0)
    terms, _ = kl_terms(logp, reference_logp, estimator)
    [gradient] = torch.autograd.grad((logp.exp().detach() * terms).sum(), logits)
    return gradient


def test_on_policy_the_gradient_of_k2_is_that_of_the_kl_and_that_of_k3_is_not():
    logits, reference_logp = tensor([1.0, -0.2, 0.4], grad=True), tensor([0.2, 0.5, -0.3]).log_softmax(0)
    logp = logits.log_softmax(0)
    [exact] = torch.autograd.grad((logp.exp() * (logp - reference_logp)).sum(), logits)
    for estimator in ("k2", "k3_k2grad"):
        torch.testing.assert_close(expected_gradient(estimator, logits, reference_logp), exact)
    assert (expected_gradient("k3", logits, reference_logp) - exact).abs().max() > 0.01
    # And why k1 is refused: its gradient is that of log p, which is zero in the mean.
    [of_k1] = torch.autograd.grad((logp.exp().detach() * (logits.log_softmax(0) - reference_logp)).sum(), logits)
    torch.testing.assert_close(of_k1, torch.zeros(3, dtype=torch.float64))


# --- the critic


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_clipped_value_loss_takes_the_worse_error(dtype):
    new = tensor([1.5, 0.2], dtype, grad=True)
    part = value_loss(
        new,
        old_N=tensor([1.0, 0.5], dtype),
        return_N=tensor([2.0, 0.0], dtype),
        totals=Totals(tokens=9, episodes=1, values=2),
        clip=0.2,
    )
    assert part.loss.item() == pytest.approx(0.1825, rel=1e-6)
    metrics = metrics_of({k: float(v) for k, v in part.sums.items()})
    assert metrics["value/clip_fraction"] == 1.0
    assert metrics["loss/value"] == pytest.approx(0.1825, rel=1e-6)


@settings(deadline=None)
@given(st.lists(st.tuples(*[st.floats(-3, 3)] * 3), min_size=1, max_size=8), st.sampled_from([0.0, 0.2, 1.0]))
def test_the_value_loss_is_that_of_the_reference(made, clip):
    new, old, target = (list(numbers) for numbers in zip(*made, strict=True))
    totals = Totals(tokens=1, episodes=1, values=len(new))
    part = value_loss(tensor(new), old_N=tensor(old), return_N=tensor(target), totals=totals, clip=clip)
    assert part.loss.item() == pytest.approx(reference.value_loss(new, old, target, clip), abs=1e-9)


# --- parts and the whole


def full_settings(aggregate):
    return dict(
        loss=LossSettings(aggregate=aggregate, entropy_coef=0.05, dual_clip=3.0, tis=TisSettings(enabled=True)),
        kl=KlSettings(placement="loss", estimator="k3_k2grad"),
        kl_coef=0.1,
        envs=("maze", "wordle"),
    )


@settings(deadline=None)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=6), st.data(), st.sampled_from(AGGREGATES))
def test_micro_batches_cut_anywhere_add_up_to_the_gradient_of_the_whole(lengths, data, aggregate):
    """Also inside an episode (its segments may lie on two ranks), and with parts that have no token at all."""
    count = sum(lengths)
    cuts = sorted(data.draw(st.lists(st.integers(0, count), max_size=8)))
    torch.manual_seed(count)
    theta = torch.randn(5, dtype=torch.float64, requires_grad=True)
    features = torch.randn(count, 5, dtype=torch.float64)
    fixed = {
        "old_N": -torch.rand(count, dtype=torch.float64),
        "advantage_N": torch.randn(count, dtype=torch.float64),
        "engine_N": -torch.rand(count, dtype=torch.float64),
        "ref_N": -torch.rand(count, dtype=torch.float64),
        "env_N": torch.arange(count) % 2,
    }
    sizes = torch.tensor([n for n in lengths for _ in range(n)])
    totals = Totals(tokens=count, episodes=len(lengths), values=0)

    def part_of(rows):
        logp = -(features[rows] @ theta).square()
        weight = token_weights(sizes[rows], totals, aggregate, max_episode_tokens=32)
        given = {name: array[rows] for name, array in fixed.items()}
        return actor_loss(logp, weight_N=weight, entropy_N=-logp, **given, **full_settings(aggregate))

    whole = part_of(slice(None))
    [expected] = torch.autograd.grad(whole.loss, theta)
    gradient, sums = torch.zeros(5, dtype=torch.float64), {}
    for start, end in zip([0, *cuts], [*cuts, count], strict=True):
        part = part_of(slice(start, end))
        assert part.sums.keys() == whole.sums.keys()
        gradient += torch.autograd.grad(part.loss, theta)[0]
        sums = {name: sums.get(name, 0.0) + float(value) for name, value in part.sums.items()}
    torch.testing.assert_close(gradient, expected)
    once = metrics_of({name: float(value) for name, value in whole.sums.items()})
    assert metrics_of(sums) == pytest.approx(once)
    assert once["share/maze/tokens"] + once["share/wordle/tokens"] == pytest.approx(1) if count else True
    assert once["share/maze/policy_loss"] + once["share/wordle/policy_loss"] == pytest.approx(1)


def test_the_totals_of_a_batch_count_a_split_episode_once():
    plans = [Plan(turns=[(1, 2), (1, 3)], rewards=[0, r], member=r, seed=r) for r in (0, 1)]
    for cuts in (None, [(1,), ()]):
        batch = batch_of(plans, cuts=cuts)
        assert Totals.of(batch.episodes) == Totals(tokens=10, episodes=2, values=10)
        config = TrainConfig(algorithm=AlgorithmSettings(estimator="gae", gae_unit="turn"))
        by_turn = assign(batch, config, kl_coef=0.0).batch
        assert Totals.of(by_turn.episodes) == Totals(tokens=10, episodes=2, values=4)


def test_losses_of_several_optimizer_steps_are_averaged():
    assert metrics_of({"loss/policy": 3.0, "tokens": 4.0, "policy/ratio": 4.0}, optimizer_steps=2) == {
        "loss/policy": 1.5,
        "policy/ratio": 1.0,
    }


def test_nothing_to_learn_from_is_refused_instead_of_a_division_by_zero():
    nothing = Totals.of([])
    with pytest.raises(ValueError, match="without trained tokens"):
        token_weights(torch.zeros(0), nothing, "token_mean", max_episode_tokens=8)
    with pytest.raises(ValueError, match="without value positions"):
        value_loss(torch.zeros(0), old_N=torch.zeros(0), return_N=torch.zeros(0), totals=nothing, clip=0.5)
