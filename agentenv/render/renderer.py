"""Conversations to token ids: the one renderer of rollout, warm start, audit and evaluation of local checkpoints.

A conversation grows by appending: `prompt` opens it, the policy samples, `extend` gives the ids that follow the last
sampled token. What was sampled is never tokenised again.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from agentenv.errors import BadCall
from agentenv.policy import Message
from agentenv.protocol import digest_of
from agentenv.render.escape import ChatTokenizer, Encoder, Skeleton
from agentenv.render.template import ChatTemplate, whole

HISTORIES = ("append", "template")
DATE = "2025-01-01"
"""What templates that print a date are told, where the caller gives none."""

_USER = {"role": "user", "content": "one"}
_ANSWER = {"role": "assistant", "content": "two"}
_NEXT = {"role": "user", "content": "three"}
_SYSTEM = {"role": "system", "content": "zero"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateFacts:
    """What a chat template was found to do."""

    strips_thinking: bool
    """It leaves `<think>` blocks out of earlier turns: under `append` they stay, under `template` it splits."""
    opens_thinking: bool
    """Its generation header ends inside a `<think>` block."""
    default_system: str
    """System text of its own, where a conversation brings none."""
    system_refusal: str
    """Why a conversation with a system message cannot be rendered turn by turn; empty: it can."""
    unescapable: str
    """Why text of the environment can imitate its markers; empty: it cannot."""
    uses_date: bool


class Renderer:
    """One tokenizer and its chat template, made ready for conversations that grow token by token."""

    def __init__(
        self,
        tokenizer: ChatTokenizer,
        *,
        history: str = "append",
        date: str = DATE,
        eos_ids: Iterable[int] = (),
        vocab_size: int | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        """`eos_ids`: those of the model's generation config. `options`: variables of the template, by its names.

        `vocab_size`: of the model, where that is larger than the tokenizer's.
        BadCall names what in the template keeps it from being used turn by turn.
        """
        if history not in HISTORIES:
            raise BadCall(f"history must be one of {', '.join(HISTORIES)}, not {history!r}")
        self.history, self.date, self.options = history, date, dict(options or {})
        self.tokenizer = tokenizer
        self.vocab_size = max(1 + max(tokenizer.get_vocab().values()), vocab_size or 0)
        """Ids are below this; a model may know more of them than its tokenizer."""
        self._encoder = Encoder(tokenizer)
        self._template = ChatTemplate(tokenizer, date=date, options=self.options)
        self._end_text = self._find_end()
        self.turn_end = self._turn_end_ids()
        """What the template puts after the model's text, up to its first control token."""
        eos = {int(i) for i in eos_ids} | ({tokenizer.eos_token_id} if tokenizer.eos_token_id is not None else set())
        self.eos_ids = tuple(sorted(eos))
        """Of generation config and tokenizer."""
        ends = {self.turn_end[-1]} & self.control_ids if self.turn_end else set()
        self.stop_ids = tuple(sorted(eos | ends))
        """Sampling ends after any of these: EOS ids and the template's end of a turn."""
        self.facts = self._find_facts()

    @property
    def control_ids(self) -> frozenset[int]:
        """Ids of added tokens, which no text of an environment may become."""
        return self._encoder.control

    @property
    def special_ids(self) -> frozenset[int]:
        """Ids that `decode` leaves out (markers of reasoning excepted)."""
        return self._encoder.special

    def describe(self) -> dict[str, Any]:
        """What makes two renderers the same one."""
        return {
            "history": self.history,
            "date": self.date,
            "options": self.options,
            "template": digest_of([self._template.source])[:16],
            "vocabulary": self._vocabulary,
        }

    @cached_property
    def _vocabulary(self) -> str:
        return digest_of(self.tokenizer.get_vocab())[:16]

    def prompt(self, messages: Sequence[Message]) -> list[int]:
        """Ids of a whole conversation and the header of the model's next turn; contents are escaped.

        Under `append` every content is opaque to the template. Under `template` it sees what the model said before,
        and may leave parts of it out.
        """
        if self.facts.system_refusal and any(m.get("role") == "system" for m in messages):
            raise BadCall(f"{self.facts.system_refusal}; put the system text into the first user message")
        holes = whole if self.history == "append" else self._not_said
        return self._encoder.encode(self._template.skeleton(messages, generate=True, holes=holes), first=True)

    def extend(self, messages: Sequence[Message], *, after: Sequence[int]) -> list[int]:
        """Ids that follow the sampled ids `after` when `messages` come next: end of turn, messages, generation header.

        The end of the turn is left out where `after` already has it. Nothing here was sampled: mask 0 throughout.
        """
        skeleton = _behind(self._render([_USER, _ANSWER, *messages], generate=True), 2)
        rest = Skeleton((skeleton.texts[0].removeprefix(self._end_text), *skeleton.texts[1:]), skeleton.contents)
        return self.missing_end(after) + self._encoder.encode(rest)

    def missing_end(self, sampled: Sequence[int]) -> list[int]:
        """The template's end of a turn, or nothing where the sampled ids have it."""
        end = self.turn_end
        if not end or (sampled and sampled[-1] == end[-1] and end[-1] in self.control_ids):
            return []
        return [] if list(sampled[-len(end) :]) == end else list(end)

    def reply(self, text: str, *, ended: bool = True) -> list[int]:
        """Ids of an assistant's text as a policy would have sampled it, with its end of turn; for a warm start."""
        return self._encoder.encode_reply(text) + (list(self.turn_end) if ended else [])

    def decode(self, ids: Sequence[int]) -> str:
        """Text of sampled ids, special tokens left out, markers of reasoning kept."""
        return self._encoder.decode(ids)

    def show(self, ids: Sequence[int]) -> list[str]:
        """Each id's own text, for a reader."""
        decode = self.tokenizer.decode
        return [decode([i], skip_special_tokens=False, clean_up_tokenization_spaces=False) for i in ids]

    def encode_plain(self, text: str) -> list[int]:
        """Ids of a text of the environment alone; no control id is among them."""
        return self._encoder.encode_plain(text)

    def _render(self, messages: Sequence[Message], *, generate: bool) -> Skeleton:
        return self._template.skeleton(messages, generate=generate, holes=whole)

    def _not_said(self, message: Message) -> Sequence[tuple[int, int]]:
        """All that the model did not say; of what it said, what looks like special tokens."""
        return (
            self._encoder.special_spans(str(message["content"])) if message["role"] == "assistant" else whole(message)
        )

    # What the template does, found by rendering

    def _find_end(self) -> str:
        """Text between the model's content and the next message, up to and with the first control token.

        All of what stands behind a last turn where that has no control token.
        """
        first = self._delta([_USER, _ANSWER])
        later = self._delta([_USER, _ANSWER, _NEXT, _ANSWER])
        if first != later:
            raise BadCall(
                "the chat template writes a later turn differently from the first "
                f"({first.texts!r} and {later.texts!r}); conversations cannot grow by appending"
            )
        behind = first.texts[0]
        alone = _behind(self._render([_USER, _ANSWER], generate=False), 2).texts[0]
        shared = _common_prefix(behind, alone)
        return self._up_to_control(shared) if shared else ""

    def _delta(self, before: Sequence[Message]) -> Skeleton:
        return _behind(self._render([*before, _NEXT], generate=True), len(before))

    def _up_to_control(self, text: str) -> str:
        """The shortest beginning of `text` with a control token; all of it where there is none."""
        for end in range(1, len(text) + 1):
            ids = self._encoder.encode(Skeleton((text[:end],), ()))
            if ids and ids[-1] in self.control_ids:
                return text[:end]
        return text

    def _turn_end_ids(self) -> list[int]:
        return self._encoder.encode(Skeleton((self._end_text,), ())) if self._end_text else []

    def _find_facts(self) -> TemplateFacts:
        plain = self._render([_USER], generate=True)
        header = self._header(plain.texts[-1])
        source = self._template.source
        return TemplateFacts(
            strips_thinking=self._strips_thinking(),
            opens_thinking=header.rfind("<think>") > header.rfind("</think>"),
            default_system=self._default_system(plain.texts[0]),
            system_refusal=self._system_refusal(),
            unescapable=self._unescapable(),
            uses_date="strftime_now" in source or "date_string" in source,
        )

    def _header(self, behind_user: str) -> str:
        """The generation header alone: what `generate` adds."""
        return behind_user.removeprefix(self._render([_USER], generate=False).texts[-1])

    def _strips_thinking(self) -> bool:
        thinking = {"role": "assistant", "content": "<think>\nsecret\n</think>\n\ntwo"}
        return "secret" not in self._template.text([_USER, thinking, _NEXT], generate=True)

    def _default_system(self, opening: str) -> str:
        """What stands where a system message's text would, in a conversation without one."""
        try:
            before, after, *_ = self._render([_SYSTEM, _USER], generate=True).texts
        except BadCall:
            return ""
        if not opening.startswith(before) or not opening.endswith(after) or len(opening) < len(before) + len(after):
            return ""
        return opening[len(before) : len(opening) - len(after)]

    def _system_refusal(self) -> str:
        try:
            with_system = self._delta([_SYSTEM, _USER, _ANSWER])
        except BadCall as exc:
            return exc.message
        if with_system != self._delta([_USER, _ANSWER]):
            return "the chat template repeats or moves the system message when the conversation grows"
        return ""

    def _unescapable(self) -> str:
        """Both what opens and what closes a user's message must hold a control token."""
        texts = self._delta([_USER, _ANSWER]).texts
        for where, text in zip(("before", "after"), texts, strict=True):
            if not any(i in self.control_ids for i in self._encoder.encode(Skeleton((text,), ()))):
                return f"the chat template's marker {where} a user's message is plain text: {text!r}"
        return ""


def prompt_hash(ids: Sequence[int]) -> str:
    """What identifies a whole prompt in a record."""
    return hashlib.sha256(array("q", ids).tobytes()).hexdigest()[:16]


def prefix_break(ids: Sequence[int], longer: Sequence[int]) -> int | None:
    """The first position at which `longer` does not continue `ids`; None where it does."""
    for position, token in enumerate(ids):
        if position >= len(longer) or longer[position] != token:
            return position
    return None


def _behind(skeleton: Skeleton, count: int) -> Skeleton:
    """What stands behind the first `count` contents."""
    return Skeleton(skeleton.texts[count:], skeleton.contents[count:])


def _common_prefix(a: str, b: str) -> str:
    length = 0
    while length < min(len(a), len(b)) and a[length] == b[length]:
        length += 1
    return a[:length]
