"""What a refusal means: tables of codes and words, since every endpoint says it in its own way.

Adding one: a line in a table here and a line in the test that lists real messages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from agentenv.endpoint.replies import Answer, Failure
from agentenv.policy import Message

Payload = dict[str, Any]


class Verdict(StrEnum):
    """What to do about a failure."""

    CONTEXT_FULL = "context_full"  # the conversation has outgrown the model
    REFUSED = "refused"  # a content filter or the model itself
    RETRY = "retry"  # the same request may work later
    FATAL = "fatal"  # it will not


CONTEXT_CODES = frozenset(
    {
        "context_length_exceeded",  # OpenAI, Azure
        "exceed_context_size_error",  # llama.cpp
        "string_above_max_length",  # OpenAI
        "model_max_prompt_tokens_exceeded",  # GitHub
    }
)
CONTEXT_WORDS = re.compile(
    r"context[ _]length[ _]exceeded"
    r"|maximum context length"  # OpenAI, vLLM, OpenRouter
    r"|exceeds? the (?:available )?context (?:size|window|length)"  # llama.cpp, OpenAI
    r"|prompt is too long"  # Anthropic
    r"|input is too long"  # Bedrock, SGLang
    r"|maximum prompt length"  # xAI
    r"|input token count.{0,80}exceeds"  # Gemini
    r"|reduce the length of the (?:messages|prompt|input)"  # Groq
    r"|greater than the context length"  # LM Studio
    r"|longer than the model's (?:maximum )?context"  # SGLang
    r"|context window exceeds limit"  # MiniMax
    r"|exceeded model token limit"  # Moonshot
    r"|tokens \+ .?max_new_tokens.? must be",  # text-generation-inference
    re.IGNORECASE,
)
FILTER_CODES = frozenset({"content_filter", "content_policy_violation", "responsibleaipolicyviolation"})
FILTER_WORDS = re.compile(
    r"content (?:management |usage )?policy|content filter|safety system|was flagged|violat\w+ .{0,40}policy",
    re.IGNORECASE,
)
FILTER_FINISHES = frozenset({"content_filter", "refusal"})
NO_CREDIT_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
RETRY_STATUSES = frozenset({200, 408, 409, 425, 429, *range(500, 600)})
"""200 with an error or without an answer is a fault of a gateway."""

_NOT_SUPPORTED = re.compile(
    r"unsupported|(?:not|n't) (?:be )?(?:support|allow|permit|accept)|only the default|deprecated|unrecognized"
    r"|unknown|unexpected|extra (?:inputs|fields)|cannot be (?:set|used)|not enabled",
    re.IGNORECASE,
)


def _is_about(failure: Failure, name: str) -> bool:
    """Whether a refusal says that the endpoint does not take the parameter `name` (not that its value is bad)."""
    named = failure.param == name or re.search(rf"\b{name}\b", failure.words) is not None
    return named and _NOT_SUPPORTED.search(f"{failure.code} {failure.words}") is not None


def _wants_new_limit(failure: Failure) -> bool:
    return "max_completion_tokens" in failure.words or _is_about(failure, "max_tokens")


def _refuses_system_role(failure: Failure) -> bool:
    return (
        re.search(
            r"system role|role.{0,20}system|system (?:message|prompt|instruction)s?\b.{0,40}(?:not|n't)"
            r"|developer instruction is not enabled|only user and assistant roles",
            failure.words,
            re.IGNORECASE,
        )
        is not None
    )


def _new_limit(payload: Payload) -> Payload:
    renamed = dict(payload)
    if "max_tokens" in renamed:
        renamed["max_completion_tokens"] = renamed.pop("max_tokens")
    return renamed


def _without(name: str) -> Callable[[Payload], Payload]:
    return lambda payload: {k: v for k, v in payload.items() if k != name}


def _without_system_role(payload: Payload) -> Payload:
    return {**payload, "messages": fold_system(payload["messages"])}


def fold_system(messages: Sequence[Message]) -> list[Message]:
    """The conversation with its system messages put in front of the first user message."""
    system = [str(m["content"]) for m in messages if m["role"] == "system"]
    others = [m for m in messages if m["role"] != "system"]
    if not system:
        return others
    if not others or others[0]["role"] != "user":
        return [{"role": "user", "content": "\n\n".join(system)}, *others]
    first = {**others[0], "content": "\n\n".join([*system, str(others[0]["content"])])}
    return [first, *others[1:]]


@dataclass(frozen=True, slots=True)
class Adaptation:
    """A change of every further request that makes an endpoint accept it."""

    applies: Callable[[Payload], bool]
    """Whether the payload has what the endpoint refuses."""
    asked_for: Callable[[Failure], bool]
    change: Callable[[Payload], Payload]


ADAPTATIONS: Mapping[str, Adaptation] = {
    "max_completion_tokens": Adaptation(lambda p: "max_tokens" in p, _wants_new_limit, _new_limit),
    "no_temperature": Adaptation(
        lambda p: "temperature" in p, lambda f: _is_about(f, "temperature"), _without("temperature")
    ),
    "no_seed": Adaptation(lambda p: "seed" in p, lambda f: _is_about(f, "seed"), _without("seed")),
    "no_parallel_tool_calls": Adaptation(
        lambda p: "parallel_tool_calls" in p,
        lambda f: _is_about(f, "parallel_tool_calls"),
        _without("parallel_tool_calls"),
    ),
    "no_system_role": Adaptation(
        lambda p: any(m["role"] == "system" for m in p["messages"]), _refuses_system_role, _without_system_role
    ),
}
"""By the name under which it is noted in records."""


def adaptation_for(failure: Failure, payload: Payload) -> str | None:
    """The adaptation that a refusal of `payload` asks for, if any."""
    if failure.status in (401, 403, 404, 429):
        return None
    for name, adaptation in ADAPTATIONS.items():
        if adaptation.applies(payload) and adaptation.asked_for(failure):
            return name
    return None


def is_context_full(failure: Failure) -> bool:
    """Whether the endpoint says, in whatever words, that the conversation is too long for the model."""
    if failure.status in (401, 403, 404, 429):
        return False
    return failure.code in CONTEXT_CODES or CONTEXT_WORDS.search(failure.words) is not None


def verdict_on(failure: Failure) -> Verdict:
    """What a refusal means."""
    if is_context_full(failure):
        return Verdict.CONTEXT_FULL
    if failure.code.lower() in FILTER_CODES or (failure.status in (400, 403) and FILTER_WORDS.search(failure.words)):
        return Verdict.REFUSED
    if failure.code in NO_CREDIT_CODES:
        return Verdict.FATAL
    return Verdict.RETRY if failure.status in RETRY_STATUSES else Verdict.FATAL


def refuses_tools(failure: Failure) -> bool:
    """Whether the endpoint says that this model, or it as it was started, has no calls of functions."""
    if failure.status in (401, 403, 429):
        return False
    return (
        re.search(r"\btools?\b|tool[-_ ]?(?:choice|call|use)|function[-_ ]call", failure.words, re.IGNORECASE)
        is not None
    )


def is_refusal(answer: Answer) -> bool:
    """Whether an answer is no answer: a filter stopped it, or the model declined in the field made for that."""
    return answer.finish_reason in FILTER_FINISHES or bool(answer.refusal and not answer.content)
