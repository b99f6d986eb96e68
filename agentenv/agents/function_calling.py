"""A model whose endpoint has calls of functions of its own: it is shown the env's functions, one call is one action.

Where the endpoint has none, the functions stand in the prompt and the call is a JSON object (`React` with the format
`function_calling`). Which of the two it is, one small request finds out before the first turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from agentenv.agents.base import Agent, AgentSpec, Move, Seat
from agentenv.agents.call_json import arguments_of
from agentenv.agents.conversation import Bounds, Conversation
from agentenv.agents.parse import MAX_MALFORMED, Parsed, parse, refusal
from agentenv.agents.prompts import opening_of
from agentenv.agents.react import React, described
from agentenv.functions import Call, FunctionTable, Refused
from agentenv.policy import Completion, Message, Policy, ToolCall
from agentenv.protocol import Action, digest_of
from agentenv.registry import EnvSpec

FORMAT = "function_calling"
NO_CALL = "there is no call; call exactly one of your tools"
NOT_MADE = "(not made: one call a turn)"


class ToolPolicy(Policy, Protocol):
    """A policy that can show functions to its model."""

    async def complete(
        self, messages: Sequence[Message], *, seed: int | None = None, tools: Sequence[Mapping[str, Any]] = ()
    ) -> Completion:
        """See Policy; `tools` as OpenAI's endpoints take them."""

    async def takes_tools(self) -> bool:
        """Whether the model answers with calls when it is given tools; asks once."""


class FunctionCalling:
    """One episode."""

    def __init__(self, policy: ToolPolicy, bounds: Bounds, native: bool | None = None) -> None:
        """`native`: None finds out."""
        self._policy, self._bounds, self._native = policy, bounds, native
        self._agent: Agent | None = None

    async def start(self, seat: Seat) -> None:
        """Find out how the model makes calls, and open the conversation that way."""
        native = await self._policy.takes_tools() if self._native is None else self._native
        self._tools = "native" if native else "prompt"
        self._agent = _Native(self._policy, self._bounds) if native else React(self._policy, self._bounds, FORMAT)
        await self._agent.start(seat)

    async def act(self, observation: str) -> Move:
        """See Agent."""
        assert self._agent is not None
        move = await self._agent.act(observation)
        return replace(move, notes={**move.notes, "tools": self._tools})


class _Native:
    """The endpoint's own calls."""

    def __init__(self, policy: ToolPolicy, bounds: Bounds) -> None:
        self._policy, self._bounds = policy, bounds
        self._made: Sequence[ToolCall] = ()

    async def start(self, seat: Seat) -> None:
        self._opening = opening_of(seat.spec, FORMAT, native_tools=True)
        self._functions = FunctionTable.of(seat.spec.functions)
        self._tools = self._functions.tools()
        self._conversation = Conversation(self._policy, self._bounds, seat, self._opening.prompt.messages)

    async def act(self, observation: str) -> Move:
        completion, added = await self._conversation.ask(self._answers(observation), tools=self._tools)
        self._made = completion.tool_calls
        action, notes = self._read(completion)
        return Move(action=action, completion=completion, messages=added, notes=notes)

    def _answers(self, observation: str) -> list[dict[str, Any]]:
        """The observation as the endpoint wants it: every call that was made must be answered."""
        if not self._made:
            return [{"role": "user", "content": observation}]
        texts = [observation, *[NOT_MADE] * (len(self._made) - 1)]
        return [
            {"role": "tool", "tool_call_id": call.id, "content": text}
            for call, text in zip(self._made, texts, strict=True)
        ]

    def _read(self, completion: Completion) -> tuple[Action, dict[str, Any]]:
        calls, cut = completion.tool_calls, completion.finish_reason == "length"
        if not calls:  # some models write the call into their answer now and then
            parsed = parse(completion.text, self._opening.format, functions=self._functions)
            if parsed.reason is not None and completion.text.strip():
                parsed = Parsed(reason=NO_CALL)
            return parsed.as_action(completion.text), {"extra_text": True} if parsed.extra_text else {}
        try:
            if len(calls) > 1:
                raise Refused(f"there are {len(calls)} calls; make exactly one")
            call = Call(name=calls[0].name, arguments=arguments_of(calls[0].name, calls[0].arguments))
            return Action(text=self._functions.action(call)), {}
        except Refused as reason:
            made = "\n".join(f"{call.name}({call.arguments})" for call in calls)
            return Action(text=made[:MAX_MALFORMED], malformed=refusal(reason, cut=cut)), {}


def function_calling_over(policy: ToolPolicy, bounds: Bounds | None = None, *, native: bool | None = None) -> AgentSpec:
    """The agent `function_calling` over a policy. `native`: whether its endpoint makes calls; None finds out."""
    bounds = bounds or Bounds()
    tools = {None: "auto", True: "native", False: "prompt"}[native]
    return AgentSpec(
        name=FORMAT,
        describe={**described(FORMAT, FORMAT, policy, bounds), "tools": tools},
        make=lambda: FunctionCalling(policy, bounds, native),
        close=policy.close,
        prompt=lambda spec: _prompt(spec, native),
    )


def _prompt(spec: EnvSpec, native: bool | None) -> dict[str, str]:
    """What identifies the words of the opening; both, where the endpoint decides."""
    shown, written = (opening_of(spec, FORMAT, native_tools=tools).describe() for tools in (True, False))
    if native is not None:
        return shown if native else written
    return {**shown, "digest": digest_of([shown["digest"], written["digest"]])}
