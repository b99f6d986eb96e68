"""Whatever may be written to a store, in any order, by anybody: for tests of what is kept beside it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from made_runs import ended, new_run
from sqlalchemy import text

from agentenv.errors import BadCall
from agentenv.protocol import Outcome
from evals import people
from evals.plan import Plan
from evals.store.database import writing
from evals.store.episodes import Written
from evals.store.growing import place_for
from evals.store.plans import NewRun
from evals.store.schema import RunRow
from evals.store.store import OpenSlot, Store
from evals.verify.marks import keep_mark

ENDS = [Outcome.SUCCESS] * 20 + [Outcome.FAILURE] * 20 + [Outcome.ENV_ERROR, Outcome.INFRA_LOST]
GRADED = "graded"
MOST = 8
"""Runs of one writer."""
PEOPLE = ("otter", "heron", "newt", "vole")


class Crash(Exception):
    """What ends a transaction half-way."""


class Writer:
    """Writes one thing after another, as its random numbers say."""

    def __init__(self, store: Store, *, name: str, seed: int) -> None:
        self._store, self._name, self._rng = store, name, random.Random(f"{name} {seed}")
        self._begun = self._chosen = 0
        acts = {
            self.begin: 6, self.play: 6, self.play_out: 8, self.crash: 1, self.finish: 2, self.reopen: 2,
            self.delete: 1, self.person: 2, self.verify: 1, self.forget: 1,
        }  # fmt: skip
        self._acts = [act for act, weight in acts.items() for _ in range(weight)]

    def write(self) -> str:
        """Write something; what it was."""
        act = self._rng.choice(self._acts)
        act()
        return act.__name__

    def begin(self) -> None:
        """A run on one of three suites: whole, of a part, of a reference, or of answers that were judged again."""
        if self._begun == MOST:
            return
        self._begun += 1
        rng, suite = self._rng, self._rng.choice(("one", "two", GRADED))
        part = rng.random() < 0.15
        new = new_run(
            f"{self._name}-{self._begun}",
            suite=suite,
            envs=("coin", "dice") if suite == "two" else ("coin",),
            tasks=3 if part else 20 if suite == GRADED else 6,
            suite_tasks=20 if suite == GRADED else 6,
            task_limit=3 if part else None,
            attempts=rng.choice((1, 1, 2)),
            agent=rng.choice("abcde"),
            reference=rng.random() < 0.1,
        )
        again = {"rescored": "x"} if rng.random() < 0.1 else {}
        metric = {"metric": "mean_score"} if suite == GRADED else {}
        self._store.add_runs([replace(new, agent_data={**new.agent_data, **again}, suite=replace(new.suite, **metric))])

    def play(self) -> None:
        """An episode or a few."""
        run, slots = self._open()
        for slot in slots[: self._rng.randint(1, 3)]:
            self._record(run, slot)

    def play_out(self) -> None:
        """All that is open, with the further tries that this takes; one run in four breaks on a task."""
        run, slots = self._open()
        broken = self._rng.randrange(4 * len(slots)) if slots else None
        while slots:
            for slot in slots:
                self._record(run, slot, end=Outcome.ENV_ERROR if slot.slot == broken else None)
            slots = self._store.open_slots(run)

    def crash(self) -> None:
        """An episode whose process dies before the transaction ends."""
        run, slots = self._open()
        try:
            with writing(self._store.engine) as connection:
                for slot in slots[:1]:
                    episode = Written(ended(Outcome.SUCCESS, slot.task))
                    episode.write(connection, run, slot.slot, slot.tries)
                raise Crash
        except Crash:
            return

    def finish(self) -> None:
        """A run that may have open slots yet."""
        for run in self._some():
            self._store.finish(run.id)

    def reopen(self) -> None:
        """Lost attempts, or all of one task."""
        for run in self._some():
            tasks = [f"coin/test/{self._rng.randrange(6)}"]
            overwrite = self._rng.random() < 0.5
            try:
                self._store.reopen(run.id, reason="test", tasks=tasks if overwrite else (), overwrite=overwrite)
            except BadCall:  # its episodes are gone
                return

    def delete(self) -> None:
        """The episodes of a run: a tombstone is left."""
        for run in self._some():
            self._store.delete(run.id, reason="test")

    def person(self) -> None:
        """A task that somebody chose."""
        self._chosen += 1
        new = _chosen(self._rng.choice(PEOPLE), self._rng.randrange(6), id=f"{self._name}-people-{self._chosen}")
        place = place_for(self._store.engine, new, name=new.agent_settings["pseudonym"])
        if place is not None:
            trajectory = ended(self._rng.choice(ENDS), new.plan.tasks[0].task)
            self._store.record(place.run, place.slot, place.tries, trajectory)

    def verify(self) -> None:
        """The verdict on a run as it is."""
        for run in self._some():
            keep_mark(self._store, run, {"ok": True, "verified": 1, "of": 1, "mark": "verified 1/1", "run": run.id})

    def forget(self) -> None:
        """What is kept may go at any time."""
        with writing(self._store.engine) as connection:
            connection.execute(text("DELETE FROM derived"))

    def _some(self) -> Sequence[RunRow]:
        runs = [run for run in self._store.runs() if run.deleted_at is None]
        return [self._rng.choice(runs)] if runs else []

    def _open(self) -> tuple[str, list[OpenSlot]]:
        runs = [run for run in self._store.runs() if run.deleted_at is None and run.valid + run.lost < run.planned]
        run = self._rng.choice(runs).id if runs else ""
        return run, self._store.open_slots(run)

    def _record(self, run: str, slot: OpenSlot, *, end: Outcome | None = None) -> None:
        end = end or self._rng.choice(ENDS)
        score = self._rng.gauss(1.0, 2.0) if slot.task.env == "coin" else None
        error = f"error {slot.slot % 2}" if end is Outcome.ENV_ERROR else None
        trajectory = ended(end, slot.task, score=score, error=error, reward=self._rng.random())
        self._store.record(run, slot.slot, slot.tries, trajectory)


def _chosen(name: str, task: int, *, id: str) -> NewRun:
    """A person's run with the one task, of a suite of six."""
    whole = new_run(id, tasks=6, suite="one")
    return replace(
        whole,
        plan=Plan(worlds=whole.plan.worlds, tasks=(whole.plan.tasks[task],), attempts=1),
        agent=people.label(hints=False),
        agent_data=people.description(hints=False),
        agent_settings={"name": people.HUMAN, "pseudonym": name, "hints": False},
    )
