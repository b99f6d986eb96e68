"""The web environment: a world, the sites over it, an engine that browses them, and the judgement at the end."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentenv.env import AsyncEnv
from agentenv.errors import EpisodeOver, ResetNeeded, UnknownOption
from agentenv.protocol import Action, Outcome, StepResult, Task
from envservers.webarena.act import Act, Verb
from envservers.webarena.engines.choose import REPLACE, make_engine
from envservers.webarena.engines.engine import Cookie, Engine
from envservers.webarena.engines.lite.browser import Saved
from envservers.webarena.engines.lite.engine import LiteEngine
from envservers.webarena.evaluators.combine import TaskKind, from_json, judge
from envservers.webarena.evaluators.database import Database
from envservers.webarena.evaluators.evidence import Check, Evidence
from envservers.webarena.evaluators.form import Form
from envservers.webarena.language import Observation, extract, parse, printed, target_of
from envservers.webarena.language.prompt import NO_ACTION, blocks, previous_action
from envservers.webarena.nodes import View
from envservers.webarena.sites.common.logins import COOKIE, log_in
from envservers.webarena.sites.registry import sites
from envservers.webarena.state.copies import new_copy
from envservers.webarena.state.database import Db, Snapshot
from envservers.webarena.state.diff import changes_of
from envservers.webarena.state.session import Logged, SiteSession
from envservers.webarena.tasks.catalog import by_name
from envservers.webarena.tasks.make import world_of
from envservers.webarena.tasks.mutants import surviving
from envservers.webarena.tasks.oracle import solve

log = logging.getLogger(__name__)

NO_IMAGES = "this engine draws nothing, so the images that were asked for do not come"
MAIN_CUSTOMER = MAIN_ADMIN = 1
ACCOUNTS: Mapping[str, tuple[str, dict[str, int]]] = {
    "shopper": ("shop.test", {"customer": MAIN_CUSTOMER}),
    "manager": ("admin.shop.test", {"admin": MAIN_ADMIN}),
}
"""By the name that a task uses: the host that has the log-in, and whose it is."""


@dataclass(slots=True, kw_only=True)
class Episode:
    """What changes from reset to the end."""

    task: Task
    db: Db
    session: SiteSession
    view: View
    shown: Observation
    """What the agent's numbers refer to."""
    checks: Sequence[Check]
    over: bool = False

    @property
    def kind(self) -> TaskKind:
        """Of the task."""
        return TaskKind(self.task.payload["kind"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A state of an episode in engine lite, for `WebArenaEnv.restore`."""

    task: Task
    db: Snapshot
    log: tuple[Logged, ...]
    browser: Saved
    over: bool


class WebArenaEnv(AsyncEnv):
    """One episode is one task; reward 1.0 at its end when every check holds, else 0.0."""

    def __init__(
        self,
        *,
        engine: str = "auto",
        view: str = "viewport",
        dialect: str = "classic",
        parser: str = "lenient",
        type_rule: str = REPLACE,
        size: str = "medium",
    ) -> None:
        self.wanted = engine
        self.full = view == "full"
        self.dialect, self.parser, self.type_rule = dialect, parser, type_rule
        self.size = size  # already in the task; kept so that the options read back
        self._engine: Engine | None = None  # made by the first reset
        self._notice = ""
        self._episode: Episode | None = None  # None until reset()

    async def reset(self, task: Task) -> StepResult:
        """Open the task's start pages in a fresh copy of its world, logged in as its account."""
        self._drop()
        engine = self._need_engine()
        payload = task.payload
        session = await self._session_of(task)
        db = session.db
        cookies = []
        if payload["account"]:
            host, who = ACCOUNTS[payload["account"]]
            cookies.append(Cookie(host=host, name=COOKIE, value=log_in(db, session.now(), **who)))
        try:
            await engine.open(session, payload["start"], cookies)
            view = await self._look()
        except BaseException:
            db.close()
            raise
        self._begin(task, session, view)
        image = await self._image()
        notices = [self._notice, NO_IMAGES if self.images and image is None else ""]
        info = {"url": view.url, **self._made_by()}
        if any(notices):
            info["notice"] = "; ".join(filter(None, notices))
        return StepResult(observation=self._text(self._running()[0], NO_ACTION), image=image, info=info)

    def _need_engine(self) -> Engine:
        if self._engine is not None:
            return self._engine
        if self.type_rule != REPLACE and self.parser != "original":
            raise UnknownOption(f"option type_rule={self.type_rule!r}: needs parser=original")
        self._engine, self._notice = make_engine(self.wanted, type_rule=self.type_rule)
        return self._engine

    async def _session_of(self, task: Task) -> SiteSession:
        """The sites for a task, on its world as it was made."""
        world = await asyncio.to_thread(world_of, task.payload["world"], task.payload["size"])
        db = Db(world.path, new_copy())
        secret = hashlib.sha256(f"webarena {task.seed}".encode()).digest()
        return SiteSession(sites(), db, starts_at=world.starts_at, secret=secret, step=lambda: self.steps)

    def _begin(self, task: Task, session: SiteSession, view: View) -> Episode:
        checks = tuple(from_json(value) for value in task.payload["checks"])
        shown = printed(view, self.dialect)
        self._episode = Episode(task=task, db=session.db, session=session, view=view, shown=shown, checks=checks)
        return self._episode

    async def step(self, action: Action) -> StepResult:
        """One action of the language; what is none, or cannot be done, is told in the observation's last block."""
        episode, engine = self._running()
        act = read_action(action.text, self.parser)
        if act.verb is Verb.STOP:
            return await self._end(episode, act.text)
        error = await self._act(episode, engine, act)
        previous = previous_action(act, episode.shown, said=action.text, error=error)
        episode.view = await self._look()
        episode.shown = printed(episode.view, self.dialect)
        info = {"url": episode.view.url, "parse": str(act.verb), "error": error, **self._made_by()}
        return StepResult(observation=self._text(episode, previous), image=await self._image(), info=info)

    async def finish(self, reason: Outcome) -> StepResult | None:
        """Out of steps or time: what was changed or filled in still counts, an answer that never came does not."""
        if reason not in (Outcome.STEP_LIMIT, Outcome.TIME_LIMIT) or self._episode is None or self._episode.over:
            return None
        if self._episode.kind.judged_when_cut:
            return await self._end(self._episode, None)
        self._episode.over = True
        return StepResult(observation=self.last.observation, success=False, info={**self.last.info, "checks": []})

    def solve(self, task: Task) -> AsyncGenerator[Action, StepResult]:
        """The template's plan, carried out by observation texts alone."""
        plan = by_name()[task.template].plan(task.payload["params"])
        return _acting(self.last.observation, plan)

    async def snapshot(self) -> Kept:
        """Database, log and browser; NotImplementedError in Chromium, whose pages cannot be copied."""
        if self._episode is None:
            raise ResetNeeded("WebArenaEnv.snapshot() before reset(); call reset(task) first")
        if not isinstance(self._engine, LiteEngine):
            raise NotImplementedError("only engine=lite has snapshots; reset and send the actions again")
        episode = self._episode
        return Kept(
            task=episode.task,
            db=episode.db.snapshot(),
            log=tuple(episode.session.log),
            browser=await self._engine.save(),
            over=episode.over,
        )

    async def restore(self, snapshot: object) -> None:
        """Take over a state of engine lite, under the same options."""
        assert isinstance(snapshot, Kept)
        self._drop()
        engine = self._need_engine()
        if not isinstance(engine, LiteEngine):
            raise NotImplementedError("only engine=lite has snapshots; reset and send the actions again")
        session = await self._session_of(snapshot.task)
        session.db.restore(snapshot.db)
        session.log.extend(snapshot.log)
        await engine.restore(session, snapshot.browser)
        self._begin(snapshot.task, session, await self._look()).over = snapshot.over

    async def close(self) -> None:
        """Close the engine and drop the database."""
        self._drop()
        engine, self._engine = self._engine, None
        if engine is not None:
            await engine.close()

    async def _act(self, episode: Episode, engine: Engine, act: Act) -> str:
        """What went wrong, in one line; empty when nothing did."""
        if act.verb is Verb.NONE:
            return act.error
        key, error = target_of(act, episode.shown)
        return error or (await engine.act(act, key)).error

    async def _look(self) -> View:
        assert self._engine is not None
        return await self._engine.view(full=self.full, dom=self.dialect == "html")

    async def _image(self) -> bytes | None:
        """A picture of the viewport for sessions that asked for images, where the engine draws."""
        assert self._engine is not None
        return await self._engine.screenshot() if self.images else None

    def _made_by(self) -> dict[str, Any]:
        """What read the pages and how they are written: in every info, so that each record says it."""
        assert self._engine is not None
        engine = {"engine": self._engine.name, "engine_version": self._engine.version}
        language = {"dialect": self.dialect, "parser": self.parser}
        if self.type_rule != REPLACE:
            language["type_rule"] = self.type_rule
        return {**engine, "view": "full" if self.full else "viewport", **language}

    def _text(self, episode: Episode, previous: str) -> str:
        objective = episode.task.payload["intent"]
        return blocks(episode.shown.text, url=episode.view.url, objective=objective, previous=previous)

    async def _end(self, episode: Episode, answer: str | None) -> StepResult:
        judgement = judge(episode.kind, episode.checks, await self.evidence(answer))
        episode.over = True
        info = {"url": episode.view.url, "error": "", **self._made_by()}
        verdicts = [{"check": v.check, "passed": v.passed, "reason": v.reason} for v in judgement.verdicts]
        return StepResult(
            observation="The episode has ended.",
            reward=float(judgement.passed),
            terminated=answer is not None,
            success=judgement.passed,
            info={**info, "checks": verdicts, "progress": judgement.progress},
        )

    async def evidence(self, answer: str | None) -> Evidence:
        """What the episode is judged by, as it stands; also after its end, until the next reset or close."""
        episode, engine = self._episode, self._engine
        if episode is None or engine is None:
            raise ResetNeeded("WebArenaEnv.evidence() before reset(); call reset(task) first")
        needs_fields = any(isinstance(check, Form) for check in episode.checks)
        return Evidence(
            answer=answer,
            tabs=episode.view.tabs,
            active=episode.view.active,
            fields=await engine.fields() if needs_fields else (),
            log=episode.session.log,
            changes=changes_of(episode.db),
        )

    async def surviving_mutants(self) -> list[str]:
        """Nearly right ends of the database that the task's checks would let through; none of a sound task."""
        if self._episode is None:
            return []
        evidence = await self.evidence("")
        checks = [check for check in self._episode.checks if isinstance(check, Database) and check.expected]
        return [name for check in checks for name in surviving(check, evidence)]

    def _running(self) -> tuple[Episode, Engine]:
        if self._episode is None or self._engine is None:
            raise ResetNeeded("WebArenaEnv.step() before reset(); call reset(task) first")
        if self._episode.over:
            raise EpisodeOver("this episode has ended; reset or close")
        return self._episode, self._engine

    def _drop(self) -> None:
        """Forget the episode and its database."""
        episode, self._episode = self._episode, None
        if episode is not None:
            episode.db.close()


def read_action(text: str, parser: str) -> Act:
    """The act of an action text, or of a whole reply that has one between fences."""
    fenced = "```" in text
    if not fenced and parser == "original":
        return parse(text, parser)
    found = extract(text, parser)
    if found.reason and fenced:
        return Act(verb=Verb.NONE, error=found.reason)
    return parse(found.action or text, parser)


async def _acting(observation: str, plan: Any) -> AsyncGenerator[Action, StepResult]:
    steps = solve(observation, plan)
    text = next(steps, None)
    while text is not None:
        result = yield Action(text=text)
        try:
            text = steps.send(result.observation)
        except StopIteration:
            return
