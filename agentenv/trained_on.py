"""Which tasks a model was trained on: a list of task digests that stays with its weights.

Training writes `trained_on.json` beside a checkpoint and beside an exported model, the tasks of the model that it began
with among them. Records say it by themselves: each holds the digest of its task.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from agentenv.errors import BadCall

FILE = "trained_on.json"


def write_trained_on(folder: Path, digests: Iterable[str]) -> None:
    """Write the list into the folder of a model or of a checkpoint."""
    (folder / FILE).write_text(as_text(digests), encoding="utf-8")


def as_text(digests: Iterable[str]) -> str:
    """The list as `trained_on` reads it."""
    return json.dumps({"format": 1, "tasks": sorted({d for d in digests if d})}, indent=0)


def trained_on(path: Path) -> frozenset[str] | None:
    """The digests that belong to a model's or checkpoint's folder, or to a file of records (`.jsonl`).

    None where a folder says nothing; BadCall for a file that is neither.
    """
    if path.suffix == ".jsonl":
        return _of_records(path)
    file = path / FILE if path.is_dir() else path
    if path.is_dir() and not file.is_file():
        return None
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as exc:
        raise BadCall(f"{file}: not a list of trained tasks: {exc}") from exc
    tasks = data.get("tasks") if isinstance(data, dict) and data.get("format") == 1 else None
    if not isinstance(tasks, list) or not all(isinstance(digest, str) for digest in tasks):
        raise BadCall(f'{file}: not a list of trained tasks: {{"format": 1, "tasks": [digest, ...]}}')
    return frozenset(tasks)


def inherited(model: str) -> frozenset[str]:
    """What the model that a training begins with was trained on itself; nothing where its folder does not say."""
    folder = Path(model)
    return (trained_on(folder) or frozenset()) if folder.is_dir() else frozenset()


def _of_records(path: Path) -> frozenset[str]:
    from agentenv.trajectory import read_jsonl

    try:
        return frozenset(record.task.digest for record in read_jsonl(path))
    except OSError as exc:
        raise BadCall(f"cannot read {path}: {exc.strerror}") from exc
