"""Questions of a folder in the layout of BIRD or Spider; nothing of it is changed.

`SPLIT.json` is a list of rows with `db_id`, `question`, and `SQL` (BIRD) or `query` (Spider), perhaps `evidence` and
`difficulty`; it lies in the folder or, for `train`, in `train/`. Spider's `train_spider.json` and `train_others.json`
are `train` one after the other. The databases lie beside it or in the folder, in `SPLIT_databases/`,
`SPLIT_database/`, `database/` or `databases/`, each as `DB/DB.sqlite`. Further `.sqlite` files in `DB/` are hidden
databases: an answer must hold in them too, as in the suites that Spider's authors distilled.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agentenv.errors import UnknownOption
from agentenv.protocol import Task, digest_of
from agentenv.registry import TableTasks
from envservers.sql.compare import has_order
from envservers.sql.spec import ENV_ID
from envservers.sql.tasks import STEPS

VERSION = "1"
SPLITS = ("train", "dev", "test")
LEVELS = {"simple": 1, "easy": 1, "moderate": 2, "medium": 2, "challenging": 3, "hard": 3, "extra": 4}
SPIDER_TRAIN = ("train_spider.json", "train_others.json")
MOST_HIDDEN = 100
"""Hidden databases of one database that are used."""


def folder_tasks(folder: Path, mode: str, *, evidence: bool) -> TableTasks:
    """The tasks of a folder, by split; UnknownOption says what is wrong with it."""
    if not folder.is_dir():
        raise UnknownOption(f"option folder={str(folder)!r}: no such folder")
    tables: dict[str, list[Task]] = {}
    for split in SPLITS:
        known: dict[str, list[str]] = {}
        rows = [(file, row) for file in _places(folder, split) for row in _rows(file)]
        if rows:
            tables[split] = [
                _task(folder, file, split, index, row, known, mode, evidence) for index, (file, row) in enumerate(rows)
            ]
    if not any(tables.values()):
        raise UnknownOption(f"option folder={str(folder)!r}: no train.json, dev.json or test.json with questions there")
    return TableTasks(tables=tables, version=VERSION, options={"mode": mode, "evidence": evidence})


def _places(folder: Path, split: str) -> Sequence[Path]:
    """The files with the questions of a split."""
    whole = [path for path in (folder / f"{split}.json", folder / split / f"{split}.json") if path.is_file()]
    if whole or split != "train":
        return whole[:1]
    return [path for path in (folder / name for name in SPIDER_TRAIN) if path.is_file()]


def _rows(path: Path) -> Sequence[Any]:
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as exc:
        raise UnknownOption(f"option folder: {path}: {exc}") from exc
    if not isinstance(rows, list):
        raise UnknownOption(f"option folder: {path} is no list of questions")
    return rows


def _task(
    folder: Path, file: Path, split: str, index: int, row: Any, known: dict[str, list[str]], mode: str, evidence: bool
) -> Task:
    database, question, sql, hint, level = (
        _text(row, *names)
        for names in (["db_id"], ["question"], ["SQL", "query"], ["evidence"], ["difficulty", "hardness"])
    )
    if not (database and question and sql):
        raise UnknownOption(f"option folder: {file}: row {index} needs db_id, question, and SQL or query")
    if database not in known:
        known[database] = _files(folder, file, split, database)
    return Task(
        id=f"{ENV_ID}/{split}/{index}",
        env=ENV_ID,
        split=split,
        index=index,
        category=database,
        difficulty=LEVELS.get(level, 0),
        payload={
            "database": database,
            "files": known[database],
            "question": f"{question}\nEvidence: {hint}" if evidence and hint else question,
            "sql": sql,
            "ordered": has_order(sql),
            "canonical": digest_of([database, question.lower(), sql]),
        },
        max_steps=STEPS[mode],
    )


def _text(row: Any, *names: str) -> str:
    """The first text that a row has under some names; empty where it has none."""
    found = [row[name] for name in names if isinstance(row, Mapping) and isinstance(row.get(name), str)]
    return found[0].strip() if found else ""


def _files(folder: Path, file: Path, split: str, database: str) -> list[str]:
    """The database's own file, then the hidden ones by name, as paths in the folder."""
    if Path(database).name != database or database in (".", ".."):
        raise UnknownOption(f"option folder: {file}: db_id {database!r} is no name of a database")
    for base in (file.parent, folder):
        for name in (f"{split}_databases", f"{split}_database", "database", "databases"):
            found = base / name / database / f"{database}.sqlite"
            if found.is_file():
                others = sorted(path for path in found.parent.glob("*.sqlite") if path != found)[:MOST_HIDDEN]
                return [str(path.relative_to(folder)) for path in (found, *others)]
    raise UnknownOption(f"option folder: no {database}/{database}.sqlite for {file}")
