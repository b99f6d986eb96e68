"""The training loop, to be read first: collect, prepare, learn, push, and what comes between two steps.

One controller (rank 0) owns environments, engine, batch and advantages; ranks only learn. All turns of a batch come
from one version of the weights: a push happens when no episode is under way.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from agentenv.policy import Engine
from agentenv.render import Renderer, load_renderer
from trainers.algorithms.advantages import assign
from trainers.algorithms.checks import check_together, notes
from trainers.algorithms.kl import controller, measured
from trainers.algorithms.mismatch import mismatch
from trainers.algorithms.rounds import turn_limit
from trainers.audit import audit_batch
from trainers.batch import TokenBatch
from trainers.collect import GREEDY, Collected, ErrorRate, Place, collect
from trainers.config import TrainConfig
from trainers.folder import RunFolder
from trainers.learner import Learner, NonFiniteLoss
from trainers.parts import make_engine, make_learner
from trainers.players import training_players, validation_players
from trainers.prepare import batch_of, episode_figures, score
from trainers.rooms import Room, cursor_of, open_rooms, steps_of
from trainers.settings import BadSetting
from trainers.state import RunState, Stopped, check_stops
from trainers.trackers import open_trackers
from trainers.validate import validate


@dataclass(slots=True, kw_only=True)
class Summary:
    """How a run ended."""

    step: int
    """Steps that are done."""
    updates: int
    """Optimizer steps of this start."""
    reason: str
    """`complete`, `already complete`, or why it stopped."""
    metrics: dict[str, float] = field(default_factory=dict)
    """The last figures of each kind."""


def train(config: TrainConfig, *, backend: str = "fsdp") -> Summary | None:
    """Run to the end. None on ranks that only learn. Raises BadSetting, and what environments and models raise."""
    check_together(config)
    if config.evaluation.only:
        return asyncio.run(_evaluate(config))
    learner = make_learner(config, backend)
    follow = getattr(learner, "follow", None)
    if follow is not None and not learner.leads:  # type: ignore[attr-defined]
        follow()
        return None
    try:
        return asyncio.run(_train(config, learner))
    finally:
        learner.close()


async def _train(config: TrainConfig, learner: Learner) -> Summary:
    folder = RunFolder(config)
    renderer = load_renderer(config.model.path, history=config.rollout.history)
    async with open_rooms(config) as rooms, make_engine(config) as engine:
        state = RunState(
            cursor=cursor_of(rooms, config),
            kl=controller(config.kl),
            errors=ErrorRate(most=config.rollout.max_error_rate),
        )
        resumed = folder.resume(learner, state)
        total = steps_of(rooms, config)
        if state.step >= total:
            return Summary(step=state.step, updates=0, reason="already complete")
        run = Run(config, learner, engine, renderer, rooms, state, folder, total)
        try:
            summary = await run.go()
        finally:
            run.close()
        if resumed and summary.updates == 0 and summary.reason == "complete":
            raise BadSetting(f"resumed at step {state.step} of {total} and made no update; see {folder.path}")
        return summary


async def _evaluate(config: TrainConfig) -> Summary:
    """`evaluation.only`: the model as it is, on the held-out set."""
    renderer = load_renderer(config.model.path, history=config.rollout.history)
    async with open_rooms(config) as rooms, make_engine(config) as engine:
        found = await validate(rooms, validation_players(engine, renderer, config), config)
        RunFolder(config).write_rollouts("validation", 0, found.trajectories)
        return Summary(step=0, updates=0, reason="complete", metrics=found.metrics)


class Run:
    """The steps of one start of a run."""

    def __init__(
        self,
        config: TrainConfig,
        learner: Learner,
        engine: Engine,
        renderer: Renderer,
        rooms: Sequence[Room],
        state: RunState,
        folder: RunFolder,
        total: int,
    ) -> None:
        self.config, self.learner, self.engine, self.renderer = config, learner, engine, renderer
        self.rooms, self.state, self.folder, self.total = rooms, state, folder, total
        self.updates = 0
        self.metrics: dict[str, float] = {}
        self.audited = False
        self.trackers = open_trackers(
            config.run.trackers,
            folder.path,
            project=config.run.project,
            name=config.run.name,
            config=folder.stored,
            first=state.step + 1,
            total=total,
        )
        for note in notes(config):
            folder.note(note)

    async def go(self) -> Summary:
        """Every step that is left; a stop rule ends it early, with everything saved."""
        await self.push(check_stream=True)
        reason = "complete"
        try:
            if self.config.evaluation.before and self.state.step == 0:
                self.log(await self.validate())
            while self.state.step < self.total:
                await self.one_step(self.state.step + 1)
        except Stopped as stop:
            reason = str(stop)
        self.save(final=True)
        return Summary(step=self.state.step, updates=self.updates, reason=reason, metrics=self.metrics)

    async def one_step(self, step: int) -> None:
        """Collect, learn, push; then figures, validation, checkpoint and the rules that stop a run."""
        started = time.monotonic()
        collected = await self.collect(step)
        learned_at = time.monotonic()
        metrics = self.learn(step, collected)
        pushed_at = time.monotonic()
        await self.push()
        ended = time.monotonic()
        self.state.step = step
        self.state.seconds += ended - started
        metrics |= {
            "time/collect_s": learned_at - started,
            "time/learn_s": pushed_at - learned_at,
            "time/push_s": ended - pushed_at,
        }
        if self.config.evaluation.every and step % self.config.evaluation.every == 0:
            metrics |= await self.validate()
        metrics["time/step_s"] = time.monotonic() - started
        metrics["time/other_s"] = metrics["time/step_s"] - (ended - started)
        self.log(metrics)
        if self.config.checkpoint.every and step % self.config.checkpoint.every == 0 and step < self.total:
            self.save()
        check_stops(metrics, self.state, self.config.stop)

    async def collect(self, step: int) -> Collected:
        """Every group of the step, at the step limit of its stage."""
        for room in self.rooms:
            await room.pool.limit_steps(turn_limit(step, self.config.algorithm.rounds, room.settings))
        slots = self.state.cursor.draw(self.config.batch.tasks_per_step)
        members = list(range(self.config.batch.group_size))
        if self.config.algorithm.estimator == "remax":
            members = [GREEDY, *members]
        places = [Place(slot=slot, member=member) for slot in slots for member in members]
        players = training_players(self.engine, self.renderer, self.config, step)
        collected = await collect(self.rooms, places, players, self.config.rollout)
        self.folder.write_rollouts("train", step, [p.trajectory for p in (*collected.played, *collected.lost)])
        return collected

    def learn(self, step: int, collected: Collected) -> dict[str, float]:
        """One batch, from tokens to optimizer steps; its figures."""
        batch = batch_of(collected, self.rooms, self.config, self.renderer, step=step)
        metrics = self.figures(step, collected, batch)
        score(batch, self.learner, self.config)
        metrics |= mismatch(batch)
        assigned = assign(batch, self.config, kl_coef=self.state.kl.coef)
        metrics |= assigned.metrics
        if self.config.kl.placement != "none" and batch.episodes:
            kl = measured(batch)
            metrics |= {"kl/episode": kl, "kl/coef": self.state.kl.coef}
            self.state.kl.update(kl, episodes=len(batch.episodes))
        if not assigned.batch.sampled:
            self.state.zero_batches += 1
            return metrics | {"learn/zero_batches": float(self.state.zero_batches)}
        self.state.zero_batches = 0
        if not self.audited:
            audit_batch(assigned.batch, self.renderer).raise_on_error(f"the first batch, of step {step}")
            self.audited = True
        try:
            stats = self.learner.update(assigned.batch)
        except NonFiniteLoss as exc:
            raise NonFiniteLoss(f"{exc.message}; the batch is in {self.folder.keep_batch(assigned.batch)}") from exc
        self.updates += stats.optimizer_steps
        return metrics | stats.metrics | {"learn/optimizer_steps": float(stats.optimizer_steps)}

    def figures(self, step: int, collected: Collected, batch: TokenBatch) -> dict[str, float]:
        """What was collected, in numbers, together and by environment."""
        rewards = [e.reward for e in batch.episodes]
        valid = [p for p in collected.played if p.trajectory.outcome.valid and p.place.member != GREEDY]
        metrics = episode_figures([p.trajectory for p in valid], rewards)
        tries = len(collected.played) + len(collected.lost)
        metrics["errors/rate"] = self.state.errors.note(len(collected.lost), tries)
        metrics |= {f"episodes/{name}": float(n) for name, n in batch.counts.items()}
        for env, room in enumerate(self.rooms):
            limit = turn_limit(step, self.config.algorithm.rounds, room.settings)
            own = [p.trajectory for p in valid if p.place.slot.env == env]
            if limit is not None:
                metrics["rounds/limit" if len(self.rooms) == 1 else f"rounds/limit/{room.name}"] = float(limit)
            if len(self.rooms) > 1 and own:
                shares = sum(e.sampled for e in batch.episodes if e.env == room.name) / max(1, batch.sampled)
                figures = episode_figures(own, [e.reward for e in batch.episodes if e.env == room.name])
                metrics |= {f"{key}/{room.name}": value for key, value in figures.items()}
                metrics[f"tokens/share/{room.name}"] = shares
        return metrics

    async def push(self, *, check_stream: bool = False) -> None:
        """The learner's weights into the engine, checked."""
        from trainers.engines.push_check import check_push, check_push_stream

        if check_stream:
            await check_push_stream(self.engine, self.learner, self.config)
        await self.engine.push(self.learner.weights(), self.state.step + 1)
        await check_push(self.engine, self.learner, self.config)

    async def validate(self) -> dict[str, float]:
        """The held-out set; a better score keeps the weights as the best."""
        found = await validate(self.rooms, validation_players(self.engine, self.renderer, self.config), self.config)
        self.folder.write_rollouts("validation", self.state.step, found.trajectories)
        if self.state.best is None or found.score > self.state.best:
            self.state.best, self.state.best_step = found.score, self.state.step
            self.folder.save(self.learner, self.state, best=True)
        return found.metrics

    def log(self, metrics: dict[str, float]) -> None:
        """To every tracker, and into the summary."""
        self.metrics |= metrics
        for tracker in self.trackers:
            tracker.log(self.state.step, metrics)

    def save(self, *, final: bool = False) -> None:
        """A checkpoint of everything; at the end the plots, too."""
        self.folder.save(self.learner, self.state)
        if final and self.config.run.plots:
            from trainers.plots import draw

            draw(self.folder.path)

    def close(self) -> None:
        """End the trackers."""
        for tracker in self.trackers:
            tracker.close()
