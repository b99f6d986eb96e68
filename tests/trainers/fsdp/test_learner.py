"""The FSDP2 learner on one rank, against plain transformers and torch."""

import copy

import numpy as np
import pytest
import torch
from tiny_models import save_model, tiny_model
from token_batches import gradients, learner_config, made_batch, with_values
from transformers import (
    AutoModel,
    AutoModelForCausalLM,
    Gemma2Config,
    Lfm2Config,
    MambaConfig,
    MistralConfig,
    Qwen2Config,
    T5Config,
)

from agentenv.errors import BadCall
from trainers.algorithms.losses import Totals
from trainers.fsdp import model as fsdp_model
from trainers.fsdp import packing as fsdp_packing
from trainers.fsdp.learner import FsdpLearner
from trainers.fsdp.update import minibatches
from trainers.learner import NonFiniteLoss
from trainers.settings import BadSetting


def plain_logprobs(model, segment, temperature=1.0):
    """[T - 1] of each token but the first, by transformers alone."""
    ids = torch.tensor(segment.tokens)
    logp = (model(input_ids=ids[None]).logits[0].float() / temperature).log_softmax(-1)
    return logp[torch.arange(len(ids) - 1), ids[1:]]


def plain_model(folder):
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)


def assert_logprobs(learner, batch, model, temperature=1.0, **options):
    for got, segment in zip(learner.logprobs(batch, **options), batch.segments, strict=True):
        with torch.no_grad():
            own = plain_logprobs(model, segment, temperature).numpy()
        np.testing.assert_allclose(got, np.where(segment.mask, np.append(0, own), 0), atol=1e-5)


@pytest.mark.parametrize("folder", ["tied", "untied"])
@pytest.mark.parametrize(("packing", "temperature"), [("on", 1.0), ("on", 0.7), ("off", 1.0)])
def test_logprobs_are_those_of_transformers(folder, learners, packing, temperature, request):
    folder = request.getfixturevalue(folder)
    learner = learners(folder, batch__packing=packing, rollout__temperature=temperature, batch__tokens_per_forward=40)
    assert_logprobs(learner, made_batch(), plain_model(folder), temperature)


def test_weights_have_the_names_and_numbers_of_transformers(tied, untied, learners):
    for folder in (tied, untied):
        expected = dict(plain_model(folder).named_parameters())
        weights = dict(learners(folder).weights())
        assert weights.keys() == expected.keys()
        assert all(torch.equal(weights[name], expected[name]) for name in expected)


def test_an_update_is_the_step_that_plain_torch_takes(tied, learners):
    """Policy gradient at ratio 1, token mean, clip of the norm, AdamW with decay."""
    batch = made_batch()
    learner = learners(tied, optim__lr=1e-3, optim__weight_decay=0.1, optim__max_grad_norm=0.5)
    model = plain_model(tied)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.1)
    loss = sum(
        -(plain_logprobs(model, s) * torch.tensor(s.advantages[1:]) * torch.tensor(s.mask[1:])).sum()
        for s in batch.segments
    )
    loss = loss / batch.sampled
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    stats = learner.update(batch)
    assert stats.optimizer_steps == 1
    assert stats.metrics["loss/policy"] == pytest.approx(
        -np.sum([s.advantages.sum() for s in batch.segments]) / batch.sampled, abs=1e-6
    )  # the ratio is 1 everywhere, so the loss is the mean advantage
    assert stats.metrics["optim/grad_norm"] == pytest.approx(norm.item(), rel=1e-5)
    after = dict(learner.weights())
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(after[name], parameter.detach(), atol=2e-6, rtol=0)


def test_on_the_first_pass_every_ratio_is_1_and_nothing_is_clipped(tied, learners):
    learner = learners(tied, batch__tokens_per_forward=30, batch__tokens_per_microbatch=50, loss__clip_low=1e-4)
    batch = made_batch()
    for segment, logprobs in zip(batch.segments, learner.logprobs(batch), strict=True):
        segment.old_logprobs = logprobs
    metrics = learner.update(batch).metrics
    assert metrics["policy/ratio"] == pytest.approx(1, abs=1e-5)
    assert abs(metrics["policy/approx_kl"]) < 1e-5
    assert metrics["policy/clip_fraction"] == 0


CUTS = [
    {"batch__packing": "on", "batch__tokens_per_microbatch": 10_000},
    {"batch__packing": "on", "batch__tokens_per_microbatch": 60},
    {"batch__packing": "on", "batch__tokens_per_microbatch": 1},
    {"batch__packing": "off", "batch__episodes_per_microbatch": 16},
    {"batch__packing": "off", "batch__episodes_per_microbatch": 2},
    {"batch__packing": "on", "model__gradient_checkpointing": True},
    {"batch__packing": "off", "fsdp__cpu_offload": True},
]


@pytest.mark.parametrize("aggregate", ["token_mean", "episode_mean", "constant"])
def test_however_the_step_is_cut_the_gradient_is_one(tied, learners, aggregate):
    batch = with_values(made_batch())
    settings = {"loss__aggregate": aggregate, "loss__entropy_coef": 0.01, "algorithm__estimator": "gae"}
    expected: dict[str, np.ndarray] = {}
    for cut in CUTS if aggregate == "token_mean" else CUTS[1:4:2]:
        learner = learners(tied, **settings, **cut)
        for role in ("policy", "critic"):
            for name, gradient in gradients(learner, batch, role).items():
                first = expected.setdefault(f"{role}.{name}", gradient)
                np.testing.assert_allclose(gradient, first, atol=1e-5, err_msg=f"{cut} {name}")
    assert max(np.abs(g).max() for g in expected.values()) > 1e-2


def test_splitting_an_episode_with_equal_contexts_changes_no_gradient(tied, learners):
    """One segment with two actions, against two segments that repeat the context and train one action each."""
    batch = made_batch(tasks=1, members=2)
    whole = batch.episodes[1]
    (segment,) = whole.segments
    parts = []
    for turn in (0, 1):
        part = copy.deepcopy(segment)
        part.mask = segment.turn == turn
        part.advantages = np.where(part.mask, segment.advantages, 0).astype(np.float32)
        parts.append(part)
    split = copy.deepcopy(batch)
    split.episodes[1].segments = parts
    for aggregate in ("token_mean", "episode_mean"):
        learner = learners(tied, loss__aggregate=aggregate)
        one, other = gradients(learner, batch), gradients(learner, split)
        for name in one:
            np.testing.assert_allclose(one[name], other[name], atol=1e-5)


def test_a_head_in_blocks_gives_the_same_gradient(tied, learners, monkeypatch):
    batch = made_batch()
    learner = learners(tied, loss__entropy_coef=0.1)
    whole = gradients(learner, batch)
    monkeypatch.setattr(fsdp_model, "LOGITS_AT_ONCE", 310 * 7)
    blocks = gradients(learner, batch)
    for name in whole:
        np.testing.assert_allclose(blocks[name], whole[name], atol=1e-6)


def test_masked_tokens_and_padding_have_no_gradient(tied, learners):
    """Advantages on prompts, and other tokens after the last trained one, change nothing."""
    batch = made_batch()
    other = copy.deepcopy(batch)
    for segment in other.segments:
        segment.advantages = np.where(segment.mask, segment.advantages, 7.0).astype(np.float32)
        segment.engine_logprobs = np.where(segment.mask, segment.engine_logprobs, -99).astype(np.float32)
    for packing in ("on", "off"):
        learner = learners(tied, batch__packing=packing)
        one, two = gradients(learner, batch), gradients(learner, other)
        assert all(np.array_equal(one[name], two[name]) for name in one)


def test_what_stands_in_the_padding_does_not_matter(tied, learners, monkeypatch):
    """Lengths come from the items: no token id is a mark of padding, not even that of an end inside a prompt."""
    learner, batch = learners(tied, batch__packing="off", batch__episodes_per_microbatch=8), made_batch()
    for segment in batch.segments:
        segment.tokens[0] = 2
    with_zeros, logprobs = gradients(learner, batch), learner.logprobs(batch)
    monkeypatch.setattr(fsdp_packing, "PAD", 2)
    with_ends, again = gradients(learner, batch), learner.logprobs(batch)
    assert all(np.array_equal(with_zeros[name], with_ends[name]) for name in with_zeros)
    assert all(np.array_equal(a, b) for a, b in zip(logprobs, again, strict=True))


def test_masters_are_float32_whatever_the_checkpoint_was_saved_in(tmp_path, learners):
    """In bfloat16 a step of 1e-6 rounds away; nearly every float32 parameter moves."""
    folder = tiny_model(tmp_path, dtype="bfloat16", hidden=64)
    learner = learners(folder, optim__lr=1e-6, model__compute_dtype="bfloat16")
    before = {name: tensor.clone() for name, tensor in learner.weights()}
    assert all(tensor.dtype == torch.float32 for tensor in before.values())
    for step in range(1, 6):
        learner.update(made_batch(seed=step, step=step, tasks=4))
    moved = [tensor != before[name] for name, tensor in learner.weights() if "embed" not in name]
    assert sum(m.sum().item() for m in moved) / sum(m.numel() for m in moved) > 0.99


def test_bfloat16_compute_stays_near_float32(tied, learners):
    batch = made_batch()
    exact, rounded = (learners(tied, model__compute_dtype=d) for d in ("float32", "bfloat16"))
    gaps = np.concatenate([a - b for a, b in zip(exact.logprobs(batch), rounded.logprobs(batch), strict=True)])
    assert 0 < np.abs(gaps).max() < 0.1


def test_the_critic_starts_at_zero_and_learns_its_returns(tied, learners):
    learner = learners(tied, algorithm__estimator="gae", critic__optim__lr=1e-2, critic__value_clip=100.0)
    batch = with_values(made_batch())
    values, after = learner.values(batch)
    assert all((v == 0).all() for v in values)
    assert after == [0.0] * len(batch.episodes)
    losses = []
    for step in range(1, 11):
        batch.step = step
        losses.append(learner.update(batch).metrics["loss/value"])
    assert losses[-1] < losses[0] / 2


def test_values_are_the_head_at_the_token_before(tied, learners):
    learner = learners(tied, algorithm__estimator="gae", critic__optim__lr=1e-2)
    batch = with_values(made_batch())
    learner.update(batch)
    batch.episodes[2].final_tokens = np.array([5, 6, 7])
    runner = learner._roles["critic"].runner
    backbone = AutoModel.from_pretrained(tied, dtype=torch.float32)
    names = dict(runner.model.backbone.named_parameters())
    with torch.no_grad():
        for name, parameter in backbone.named_parameters():
            parameter.copy_(fsdp_model.full_tensor(names[name]))
        head = [fsdp_model.full_tensor(p) for p in runner.model.head.parameters()]
    values, after = learner.values(batch)

    def plain(tokens):
        with torch.no_grad():
            states = backbone(input_ids=torch.tensor(tokens)[None]).last_hidden_state[0]
            return torch.nn.functional.linear(states, *head)[:, 0].numpy()

    for got, segment in zip(values, batch.segments, strict=True):
        expected = np.where(segment.mask, np.append(0, plain(segment.tokens)[:-1]), 0)
        np.testing.assert_allclose(got, expected, atol=1e-5)
    last = np.concatenate([batch.episodes[2].segments[-1].tokens, [5, 6, 7]])
    assert after[2] == pytest.approx(plain(last)[-1], abs=1e-5)
    assert after[2] != 0
    assert [v for i, v in enumerate(after) if i != 2] == [0.0] * (len(after) - 1)


def test_the_critic_learns_only_on_its_own_mask(tied, learners):
    learner = learners(tied, algorithm__estimator="gae")
    batch = with_values(made_batch())
    for segment in batch.segments:
        firsts = np.flatnonzero(np.diff(segment.turn, prepend=-1) > 0)
        segment.value_mask = np.zeros(len(segment), np.bool_)
        segment.value_mask[firsts] = True
    other = copy.deepcopy(batch)
    for segment in other.segments:
        segment.returns = np.where(segment.value_mask, segment.returns, 99).astype(np.float32)
    one, two = gradients(learner, batch, "critic"), gradients(learner, other, "critic")
    assert all(np.array_equal(one[name], two[name]) for name in one)
    assert Totals.of(batch.episodes).values == sum(int(s.value_mask.sum()) for s in batch.segments)


def test_while_the_critic_warms_up_the_policy_stays(tied, learners):
    learner = learners(tied, algorithm__estimator="gae", critic__warmup_steps=1, critic__optim__lr=1e-2, optim__lr=1e-2)
    before = {name: tensor.clone() for name, tensor in learner.weights()}
    batch = with_values(made_batch())
    stats = learner.update(batch)
    assert stats.optimizer_steps == 1
    assert "loss/policy" not in stats.metrics
    assert all(torch.equal(before[name], tensor) for name, tensor in learner.weights())
    batch.step = 2
    learner.update(batch)
    assert not all(torch.equal(before[name], tensor) for name, tensor in learner.weights())


def test_only_gae_has_a_critic(tied, learners):
    with pytest.raises(BadCall, match="only gae has one"):
        learners(tied).values(made_batch())


def test_the_reference_stays_what_the_policy_was(tied, learners):
    learner = learners(tied, optim__lr=1e-2)
    batch = made_batch()
    learner.update(batch)
    assert_logprobs(learner, batch, plain_model(tied), reference=True)
    with pytest.raises(AssertionError):
        assert_logprobs(learner, batch, plain_model(tied))


def test_a_kl_loss_pulls_back_to_the_reference(tied, learners):
    """With zero advantages nothing else acts; its strength is the batch's coefficient."""
    learner = learners(tied, optim__lr=3e-3, kl__placement="loss", kl__estimator="k2")
    learner.update(reference_known(learner, made_batch()))
    batch = made_batch(step=2)
    for segment in batch.segments:
        segment.advantages[:] = 0
    reference_known(learner, batch)
    batch.kl_coef = 1.0
    strong = gradients(learner, batch)
    batch.kl_coef = 0.5
    weak = gradients(learner, batch)
    for name in strong:
        np.testing.assert_allclose(strong[name], 2 * weak[name], atol=1e-6)
    batch.kl_coef = 1.0
    kl = [learner.update(batch).metrics["loss/kl"] for _ in range(10)]
    assert kl[-1] < kl[0] / 2


def reference_known(learner, batch):
    for segment, logprobs in zip(batch.segments, learner.logprobs(batch, reference=True), strict=True):
        segment.ref_logprobs = logprobs
    return batch


def test_a_batch_without_reference_says_what_is_missing(tied, learners):
    with pytest.raises(ValueError, match="no ref_logprobs"):
        learners(tied, kl__placement="loss").update(made_batch())


def test_several_steps_of_a_batch_need_old_logprobs(tied, learners):
    with pytest.raises(ValueError, match="no old_logprobs"):
        learners(tied, loss__epochs=2).update(made_batch())


def test_old_logprobs_by_the_engine_are_taken_where_asked_for(tied, learners):
    learner = learners(tied, loss__old_logprobs="engine", loss__epochs=2)
    batch = made_batch()
    for segment, logprobs in zip(batch.segments, learner.logprobs(batch), strict=True):
        segment.engine_logprobs = logprobs
    assert learner.update(batch).optimizer_steps == 2


def test_minibatches_hold_whole_tasks_each_once_a_pass(tied):
    batch = made_batch(tasks=5, members=2)
    config = learner_config(tied, batch__tasks_per_minibatch=2, loss__epochs=2)
    groups = [[e.group for e in part] for part in minibatches(batch, config)]
    assert [len(g) for g in groups] == [4, 4, 2] * 2
    for part in (groups[:3], groups[3:]):
        assert sorted(group for groups in part for group in groups) == sorted([0, 1, 2, 3, 4] * 2)
    assert groups[:3] != groups[3:]
    assert groups == [[e.group for e in part] for part in minibatches(batch, config)]
    config.loss.shuffle = False
    assert [[e.group for e in part] for part in minibatches(batch, config)] == [[0, 0, 1, 1], [2, 2, 3, 3], [4, 4]] * 2


@pytest.mark.parametrize("estimator", ["grpo", "gae"])
def test_a_loss_that_is_not_finite_changes_nothing_and_names_the_batch(tied, learners, estimator):
    learner = learners(tied, optim__lr=1e-2, algorithm__estimator=estimator)
    batch = with_values(made_batch(step=7))
    before = {name: tensor.clone() for name, tensor in learner.weights()}
    sound = copy.deepcopy(batch)
    target = batch.episodes[5].segments[0]
    array = target.advantages if estimator == "grpo" else target.returns
    array[np.flatnonzero(target.mask)[0]] = np.nan
    with pytest.raises(NonFiniteLoss, match=r"step 7, optimizer step 1: .*=nan.* 8 episodes of toy/train/0") as caught:
        learner.update(batch)
    assert caught.value.extra == {"step": 7, "optimizer_step": 1, "tasks": ["toy/train/0", "toy/train/1"]}
    assert all(torch.equal(before[name], tensor) for name, tensor in learner.weights())
    learner.update(sound)


def test_zero_advantages_change_nothing(tied, learners):
    learner = learners(tied, optim__lr=1e-2)
    before = {name: tensor.clone() for name, tensor in learner.weights()}
    batch = made_batch()
    for segment in batch.segments:
        segment.advantages[:] = 0
    learner.update(batch)
    assert all(torch.equal(before[name], tensor) for name, tensor in learner.weights())


def test_the_learning_rate_follows_the_step(tied, learners):
    learner = learners(tied, run__steps=4, optim__lr=1e-3, optim__schedule="linear", optim__warmup_ratio=0.5)
    rates = [learner.update(made_batch(step=step)).metrics["optim/lr"] for step in (1, 2, 3, 4)]
    assert rates[0] == pytest.approx(5e-4)
    assert rates[1] == max(rates) == pytest.approx(1e-3)
    assert rates[1] > rates[2] > rates[3] > 0


def test_a_rate_that_moves_takes_the_number_of_steps_from_the_batch_too(tied, learners):
    learner = learners(tied, optim__lr=1e-3, optim__schedule="linear", critic__optim__warmup_ratio=0.1)
    batch = made_batch()
    with pytest.raises(BadSetting, match=r"optim\.schedule needs to know how many steps there will be: set run\.steps"):
        learner.update(batch)
    batch.steps = 4
    rates = []
    for batch.step in (1, 2, 3, 4):
        rates.append(learner.update(batch).metrics["optim/lr"])
    assert rates == pytest.approx([1e-3, 7.5e-4, 5e-4, 2.5e-4])


@pytest.mark.parametrize("packing", ["on", "off"])
def test_an_update_tells_the_log_probabilities_that_it_found(tied, learners, packing):
    """Of its first optimizer step, whose forward passes saw the weights as they were."""
    cut = {"batch__packing": packing, "batch__tokens_per_microbatch": 60, "batch__episodes_per_microbatch": 2}
    learner = learners(tied, optim__lr=1e-2, batch__tasks_per_minibatch=1, loss__epochs=2, **cut)
    batch = made_batch(tasks=3)
    expected = learner.logprobs(batch)
    for segment, logprobs in zip(batch.segments, expected, strict=True):
        segment.old_logprobs = logprobs
    first = {id(s) for e in next(iter(minibatches(batch, learner.config))) for s in e.segments}
    stats = learner.update(batch)
    assert stats.optimizer_steps == 6
    for segment, found, logprobs in zip(batch.segments, stats.logprobs, expected, strict=True):
        assert (found is not None) == (id(segment) in first)
        if found is not None:
            np.testing.assert_allclose(found, logprobs, atol=1e-5)
    assert sum(found is not None for found in stats.logprobs) == len(first) > 0


def test_adapters_learn_over_a_frozen_base_and_are_pushed_merged(untied, tmp_path, learners):
    settings = {"model__lora__rank": 4, "optim__lr": 1e-2, "kl__placement": "loss", "kl__estimator": "k2"}
    learner = learners(untied, **settings)
    plain = plain_model(untied)
    batch = reference_known(learner, made_batch())
    learner.update(batch)
    assert_logprobs(learner, batch, plain, reference=True)
    weights = dict(learner.weights())
    original = dict(plain.named_parameters())
    assert weights.keys() == original.keys()
    changed = {name for name in weights if not torch.equal(weights[name], original[name])}
    assert changed == {name for name in original if "_proj.weight" in name}
    with torch.no_grad():
        for name, parameter in plain.named_parameters():
            parameter.copy_(weights[name])
    assert_logprobs(learner, batch, plain)
    assert_logprobs(learner, batch, plain_model(untied), reference=True)
    learner.save(tmp_path / "saved")
    again = learners(untied, **settings)
    again.load(tmp_path / "saved")
    assert_logprobs(again, batch, plain)


def test_adapters_go_where_they_are_told(untied, learners):
    weights = dict(learners(untied, model__lora__rank=2, model__lora__targets="q_proj, v_proj").weights())
    assert weights.keys() == dict(plain_model(untied).named_parameters()).keys()
    with pytest.raises(BadSetting, match=r"model.lora.targets=warp_drive: "):
        learners(untied, model__lora__rank=2, model__lora__targets="warp_drive")
    with pytest.raises(BadSetting, match=r"embed_tokens is no linear layer"):
        learners(untied, model__lora__rank=2, model__lora__targets="embed_tokens")


BASE = {
    "vocab_size": 310, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 512, "initializer_range": 0.06, "pad_token_id": 0,
}  # fmt: skip


def test_a_sliding_window_is_kept_in_packed_sequences(tmp_path, learners):
    folder = save_model(MistralConfig(**BASE, sliding_window=8), tmp_path)
    learner = learners(folder, batch__packing="on")
    batch = made_batch(scale=20)
    assert max(len(s) for s in batch.segments) > 24
    assert_logprobs(learner, batch, plain_model(folder))


def test_a_model_that_leaks_between_packed_sequences_runs_padded(tmp_path, learners, caplog):
    """Short convolutions look over the edge of a sequence, by a few tokens only."""
    folder = save_model(Lfm2Config(**BASE, layer_types=["conv", "full_attention"]), tmp_path)
    with caplog.at_level("INFO", "trainers"):
        learner = learners(folder)
    assert "the policy runs padded, sorted by length (packed sequences see each other" in caplog.text
    assert_logprobs(learner, made_batch(), plain_model(folder))
    with pytest.raises(BadSetting, match=r"batch.packing=on, but the policy cannot"):
        learners(folder, batch__packing="on")


@pytest.mark.parametrize("checkpointing", [False, True])
def test_a_model_without_attention_learns_too(tmp_path, learners, checkpointing):
    """It names a layer and a part of that layer as units to shard; only the outer one is."""
    config = MambaConfig(vocab_size=310, hidden_size=32, num_hidden_layers=2, state_size=8, pad_token_id=0)
    folder = save_model(config, tmp_path)
    learner = learners(folder, model__gradient_checkpointing=checkpointing)
    assert_logprobs(learner, made_batch(), plain_model(folder))
    assert learner.update(made_batch()).metrics["optim/grad_norm"] > 0


def test_a_model_that_cannot_be_held_or_run_is_refused_by_its_name(tmp_path, learners, monkeypatch):
    T5Config(vocab_size=310, d_model=32, num_layers=1).save_pretrained(tmp_path / "t5")
    with pytest.raises(BadSetting, match=r"t5 cannot be loaded: Unrecognized configuration class"):
        learners(tmp_path / "t5")
    Qwen2Config(**BASE, architectures=["Qwen2ForCausalLM"]).save_pretrained(tmp_path / "bare")
    with pytest.raises(BadSetting, match=r"Qwen2ForCausalLM cannot be loaded: Error no file named model.safetensors"):
        learners(tmp_path / "bare")
    # Units in the wrong order, as Mamba would have them: the shards of the inner ones are nobody's.
    folder = save_model(MambaConfig(vocab_size=310, hidden_size=32, num_hidden_layers=2, state_size=8), tmp_path / "m")
    named = ("MambaBlock", "MambaMixer")
    monkeypatch.setattr(fsdp_model, "outermost", lambda m, _: [x for x in m.modules() if type(x).__name__ in named])
    with pytest.raises(BadSetting, match=r"MambaForCausalLM cannot be trained here: RuntimeError: .*DTensor"):
        learners(folder)


def test_the_head_runs_at_positions_before_trained_tokens_alone(tied, learners):
    learner, batch = learners(tied), made_batch()
    rows = []
    head = learner._policy.model.lm.get_output_embeddings()
    watched = head.register_forward_hook(lambda _head, _input, logits: rows.append(logits.shape[0]))
    learner.logprobs(batch)
    learner.update(batch)
    watched.remove()
    assert sum(rows) == 2 * batch.sampled


def test_a_model_that_caps_its_logits_is_refused(tmp_path, learners):
    folder = save_model(Gemma2Config(**BASE, head_dim=8), tmp_path)
    with pytest.raises(BadSetting, match="Gemma2ForCausalLM does more to its logits than its head"):
        learners(folder)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"rollout__max_episode_tokens": 2000}, "max_episode_tokens=2000 is more than the 1024 positions"),
        ({"rollout__temperature": 0.0}, "temperature=0 has no log-probabilities"),
        ({"model__path": "/nowhere"}, "model.path=/nowhere: there is no config.json"),
    ],
)
def test_settings_that_cannot_work_are_refused(tied, settings, message):
    with pytest.raises(BadSetting, match=message):
        FsdpLearner(learner_config(tied, **settings))


def test_a_sampled_first_token_is_an_error(tied, learners):
    batch = made_batch()
    batch.episodes[0].segments[0].mask[0] = True
    with pytest.raises(ValueError, match="nothing predicts it"):
        learners(tied).logprobs(batch)


def test_a_batch_with_nothing_to_learn_makes_no_step(tied, learners):
    learner = learners(tied, algorithm__estimator="gae")
    for batch in (made_batch(tasks=0), with_values(made_batch(tasks=1, members=1))):
        for segment in batch.segments:
            segment.mask[:] = False
        assert learner.update(batch).optimizer_steps == 0
        assert [a.any() for a in learner.logprobs(batch)] == [False] * len(list(batch.segments))
        assert learner.values(batch)[1] == [0.0] * len(batch.episodes)


def test_deterministic_mode_gives_the_same_bits_again(tied, learners):
    found = []
    for _ in range(2):
        learner = learners(tied, run__deterministic=True, run__threads=None, optim__lr=1e-2, loss__entropy_coef=0.01)
        learner.update(made_batch())
        found.append({name: tensor.clone() for name, tensor in learner.weights()})
    assert torch.get_num_threads() == 1
    assert all(torch.equal(found[0][name], found[1][name]) for name in found[0])


def test_closing_twice_is_fine_and_the_next_learner_starts(tied, learners):
    first, second = learners(tied), learners(tied)
    first.close()
    first.close()
    second.update(made_batch())
    second.close()
    assert not torch.distributed.is_initialized()
    learners(tied).update(made_batch())
