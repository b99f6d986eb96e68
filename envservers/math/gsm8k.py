"""Problems of one's own: parquet files of GSM8K, as published (`question`, `answer`) or as rows for a trainer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agentenv.errors import EnvUnavailable, UnknownOption
from agentenv.protocol import Task
from agentenv.registry import TableTasks
from envservers.math.numbers import exact_text, parse_number
from envservers.math.spec import ENV_ID

VERSION = "1"
SOURCE = "openai/gsm8k"
_NOTE = re.compile(r"<<([^<>]*)>>")
"""GSM8K's note of a calculation, such as `<<48/2=24>>`."""


def file_tasks(path: Path) -> TableTasks:
    """The tasks of a file, or of a folder of them; a split is what stands before the first `-` of the name."""
    found = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
    if not found or not path.exists():
        raise UnknownOption(f"option gsm8k={str(path)!r}: no .parquet file there")
    by_split: dict[str, list[Path]] = {}
    for file in found:
        by_split.setdefault(file.stem.partition("-")[0], []).append(file)
    tables = {
        split: [_task(split, index, row) for index, row in enumerate(_rows(by_split[split]))]
        for split in sorted(by_split, key=lambda name: (name != "train", name))
    }
    empty = [split for split, tasks in tables.items() if not tasks]
    if empty:
        raise UnknownOption(f"option gsm8k={str(path)!r}: no problem in {', '.join(empty)}")
    return TableTasks(tables=tables, version=VERSION)


def _rows(paths: list[Path]) -> Iterator[Mapping[str, Any]]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as exc:
        raise EnvUnavailable(f"option gsm8k of {ENV_ID}: {exc} (pip install 'agentenv-gym[data]')") from exc
    for path in paths:
        try:
            rows = pq.read_table(path).to_pylist()
        except (OSError, pa.ArrowException) as exc:
            raise UnknownOption(f"option gsm8k: {path}: {exc}") from exc
        yield from rows


def _task(split: str, index: int, row: Mapping[str, Any]) -> Task:
    question, solution = _told(row)
    value = parse_number(solution.rpartition("####")[2]) if question else None
    if value is None:
        raise UnknownOption(
            f"option gsm8k: row {index} of {split} needs a text in `question`, and in `answer` a number after ####"
        )
    return Task(
        id=f"{ENV_ID}/{split}/{index}",
        env=ENV_ID,
        split=split,
        index=index,
        category="gsm8k",
        difficulty=min(max(len(_NOTE.findall(solution)) - 1, 1), 5),
        payload={
            "question": question,
            "answer": exact_text(value),
            "steps": [],
            "solution": [line for line in _NOTE.sub("", solution).split("\n") if line.strip() and "####" not in line],
            "canonical": " ".join(question.split()).lower(),
            "source": SOURCE,
        },
    )


def _told(row: Mapping[str, Any]) -> tuple[str, str]:
    """Question and solution of a row. Rows for trainers have both in `extra_info`, and the gold in `reward_model`."""
    info, gold = _part(row, "extra_info"), _part(row, "reward_model").get("ground_truth")
    question, solution = ((row.get(name) or info.get(name)) for name in ("question", "answer"))
    if not solution and gold is not None:
        solution = f"#### {gold}"
    return _text(question), _text(solution)


def _part(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = row.get(name)
    return found if isinstance(found, dict) else {}


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""
