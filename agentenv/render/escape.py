"""Text to token ids such that text of the environment never becomes a control token.

A tokenizer looks for the strings of its added tokens before anything else. So every such string that touches text of
the environment is cut after its first character, and the pieces are tokenised apart: the text stays as it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from agentenv.errors import BadCall

THINKING = frozenset({"<think>", "</think>", "<thinking>", "</thinking>"})
"""Markers of reasoning: part of a completion's text even where the tokenizer calls them special."""

MOST_SKELETONS = 1_000
"""Kept to compare with; a run has a handful."""


class ChatTokenizer(Protocol):
    """What is used of a Hugging Face tokenizer."""

    chat_template: Any
    all_special_ids: list[int]
    added_tokens_decoder: dict[int, Any]
    eos_token_id: int | None
    unk_token_id: int | None

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        """Ids of a text, added tokens recognised."""

    def decode(self, token_ids: list[int], *, skip_special_tokens: bool, clean_up_tokenization_spaces: bool) -> str:
        """Text of ids."""

    def apply_chat_template(self, conversation: list[dict[str, str]], **kwargs: Any) -> Any:
        """Text of a conversation, with `tokenize=False`."""

    def get_vocab(self) -> dict[str, int]:
        """Every token, added ones included."""


@dataclass(frozen=True, slots=True)
class Skeleton:
    """Rendered text with holes: `texts[0] + contents[0] + texts[1] + ...`, one text more than contents."""

    texts: tuple[str, ...]
    """By the template, or by ourselves: may hold control tokens."""
    contents: tuple[str, ...]
    """By the environment: may not."""

    @property
    def text(self) -> str:
        """The whole, holes filled."""
        parts = [part for pair in zip(self.texts, self.contents, strict=False) for part in pair]
        return "".join([*parts, self.texts[-1]])

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Start and end in `text` of each content."""
        found, at = [], 0
        for text, content in zip(self.texts, self.contents, strict=False):
            at += len(text)
            found.append((at, at + len(content)))
            at += len(content)
        return found


class Encoder:
    """Tokenises skeletons."""

    def __init__(self, tokenizer: ChatTokenizer) -> None:
        self._tokenizer = tokenizer
        added = {int(i): str(token) for i, token in tokenizer.added_tokens_decoder.items()}
        marked = {int(i) for i, token in tokenizer.added_tokens_decoder.items() if getattr(token, "special", False)}
        self.special = frozenset(int(i) for i in tokenizer.all_special_ids) | marked
        """Of all special tokens."""
        self._kept = frozenset(i for i, s in added.items() if s in THINKING)
        strings = {i: s for i, s in added.items() if s and (i in self.special or s.strip())}
        self.control = frozenset(strings) - {tokenizer.unk_token_id}
        """Ids of added tokens, special or not; runs of blanks that some tokenizers add, and the unknown, are text."""
        self._anchors = [s for i, s in sorted(strings.items()) if i in self.special]
        self._special_strings = _by_first(s for i, s in strings.items() if i in self.special - self._kept)
        self._control_strings = _by_first(strings.values())
        self._expected: dict[tuple[str, ...], list[int]] = {}
        self._anchor = self._find_anchor()

    def encode(self, skeleton: Skeleton, *, first: bool = False) -> list[int]:
        """Ids of a skeleton; `first`: nothing stands before it. BadCall when a content cannot be kept from control."""
        text = skeleton.text
        cuts = self._cuts(text, skeleton.spans)
        ids = self._pieces(text, cuts, first=first)
        if self._controls(ids) == self._controls_of(skeleton.texts, first=first):
            return ids
        ids = self._apart(skeleton, first=first)  # a normaliser made a control string of other characters
        if self._controls(ids) != self._controls_of(skeleton.texts, first=first):
            raise BadCall("this tokenizer makes control tokens of text of the environment; it cannot be escaped")
        return ids

    def encode_plain(self, text: str) -> list[int]:
        """Ids of a text alone, with no control id among them."""
        if not text:
            return []
        ids = self._pieces(text, self._cuts(text, [(0, len(text))]), first=False)
        if not self._controls(ids):
            return ids
        if len(text) == 1:
            raise BadCall(f"the tokenizer knows the single character {text!r} only as a control token")
        half = len(text) // 2
        return self.encode_plain(text[:half]) + self.encode_plain(text[half:])

    def encode_reply(self, text: str) -> list[int]:
        """Ids of an assistant's text: special tokens are cut, markers such as `<think>` are not."""
        return self._pieces(text, self.special_starts(text), first=False)

    def special_starts(self, text: str) -> list[int]:
        """Where a cut must be so that no special token's string is left whole."""
        return [start + 1 for start, _ in _occurrences(text, self._special_strings)]

    def special_spans(self, text: str) -> list[tuple[int, int]]:
        """Start and end of every special token's string in a text, without overlaps."""
        found: list[tuple[int, int]] = []
        for start, end in _occurrences(text, self._special_strings):
            if found and start < found[-1][1]:
                found[-1] = (found[-1][0], max(end, found[-1][1]))
            else:
                found.append((start, end))
        return found

    def decode(self, ids: Sequence[int]) -> str:
        """Text of sampled ids without special tokens; markers of reasoning stay."""
        return self._text([i for i in ids if i not in self.special or i in self._kept])

    def _cuts(self, text: str, spans: Sequence[tuple[int, int]]) -> list[int]:
        """Positions inside every control string that touches a span."""
        cuts = []
        at = 0
        for start, end in _occurrences(text, self._control_strings):
            while at < len(spans) and spans[at][1] <= start:
                at += 1
            if at < len(spans) and spans[at][0] < end and spans[at][1] > start:
                cuts.append(start + 1)
        return cuts

    def _pieces(self, text: str, cuts: Sequence[int], *, first: bool) -> list[int]:
        edges = [0, *sorted({c for c in cuts if 0 < c < len(text)}), len(text)]
        ids: list[int] = []
        for start, end in itertools.pairwise(edges):
            if start < end:
                ids += self._raw(text[start:end], first=first and start == 0)
        return ids

    def _apart(self, skeleton: Skeleton, *, first: bool) -> list[int]:
        ids: list[int] = []
        for number, text in enumerate(skeleton.texts):
            if text:
                ids += self._raw(text, first=first and number == 0)
            if number < len(skeleton.contents):
                ids += self.encode_plain(skeleton.contents[number])
        return ids

    def _raw(self, text: str, *, first: bool) -> list[int]:
        if first or not self._anchor:
            return self._tokenizer.encode(text, add_special_tokens=False)
        return self._tokenizer.encode(self._anchor + text, add_special_tokens=False)[1:]

    def _controls(self, ids: Sequence[int]) -> list[int]:
        return [i for i in ids if i in self.control]

    def _controls_of(self, texts: tuple[str, ...], *, first: bool) -> list[int]:
        """Control ids that the template itself puts there."""
        if texts not in self._expected:
            if len(self._expected) >= MOST_SKELETONS:
                self._expected.clear()
            self._expected[texts] = self._controls([i for t in texts if t for i in self._raw(t, first=first)])
        return self._expected[texts]

    def _find_anchor(self) -> str:
        """What a piece must be tokenised behind, so that the tokenizer adds no blank before it; mostly nothing."""
        for anchor in ["", *self._anchors]:
            self._anchor = anchor
            apart = self._raw("ab", first=False) + self._raw("cd", first=False)
            if self._text(apart) == self._text(self._raw("abcd", first=False)):
                return anchor
        raise BadCall("this tokenizer changes text that is tokenised in pieces: 'ab' and 'cd' do not join to 'abcd'")

    def _text(self, ids: list[int]) -> str:
        return self._tokenizer.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False)


def _by_first(strings: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Strings by their first character, longest first."""
    found: dict[str, list[str]] = {}
    for string in sorted({s for s in strings if s}, key=len, reverse=True):
        found.setdefault(string[0], []).append(string)
    return {first: tuple(group) for first, group in found.items()}


def _occurrences(text: str, strings: dict[str, tuple[str, ...]]) -> list[tuple[int, int]]:
    """Every start at which one of the strings stands, with the end of the longest; by start, also overlapping."""
    found: list[tuple[int, int]] = []
    for first, group in strings.items():
        at = text.find(first)
        while at >= 0:
            if text.startswith(group, at):
                longest = next(s for s in group if text.startswith(s, at))
                found.append((at, at + len(longest)))
            at = text.find(first, at + 1)
    return sorted(found)
