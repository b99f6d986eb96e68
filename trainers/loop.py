"""The training loop, to be read first: collect, prepare, learn, push, and what comes between two steps.

One controller (rank 0) owns environments, engine, batch and advantages; ranks only learn. All turns of a batch come
from one version of the weights: a push happens when no episode is under way. The version is the number of steps done.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from agentenv.policy import Engine
from agentenv.render import Renderer
from trainers.algorithms.checks import check_together, notes
from trainers.algorithms.kl import controller
from trainers.algorithms.rounds import turn_limit
from trainers.collect import GREEDY, Collected, ErrorRate, Place, collect
from trainers.config import TrainConfig
from trainers.faults import fault_point
from trainers.figures import MANY_TIMED_OUT, timed_out
from trainers.folder import RunFolder
from trainers.launch.local import leads
from trainers.learner import Learner
from trainers.learning import Learning
from trainers.parts import make_engine, make_learner, make_renderer
from trainers.players import training_players, validation_players
from trainers.rooms import Room, cursor_of, open_rooms, steps_of, validates
from trainers.state import NothingLearned, RunState, Stopped, check_stops
from trainers.trackers import open_trackers
from trainers.validate import validate

STEP_POINTS = ("step:collected", "step:learned", "step:pushed", "step:logged", "step:end")
"""Where `faults` can end a process in a step."""


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
        return asyncio.run(_evaluate(config)) if leads() else None
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
    renderer = make_renderer(config)
    async with open_rooms(config) as rooms:
        state = RunState(
            cursor=cursor_of(rooms, config),
            kl=controller(config.kl),
            errors=ErrorRate(most=config.rollout.max_error_rate),
        )
        resumed = folder.begin(learner, state)
        first, total = state.step, steps_of(rooms, config)
        if first >= total or reached(config, state):
            return Summary(step=first, updates=0, reason="already complete")
        async with make_engine(config, renderer.stop_ids) as engine:
            run = Run(config, learner, engine, renderer, rooms, state, folder, total, resumed=resumed)
            try:
                summary = await run.go()
            finally:
                run.close()
        if resumed and summary.updates == 0 and summary.reason == "complete":
            raise NothingLearned(f"resumed at step {first} of {total}, and no step made an update; see {folder.path}")
        return summary


async def _evaluate(config: TrainConfig) -> Summary:
    """`evaluation.only`: the model as it is, on the held-out set; `evaluation.json` and the episodes tell the rest."""
    folder = RunFolder(config)
    renderer = make_renderer(config)
    async with open_rooms(config) as rooms, make_engine(config, renderer.stop_ids) as engine:
        found = await validate(rooms, validation_players(engine, renderer, config), config)
    folder.write_rollouts("evaluation", 0, found.trajectories)
    folder.write_json("evaluation.json", {"config": folder.stored, "metrics": found.metrics})
    return Summary(step=0, updates=0, reason="complete", metrics=found.metrics)


def reached(config: TrainConfig, state: RunState) -> bool:
    """Whether a validation was good enough to end the run."""
    stop_at = config.evaluation.stop_at
    return stop_at is not None and state.best is not None and state.best >= stop_at


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
        *,
        resumed: bool,
    ) -> None:
        self.config, self.learner, self.engine, self.renderer = config, learner, engine, renderer
        self.rooms, self.state, self.folder, self.total = rooms, state, folder, total
        self.resumed = resumed
        self.learning = Learning(config, learner, renderer, rooms, state, folder)
        self.metrics: dict[str, float] = {}
        self.saved_step: int | None = state.step if resumed else None
        self.save_s = 0.0
        self.trackers = open_trackers(
            config.run.trackers,
            folder.path,
            project=config.run.project,
            name=config.run.name,
            config=folder.stored,
            first=state.step + 1 if resumed else 0,
            total=total,
        )
        for note in notes(config):
            folder.note(note)

    async def go(self) -> Summary:
        """Every step that is left; a stop rule ends it early, with everything saved."""
        await self.push(check_stream=True)
        reason = "complete"
        try:
            if self.config.evaluation.before and not self.resumed:
                await self.validate_before()
            while self.state.step < self.total and not reached(self.config, self.state):
                await self.one_step(self.state.step + 1)
        except Stopped as stop:
            reason = str(stop)
            self.folder.note(reason)
        self.save()
        return Summary(step=self.state.step, updates=self.learning.updates, reason=reason, metrics=self.metrics)

    async def one_step(self, step: int) -> None:
        """Collect, learn, push; then validation, figures, checkpoint and the rules that stop a run."""
        started = time.monotonic()
        collected = await self.collect(step)
        fault_point("step:collected")
        collected_at = time.monotonic()
        metrics = self.learning.learn(step, collected)
        fault_point("step:learned")
        learned_at = time.monotonic()
        self.state.step = step
        await self.push()
        fault_point("step:pushed")
        pushed_at = time.monotonic()
        best = False
        if self.is_validated(step):
            found, best = await self.validate()
            metrics |= found
        ended = time.monotonic()
        self.state.seconds += ended - started
        metrics |= {
            "time/collect_s": collected_at - started,
            "time/learn_s": learned_at - collected_at,
            "time/push_s": pushed_at - learned_at,
            "time/validate_s": ended - pushed_at,
            "time/save_s": self.save_s,
            "time/step_s": ended - started + self.save_s,
        }
        self.save_s = 0.0
        self.log(metrics)  # before the save: what a checkpoint counts as done has its figures on the disk
        fault_point("step:logged")
        every = self.config.checkpoint.every
        if best or (every and step % every == 0):
            self.save(best=best)
        fault_point("step:end")
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
        if (share := timed_out(collected)) > MANY_TIMED_OUT:
            self.folder.note(f"step {step}: {share:.0%} of the episodes were cut by environments[].step_timeout_s")
        return collected

    async def push(self, *, check_stream: bool = False) -> None:
        """The learner's weights into the engine, checked."""
        from trainers.engines.push_check import check_push, check_push_stream

        if check_stream:
            await check_push_stream(self.engine, self.learner, self.config)
        await self.engine.push(self.learner.weights(), self.state.step)
        await check_push(self.engine, self.learner, self.config)

    def is_validated(self, step: int) -> bool:
        """Whether the held-out set is played after a step: every so many, and after the last."""
        every = self.config.evaluation.every
        return (every is not None and step % every == 0) or (step == self.total and validates(self.config))

    async def validate_before(self) -> None:
        """The held-out set by the weights that the run begins with."""
        started = time.monotonic()
        found, best = await self.validate()
        self.log(found | {"time/validate_s": time.monotonic() - started})
        if best:
            self.save(best=True)

    async def validate(self) -> tuple[dict[str, float], bool]:
        """The held-out set: its figures, and whether these weights are the best so far."""
        found = await validate(self.rooms, validation_players(self.engine, self.renderer, self.config), self.config)
        self.folder.write_rollouts("validation", self.state.step, found.trajectories)
        best = found.score is not None and (self.state.best is None or found.score > self.state.best)
        if best:
            self.state.best, self.state.best_step = found.score, self.state.step
        return found.metrics, best

    def log(self, metrics: dict[str, float]) -> None:
        """To every tracker, and into the summary."""
        self.metrics |= metrics
        for tracker in self.trackers:
            tracker.log(self.state.step, metrics)

    def save(self, *, best: bool = False) -> None:
        """A checkpoint of everything, unless this step has one; and the plots as they are now."""
        if self.saved_step == self.state.step and not best:
            return
        started = time.monotonic()
        self.folder.save(self.learner, self.state, best=best)
        self.saved_step = self.state.step
        if self.config.run.plots:
            from trainers.plots import draw

            draw(self.folder.path)
        self.save_s = time.monotonic() - started

    def close(self) -> None:
        """End the trackers."""
        for tracker in self.trackers:
            tracker.close()
