"""The files of a folder of AgentGym's data: which there are, what each is for, and their rows.

AgentTraj-L has `NAME_train.json`, AgentEval `NAME_test.json`, AgentGym-RL-Data-ID `train/*.json` and `eval/*.json`. A
row is `{"item_id": "babyai_7"}`, perhaps with `conversations`, `reward` and `success`. Other files beside the tests
are categories: lists of the items of each.

Everything in them is untrusted: JSON alone, of bounded size, read into typed rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from agentenv.errors import BadCall

TRAIN, EVAL = "train", "eval"
MOST_FILES = 1_000
MOST_DEPTH = 3
"""Folders between the one that was named and a file."""
MOST_BYTES = 2**30
"""Of one file."""
MOST_ROWS = 2_000_000
"""Of one file."""
LONGEST_ID = 300
"""Characters."""
MOST_MESSAGES = 2_000
"""Of one conversation."""
LONGEST_MESSAGE = 1_000_000
"""Characters."""

_ROW = re.compile(r"`\$\[(\d+|\.\.\.)\]\.?([^`]*)`")


class BadData(BadCall):
    """A file that is not AgentGym's data, or too large."""

    code = "bad_data"


class _Said(msgspec.Struct, frozen=True):
    """A message of AgentTraj-L has from and value, one of AgentGym-RL's logs of rollouts role and content."""

    sender: str = msgspec.field(name="from", default="")
    value: str | None = None
    loss: bool | None = None
    role: str = ""
    content: str | None = None


class _Raw(msgspec.Struct, frozen=True):
    item_id: str
    conversations: list[_Said] | None = None
    reward: float | None = None
    success: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation."""

    sender: str
    """As the file says it."""
    value: str
    loss: bool | None = None
    """False: said by the agent, and not to be learned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One item of one file."""

    file: str
    """Relative to the folder."""
    number: int
    """From 0."""
    item_id: str
    role: str
    """`train` or `eval`."""
    category: str = ""
    """Stem of a file of categories; empty for an item that is in none."""
    conversation: tuple[Message, ...] = ()
    reward: float | None = None
    success: bool | None = None

    @property
    def where(self) -> str:
        """For errors."""
        return f"{self.file}: row {self.number}"


def read_folder(folder: Path) -> list[Row]:
    """Every row, by name of file; an item of the tests has the first category that lists it."""
    if not folder.is_dir():
        raise BadData(f"{folder}: no such folder")
    paths = _paths(folder)
    rows: list[Row] = []
    listed: list[Row] = []
    for path in paths:
        found = read_file(path, str(path.relative_to(folder)))
        (listed if _is_category(path, paths) else rows).extend(found)
    categories: dict[str, Row] = {}
    for row in listed:
        categories.setdefault(row.item_id, row)
    tested = {row.item_id for row in rows if row.role == EVAL}
    named = [_filed(row, categories) for row in rows]
    return named + [_filed(row, categories) for id, row in categories.items() if id not in tested]


def _filed(row: Row, categories: dict[str, Row]) -> Row:
    if row.role != EVAL or row.item_id not in categories:
        return row
    return replace(row, category=Path(categories[row.item_id].file).stem)


def _paths(folder: Path) -> list[Path]:
    deep = [path for depth in range(MOST_DEPTH) for path in folder.glob("*/" * depth + "*.json*")]
    seen = [path for path in deep if not any(part.startswith(".") for part in path.relative_to(folder).parts)]
    paths = sorted(path for path in seen if path.suffix in (".json", ".jsonl") and path.is_file())
    if not paths:
        raise BadData(f"{folder}: no .json or .jsonl file there")
    if len(paths) > MOST_FILES:
        raise BadData(f"{folder}: {len(paths)} files; at most {MOST_FILES} are read")
    return paths


def role_of(name: str) -> str:
    """What the items of a file are for, by the folders it lies in, else by the end of its name."""
    path = Path(name)
    words = [*reversed(path.parts[:-1]), path.stem.rpartition("_")[2]]
    for word in words:
        if word in ("eval", "test"):
            return EVAL
        if word == "train":
            return TRAIN
    return TRAIN


def _is_category(path: Path, paths: Sequence[Path]) -> bool:
    """Whether it stands beside a file of tests without being one."""
    beside = [other for other in paths if other.parent == path.parent]
    return not _ends(path) and any(_ends(other) and role_of(other.name) == EVAL for other in beside)


def _ends(path: Path) -> bool:
    return path.stem.rpartition("_")[2] in ("train", "test", "eval")


def read_file(path: Path, name: str) -> list[Row]:
    """The rows of a file; BadData names file and row."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise BadData(f"{name}: {path.stat().st_size} bytes; at most {MOST_BYTES} are read")
        text = path.read_bytes()
    except OSError as exc:
        raise BadData(f"{name}: {exc.strerror}") from exc
    raws = _lines(text, name) if path.suffix == ".jsonl" else _list(text, name)
    if len(raws) > MOST_ROWS:
        raise BadData(f"{name}: {len(raws)} rows; at most {MOST_ROWS} are read")
    role = role_of(name)
    return [_row(raw, name, number, role) for number, raw in enumerate(raws)]


def _list(text: bytes, name: str) -> list[_Raw]:
    try:
        return msgspec.json.decode(text, type=list[_Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
        raise BadData(f"{name}: {_said(exc)}") from exc


def _lines(text: bytes, name: str) -> list[_Raw]:
    found = []
    for number, line in enumerate(text.splitlines()):
        try:
            found.append(msgspec.json.decode(line, type=_Raw))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as exc:
            raise BadData(f"{name}: row {number}: {_said(exc)}") from exc
    return found


def _said(exc: Exception) -> str:
    """The row in front, where the decoder tells it as a path."""
    text = str(exc)
    found = _ROW.search(text)
    if found is None:
        return text
    return f"row {found[1]}: {text[: found.start()].removesuffix(' - at ')}{f' at {found[2]}' if found[2] else ''}"


def _row(raw: _Raw, file: str, number: int, role: str) -> Row:
    where = f"{file}: row {number}"
    said = raw.conversations or ()
    if not 1 <= len(raw.item_id) <= LONGEST_ID:
        raise BadData(f"{where}: item_id has {len(raw.item_id)} characters; 1 to {LONGEST_ID}")
    if len(said) > MOST_MESSAGES:
        raise BadData(f"{where}: {len(said)} messages; at most {MOST_MESSAGES}")
    return Row(
        file=file,
        number=number,
        item_id=raw.item_id,
        role=role,
        conversation=tuple(_message(one, f"{where}: message {place}") for place, one in enumerate(said)),
        reward=raw.reward,
        success=raw.success,
    )


def _message(said: _Said, where: str) -> Message:
    value = said.content if said.value is None else said.value
    sender = said.sender or said.role
    if value is None or not sender:
        raise BadData(f"{where} needs from and value, or role and content")
    if len(value) > LONGEST_MESSAGE:
        raise BadData(f"{where} has {len(value)} characters; at most {LONGEST_MESSAGE}")
    return Message(sender=sender, value=value, loss=said.loss)
