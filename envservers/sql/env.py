"""The episode: a question about a database, and one query that answers it."""

from __future__ import annotations

import functools
import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agentenv.env import Env
from agentenv.errors import EnvFailed, EpisodeOver, ResetNeeded
from agentenv.protocol import Action, StepResult, Task
from envservers.sql.compare import same
from envservers.sql.databases import databases, reader
from envservers.sql.guard import Refused, Result, Row
from envservers.sql.replies import Kind, Reply, read_reply
from envservers.sql.show import result_text, tables_of, values_of
from envservers.sql.spec import SPEC
from envservers.sql.worlds.schema import schema

ONE_TRY = "You have one try: answer with one SQL query."
LOOK_AROUND = "You may look around: tables, describe TABLE, query SQL. submit SQL answers, once."


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The question of an episode."""

    question: str
    gold: str
    ordered: bool
    title: str
    files: tuple[Path, ...]
    """The database that is asked, then the hidden ones."""
    foreign: bool
    tables: Mapping[str, str]
    """Each table with what is told of it."""
    outcome: str = ""
    """`success` or `failure` once answered."""


class SQLEnv(Env):
    """Success is a query whose result equals the gold query's in every database; the first answer ends the episode."""

    def __init__(
        self, *, mode: str = "single", rows: int = 20, match: str = "strict", folder: str = "", evidence: bool = False
    ) -> None:
        self.single, self.rows, self.match, self.folder = mode == "single", rows, match, folder
        self.evidence = evidence  # already in the tasks
        self._asked: Asked | None = None  # None until reset()

    def reset(self, task: Task) -> StepResult:
        """Ask the task's question."""
        self._asked = asked = _asked(task.payload, self.folder)
        tables = "\n".join(asked.tables.values()) if self.single else f"Its tables: {', '.join(asked.tables)}."
        way = ONE_TRY if self.single else LOOK_AROUND
        return StepResult(observation=f"{asked.title}\n{tables}\n\nQuestion: {asked.question}\n\n{way}")

    def step(self, action: Action) -> StepResult:
        """One look, one trial or the answer. With one try, whatever is said is the answer."""
        asked = self._running()
        reply = read_reply(action.text, bare=Kind.SUBMIT if self.single else Kind.QUERY)
        if self.single:
            return self._judge(asked, reply)
        match reply.kind:
            case Kind.SUBMIT:
                return self._judge(asked, reply)
            case Kind.TABLES:
                return StepResult(observation=f"Tables: {', '.join(asked.tables)}.")
            case Kind.DESCRIBE:
                return StepResult(observation=_described(asked, reply.text))
            case Kind.QUERY:
                return self._tried(asked, reply.text)
        return StepResult(observation=SPEC.malformed_text.format(reason=reply.text), info={"refused": reply.text})

    def solve(self, task: Task) -> Generator[Action, StepResult, None]:
        """Submit the gold query; where one may look around, describe its tables and try it first."""
        asked = self._running()
        if not self.single:
            for name in asked.tables:
                if re.search(rf"\b{re.escape(name)}\b", asked.gold):
                    yield Action(text=f"describe {name}")
            yield Action(text=f"query {asked.gold}")
        yield Action(text=f"submit {asked.gold}")

    def snapshot(self) -> Asked | None:
        """The whole state; immutable."""
        return self._asked

    def restore(self, snapshot: object) -> None:
        """Take over a state."""
        assert snapshot is None or isinstance(snapshot, Asked)
        self._asked = snapshot

    def _tried(self, asked: Asked, sql: str) -> StepResult:
        try:
            result = _run(asked.files[0], sql, asked.foreign)
        except Refused as refused:
            return StepResult(observation=f"Error: {refused}.", info={"error": str(refused)})
        return StepResult(observation=result_text(result, self.rows), info={"rows": len(result.rows)})

    def _judge(self, asked: Asked, reply: Reply) -> StepResult:
        info: dict[str, Any] = {"match": self.match}
        if not self._gold_rows(asked, 0):
            info["empty_gold"] = True  # any query without rows is right
        right = False
        if reply.kind in (Kind.SUBMIT, Kind.QUERY):
            try:
                result = _run(asked.files[0], reply.text, asked.foreign)
                info["visible"] = self._same(asked, result, 0)
                right = info["visible"] and self._holds(asked, reply.text)
                shown, info["rows"] = result_text(result, self.rows), len(result.rows)
            except Refused as refused:
                shown, info["error"] = f"Error: {refused}.", str(refused)
        else:
            reason = reply.text or "there is no SQL query in it"
            shown, info["refused"] = f"Error: {reason}.", reason
        self._asked = replace(asked, outcome="success" if right else "failure")
        text = f"The answer is {'correct' if right else 'wrong'}.\n{shown}"
        return StepResult(observation=text, reward=float(right), terminated=True, success=right, info=info)

    def _holds(self, asked: Asked, sql: str) -> bool:
        """Whether the query gives the gold result in the hidden databases too."""
        for place in range(1, len(asked.files)):
            try:
                result = _run(asked.files[place], sql, asked.foreign)
            except Refused:
                return False
            if not self._same(asked, result, place):
                return False
        return True

    def _same(self, asked: Asked, result: Result, place: int) -> bool:
        gold = self._gold_rows(asked, place)
        return same(gold, result.rows, ordered=asked.ordered, match=self.match)

    def _gold_rows(self, asked: Asked, place: int) -> tuple[Row, ...]:
        path = asked.files[place]
        return _gold(path, asked.gold, foreign=True) if asked.foreign else _own_gold(path, asked.gold)

    def _running(self) -> Asked:
        if self._asked is None:
            raise ResetNeeded("SQL.step() before reset(); call reset(task) first")
        if self._asked.outcome:
            raise EpisodeOver("this question is answered; reset or close", outcome=self._asked.outcome)
        return self._asked


def _asked(payload: Mapping[str, Any], folder: str) -> Asked:
    common = {"question": payload["question"], "gold": payload["sql"], "ordered": payload["ordered"]}
    if "files" in payload:
        files = tuple(Path(folder) / name for name in payload["files"])
        title = f"The database {payload['database']}."
        return Asked(**common, title=title, files=files, foreign=True, tables=tables_of(files[0]))
    found = schema(payload["schema"])
    files, values = databases(found.name), values_of(found.name)
    tables = {name: text + values[name] for name, text in tables_of(files[0]).items()}
    title = f"The database {found.name}: {found.about}."
    return Asked(**common, title=title, files=files, foreign=False, tables=tables)


def _described(asked: Asked, name: str) -> str:
    known = {table.lower(): text for table, text in asked.tables.items()}
    return known.get(name.lower(), f"There is no table {name[:80]!r}. Tables: {', '.join(asked.tables)}.")


def _run(path: Path, sql: str, foreign: bool) -> Result:
    with reader(path, foreign=foreign) as lent:
        return lent.run(sql)


@functools.lru_cache(maxsize=2048)
def _own_gold(path: Path, sql: str) -> tuple[Row, ...]:
    """Kept: results of our own questions are small, and a question is often asked many times."""
    return _gold(path, sql, foreign=False)


def _gold(path: Path, sql: str, *, foreign: bool) -> tuple[Row, ...]:
    try:
        return _run(path, sql, foreign).rows
    except Refused as refused:
        raise EnvFailed(f"the gold query of this task cannot be run on {path.name}: {refused}") from None
