"""What a reply asks for: one search or one answer, read strictly.

Tags are lower case. What stands between `<think>` and `</think>` is thought and is never an action, also when the
thought is not closed, or was opened before the reply, as chat templates do, and is only closed in it. Outside of it
a reply holds one `<search>...</search>`, or `<answer>...</answer>`. Of several answers the last one counts, of nested
ones the innermost. Everything else is refused with a reason.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

MAX_QUERY = 1_000
"""Characters."""
_THOUGHT = re.compile(r"\A(?:(?!<think>).)*?</think>|<think>.*?(?:</think>|\Z)", re.DOTALL)
_BLOCKS = {kind: re.compile(rf"<{kind}>((?:(?!<{kind}>).)*?)</{kind}>", re.DOTALL) for kind in ("search", "answer")}


class Kind(StrEnum):
    """What a turn is."""

    SEARCH = "search"
    ANSWER = "answer"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Turn:
    """One reply as it was read."""

    kind: Kind
    text: str
    """The query, the answer, or why there is neither; white space folded."""


def read_turn(reply: str) -> Turn:
    """The turn of a reply; never raises."""
    said = _THOUGHT.sub(" ", reply)
    if "<information>" in said or "</information>" in said:
        return Turn(Kind.REFUSED, "only the environment writes <information>")
    searches, answers = ([_folded(m) for m in block.findall(said)] for block in _BLOCKS.values())
    if searches and answers:
        return Turn(Kind.REFUSED, "a turn is a search or an answer, not both")
    if answers and "<search>" not in said:
        return Turn(Kind.ANSWER, answers[-1])
    if answers:
        return Turn(Kind.REFUSED, "<search> is not closed")
    if len(searches) > 1 or said.count("<search>") > 1:
        return Turn(Kind.REFUSED, "only one <search> a turn")
    if searches and "<answer>" in said:
        return Turn(Kind.REFUSED, "<answer> is not closed")
    if searches:
        return _search(searches[0])
    return Turn(Kind.REFUSED, _missing(said))


def _search(query: str) -> Turn:
    if not query:
        return Turn(Kind.REFUSED, "the query is empty")
    if len(query) > MAX_QUERY:
        return Turn(Kind.REFUSED, f"the query is over {MAX_QUERY} characters long")
    return Turn(Kind.SEARCH, query)


def _missing(said: str) -> str:
    for tag in ("search", "answer"):
        if f"<{tag}>" in said:
            return f"<{tag}> is not closed"
    return "neither <search> nor <answer>"


def _folded(text: str) -> str:
    return " ".join(text.split())
