"""From a model's whole reply to the text of one action. The one place where fences are read.

A reply closes with a fixed phrase and the action in a fenced span. The original takes the first span, whatever it is;
`lenient` takes the one behind the phrase, else the only one that is an action, and a reply that is an action as it
stands. Never two: where several spans could be meant, none is taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from envservers.webarena.act import Verb
from envservers.webarena.language.grammar import FORMS
from envservers.webarena.language.parse import parse

LONGEST_REPLY = 65_536
"""Characters of a reply that are looked at."""
PHRASE = "the next action I will perform is"
NO_SPAN = "no action between ``` and ```"

_PHRASE = re.compile(r"next\s+action\s+(?:that\s+)?I\s+will\s+perform\s+is", re.IGNORECASE)
_SPAN = re.compile(r"```(.*?)```", re.DOTALL)
_TAG = re.compile(r"[ \t]*([A-Za-z0-9_+#.-]+)[ \t]*\n")
_OBSERVATION = re.compile(r"^[ \t]*OBSERVATION:", re.MULTILINE | re.IGNORECASE)
_VERBS = frozenset(verb.value for verb in FORMS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """Exactly one of the two is set."""

    action: str = ""
    reason: str = ""
    """Why there is no action, one line."""


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    action: str


def extract(reply: str, parser: str = "lenient") -> Extracted:
    """The action text of a reply, by the rules of a parser; it may still be one that the parser refuses."""
    return _EXTRACTORS[parser](reply[:LONGEST_REPLY])


def _original(reply: str) -> Extracted:
    spans = _spans(reply)
    if not spans:
        return Extracted(reason=NO_SPAN)
    return _found(spans[0].action)


def _lenient(reply: str) -> Extracted:
    reply = _before_invented(reply.replace("\r\n", "\n"))
    phrases = [found.end() for found in _PHRASE.finditer(reply)]
    spans = _spans(reply)
    if not spans:
        return _bare(reply, phrases)
    closing = _behind_phrases(spans, phrases)
    if closing:
        readable = [span for span in closing if _is_action(span.action)]
        return _found((readable or closing)[0].action)
    if "```" in parse(reply.strip()).text:  # a text to type, or an answer, with a fence in it
        return Extracted(action=reply.strip())
    return _only_one(spans)


def _only_one(spans: Sequence[_Span]) -> Extracted:
    actions = [span.action for span in spans if _is_action(span.action)]
    if len({*map(parse, actions)}) > 1:
        return Extracted(reason="more than one action; write one, behind the words: " + PHRASE)
    return _found(actions[-1] if actions else spans[-1].action)


def _bare(reply: str, phrases: Sequence[int]) -> Extracted:
    """Without a span: what stands behind the phrase, else the reply itself, when that is an action."""
    tails = [reply[end:].lstrip(" :\n").partition("\n")[0].rstrip(" .") for end in phrases]
    for text in (*tails, reply):
        text = text.strip().strip("`").strip()
        if _is_action(text):
            return Extracted(action=text)
    return Extracted(reason=NO_SPAN)


def _behind_phrases(spans: Sequence[_Span], phrases: Sequence[int]) -> list[_Span]:
    """For each phrase the first span behind it, as far as there is one before the next phrase."""
    found = []
    for place, end in enumerate(phrases):
        until = phrases[place + 1] if place + 1 < len(phrases) else LONGEST_REPLY + 1
        found += [span for span in spans if end <= span.start < until][:1]
    return found


def _before_invented(reply: str) -> str:
    """A reply up to where it goes on with an observation of its own making."""
    invented = _OBSERVATION.search(reply)
    return reply[: invented.start()] if invented and reply[: invented.start()].strip() else reply


def _spans(reply: str) -> list[_Span]:
    return [_Span(found.start(), _untagged(found[1]).strip()) for found in _SPAN.finditer(reply)]


def _untagged(span: str) -> str:
    """Without the name of a language behind the opening fence."""
    tag = _TAG.match(span)
    return span[tag.end() :] if tag and tag[1].lower() not in _VERBS else span


def _is_action(text: str) -> bool:
    return parse(text).verb is not Verb.NONE


def _found(action: str) -> Extracted:
    return Extracted(action=action) if action else Extracted(reason="the fenced span is empty")


_EXTRACTORS: Mapping[str, Callable[[str], Extracted]] = {"original": _original, "lenient": _lenient}
