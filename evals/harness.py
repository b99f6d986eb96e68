"""Runs: planned, played, stopped and taken up again.

The plan is in the store before the first episode, and each episode is written when it ends. Whatever stops a sitting
(Ctrl-C, a kill, a server that is gone) costs at most the episodes in flight; the next sitting plays what is open.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from agentenv.agents import AgentSpec
from agentenv.errors import AgentEnvError, BadCall
from agentenv.pictures import Keep
from agentenv.pool import EnvPool
from agentenv.protocol import Outcome, digest_of
from agentenv.registry import get_spec
from agentenv.rollout import play
from agentenv.trajectory import Trajectory
from evals.limits import Limits, Meter
from evals.people import is_human
from evals.plan import Plan, make_plan, world_of
from evals.players import Player, agent_data, agent_label
from evals.software import software
from evals.statistics.seen import seen_tasks, told
from evals.store.pictures import pictures_in
from evals.store.plans import NewRun
from evals.store.schema import RunRow
from evals.store.store import OpenSlot, Store
from evals.suite import BadSuite, Suite, load, parse

IMAGES = "--images"
"""In a run's `agent_settings`, beside what the agent was made with: its pictures are kept. No agent has a setting of
that name, and it is in no hash: what an agent sees is the same."""

LOST_IN_A_ROW = 10
"""So many episodes lost to the infrastructure, one after another, stop the sitting."""

OnEpisode = Callable[[OpenSlot, Trajectory], None]


class RunStopped(AgentEnvError):
    """The sitting ended early; the run can be resumed."""

    code, status = "run_stopped", 503


class ResumeRefused(BadCall):
    """What the run measures is no longer what it was; the message names each change."""

    code, status = "resume_refused", 409


def start(
    store: Store,
    suite: Suite,
    players: Sequence[Player],
    *,
    attempts: int | None = None,
    limit: int | None = None,
    plan: Plan | None = None,
    trained: Sequence[Path] = (),
    images: bool = False,
) -> list[str]:
    """Write one run for each agent, whole plans included, all or none; their ids in the agents' order."""
    plan = plan or make_plan(suite, attempts=attempts, limit=limit)
    return start_all(store, [(suite, plan)], players, limit=limit, trained=trained, images=images)


def start_all(
    store: Store,
    suites: Sequence[tuple[Suite, Plan]],
    players: Sequence[Player],
    *,
    limit: int | None = None,
    trained: Sequence[Path] = (),
    images: bool = False,
) -> list[str]:
    """Write one run for each agent on each suite, all or none; the first suite's first.

    `trained` are models, checkpoints or records that tell which tasks the agents were trained on; the folder of a local
    model tells it by itself. With `images` every sitting keeps the pictures that the envs draw.
    """
    about = {"batch": secrets.token_hex(8), "task_limit": limit, "software": software()}
    kept = {IMAGES: True} if images else {}
    runs = [
        _new_run(suite, plan, player.on(suite), trained, about, kept) for suite, plan in suites for player in players
    ]
    store.add_runs(runs)
    return [run.id for run in runs]


def _new_run(
    suite: Suite,
    plan: Plan,
    player: Player,
    trained: Sequence[Path],
    about: Mapping[str, Any],
    kept: Mapping[str, Any],
) -> NewRun:
    spec = player.make()
    label = agent_label(spec)
    return NewRun(
        **about,
        id=f"{_slug(suite.name)}-{_slug(label)}-{secrets.token_hex(4)}",
        suite=suite,
        plan=plan,
        agent=label,
        agent_data=agent_data(spec, {world.label: world.env for world in plan.worlds}),
        agent_settings={"name": player.name, **player.settings, **kept},
        reference=spec.needs_oracle,
        seen=seen_tasks(plan.tasks, told(trained if player.settings else (), player.settings)),
    )


async def preflight(players: Sequence[Player]) -> dict[str, str]:
    """Ask each agent's model once, before anything is written; what it replied, by agent.

    Raises BadCall for a wrong endpoint, model or key, InfraError when nobody answers.
    """
    replies = {}
    for player in players:
        spec = player.make()
        if spec.preflight is not None:
            replies[agent_label(spec)] = await spec.preflight()
    return replies


def player_of(run: RunRow) -> Player:
    """The agent of a stored run, to be made again."""
    settings = {name: value for name, value in run.agent_settings.items() if name != IMAGES}
    return Player(name=settings.pop("name"), settings=settings)


def keeps_pictures(run: RunRow) -> bool:
    """Whether the run was begun with `--images`."""
    return run.agent_settings.get(IMAGES) is True


def require_unchanged(run: RunRow) -> None:
    """Raise ResumeRefused when suite, env versions, tasks or agent are no longer what the plan was made for."""
    if run.deleted_at is not None:
        raise ResumeRefused(f"run {run.id} was deleted; start a new one: agentenv eval run {run.suite_source}")
    if is_human(run.agent_data):
        raise ResumeRefused(f"run {run.id} is one of a person, who goes on in the browser: agentenv play ENV --web")
    changed = [*_suite_changes(run), *_world_changes(run), *_agent_changes(run)]
    if changed:
        raise ResumeRefused(
            f"run {run.id} cannot go on, its other half would measure something else: {'; '.join(changed)}. "
            f"Start a new one: agentenv eval run {run.suite_source or run.suite}"
        )


def _suite_changes(run: RunRow) -> list[str]:
    try:
        now = load(run.suite_source)
    except BadSuite:
        return []  # the file is gone; the run holds the suite itself
    return [] if now.hash == run.suite_hash else [f"suite {run.suite}: {run.suite_hash[:8]} is now {now.hash[:8]}"]


def _world_changes(run: RunRow) -> list[str]:
    suite, changes = parse(run.suite_data, where=run.id), []
    for entry, then in zip(suite.envs, run.worlds, strict=True):
        now = asdict(world_of(get_spec(entry.env), entry))
        changes += [
            f"{entry.name} {name}: {_short(then[name])} is now {_short(now[name])}"
            for name in ("version", "tasks_digest", "max_steps")
            if then[name] != now[name]
        ]
    return changes


def _agent_changes(run: RunRow) -> list[str]:
    now = agent_data(player_of(run).make(), {world["label"]: world["env"] for world in run.worlds})
    if digest_of(now) == run.agent_hash:
        return []
    then = run.agent_data
    names = [n for n in sorted({*then, *now}) if digest_of([then.get(n)]) != digest_of([now.get(n)])]
    return [f"agent {run.agent} {n}: {_short(then.get(n))} is now {_short(now.get(n))}" for n in names]


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 24 else f"{text[:12]}..."


async def play_runs(
    store: Store,
    runs: Sequence[str],
    *,
    servers: Sequence[str] = (),
    concurrency: int = 16,
    token: str | None = None,
    limits: Limits | None = None,
    on_episode: OnEpisode | None = None,
) -> str | None:
    """Play every open slot of the runs, at most `concurrency` episodes at once; the limit that ended it, if one did.

    Raises RunStopped when the infrastructure is lost, and whatever else ends the sitting; the reason is stored.
    """
    rows = [store.run(run) for run in runs]
    agents = {row.id: player_of(row).make() for row in rows}
    spent = store.spent(runs)
    meter = Meter(limits or Limits(), cost=spent.cost or 0.0, tokens=spent.tokens)
    for row in rows:
        store.start_sitting(row.id, servers)
    keeps = {row.id: pictures_in(store).keep(row.id) for row in rows if keeps_pictures(row)}
    sitting = _Sitting(store, agents, keeps, meter, on_episode)
    try:
        async with contextlib.AsyncExitStack() as stack:
            sitting.pools = await _open_pools(stack, rows, servers=servers, size=concurrency, token=token)
            sitting.writer = stack.enter_context(ThreadPoolExecutor(store.writers, thread_name_prefix="agentenv-store"))
            for agent in agents.values():
                if agent.close is not None:
                    stack.push_async_callback(agent.close)
            await sitting.play([slot for row in rows for slot in store.open_slots(row.id)], concurrency)
    except BaseException as exc:
        reason = "interrupted" if isinstance(exc, asyncio.CancelledError) else str(exc) or type(exc).__name__
        _leave(store, rows, {row.id: reason for row in rows})
        raise
    _leave(store, rows, {row.id: sitting.stopped.get(row.id, sitting.limit or "") for row in rows})
    if sitting.stopped:
        raise RunStopped("; ".join(sitting.stopped.values()))
    return sitting.limit


def _leave(store: Store, rows: Sequence[RunRow], reasons: Mapping[str, str]) -> None:
    """Note which runs are finished, and why the others are not."""
    for row in rows:
        if not store.finish(row.id):
            store.stop(row.id, reasons[row.id])


async def _open_pools(
    stack: contextlib.AsyncExitStack,
    rows: Sequence[RunRow],
    *,
    servers: Sequence[str],
    size: int,
    token: str | None,
) -> dict[tuple[str, str], EnvPool]:
    """A pool for each env of each run, by `(run, env)`; runs in the same world share it."""
    pools: dict[tuple[str, str], EnvPool] = {}
    shared: dict[str, EnvPool] = {}
    for row in rows:
        for world in row.worlds:
            key = digest_of([world, keeps_pictures(row)])
            if key not in shared:
                pool = EnvPool(
                    world["env"],
                    servers=servers,
                    size=size,
                    options=world["options"],
                    max_steps=world["max_steps"],
                    token=token,
                    images=keeps_pictures(row),
                )
                shared[key] = await stack.enter_async_context(pool)
                _require_version(shared[key], world)
            pools[row.id, world["label"]] = shared[key]
    return pools


def _require_version(pool: EnvPool, world: Mapping[str, Any]) -> None:
    served = pool.card.get("version")
    if served != world["version"]:
        raise ResumeRefused(
            f"the server has {world['env']} version {served}, the plan was made for version {world['version']}; "
            f"serve the version that is installed here"
        )


class _Sitting:
    """Workers that take slots from one queue. Only the writer's threads touch the database meanwhile."""

    pools: Mapping[tuple[str, str], EnvPool]
    writer: ThreadPoolExecutor

    def __init__(
        self,
        store: Store,
        agents: Mapping[str, AgentSpec],
        keeps: Mapping[str, Keep],
        meter: Meter,
        on_episode: OnEpisode | None,
    ) -> None:
        self.store, self.agents, self.keeps, self.meter, self.on_episode = store, agents, keeps, meter, on_episode
        self.queue: deque[OpenSlot] = deque()
        self.lost_in_a_row: Counter[str] = Counter()
        self.stopped: dict[str, str] = {}
        """Runs whose infrastructure is gone, and why."""
        self.limit: str | None = None
        """Why nobody may begin another episode."""

    async def play(self, slots: Sequence[OpenSlot], workers: int) -> None:
        """Play the slots, and again those that come back invalid."""
        self.queue.extend(slots)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(workers, len(slots))):
                    group.create_task(self._work())
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from None

    async def _work(self) -> None:
        """Play slot after slot; the next episode begins while the last one is being written."""
        loop, written = asyncio.get_running_loop(), None
        try:
            while self.queue and self.limit is None:
                slot = self.queue.popleft()
                if slot.run in self.stopped:
                    continue
                pool, agent, keep = self.pools[slot.run, slot.env], self.agents[slot.run], self.keeps.get(slot.run)
                episode = await play(pool, slot.task, agent, attempt=slot.attempt, keep=keep)
                if written is not None:
                    await written
                written = loop.run_in_executor(self.writer, self.store.record, slot.run, slot.slot, slot.tries, episode)
                self.meter.add(episode)
                if self.on_episode is not None:
                    self.on_episode(slot, episode)
                self._after(slot, episode)
        finally:
            if written is not None:
                await asyncio.wait([written])
        if written is not None:
            written.result()

    def _after(self, slot: OpenSlot, episode: Trajectory) -> None:
        """Another try for an invalid attempt, behind all others; the end of a run whose infrastructure is gone."""
        if not episode.outcome.valid and slot.left > 1:
            self.queue.append(replace(slot, tries=slot.tries + 1, left=slot.left - 1))
        lost = episode.outcome is Outcome.INFRA_LOST
        in_a_row = self.lost_in_a_row[slot.run] = self.lost_in_a_row[slot.run] + 1 if lost else 0
        if in_a_row >= LOST_IN_A_ROW and slot.run not in self.stopped:
            why = f"{in_a_row} episodes in a row were lost, the last one to: {episode.error}"
            self.stopped[slot.run] = why
        self.limit = self.limit or self.meter.reached(episode)


def _slug(text: str) -> str:
    """`text` as part of an id that can be typed."""
    return re.sub(r"[^A-Za-z0-9.]+", "_", text).strip("_")[:30] or "x"
