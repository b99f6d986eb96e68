"""The learner on FSDP2."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import NoReturn

import numpy as np
import torch

from agentenv.errors import BadCall
from trainers.algorithms.losses import Totals, metrics_of
from trainers.batch import Episode, Floats, Segment, TokenBatch
from trainers.config import TrainConfig
from trainers.fsdp import attention, states
from trainers.fsdp.build import critic_runner, policy_runner
from trainers.fsdp.export import write_folder
from trainers.fsdp.model import adapters_off, load_config, policy_weights
from trainers.fsdp.packing import extended, item_of
from trainers.fsdp.role import Role, finite
from trainers.fsdp.runner import Runner
from trainers.fsdp.update import Losses, Seen, Sums, minibatches, over_ranks, pieces_of, seen_by_all
from trainers.fsdp.world import World, join, leave
from trainers.learner import NonFiniteLoss, UpdateStats
from trainers.settings import BadSetting


class FsdpLearner:
    """Implements `trainers.learner.Learner`; every rank makes the same calls with the same batch."""

    def __init__(self, config: TrainConfig) -> None:
        _check(config)
        threads = 1 if config.run.deterministic else config.run.threads
        if threads is not None:
            torch.set_num_threads(threads)
        if config.run.deterministic:
            torch.use_deterministic_algorithms(True)
        attention.register()
        self.config = config
        self.world: World = join(shard_size=config.fsdp.shard_size)
        self._open = True
        self._roles: dict[str, Role] = {}
        self._reference: Runner | None = None
        try:
            self._build()
        except BaseException:
            self.close()
            raise

    def _build(self) -> None:
        config = self.config
        if config.run.deterministic and self.world.size > 1:
            raise BadSetting(f"run.deterministic is for one rank; there are {self.world.size}")
        self._roles["policy"] = Role(policy_runner(config, self.world, "policy"), config.optim)
        if config.algorithm.estimator == "gae":
            self._roles["critic"] = Role(critic_runner(config, self.world), config.critic.optim)
        if config.kl.placement != "none":
            self._reference_runner()

    def logprobs(self, batch: TokenBatch, *, reference: bool = False) -> list[Floats]:
        """See `Learner.logprobs`."""
        segments = list(batch.segments)
        items = [item_of(s) for s in segments]
        runner = self._reference_runner() if reference else self._policy
        with adapters_off(runner.model) if reference and self.config.model.lora.rank else nullcontext():
            return _on_mask(segments, runner.map(items, lambda some: runner.score(some)[0]))

    def values(self, batch: TokenBatch) -> tuple[list[Floats], list[float]]:
        """See `Learner.values`."""
        if "critic" not in self._roles:
            raise BadCall(f"algorithm.estimator={self.config.algorithm.estimator} has no critic; only gae has one")
        runner = self._roles["critic"].runner
        segments = list(batch.segments)
        items = [item_of(s) for s in segments]
        ends: dict[int, int] = {}
        """Item that carries the final tokens of an episode, by episode."""
        last = -1
        for e, episode in enumerate(batch.episodes):
            last += len(episode.segments)
            if episode.final_tokens is not None and episode.segments:
                items[last] = extended(items[last], episode.final_tokens)
                ends[e] = last
        outputs = runner.map(items, runner)
        after = [float(outputs[ends[e]][-1]) if e in ends else 0.0 for e in range(len(batch.episodes))]
        for i in ends.values():
            outputs[i] = outputs[i][:-1]
        return _on_mask(segments, outputs), after

    def update(self, batch: TokenBatch) -> UpdateStats:
        """See `Learner.update`. Both models' gradients are checked before either model changes."""
        steps = self.config.run.steps if batch.steps is None else batch.steps
        _require_end(self.config, steps)
        parts = list(minibatches(batch, self.config))
        envs = sorted({e.env for e in batch.episodes})
        losses = Losses(self.config, self.world, envs)
        learning = self._learning(batch.step)
        sums: Counter[str] = Counter()
        norms: dict[str, list[float]] = {name: [] for name in learning}
        seen: Seen = []
        for number, episodes in enumerate(parts, start=1):
            totals, pieces = Totals.of(episodes), pieces_of(episodes, envs)
            own: Sums = {}
            if "policy" in learning:
                own |= losses.policy(
                    learning["policy"],
                    pieces,
                    totals,
                    batch=batch,
                    only_step=len(parts) == 1,
                    seen=seen if number == 1 else None,
                )
            if "critic" in learning and totals.values:
                own |= losses.critic(learning["critic"], pieces, totals)
            added = over_ranks(own, self.world)
            step_norms = {name: role.gradient_norm() for name, role in learning.items()}
            if not finite(*added.values(), *step_norms.values()):
                self._refuse(batch, number, episodes, added, step_norms)
            for name, role in learning.items():
                role.step(norm=step_norms[name], lr=role.lr(batch.step, steps))
                norms[name].append(step_norms[name])
            sums.update(added)
        metrics = metrics_of(sums, optimizer_steps=max(1, len(parts)))
        for name, values in norms.items():
            group = "optim" if name == "policy" else name
            metrics[f"{group}/grad_norm"] = float(np.mean(values)) if values else 0.0
            metrics[f"{group}/lr"] = learning[name].lr(batch.step, steps)
        metrics["tokens/trained"] = float(batch.sampled)
        return UpdateStats(
            optimizer_steps=len(parts) if learning else 0,
            metrics=metrics,
            logprobs=seen_by_all(seen, batch, self.world),
        )

    def weights(self) -> Iterator[tuple[str, torch.Tensor]]:
        """See `Learner.weights`. On one rank they are the parameters themselves: copy what must outlive an update."""
        return policy_weights(self._policy.model.lm)

    def save(self, folder: Path) -> None:
        """See `Learner.save`."""
        states.write(folder, self._roles, self.world)

    def load(self, folder: Path) -> None:
        """See `Learner.load`."""
        states.read(folder, self._roles, self.world)

    def load_policy(self, folder: Path) -> None:
        """The policy's parameters alone, without its optimizer."""
        states.read(folder, {"policy": self._roles["policy"]}, self.world, optimizers=False)

    def export(self, folder: Path) -> None:
        """See `Learner.export`."""
        write_folder(folder, Path(self.config.model.path), self.weights(), write=self.world.rank == 0)

    def close(self) -> None:
        """See `Learner.close`."""
        if self._open:
            self._open = False
            self._roles.clear()
            self._reference = None
            leave(self.world)

    @property
    def _policy(self) -> Runner:
        return self._roles["policy"].runner

    def _learning(self, step: int) -> dict[str, Role]:
        """Roles that learn at a training step."""
        if "critic" in self._roles and step <= self.config.critic.warmup_steps:
            return {"critic": self._roles["critic"]}
        return self._roles

    def _refuse(
        self, batch: TokenBatch, number: int, episodes: Sequence[Episode], sums: Sums, norms: Mapping[str, float]
    ) -> NoReturn:
        for role in self._roles.values():
            role.drop_gradients()
        bad = [f"{name}={value}" for name, value in sums.items() if not finite(value)]
        bad += [f"gradient norm of the {name}={value}" for name, value in norms.items() if not finite(value)]
        tasks = sorted({e.task for e in episodes})
        raise NonFiniteLoss(
            f"step {batch.step}, optimizer step {number}: {', '.join(bad)}; no parameter was changed by it; "
            f"it learned from {len(episodes)} episodes of {', '.join(tasks[:5])}{', ...' if len(tasks) > 5 else ''}",
            step=batch.step,
            optimizer_step=number,
            tasks=tasks,
        )

    def _reference_runner(self) -> Runner:
        """The model as the run began: with adapters the base, else one of its own, built when first asked for."""
        if self.config.model.lora.rank:
            return self._policy
        if self._reference is None:
            self._reference = policy_runner(self.config, self.world, "reference")
        return self._reference


def _check(config: TrainConfig) -> None:
    """Settings that must fit each other and the model."""
    context = getattr(load_config(config.model.path).get_text_config(), "max_position_embeddings", None)
    if context is not None and config.rollout.max_episode_tokens > context:
        raise BadSetting(
            f"rollout.max_episode_tokens={config.rollout.max_episode_tokens} is more than the {context} positions of "
            f"{config.model.path}"
        )
    if config.rollout.temperature <= 0:
        raise BadSetting("rollout.temperature=0 has no log-probabilities to learn from; give one above 0")
    if config.fsdp.sequence_parallel != 1:
        raise BadSetting(f"fsdp.sequence_parallel={config.fsdp.sequence_parallel}: only 1 for now")


def _require_end(config: TrainConfig, steps: int | None) -> None:
    """A rate that moves has to know when the run ends."""
    moving = [
        f"{name}.{key}"
        for name, optim in (("optim", config.optim), ("critic.optim", config.critic.optim))
        for key, moves in (("schedule", optim.schedule != "constant"), ("warmup_ratio", optim.warmup_ratio > 0))
        if moves
    ]
    if moving and steps is None:
        raise BadSetting(f"{moving[0]} needs to know how many steps there will be: set run.steps, or TokenBatch.steps")


def _on_mask(segments: Sequence[Segment], outputs: Sequence[Floats]) -> list[Floats]:
    """Outputs at sampled tokens as [T] arrays, 0 elsewhere."""
    arrays = []
    for segment, output in zip(segments, outputs, strict=True):
        array = np.zeros(len(segment), np.float32)
        array[segment.mask] = output
        arrays.append(array)
    return arrays
