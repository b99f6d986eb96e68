"""Agents over an engine of this process: the conversation is kept as token ids, exactly as the engine saw them.

One `TokenPolicy` speaks in one episode. What it sampled is never tokenised again: each prompt is the ids so far and
the ids that the renderer adds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from agentenv.agents.base import AgentSpec
from agentenv.agents.conversation import Bounds
from agentenv.agents.prompts import opening_of
from agentenv.agents.react import React, described
from agentenv.errors import BadCall, EpisodeCut
from agentenv.policy import Completion, Engine, Message, Sampled, Sampling
from agentenv.protocol import Outcome, digest_of
from agentenv.reasoning import split_reasoning
from agentenv.render import Renderer, prefix_break, prompt_hash

SEED_BITS = 60
"""Fits every engine's seed."""


def sampling_seed(*, run_seed: int, step: int, task: str, member: int, attempt: int, turn: int) -> int:
    """The seed of one request of a training run: fixed by what it is for, whenever and wherever it is sent."""
    return int(digest_of([run_seed, step, task, member, attempt, turn])[: SEED_BITS // 4], 16)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Prompt:
    """The next prompt."""

    ids: list[int]
    """All of it."""
    added: list[int]
    """What follows the last sampled token; all of it when fresh."""
    fresh: bool
    broke_at: int | None = None
    """Position at which the template wrote earlier tokens otherwise."""


class TokenPolicy:
    """The policy of one episode: messages in, ids to the engine, text out."""

    def __init__(
        self,
        engine: Engine,
        renderer: Renderer,
        sampling: Sampling,
        *,
        max_prompt_tokens: int,
        max_episode_tokens: int,
        max_turn_tokens: int | None = None,
        model: str = "",
        seed_of: Callable[[int], int] | None = None,
    ) -> None:
        """`max_turn_tokens`: None takes `sampling.max_tokens`. `seed_of`: the seed of a turn, counted from 0.

        `model` names what the engine runs, for records.
        """
        self._engine, self._renderer, self._sampling = engine, renderer, sampling
        self._max_prompt, self._max_episode = max_prompt_tokens, max_episode_tokens
        self._max_turn = max_turn_tokens or sampling.max_tokens
        self._model, self._seed_of = model, seed_of
        self._turn = 0
        self._ids: list[int] = []
        self._last: list[int] = []
        self._heard: list[Message] = []
        """The conversation as the agent keeps it."""
        self._said: list[Message] = []
        """The same with our own completions whole, reasoning included."""

    def describe(self) -> dict[str, Any]:
        """Model, sampling, renderer and limits."""
        sampling = asdict(self._sampling)
        del sampling["seed"], sampling["max_tokens"]
        return {
            "model": self._model,
            "sampling": sampling,
            "renderer": self._renderer.describe(),
            "max_prompt_tokens": self._max_prompt,
            "max_episode_tokens": self._max_episode,
            "max_turn_tokens": self._max_turn,
        }

    async def complete(self, messages: Sequence[Message], *, seed: int | None = None) -> Completion:
        """Sample the next turn of the episode.

        BadCall: the opening is over `max_prompt_tokens`, or what was said before has changed under `append`.
        EpisodeCut `context_full`: no token more fits.
        """
        new = self._new(messages)
        prompt = self._prompt(new)
        room = self._room(len(prompt.ids))
        if self._seed_of is not None:
            seed = self._seed_of(self._turn)
        elif seed is None:
            seed = sampling_seed(
                run_seed=self._sampling.seed, step=0, task=prompt_hash(prompt.ids), member=0, attempt=0, turn=self._turn
            )
        began = time.monotonic()
        asked = replace(self._sampling, max_tokens=min(self._max_turn, room), seed=seed)
        sampled = await self._engine.generate(prompt.ids, asked)
        completion = self._completion(prompt, sampled, latency_s=time.monotonic() - began)
        self._grow(new, prompt, sampled, completion)
        return completion

    async def close(self) -> None:
        """Nothing to free: the engine belongs to whoever made it."""

    def _new(self, messages: Sequence[Message]) -> list[Message]:
        """The messages that came since our last completion; all of them when the history was rewritten."""
        known = len(self._heard)
        if list(messages[:known]) == self._heard:
            return list(messages[known:])
        if self._renderer.history == "append":
            raise BadCall("the agent changed what was said before; with history=append a conversation only grows")
        self._heard, self._said = [], []
        return list(messages)

    def _prompt(self, new: Sequence[Message]) -> _Prompt:
        if self._turn == 0:
            ids = self._renderer.prompt(new)
            self._check_opening(len(ids))
            return _Prompt(ids=ids, added=ids, fresh=True)
        if self._renderer.history == "append":
            added = self._renderer.extend(new, after=self._last)
            return _Prompt(ids=[*self._ids, *added], added=added, fresh=False)
        ids = self._renderer.prompt([*self._said, *new])
        broke_at = prefix_break(self._ids, ids)
        if broke_at is None:
            return _Prompt(ids=ids, added=ids[len(self._ids) :], fresh=False)
        return _Prompt(ids=ids, added=ids, fresh=True, broke_at=broke_at)

    def _check_opening(self, size: int) -> None:
        if size > self._max_prompt:
            raise BadCall(f"the opening has {size} tokens, over max_prompt_tokens={self._max_prompt}")
        if self._left(size) < 1:
            raise BadCall(
                f"the opening has {size} tokens and leaves no room for an answer: "
                f"max_episode_tokens={self._max_episode}, the engine's context is {self._engine.context_tokens}"
            )

    def _left(self, size: int) -> int:
        return min(self._max_episode, self._engine.context_tokens) - size

    def _room(self, size: int) -> int:
        """Tokens that may be sampled after a prompt of this size."""
        room = self._left(size)
        if room < 1:
            limit = min(self._max_episode, self._engine.context_tokens)
            raise EpisodeCut(Outcome.CONTEXT_FULL, f"the conversation has {size} tokens; the limit is {limit}")
        return room

    def _completion(self, prompt: _Prompt, sampled: Sampled, *, latency_s: float) -> Completion:
        raw = self._renderer.decode(sampled.token_ids)
        text, _ = split_reasoning(f"<think>{raw}" if self._renderer.facts.opens_thinking else raw)
        notes: dict[str, Any] = {"prompt_hash": prompt_hash(prompt.ids)}
        if sampled.finish_reason == "length":
            notes["cut"] = True
        if prompt.broke_at is not None:
            notes["broke_at"] = prompt.broke_at
        return Completion(
            text=text,
            raw=raw if raw != text else "",
            prompt_tokens=len(prompt.ids),
            completion_tokens=len(sampled.token_ids),
            finish_reason=sampled.finish_reason,
            latency_s=latency_s,
            prompt_ids=prompt.added,
            fresh=prompt.fresh,
            prompt_len=len(prompt.ids),
            token_ids=list(sampled.token_ids),
            logprobs=list(sampled.logprobs),
            policy_version=sampled.policy_version,
            notes=notes,
        )

    def _grow(self, new: Sequence[Message], prompt: _Prompt, sampled: Sampled, completion: Completion) -> None:
        self._turn += 1
        self._last = list(sampled.token_ids)
        self._ids = [*prompt.ids, *self._last]
        self._heard += [*new, {"role": "assistant", "content": completion.text}]
        self._said += [*new, {"role": "assistant", "content": completion.raw or completion.text}]


def token_agent(
    engine: Engine,
    renderer: Renderer,
    *,
    format: str = "react",
    sampling: Sampling | None = None,
    max_prompt_tokens: int = 1024,
    max_episode_tokens: int = 4096,
    max_turn_tokens: int | None = None,
    model: str = "",
    seed: int | None = None,
    seed_of: Callable[[int], int] | None = None,
) -> AgentSpec:
    """The agent `react` over an engine, with completions of `format`.

    Chance: `seed_of` gives the seed of each turn of *the one* episode that this agent plays; else `seed`, mixed with
    the episode's own, for any number of episodes. The engine is not closed with the agent.
    """
    bounds = Bounds(seed=None if seed_of is not None else seed or 0)

    def policy() -> TokenPolicy:
        return TokenPolicy(
            engine,
            renderer,
            sampling or Sampling(),
            max_prompt_tokens=max_prompt_tokens,
            max_episode_tokens=max_episode_tokens,
            max_turn_tokens=max_turn_tokens,
            model=model,
            seed_of=seed_of,
        )

    return AgentSpec(
        name="react",
        describe=described("react", format, policy(), bounds),
        make=lambda: React(policy(), bounds, format),
        prompt=lambda spec: opening_of(spec, format).describe(),
    )
