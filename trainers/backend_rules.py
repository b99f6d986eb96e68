"""The rules that every backend keeps, each a function on a `Bench`; `trainers.check_backend` runs them.

A rule that is broken raises AssertionError with what was seen. Legend of dimensions: T tokens of a segment.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agentenv.errors import BadCall
from agentenv.protocol import Outcome
from trainers.algorithms.advantages import assign
from trainers.batch import Episode, Floats, Segment, TokenBatch
from trainers.config import EnvironmentSettings, TrainConfig
from trainers.learner import Learner, NonFiniteLoss

Factory = Callable[[TrainConfig], Learner]
Weights = dict[str, Any]

VOCABULARY = 64
LR = 1e-2
BANDIT_STEPS = 20
BANDIT_GAIN = 0.25
"""By how much the probability of the better arm rises at least."""


class Skipped(Exception):
    """The rule does not apply to this backend."""


@dataclass(frozen=True, slots=True)
class Bench:
    """A tiny model, and learners of the backend under test on it."""

    factory: Factory
    folder: Path

    @property
    def model(self) -> Path:
        """The model's folder, the same for every learner."""
        return self.folder / "model"

    @contextmanager
    def learner(self, change: Callable[[TrainConfig], object] = lambda _: None) -> Iterator[Learner]:
        """A fresh learner on the model, closed at the end; `change` edits its settings."""
        config = config_for(self.model)
        change(config)
        learner = self.factory(config)
        try:
            yield learner
        finally:
            learner.close()

    def plain(self, weights: Weights | None = None) -> Any:
        """The model by transformers alone, with other weights when given."""
        import torch
        from transformers import AutoModelForCausalLM

        model = AutoModelForCausalLM.from_pretrained(self.model, dtype=torch.float32)
        if weights is not None:
            parameters = dict(model.named_parameters())
            assert weights.keys() == parameters.keys(), (
                f"weights() must have the names of named_parameters(); {sorted(weights.keys() ^ parameters.keys())[:3]}"
            )
            with torch.no_grad():
                for name, tensor in weights.items():
                    parameters[name].copy_(torch.as_tensor(tensor))
        return model


def config_for(model: Path) -> TrainConfig:
    """A policy gradient and nothing else: no decay, no entropy, no KL; one optimizer step a batch."""
    config = TrainConfig(environments=[EnvironmentSettings(env="bandit")])
    config.model.path = str(model)
    config.model.compute_dtype = "float32"
    config.run.threads = 1
    config.run.steps = BANDIT_STEPS
    config.rollout.max_episode_tokens = 128
    config.loss.aggregate = "constant"
    config.optim.lr = LR
    return config


def make_model(folder: Path) -> None:
    """Two layers of random weights, always the same."""
    import torch
    from transformers import AutoModelForCausalLM, Qwen2Config

    config = Qwen2Config(
        vocab_size=VOCABULARY, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=256, initializer_range=0.06, tie_word_embeddings=True,
        bos_token_id=None, eos_token_id=1, pad_token_id=0,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        AutoModelForCausalLM.from_config(config).to(torch.float32).save_pretrained(folder)


def episode(
    spans: Sequence[tuple[int, bool]], *, seed: int, advantage: float = 0.0, member: int = 0, reward: float = 0.0
) -> Episode:
    """One episode of one segment; a span is (tokens, sampled). Every sampled token has the advantage."""
    draw = np.random.default_rng(seed)
    mask = np.concatenate([np.full(length, sampled) for length, sampled in spans])
    starts = np.diff(mask.astype(int), prepend=0) == 1
    turn = np.where(mask, np.cumsum(starts) - 1, -1)
    segment = Segment(
        tokens=draw.integers(2, VOCABULARY, len(mask)), mask=mask, turn=turn,
        engine_logprobs=np.zeros(len(mask), np.float32),
        advantages=np.where(mask, advantage, 0).astype(np.float32),
    )  # fmt: skip
    rewards = [0.0] * int(starts.sum())
    rewards[-1] = reward
    return Episode(
        env="bandit", task="bandit/train/0", group=0, member=member, outcome=Outcome.SUCCESS, segments=[segment],
        turn_rewards=rewards,
    )  # fmt: skip


def some_batch(step: int = 1) -> TokenBatch:
    """Episodes of unlike lengths with advantages of both signs."""
    episodes = [
        episode([(5, False), (3, True), (4, False), (2, True)], seed=1, advantage=1.0),
        episode([(9, False), (1, True)], seed=2, advantage=-0.7, member=1),
        episode([(2, False), (6, True), (11, False), (4, True), (3, False)], seed=3, advantage=0.4, member=2),
    ]
    return TokenBatch(step=step, policy_version=0, episodes=episodes)


def logprobs_are_those_of_a_plain_forward(bench: Bench) -> None:
    """logprobs() equals log_softmax(logits / temperature) by transformers, and is 0 outside the mask"""
    batch, plain = some_batch(), bench.plain()
    for temperature in (1.0, 0.7):
        with bench.learner(lambda c, t=temperature: setattr(c.rollout, "temperature", t)) as learner:  # type: ignore[misc]
            _same_logprobs(learner.logprobs(batch), plain, batch, temperature)


def publishing_follows_learning(bench: Bench) -> None:
    """after an update weights() differs, and a plain model with these weights has the learner's log-probabilities"""
    batch = some_batch()
    with bench.learner() as learner:
        before = _weights(learner)
        bench.plain(before)
        learner.update(batch)
        after = _weights(learner)
        assert any(not np.array_equal(before[name], after[name]) for name in before), "update() changed no weight"
        _same_logprobs(learner.logprobs(batch), bench.plain(after), batch, 1.0)


def zero_advantage_changes_nothing(bench: Bench) -> None:
    """without decay, entropy and KL, advantages of zero leave every weight as it was"""
    batch = some_batch()
    for segment in batch.segments:
        segment.advantages = np.zeros(len(segment), np.float32)
    _unmoved(bench, batch)


def flipping_the_advantage_flips_the_step(bench: Bench) -> None:
    """the step for -A is the opposite of the step for A"""
    batch, flipped = some_batch(), some_batch()
    for segment in flipped.segments:
        segment.advantages = -_of(segment.advantages)
    likeness = _likeness(_step(bench, batch), _step(bench, flipped))
    assert likeness < -0.99, f"the cosine between the two steps is {likeness:.3f}, not -1"


def masked_tokens_have_no_gradient(bench: Bench) -> None:
    """numbers on tokens that nobody sampled, and what follows the last sampled token, change nothing"""
    batch = some_batch()
    for segment in batch.segments:
        segment.advantages = np.where(segment.mask, 0, 5).astype(np.float32)
    _unmoved(bench, batch)
    batch, other = some_batch(), some_batch()
    last = other.episodes[2].segments[0]
    last.tokens = np.append(last.tokens[:-3], [7, 8, 9])
    likeness = _likeness(_step(bench, batch), _step(bench, other))
    assert likeness > 0.999, f"tokens after the last action turn the step: cosine {likeness:.4f}"


def padding_has_no_gradient(bench: Bench) -> None:
    """how long the other episodes of a batch are does not change what one teaches"""
    taught = episode([(4, False), (3, True)], seed=4, advantage=1.0)
    steps = []
    for length in (2, 40):
        silent = episode([(length, False), (1, True)], seed=5, member=1)
        steps.append(_step(bench, TokenBatch(step=1, policy_version=0, episodes=[taught, silent])))
    likeness = _likeness(*steps)
    assert likeness > 0.999, f"a longer neighbour turns the step: cosine {likeness:.4f}"


def clipped_tokens_have_no_gradient(bench: Bench) -> None:
    """a ratio beyond the clip, on the side where the advantage pulls, teaches nothing"""
    batch = some_batch()
    with bench.learner() as learner:
        for segment, logprobs in zip(batch.segments, learner.logprobs(batch), strict=True):
            away = np.where(_of(segment.advantages) > 0, -1.0, 1.0)
            segment.old_logprobs = np.where(segment.mask, logprobs + away, 0).astype(np.float32)
    _unmoved(bench, batch)


def the_terminal_reward_reaches_the_last_action(bench: Bench) -> None:
    """of two episodes that end in an observation, the rewarded one's last action becomes more likely"""
    spans = [(4, False), (2, True), (5, False), (2, True), (6, False)]
    episodes = [episode(spans, seed=6, reward=1.0), episode(spans, seed=7, member=1)]
    batch = TokenBatch(step=1, policy_version=0, episodes=episodes)

    def change(config: TrainConfig) -> None:
        config.algorithm.estimator = "reinforce_plus_plus"

    config = config_for(bench.model)
    change(config)
    with bench.learner(change) as learner:
        before = learner.logprobs(batch)
        for segment, logprobs in zip(batch.segments, before, strict=True):
            segment.old_logprobs = segment.engine_logprobs = logprobs
        learner.update(assign(batch, config, kl_coef=0.0).batch)
        gain, other = (
            float((after - own)[segment.turn == 1].sum())
            for after, own, segment in zip(learner.logprobs(batch), before, batch.segments, strict=True)
        )
    assert gain > 0, f"the log-probability of the rewarded last action moved by {gain:.4f}"
    assert gain > other, f"the rewarded last action moved by {gain:.4f}, the other by {other:.4f}"


def resuming_is_going_on(bench: Bench) -> None:
    """a learner that loads what another saved makes the same next step"""
    with bench.learner() as learner:
        learner.update(some_batch(1))
        learner.save(bench.folder / "saved")
        learner.update(some_batch(2))
        expected = _weights(learner)
    with bench.learner() as learner:
        learner.load(bench.folder / "saved")
        learner.update(some_batch(2))
        found = _weights(learner)
    gap = max(float(np.abs(found[name] - expected[name]).max()) for name in expected)
    assert gap <= 1e-6, f"a weight is off by {gap:.2g} after the first resumed step"


def not_a_number_is_refused(bench: Bench) -> None:
    """an advantage of NaN raises NonFiniteLoss before any weight changes"""
    batch = some_batch()
    _of(batch.episodes[0].segments[0].advantages)[5] = np.nan
    with bench.learner() as learner:
        before = _weights(learner)
        try:
            learner.update(batch)
        except NonFiniteLoss:
            pass
        else:
            raise AssertionError("update() accepted an advantage of NaN")
        after = _weights(learner)
    assert all(np.array_equal(before[name], after[name]) for name in before), "a weight changed"


def the_critic_learns(bench: Bench) -> None:
    """with gae, values() gives one finite number a sampled token, which comes nearer to the returns"""
    batch = some_batch()

    def change(config: TrainConfig) -> None:
        config.algorithm.estimator = "gae"
        config.critic.optim.lr = LR

    with bench.learner(change) as learner:
        try:
            before, finals = learner.values(batch)
        except BadCall as exc:
            raise Skipped(str(exc)) from exc
        assert len(finals) == len(batch.episodes), f"{len(finals)} final values for {len(batch.episodes)} episodes"
        for step in range(1, 6):
            batch.step = step
            for segment, values in zip(batch.segments, learner.values(batch)[0], strict=True):
                segment.values, segment.returns = values, segment.mask.astype(np.float32)
            learner.update(batch)
        after, _ = learner.values(batch)
    far, near = (
        sum(float(np.square(v - 1)[s.mask].sum()) for v, s in zip(values, batch.segments, strict=True))
        for values in (before, after)
    )
    assert near < far, f"the squared error went from {far:.3f} to {near:.3f}"


def an_export_is_the_policy(bench: Bench) -> None:
    """transformers loads the exported folder, and it has the learner's log-probabilities"""
    import torch
    from transformers import AutoModelForCausalLM

    batch = some_batch()
    with bench.learner() as learner:
        learner.update(batch)
        learner.export(bench.folder / "exported")
        exported = AutoModelForCausalLM.from_pretrained(bench.folder / "exported", dtype=torch.float32)
        _same_logprobs(learner.logprobs(batch), exported, batch, 1.0)


def closing_twice_is_fine(bench: Bench) -> None:
    """close() can be called again"""
    with bench.learner() as learner:
        learner.close()


def a_two_armed_bandit_is_learned(bench: Bench) -> None:
    """in 20 steps the arm that pays becomes much more likely; upper half of the vocabulary against the lower"""
    import torch

    prompt = np.array([3, 4, 5])
    draw = np.random.default_rng(0)

    def probabilities(learner: Learner) -> Floats:
        with torch.no_grad():
            logits = bench.plain(_weights(learner))(torch.tensor(prompt)[None]).logits[0, -1]
        chances: Floats = logits.double().softmax(-1).numpy()
        return chances

    with bench.learner() as learner:
        chances = probabilities(learner)
        first = float(chances[VOCABULARY // 2 :].sum())
        for step in range(1, BANDIT_STEPS + 1):
            picks = draw.choice(VOCABULARY, 16, p=chances / chances.sum())
            paid = (picks >= VOCABULARY // 2).astype(np.float32)
            learner.update(TokenBatch(step=step, policy_version=step, episodes=_pulls(prompt, picks, paid)))
            chances = probabilities(learner)
        last = float(chances[VOCABULARY // 2 :].sum())
    assert last - first >= BANDIT_GAIN, f"the better arm went from {first:.2f} to {last:.2f}"


RULES: tuple[Callable[[Bench], None], ...] = (
    logprobs_are_those_of_a_plain_forward,
    publishing_follows_learning,
    zero_advantage_changes_nothing,
    flipping_the_advantage_flips_the_step,
    masked_tokens_have_no_gradient,
    padding_has_no_gradient,
    clipped_tokens_have_no_gradient,
    the_terminal_reward_reaches_the_last_action,
    resuming_is_going_on,
    not_a_number_is_refused,
    the_critic_learns,
    an_export_is_the_policy,
    closing_twice_is_fine,
    a_two_armed_bandit_is_learned,
)
"""In the order in which they are checked; a rule's name is its function's."""


def _pulls(prompt: np.ndarray, picks: np.ndarray, paid: np.ndarray) -> list[Episode]:
    """One-token episodes with the advantage paid - mean."""
    episodes = []
    for member, (pick, reward) in enumerate(zip(picks, paid, strict=True)):
        one = episode([(len(prompt), False), (1, True)], seed=0, advantage=float(reward - paid.mean()), member=member)
        one.segments[0].tokens = np.append(prompt, pick)
        episodes.append(one)
    return episodes


def _weights(learner: Learner) -> Weights:
    """Copies, as numpy."""
    return {name: tensor.detach().cpu().numpy().copy() for name, tensor in learner.weights()}


def _step(bench: Bench, batch: TokenBatch) -> Weights:
    """What one update from the start adds to the weights."""
    with bench.learner() as learner:
        before = _weights(learner)
        learner.update(copy.deepcopy(batch))
        after = _weights(learner)
    return {name: after[name] - before[name] for name in before}


def _unmoved(bench: Bench, batch: TokenBatch) -> None:
    moved = {name: float(np.abs(step).max()) for name, step in _step(bench, batch).items()}
    worst = max(moved, key=lambda name: moved[name])
    assert moved[worst] == 0, f"{worst} moved by {moved[worst]:.2g}"


def _likeness(one: Weights, other: Weights) -> float:
    """Cosine between two steps; 0 when one of them is none."""
    a, b = (np.concatenate([s[name].ravel() for name in sorted(s)]).astype(np.float64) for s in (one, other))
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / size if size else 0.0


def _same_logprobs(found: Sequence[Floats], model: Any, batch: TokenBatch, temperature: float) -> None:
    """Against a plain forward of each segment alone."""
    import torch

    for number, (array, segment) in enumerate(zip(found, batch.segments, strict=True)):
        assert array.shape == segment.tokens.shape, f"segment {number}: shape {array.shape} for {len(segment)} tokens"
        ids = torch.tensor(segment.tokens)
        with torch.no_grad():
            logp = (model(ids[None]).logits[0].float() / temperature).log_softmax(-1)
        own = logp[torch.arange(len(ids) - 1), ids[1:]].numpy()
        gap = float(np.abs(array - np.where(segment.mask, np.append(0, own), 0)).max())
        assert gap <= 1e-4, f"segment {number}: a log-probability is off by {gap:.2g} at temperature {temperature}"


def _of(array: Floats | None) -> Floats:
    assert array is not None
    return array
