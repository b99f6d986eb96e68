"""From a collected phase to optimizer steps: the batch, what the learner says of it, advantages, the update."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentenv.errors import AgentEnvError
from agentenv.render import Renderer
from trainers.algorithms.advantages import Assigned, assign
from trainers.algorithms.chain import BadBatch
from trainers.algorithms.kl import measured
from trainers.algorithms.mismatch import mismatch
from trainers.audit import audit_batch
from trainers.batch import TokenBatch
from trainers.collect import Collected
from trainers.config import TrainConfig
from trainers.figures import step_figures
from trainers.folder import RunFolder
from trainers.learner import Learner, NonFiniteLoss
from trainers.prepare import batch_of, score
from trainers.rooms import Room, steps_of
from trainers.state import RunState


class StaleBatch(AgentEnvError):
    """Episodes were played by weights that are older than the settings allow."""

    code = "stale_batch"


class Learning:
    """The learning half of every step."""

    def __init__(
        self,
        config: TrainConfig,
        learner: Learner,
        renderer: Renderer,
        rooms: Sequence[Room],
        state: RunState,
        folder: RunFolder,
    ) -> None:
        self.config, self.learner, self.renderer = config, learner, renderer
        self.rooms, self.state, self.folder = rooms, state, folder
        self.updates = 0
        """Optimizer steps so far."""
        self.audited = False

    def learn(self, step: int, collected: Collected) -> dict[str, float]:
        """One batch, from tokens to optimizer steps; its figures."""
        batch = batch_of(collected, self.rooms, self.config, self.renderer, step=step)
        self.require_fresh(batch)
        metrics = step_figures(collected, batch, self.rooms, self.config, step=step)
        metrics["errors/rate"] = self.state.errors.note(len(collected.lost), collected.tries)
        score(batch, self.learner, self.config)
        if self.config.loss.old_logprobs == "learner":
            metrics |= mismatch(batch, [s.old_logprobs for s in batch.segments])
        assigned = self.assign(batch)
        metrics |= assigned.metrics
        metrics |= {f"episodes/{name}": float(n) for name, n in sorted(assigned.batch.counts.items())}
        if self.config.kl.placement != "none" and batch.episodes:
            kl = measured(batch)
            metrics |= {"kl/episode": kl, "kl/coef": self.state.kl.coef}
            self.state.kl.update(kl, episodes=len(batch.episodes))
        if not assigned.batch.sampled:
            self.state.zero_batches += 1
            return metrics | {"learn/zero_batches": float(self.state.zero_batches), "learn/optimizer_steps": 0.0}
        self.state.zero_batches = 0
        return self.update(assigned.batch) | metrics | {"learn/zero_batches": 0.0}

    def require_fresh(self, batch: TokenBatch) -> None:
        """StaleBatch when the weights that played are more than `rollout.max_staleness` behind."""
        behind = self.state.step - batch.policy_version
        if batch.episodes and not 0 <= behind <= self.config.rollout.max_staleness:
            raise StaleBatch(
                f"step {batch.step}: weights {batch.policy_version} played, the learner has {self.state.step}; "
                f"rollout.max_staleness={self.config.rollout.max_staleness}"
            )

    def assign(self, batch: TokenBatch) -> Assigned:
        """Advantages, by the KL coefficient of this step; and what the learner must know of the run."""
        coef = self.state.kl.coef
        try:
            assigned = assign(batch, self.config, kl_coef=coef)
        except BadBatch as exc:
            raise BadBatch(
                f"step {batch.step}: {exc.message}; the batch is in {self.folder.keep_batch(batch)}"
            ) from exc
        steps = steps_of(self.rooms, self.config)
        return replace(assigned, batch=replace(assigned.batch, kl_coef=coef, steps=steps))

    def update(self, batch: TokenBatch) -> dict[str, float]:
        """Learn; the first batch of every start is audited before. The distance to the engine is told, too, as far as
        the learner saw it on its way.
        """
        if not self.audited:
            report = audit_batch(batch, self.renderer)
            report.raise_on_error(f"the first batch, of step {batch.step}")
            for finding in report.findings:
                self.folder.note(f"step {batch.step}: {finding}")
            self.audited = True
        try:
            stats = self.learner.update(batch)
        except NonFiniteLoss as exc:
            raise NonFiniteLoss(
                f"{exc.message}; the batch is in {self.folder.keep_batch(batch)}", **dict(exc.extra)
            ) from exc
        self.updates += stats.optimizer_steps
        seen = mismatch(batch, stats.logprobs) if stats.logprobs is not None else {}
        return seen | stats.metrics | {"learn/optimizer_steps": float(stats.optimizer_steps)}
