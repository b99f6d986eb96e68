"""Episodes to imitate, with tokens: played by a scripted solution, or read from records.

The action of a script becomes the completion that a model would have sampled: its text in the run's format, rendered
and ended by the one renderer. So a demonstration is an ordinary record, masks and all.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from agentenv.agents.base import Agent, AgentSpec, Move, Seat
from agentenv.agents.parse import NO_FUNCTIONS, written
from agentenv.agents.prompts import load_format
from agentenv.agents.tokens import token_agent
from agentenv.env import Env
from agentenv.errors import BadCall, EpisodeCut
from agentenv.functions import FunctionTable
from agentenv.policy import Sampled, Sampling
from agentenv.pool import EnvPool
from agentenv.protocol import Action, Outcome, StepResult, Task
from agentenv.registry import EnvSpec, find_task, get_spec
from agentenv.render import Renderer
from agentenv.rollout import rollout
from agentenv.trajectory import Trajectory, Turn, read_jsonl
from trainers.settings import BadSetting
from trainers.sft.config import DemonstrationSettings

UNBOUNDED = 2**31


class Dictated:
    """An Engine that says what it is told next; log-probabilities are 0, for nothing was sampled."""

    version = 0
    context_tokens = UNBOUNDED

    def __init__(self, renderer: Renderer) -> None:
        self._renderer = renderer
        self.next = ""

    async def generate(self, prompt_ids: Sequence[int], sampling: Sampling) -> Sampled:
        """The next text as the ids of a whole turn."""
        ids = self._renderer.reply(self.next)
        return Sampled(token_ids=ids, logprobs=[0.0] * len(ids), finish_reason="stop", policy_version=0)

    async def score(self, token_ids: Sequence[int], start: int, temperature: float = 1.0) -> list[float]:
        """Nothing was sampled."""
        return [0.0] * (len(token_ids) - start)

    async def push(self, weights: object, version: int) -> None:
        """There are no weights."""

    async def close(self) -> None:
        """Nothing to free."""


class Demonstrator:
    """Plays the scripted solution. A shadow of the environment says what to do, so that the script may begin anew after
    a random action; it needs an environment whose `solve()` plans from where it stands.
    """

    def __init__(self, spec: EnvSpec, settings: DemonstrationSettings, renderer: Renderer) -> None:
        self._spec, self._settings = spec, settings
        self._form = load_format(settings.format)
        self._functions = FunctionTable.of(spec.functions) if self._form.call else NO_FUNCTIONS
        self._engine = Dictated(renderer)
        tokens = token_agent(
            self._engine,
            renderer,
            format=settings.format,
            max_prompt_tokens=UNBOUNDED,  # what is over `data.max_tokens` is left out whole, never cut
            max_episode_tokens=UNBOUNDED,
        )
        self._inner: Agent = tokens.make()
        self._shadow = cast(Env, spec.make(settings.options))
        self._script: Generator[Action, StepResult, None] | None = None

    async def start(self, seat: Seat) -> None:
        """See Agent."""
        await self._inner.start(seat)
        tasks = self._spec.task_set(self._settings.options)
        self._task: Task = find_task(self._spec, tasks, seat.task.id)
        self._rng: random.Random = seat.rng
        self._shadow.steps = 0
        self._shadow.last = self._shadow.reset(self._task)

    async def act(self, observation: str) -> Move:
        """See Agent."""
        action = self._next()
        self._engine.next = written(action.text, self._form, self._functions)
        move = await self._inner.act(observation)
        if move.action.text != action.text:
            raise BadCall(f"the format {self._settings.format!r} reads {action.text!r} back as {move.action.text!r}")
        self._shadow.last = self._shadow.step(action)
        self._shadow.steps += 1
        return move

    def _next(self) -> Action:
        if self._rng.random() < self._settings.noise:
            actions = self._shadow.available_actions()
            if not actions:
                raise BadCall(f"data.noise: the actions of {self._spec.id} have no bound to draw from")
            self._script = None
            return Action(text=self._rng.choice(actions))
        try:
            if self._script is None:
                self._script = self._shadow.solve(self._task)
                return next(self._script)
            return self._script.send(self._shadow.last)
        except StopIteration:
            raise EpisodeCut(Outcome.AGENT_ERROR, "the scripted solution does not go on from here") from None


async def demonstrate(spec: EnvSpec, settings: DemonstrationSettings, renderer: Renderer) -> list[Trajectory]:
    """The scripted solution's episodes of the first `tasks` of the split, in their order."""
    agent = AgentSpec(
        name="demonstrator",
        describe={"name": "demonstrator", "noise": settings.noise, "format": settings.format},
        make=lambda: Demonstrator(spec, settings, renderer),
    )
    async with EnvPool(spec.id, options=settings.options, max_steps=settings.max_steps) as pool:
        return await rollout(pool, await pool.task_refs(settings.split, settings.tasks), agent)


def read(settings: DemonstrationSettings, renderer: Renderer) -> list[Trajectory]:
    """The records of `data.files`, with tokens; those that have none are rendered from their messages or actions."""
    found: list[Trajectory] = []
    for name in settings.files:
        try:
            found += [with_tokens(record, settings, renderer) for record in read_jsonl(Path(name))]
        except OSError as exc:
            raise BadSetting(f"data.files: cannot read {name}: {exc.strerror}") from exc
    return found


def with_tokens(record: Trajectory, settings: DemonstrationSettings, renderer: Renderer) -> Trajectory:
    """The record with the tokens of each turn; unchanged where it has those of this vocabulary.

    A turn's `messages` are taken as they were; a scripted turn has none, and becomes observation and action. A turn
    whose last message has `weight` 0 is not imitated: what was said there is part of the next turn's prompt.
    """
    if _has_tokens(record, renderer):
        return record
    form = load_format(settings.format)
    functions = FunctionTable.of(get_spec(record.env).functions) if form.call else NO_FUNCTIONS
    turns: list[Turn] = []
    added: list[int] = []  # since the last turn that is imitated
    carried: list[dict[str, Any]] = []
    last: list[int] | None = None
    for turn in record.turns:
        messages = turn.messages or [
            {"role": "user", "content": turn.observation},
            {"role": "assistant", "content": written(turn.action, form, functions)},
        ]
        untrained = messages[-1].get("weight") == 0
        *heard, said = plain = [{k: v for k, v in message.items() if k != "weight"} for message in messages]
        added += renderer.prompt(heard) if last is None else renderer.extend(heard, after=last)
        carried += plain
        last = renderer.reply(str(said["content"]))
        if untrained:
            added += last
            continue
        turns.append(
            replace(
                turn,
                messages=carried if turn.messages else None,
                prompt_ids=added,
                fresh=not turns,
                token_ids=last,
                logprobs=[0.0] * len(last),
                policy_version=0,
            )
        )
        added, carried = [], []
    return replace(record, turns=turns)


def _has_tokens(record: Trajectory, renderer: Renderer) -> bool:
    """Whether its ids are this tokenizer's; another model's mean something else here."""
    if not all(turn.token_ids is not None and turn.logprobs is not None for turn in record.turns):
        return False
    described = record.agent.get("renderer")
    known = described.get("vocabulary") if isinstance(described, Mapping) else None
    return bool(known == renderer.describe()["vocabulary"])


def chosen(records: Sequence[Trajectory], settings: DemonstrationSettings) -> tuple[list[Trajectory], dict[str, int]]:
    """The records that are imitated, and how many were left out by reason."""
    kept: list[Trajectory] = []
    left: dict[str, int] = {}
    for record in records:
        reason = _reason(record, settings)
        if reason:
            left[reason] = left.get(reason, 0) + 1
        else:
            kept.append(record)
    if not kept:
        why = ", ".join(f"{n} {reason}" for reason, n in left.items()) or "there were none"
        raise BadCall(f"no episode is left to imitate: {why}")
    return kept, left


def _reason(record: Trajectory, settings: DemonstrationSettings) -> str:
    if not record.turns:
        return "without a turn"
    if not record.outcome.valid or record.outcome is Outcome.AGENT_ERROR:
        return f"ended as {record.outcome.value}"
    if settings.successes_only and not record.success:
        return "without success"
    if settings.min_reward is not None and record.reward < settings.min_reward:
        return "under data.min_reward"
    size = sum(len(t.prompt_ids or ()) + len(t.token_ids or ()) for t in record.turns)
    return "over data.max_tokens" if size > settings.max_tokens else ""
