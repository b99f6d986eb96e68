"""Reading what an endpoint answers. Nothing in it is trusted: every field is looked for, checked and bounded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from agentenv.errors import BadRequest
from agentenv.policy import ToolCall
from agentenv.wire import decode

MAX_REPLY_BYTES = 8 * 1024 * 1024
MAX_CALLS = 20
"""Calls of one answer that are read."""
MAX_WORDS = 500
"""Characters of an endpoint's own words that are quoted."""

_DECODER: msgspec.json.Decoder[Any] = msgspec.json.Decoder()


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An endpoint's refusal, in its own words."""

    status: int
    """Of HTTP; 200 when the body is an error all the same."""
    words: str
    code: str = ""
    param: str = ""

    def __str__(self) -> str:
        return f"HTTP {self.status}: {self.words}" if self.words else f"HTTP {self.status}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A chat completion."""

    content: str
    """As the model gave it; empty when it gave none."""
    reasoning: str = ""
    """What the endpoint keeps apart from the content."""
    refusal: str = ""
    finish_reason: str = ""
    model: str = ""
    """What the endpoint calls the model that answered."""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    tool_calls: tuple[ToolCall, ...] = ()


def read_reply(status: int, body: bytes) -> Answer | Failure:
    """The answer or the refusal in a reply; a body that is neither is a Failure that says so."""
    value = _json(body)
    if value is None:
        value = _first_event_error(body)
    error = _error_in(value)
    if error is not None:
        return _failure(status, error)
    if status != 200:
        return Failure(status=status, words=_quote(body) if value is None else _quote(msgspec.json.encode(value)))
    choice = _first(_mapping(value).get("choices"))
    message = choice.get("message")
    if not isinstance(message, Mapping):
        return Failure(status=status, words=f"no choices[0].message in the reply: {_quote(body)}")
    return _answer(_mapping(value), choice, message)


def model_names(body: bytes) -> dict[str, int | None]:
    """The models of a GET /models, each with its context in tokens where the endpoint tells it."""
    entries = _mapping(_json(body)).get("data")
    names: dict[str, int | None] = {}
    for entry in entries if isinstance(entries, list) else []:
        fields = _mapping(entry)
        if isinstance(name := fields.get("id"), str):
            meta = _mapping(fields.get("meta"))
            sizes = (fields.get("max_model_len"), fields.get("context_length"), meta.get("n_ctx"))
            names[_printable(name)] = next((s for s in map(_count, sizes) if s), None)
    return names


def _answer(value: Mapping[str, Any], choice: Mapping[str, Any], message: Mapping[str, Any]) -> Answer:
    usage = _mapping(value.get("usage"))
    return Answer(
        content=_content(message.get("content")),
        reasoning=_text(message.get("reasoning_content")) or _text(message.get("reasoning")),
        refusal=_text(message.get("refusal")),
        finish_reason=_text(choice.get("finish_reason"))[:MAX_WORDS],
        model=_printable(_text(value.get("model"))),
        prompt_tokens=_count(usage.get("prompt_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        reasoning_tokens=_count(_mapping(usage.get("completion_tokens_details")).get("reasoning_tokens")),
        cached_tokens=_count(_mapping(usage.get("prompt_tokens_details")).get("cached_tokens")),
        tool_calls=_calls(message),
    )


def _calls(message: Mapping[str, Any]) -> tuple[ToolCall, ...]:
    """The calls of a message; those that name no function are left out."""
    listed = message.get("tool_calls")
    calls = [_mapping(item) for item in listed[:MAX_CALLS]] if isinstance(listed, list) else []
    found = []
    for number, call in enumerate(calls):
        function = _mapping(call.get("function"))
        arguments = function.get("arguments")
        if name := _text(function.get("name")):
            text = arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()
            found.append(ToolCall(id=_text(call.get("id")) or f"call_{number}", name=name[:MAX_WORDS], arguments=text))
    return tuple(found)


def _failure(status: int, error: Any) -> Failure:
    """OpenAI's `{"error": {"message", "code", "param"}}` and the shapes of those who nearly do the same."""
    if isinstance(error, str):
        return Failure(status=status, words=_printable(error))
    fields = _mapping(error)
    code = fields.get("code")
    if status == 200 and isinstance(code, int) and 400 <= code < 600:
        status = code  # the true status travels inside
    words = _text(fields.get("message")) or _quote(msgspec.json.encode(error))
    kind = code if isinstance(code, str) else fields.get("type")
    return Failure(status=status, words=_printable(words), code=_text(kind), param=_text(fields.get("param")))


def _error_in(value: Any) -> Any:
    """The error of a body, of its first choice, or of a FastAPI `detail`; None where there is none."""
    fields = _mapping(value)
    for found in (fields.get("error"), _first(fields.get("choices")).get("error")):
        if found:
            return found
    if fields.get("object") == "error":
        return fields
    if "choices" in fields:
        return None
    detail = fields.get("detail") or fields.get("message")
    return detail if isinstance(detail, str | Mapping) else None


def _first_event_error(body: bytes) -> Any:
    """A body of server-sent events, though no stream was asked for: its first event that is an error."""
    for line in body.splitlines():
        if line.startswith((b"data:", b"error:")):
            event = _json(line.partition(b":")[2])
            if line.startswith(b"error:"):
                return {"error": event if event is not None else _quote(line)}
            if _error_in(event) is not None:
                return event
    return None


def _json(body: bytes) -> Any:
    try:
        return decode(body, _DECODER)
    except (BadRequest, RecursionError):
        return None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _first(value: Any) -> Mapping[str, Any]:
    return _mapping(value[0]) if isinstance(value, list) and value else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _content(value: Any) -> str:
    """Plain text, or the text parts of a list."""
    if isinstance(value, list):
        return "".join(_text(_mapping(part).get("text")) for part in value)
    return _text(value)


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 2**53 else None


def _quote(body: bytes) -> str:
    return _printable(" ".join(body[: 4 * MAX_WORDS].decode("utf-8", "replace").split()))


def _printable(text: str) -> str:
    """The beginning of an endpoint's words, without what a terminal would take for a command."""
    return "".join(char if char.isprintable() or char == "\n" else "?" for char in text[:MAX_WORDS])
