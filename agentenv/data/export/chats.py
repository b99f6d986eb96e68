"""Episodes as chats to be imitated: OpenAI's messages, and ShareGPT's conversations."""

from __future__ import annotations

import json
from typing import Any

from agentenv.data.export.conversation import Message, calls_of, messages_of, text_of
from agentenv.trajectory import Trajectory

SENDERS = {"system": "system", "user": "human", "assistant": "gpt", "tool": "observation"}
KEPT = ("role", "content", "name", "weight", "tool_calls", "tool_call_id")
"""What OpenAI's format for fine-tuning has in a message."""


def openai(trajectory: Trajectory, style: str | None = None) -> dict[str, Any]:
    """`{"messages": [...]}` and nothing else, as OpenAI's fine-tuning reads it; `weight` 0 is not learned."""
    return {"messages": [{k: m[k] for k in KEPT if k in m} for m in messages_of(trajectory, style)]}


def sharegpt(trajectory: Trajectory, style: str | None = None) -> dict[str, Any]:
    """`conversations` with from, value and loss, as AgentGym writes them, and what identifies the episode."""
    return {
        "conversations": [_said(message) for message in messages_of(trajectory, style)],
        "item_id": trajectory.task.id,
        "reward": trajectory.reward,
        "success": trajectory.success,
        "env": trajectory.env,
        "env_version": trajectory.env_version,
        "task_digest": trajectory.task.digest,
    }


def _said(message: Message) -> dict[str, Any]:
    role = str(message["role"])
    loss = message.get("weight") != 0 if role == "assistant" else None
    calls = calls_of(message)
    if calls:
        value = json.dumps([{"name": call["name"], "arguments": call["arguments"]} for call in calls])
        return {"from": "function_call", "value": value, "loss": loss}
    return {"from": SENDERS.get(role, role), "value": text_of(message), "loss": loss}
