"""The one reader of completions: which single action a text asks for. Its rules stand in docs/agents.md.

Forms with marker words are read here; calls of functions by `call_json` and `call_python`.

Strict by design: the first real action is taken, whatever follows it is dropped and flagged, and a text without an
action is a parse failure with its reason. Nothing here raises, whatever the text.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from agentenv.agents.call_json import read_json_call, written_json_call
from agentenv.agents.call_python import read_python_call, written_python_call
from agentenv.agents.prompts import Format
from agentenv.errors import BadCall
from agentenv.functions import FunctionTable, Refused
from agentenv.protocol import Action

MAX_READ = 65_536
"""Characters of a completion that are looked at."""
MAX_MALFORMED = 2_000
"""Characters of an unreadable completion that travel as the action's text."""
MAX_REASON = 400
"""Characters of the reason why a call is none; it may quote what the model wrote."""

_BLANK = re.compile(r"\s*")
_FENCE = re.compile(r"(`{3,}|~{3,})([^\n]*)(\n|\Z)")
_CODE_SPAN = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1")
_EMPHASIS = re.compile(r"(\*{1,3}|_{2,3})(?=\S)(.+?)(?<=\S)\1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """What a completion asks for: exactly one of `action` and `reason` is set."""

    action: str | None = None
    """Never empty."""
    reason: str | None = None
    """Why there is no action, for the model to read."""
    extra_text: bool = False
    """Something followed the action and was dropped."""

    def as_action(self, completion: str) -> Action:
        """What is sent to the environment; a failure carries the completion, cut to MAX_MALFORMED."""
        if self.action is not None:
            return Action(text=self.action)
        return Action(text=completion[:MAX_MALFORMED], malformed=self.reason)


@dataclass(frozen=True, slots=True)
class _Body:
    """The action under one marker, and what was left behind it."""

    text: str
    rest: str
    ended: bool
    """A line end (or a closing fence) follows the action, so that it was not cut off in the middle."""


NO_FUNCTIONS = FunctionTable({})


def parse(completion: str, format: Format, *, cut: bool = False, functions: FunctionTable = NO_FUNCTIONS) -> Parsed:
    """The first real action of a completion.

    `cut`: it was ended by a length limit, so its last line may be half. `functions`: of the env, for forms of calls.
    """
    text = completion[:MAX_READ].replace("\r\n", "\n").replace("\r", "\n")
    if not text.strip():
        return Parsed(reason="the answer is empty")
    if format.call:
        return _called(text, format, functions, cut=cut)
    if not format.action:
        return Parsed(action=text.strip())
    marker = _marker(format)
    found = marker.search(text)
    asked = False
    while found:
        word = found["word"].lower()
        if word == format.observation.lower():
            break
        if word == format.action.lower():
            asked = True
            body = _body(text, found, marker)
            if body.text:
                return _checked(body, cut=cut)
        found = marker.search(text, found.end())
    return Parsed(reason=_failure(format, asked=asked, observed=found is not None))


def written(action: str, format: Format, functions: FunctionTable = NO_FUNCTIONS) -> str:
    """The text of a model that does this action in this format, without a thought; BadCall where no call makes it."""
    if not format.call:
        return f"{format.action}:\n{action}" if format.action else action
    call = functions.read(action)
    if call is None:
        raise BadCall(f"no call of {', '.join(functions.functions) or 'a function'} makes the action {action[:200]!r}")
    return written_json_call(call) if format.call == "json" else written_python_call(call)


def _called(text: str, format: Format, functions: FunctionTable, *, cut: bool) -> Parsed:
    try:
        call, more = read_json_call(text) if format.call == "json" else read_python_call(text, functions)
        return Parsed(action=functions.action(call), extra_text=more)
    except Refused as reason:
        return Parsed(reason=refusal(reason, cut=cut))


def refusal(reason: Refused, *, cut: bool) -> str:
    """Why a call is none, and that it was cut off where that may be the cause."""
    return str(reason)[:MAX_REASON] + ("; the answer was cut off at the length limit" if cut else "")


def _failure(format: Format, *, asked: bool, observed: bool) -> str:
    if asked:
        return f'nothing follows "{format.action}:"'
    before = f' before "{format.observation}:"' if observed else ""
    return f'no line starts with "{format.action}:"{before}'


def _checked(body: _Body, *, cut: bool) -> Parsed:
    if cut and not body.ended:
        return Parsed(reason="the answer was cut off at the length limit before its action ended")
    return Parsed(action=body.text, extra_text=bool(body.rest.strip("`~*_ \t\n")))


@functools.cache
def _marker(format: Format) -> re.Pattern[str]:
    """A marker: at most three blanks, Markdown heading or emphasis, the word in any case, a colon; also said twice."""
    words = "|".join(re.escape(w) for w in (format.thought, format.action, format.observation))
    return re.compile(
        rf"^ {{0,3}}(?:#{{1,6}} +)?(?P<lead>\*{{1,3}}|_{{1,3}})?(?P<word>{words})"
        rf"(?P<close>(?P=lead))?[ \t]*:(?P<after>(?P=lead))?(?:[ \t]*+(?P=word)[ \t]*+:)*",
        re.MULTILINE | re.IGNORECASE,
    )


def _body(text: str, found: re.Match[str], marker: re.Pattern[str]) -> _Body:
    """What stands under an action marker: a fenced block as a whole, else the first line that is not blank."""
    start = _skip_blank(text, found.end())
    fence = _FENCE.match(text, start)
    if fence and fence[1] not in fence[2]:
        return _fenced(text, fence, marker)
    next_marker = marker.search(text, found.end())
    end = next_marker.start() if next_marker else len(text)
    if start >= end:
        return _Body("", "", ended=True)
    line, newline, _ = text[start:end].partition("\n")
    open_emphasis = found["lead"] if found["lead"] and not (found["close"] or found["after"]) else ""
    line = line.rstrip()
    if open_emphasis:
        line = line.removesuffix(open_emphasis)
    return _Body(_unwrapped(line), text[start + len(line) :], ended=bool(newline))


def _skip_blank(text: str, position: int) -> int:
    blank = _BLANK.match(text, position)
    return blank.end() if blank else position


def _fenced(text: str, fence: re.Match[str], marker: re.Pattern[str]) -> _Body:
    """The block's content; without a closing fence it ends at the next marker or with the text."""
    closing = re.compile(rf"^ {{0,3}}{re.escape(fence[1][0])}{{{len(fence[1])},}}[ \t]*$", re.MULTILINE)
    closed = closing.search(text, fence.end())
    if closed:
        return _Body(text[fence.end() : closed.start()].strip(), text[closed.end() :], ended=True)
    next_marker = marker.search(text, fence.end())
    end = next_marker.start() if next_marker else len(text)
    return _Body(text[fence.end() : end].strip(), text[end:], ended=next_marker is not None)


def _unwrapped(line: str) -> str:
    """A line without emphasis, then without back-ticks, around the whole of it."""
    line = line.strip()
    for wrapped in (_EMPHASIS, _CODE_SPAN):
        if (inner := wrapped.fullmatch(line)) is not None:
            line = inner[2].strip()
    return line
