"""An episode as the conversation that it was."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agentenv.agents.parse import NO_FUNCTIONS, written
from agentenv.agents.prompts import load_format, opening_of
from agentenv.functions import FunctionTable
from agentenv.registry import get_spec
from agentenv.trajectory import Trajectory, Turn

Message = dict[str, Any]


def heard_and_said(trajectory: Trajectory, style: str | None = None) -> list[tuple[list[Message], Message]]:
    """By turn: the messages that were added before the reply, and the reply.

    A script says nothing but its action. With a `style`, a format's name, it is given the opening that a model gets,
    and writes its actions as a model would.
    """
    pairs = [_pair(turn, trajectory, style) for turn in trajectory.turns]
    if style is not None and pairs and trajectory.turns[0].messages is None:
        pairs[0] = ([*_opening(trajectory, style), *pairs[0][0]], pairs[0][1])
    return pairs


def messages_of(trajectory: Trajectory, style: str | None = None) -> list[Message]:
    """The whole conversation, which ends with the last reply."""
    return [message for heard, said in heard_and_said(trajectory, style) for message in (*heard, said)]


def text_of(message: Message) -> str:
    """A message's text; parts that are none are named."""
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(
            str(p.get("text", f"[{p.get('type')}]")) if isinstance(p, Mapping) else str(p) for p in content
        )
    return "" if content is None else str(content)


def calls_of(message: Message) -> list[dict[str, Any]]:
    """Calls of functions in a reply: id, name and arguments."""
    found = []
    for number, call in enumerate(message.get("tool_calls") or ()):
        function = call.get("function") or {}
        found.append(
            {
                "id": str(call.get("id") or number),
                "name": str(function.get("name") or ""),
                "arguments": _arguments(function.get("arguments")),
            }
        )
    return found


def _arguments(said: Any) -> dict[str, Any]:
    """An object; what a model wrote in place of one is kept as text."""
    try:
        read = json.loads(said) if isinstance(said, str) else said
    except ValueError:
        read = None
    return read if isinstance(read, dict) else {"text": said}


def _pair(turn: Turn, trajectory: Trajectory, style: str | None) -> tuple[list[Message], Message]:
    if turn.messages:
        return turn.messages[:-1], turn.messages[-1]
    text = turn.action
    if style is not None:
        form = load_format(style)
        functions = FunctionTable.of(get_spec(trajectory.env).functions) if form.call else NO_FUNCTIONS
        text = written(turn.action, form, functions)
    return [{"role": "user", "content": turn.observation}], {"role": "assistant", "content": text}


def _opening(trajectory: Trajectory, style: str) -> list[Message]:
    """What a model is told first; what is put into its mouth there is not to be learned."""
    messages: list[Message] = [*opening_of(get_spec(trajectory.env), style).prompt.messages]
    return [{**message, "weight": 0} if message["role"] == "assistant" else message for message in messages]
