"""Questions of one's own: NQ, HotpotQA, SQuAD-like and Search-R1 rows in JSONL or JSON files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agentenv.errors import UnknownOption
from agentenv.protocol import Task
from agentenv.registry import TableTasks
from envservers.search.scoring import normalise
from envservers.search.spec import ENV_ID

VERSION = "1"
LEVELS = {"easy": 1, "medium": 2, "hard": 3}
"""HotpotQA's `level` as a difficulty."""


def file_tasks(path: Path) -> TableTasks:
    """The tasks of a file (split `test`) or of a folder (one `.jsonl` or `.json` a split, `train` first)."""
    files = [path]
    if path.is_dir():
        files = sorted(f for f in path.iterdir() if f.suffix in (".jsonl", ".json"))
        files.sort(key=lambda f: f.stem != "train")
    if not files or not path.exists():
        raise UnknownOption(f"option questions={str(path)!r}: no .jsonl or .json file there")
    tables = {}
    for file in files:
        split = file.stem if path.is_dir() else "test"
        tables[split] = [_task(split, index, row, file) for index, row in enumerate(_rows(file))]
        if not tables[split]:
            raise UnknownOption(f"option questions: {file} holds no question")
    return TableTasks(tables=tables, version=VERSION)


def _rows(file: Path) -> Iterator[Mapping[str, Any]]:
    try:
        text = file.read_text(encoding="utf-8")
        rows = json.loads(text) if file.suffix == ".json" else [json.loads(x) for x in text.splitlines() if x.strip()]
    except (OSError, ValueError) as exc:
        raise UnknownOption(f"option questions: {file}: {exc}") from exc
    yield from rows.get("data", []) if isinstance(rows, dict) else rows


def _task(split: str, index: int, row: Any, file: Path) -> Task:
    question = row.get("question") if isinstance(row, dict) else None
    answers = _answers(row) if isinstance(row, dict) else []
    if not isinstance(question, str) or not question.strip() or not answers:
        raise UnknownOption(f"option questions: {file}: question {index} needs `question` and a text in `answer(s)`")
    return Task(
        id=f"{ENV_ID}/{split}/{index}",
        env=ENV_ID,
        split=split,
        index=index,
        category=str(row.get("type") or row.get("data_source") or ""),
        difficulty=LEVELS.get(str(row.get("level")), 0),
        payload={
            "question": question.strip(),
            "answers": answers,
            "kind": "file",
            "steps": [],
            "canonical": normalise(question),
        },
    )


def _answers(row: Mapping[str, Any]) -> list[str]:
    """From `golden_answers`, `answers`, `answer`, `short_answers` or `reward_model.ground_truth.target`."""
    found = row
    if isinstance(model := row.get("reward_model"), dict) and isinstance(truth := model.get("ground_truth"), dict):
        found = {**row, "answers": truth.get("target")}
    for name in ("golden_answers", "answers", "answer", "short_answers"):
        value = found.get(name)
        if isinstance(value, dict):  # SQuAD: {"text": [...]}
            value = value.get("text")
        texts = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        if kept := [text for text in texts if isinstance(text, str) and text.strip()]:
            return kept
    return []
