"""What a reply asks for: a look at the schema, a trial, or the answer.

SQL is taken from the last fenced block (tag in any case, or none; one without a tag that holds no SQL, such as an
imagined result, only where there is no other), else from what follows the last `query` or `submit` at the start of a
line, else from a reply that is SQL as a whole. A fence ends at a line of back-ticks, so that back-ticks in a text of
the query do no harm. What stands between `<think>` and `</think>` is never an action. Where one may look around,
the first `Action:` that asks for something counts, and nothing behind an `Observation:` of the reply's own.

Patterns that repeat are possessive or begin at the first of a run: a reply of blanks or back-ticks is read in no time.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

MAX_READ = 65_536
"""Characters of a reply that are looked at."""
_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_FENCE = re.compile(
    r"(?<!`)`{3,}+[ \t]*+(?P<tag>\w*+)[ \t]*+\n(?P<body>.*?)(?:^[ \t]*+`{3,}+[ \t]*+$|(?<!`)`{3,}+\s*+\Z|\Z)",
    re.DOTALL | re.MULTILINE,
)
_ONE_LINE = re.compile(r"(?<!`)`{3,}+[ \t]*+(?:sqlite|sql)?\b(?P<body>[^\n]*?)`{3,}+", re.IGNORECASE)
_VERB = re.compile(
    r"^[ \t]*(?:[*_#]{0,3}action[*_]{0,3}[ \t]*:[*_]{0,3}\s*)?"
    r"(?P<verb>tables|describe|query|submit)\b[ \t]*:?(?P<rest>[^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
_MARKER = re.compile(r"^[ \t]*[*_#]{0,3}action[*_]{0,3}[ \t]*:[*_]{0,3}", re.IGNORECASE | re.MULTILINE)
_OBSERVATION = re.compile(r"^[ \t]*[*_#]{0,3}observation[*_]{0,3}[ \t]*:", re.IGNORECASE | re.MULTILINE)
_OTHER_SQL = re.compile(
    r"(?:alter|analyze|attach|begin|create|delete|drop|explain|insert|pragma|replace|update|vacuum)\b", re.IGNORECASE
)
_SQL = re.compile(r"(?:\s+|--[^\n]*\n|/\*.*?\*/)*+(?:select|with|values)\b", re.IGNORECASE | re.DOTALL)
_TABLE = re.compile(r"""[\[\s"'`]*+([^\[\]"'`\n]{1,128}?)[\]\s"'`;.]*""")
MAX_TABLE = 300
"""Characters behind `describe` that are looked at."""


class Kind(StrEnum):
    """What an action is."""

    TABLES = "tables"
    DESCRIBE = "describe"
    QUERY = "query"
    SUBMIT = "submit"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply as it was read."""

    kind: Kind
    text: str = ""
    """The SQL, the table, or why there is neither."""


NOTHING = Reply(Kind.REFUSED, "there is no SQL query in a fenced block, or as the whole reply")


def read_reply(reply: str, *, bare: Kind) -> Reply:
    """The action of a reply; `bare`: what SQL without a verb is. Never raises."""
    said = _THOUGHT.sub(" ", reply[:MAX_READ].replace("\r\n", "\n"))
    if bare is Kind.SUBMIT:
        return _read(said, bare)
    read = [_read(part, bare) for part in _turns(said)]
    return next((one for one in read if one != NOTHING), read[0])


def _turns(said: str) -> list[str]:
    """What stands under each `Action:`, up to an observation that the reply made up, where it ends.

    What stands before the first belongs to it.
    """
    starts = [marker.end() for marker in _MARKER.finditer(said)] or [0]
    parts: list[str] = []
    for place, start in enumerate(starts):
        following = _MARKER.search(said, start)
        end = following.start() if following else len(said)
        imagined = _OBSERVATION.search(said, start, end)
        part = said[start if place else 0 : imagined.start() if imagined else end]
        if said[start:end].strip():
            parts.append(part if part.strip() else said[start:end])
        if imagined and part.strip():
            break
    return parts or [said]


def _read(said: str, bare: Kind) -> Reply:
    fences = [fence for fence in _FENCE.finditer(said) if fence["tag"].lower() in ("", "sql", "sqlite")]
    fences = [fence for fence in fences if fence["tag"] or _asks(fence["body"])] or fences
    if fences:
        return _fenced(said[: fences[-1].start()], fences[-1]["body"], bare)
    verbs = [_verb(said, found) for found in _VERB.finditer(said)]
    asked = [verb for verb in verbs if verb.kind is not Kind.REFUSED]
    if asked:
        return asked[-1]
    marked = list(_MARKER.finditer(said))
    for text in (said[marked[-1].end() :] if marked else "", said):
        if _SQL.match(text):
            return Reply(bare, text.strip())
    if one_line := _ONE_LINE.findall(said):
        return _fenced("", one_line[-1], bare)
    other = _OTHER_SQL.match((said[marked[-1].end() :] if marked else said).strip())
    if verbs:
        return verbs[-1]
    return Reply(Kind.REFUSED, "only a SELECT query is allowed") if other else NOTHING


def _asks(body: str) -> bool:
    """Whether a block without a tag holds something to do."""
    return bool(_SQL.match(body) or _VERB.match(body.lstrip()) or _OTHER_SQL.match(body.lstrip()))


def _fenced(before: str, body: str, bare: Kind) -> Reply:
    """The block's content; a verb stands in it, or on a line before it."""
    inside = _VERB.match(body.lstrip())
    if inside:
        return _verb(body.lstrip(), inside)
    if not body.strip():
        return Reply(Kind.REFUSED, "the query is empty")
    lines = [found for found in _VERB.finditer(before) if not found["rest"].strip(" \t:`[")]
    kind = Kind(lines[-1]["verb"].lower()) if lines else bare
    return Reply(kind if kind in (Kind.QUERY, Kind.SUBMIT) else bare, body.strip())


def _verb(said: str, found: re.Match[str]) -> Reply:
    kind = Kind(found["verb"].lower())
    rest = found["rest"]
    if kind is Kind.TABLES:
        stray = rest.strip(" \t.[]")
        return Reply(Kind.REFUSED, "write `tables` alone") if stray else Reply(kind)
    if kind is Kind.DESCRIBE:
        table = _TABLE.fullmatch(rest) if len(rest) <= MAX_TABLE else None
        if table and len(table[1].split()) <= 3:
            return Reply(kind, table[1].strip())
        return Reply(Kind.REFUSED, "write `describe` and the name of one table")
    sql = said[found.start("rest") :].strip()
    if sql.startswith("[") and sql.endswith("]"):
        sql = sql[1:-1].strip()
    sql = sql.strip("`").strip() if sql.startswith("`") else sql
    if _SQL.match(sql):
        return Reply(kind, sql)
    return Reply(Kind.REFUSED, f"`{kind}` needs a SELECT query behind it")
