"""From a played episode to the store: the trajectory, and the run that it belongs to."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass

from agentenv.protocol import Outcome
from agentenv.trajectory import Trajectory, Turn
from evals import people
from evals.plan import Plan, PlannedTask
from evals.software import software
from evals.store.growing import episode_at, place_for
from evals.store.plans import NewRun
from evals.store.store import Store
from evals.web.play.choices import Chosen


@dataclass(frozen=True, slots=True, kw_only=True)
class Player:
    """Who played."""

    pseudonym: str
    hints: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How an episode ended, as the session says."""

    outcome: Outcome
    success: bool = False
    score: float | None = None
    observation: str = ""
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """Where an episode is."""

    run: str
    episode: int


def trajectory(
    chosen: Chosen,
    player: Player,
    turns: list[Turn],
    end: Ending,
    *,
    max_steps: int,
    images: bool,
    time: dict[str, float],
) -> Trajectory:
    """The record of an episode."""
    about = {**people.description(hints=player.hints), "pseudonym": player.pseudonym, "images": images}
    return Trajectory(
        task=chosen.task,
        env=chosen.spec.id,
        env_version=chosen.spec.version,
        env_options=chosen.env_options,
        max_steps=max_steps,
        tasks_digest=chosen.world.tasks_digest,
        agent=about,
        outcome=end.outcome,
        success=end.success,
        reward=sum(turn.reward for turn in turns),
        last_reward=turns[-1].reward if turns else 0.0,
        score=end.score,
        steps=len(turns),
        turns=turns,
        final_observation=end.observation,
        error=end.error,
        time={name: round(seconds, 6) for name, seconds in time.items()},
    )


def keep(store: Store, chosen: Chosen, player: Player, played: Trajectory) -> Stored | None:
    """Store the episode in this person's run; None when they had settled the task before, and it was practice."""
    place = place_for(store.engine, _new_run(chosen, player), name=player.pseudonym)
    if place is None or not store.record(place.run, place.slot, place.tries, played):
        return None
    return Stored(run=place.run, episode=episode_at(store.engine, place))


def _new_run(chosen: Chosen, player: Player) -> NewRun:
    """The run that is begun with this task, unless the person has one."""
    suite = re.sub(r"[^A-Za-z0-9.-]+", "_", chosen.suite.name)[:40]
    return NewRun(
        id=f"{suite}-human-{secrets.token_hex(4)}",
        batch=secrets.token_hex(8),
        suite=chosen.suite,
        plan=Plan(worlds=chosen.worlds, tasks=(PlannedTask(label=chosen.label, task=chosen.task),), attempts=1),
        task_limit=None,
        agent=people.label(hints=player.hints),
        agent_data=people.description(hints=player.hints),
        agent_settings={"name": people.HUMAN, "pseudonym": player.pseudonym, "hints": player.hints},
        reference=False,
        software=software(),
    )
