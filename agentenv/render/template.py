"""A chat template as text: conversations rendered with the contents left out, and what a template does told from it."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agentenv.errors import BadCall
from agentenv.policy import Message
from agentenv.render.escape import ChatTokenizer, Skeleton

Holes = Callable[[Message], Sequence[tuple[int, int]]]
"""Which parts of a message's content the template must not see: start and end of each."""


class ChatTemplate:
    """Renders conversations. Whatever the clock says, its date is the one it was given."""

    def __init__(self, tokenizer: ChatTokenizer, *, date: str, options: Mapping[str, Any]) -> None:
        if not tokenizer.chat_template:
            raise BadCall("this tokenizer has no chat template; give its folder a chat_template.jinja")
        try:
            day = datetime.date.fromisoformat(date)
        except ValueError as exc:
            raise BadCall(f"date must look like 2025-01-31, not {date!r}") from exc
        self._tokenizer = tokenizer
        self._given = {"date_string": day.strftime("%d %b %Y"), "strftime_now": day.strftime, **options}

    @property
    def source(self) -> str:
        """The template itself."""
        return str(self._tokenizer.chat_template)

    def text(self, messages: Sequence[Message], *, generate: bool) -> str:
        """What the template makes of a conversation; `generate`: with the header of the model's next turn."""
        import jinja2

        try:
            text = self._tokenizer.apply_chat_template(
                [dict(m) for m in messages], tokenize=False, add_generation_prompt=generate, **self._given
            )
        except jinja2.TemplateError as exc:
            roles = ", ".join(str(m.get("role")) for m in messages)
            raise BadCall(f"the chat template refuses a conversation of {roles}: {exc}") from exc
        return str(text)

    def skeleton(self, messages: Sequence[Message], *, generate: bool, holes: Holes) -> Skeleton:
        """The rendered conversation with holes where contents were. BadCall when the template drops or moves one."""
        for message in messages:
            check(message)
        word = _unused_word(messages)
        marks: list[str] = []
        contents: list[str] = []
        masked = []
        for message in messages:
            text, at, parts = str(message["content"]), 0, []
            for start, end in holes(message):
                parts += [text[at:start], f"{word}{len(marks)}."]
                marks.append(parts[-1])
                contents.append(text[start:end])
                at = end
            masked.append({"role": message["role"], "content": "".join([*parts, text[at:]])})
        return Skeleton(_split(self.text(masked, generate=generate), marks), tuple(contents))


def check(message: Message) -> None:
    """BadCall unless it is a role and a text, and nothing else."""
    unknown = sorted(set(message) - {"role", "content"})
    if unknown or not isinstance(message.get("content"), str) or not isinstance(message.get("role"), str):
        extra = f", without {', '.join(unknown)}" if unknown else ""
        raise BadCall(f"only messages of a role and a text can be rendered{extra}; got {str(dict(message))[:200]}")


def whole(message: Message) -> list[tuple[int, int]]:
    """All of a content but the blanks around it, which the template may trim."""
    text = str(message["content"])
    core = text.strip()
    if not core:
        return []
    start = text.index(core)
    return [(start, start + len(core))]


def _unused_word(messages: Sequence[Message]) -> str:
    """A word that stands in none of the contents."""
    number = 0
    while any(f"Content{number}n" in str(m["content"]) for m in messages):
        number += 1
    return f"Content{number}n"


def _split(text: str, marks: Sequence[str]) -> tuple[str, ...]:
    """The text around the marks; each must stand there once and in order."""
    texts = []
    rest = text
    for number, mark in enumerate(marks):
        before, found, rest = rest.partition(mark)
        if not found:
            what = "moves" if mark in text else "drops"
            raise BadCall(f"the chat template {what} the content of a message (number {number + 1} of {len(marks)})")
        texts.append(before)
    if any(mark in part for part in [*texts, rest] for mark in marks):
        raise BadCall("the chat template repeats the content of a message")
    return (*texts, rest)
