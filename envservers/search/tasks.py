"""The tasks of Search: the encyclopedia's questions, read when asked for, or those of question files."""

from __future__ import annotations

import functools
import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentenv.errors import UnknownOption
from agentenv.needs import need_packages
from agentenv.protocol import Task, digest_of
from agentenv.registry import MadeTasks, TaskSet
from envservers.search.question_files import file_tasks
from envservers.search.spec import ENV_ID

VERSION = "2"
"""Of the encyclopedia's questions."""
COUNTS: Mapping[str, Mapping[str, int]] = {
    "full": {"train": 20_000, "dev": 500, "test": 500, "test_ood": 500},
    "small": {"train": 500, "dev": 100, "test": 100, "test_ood": 100},
}
_PAYLOAD = ("question", "answers", "kind", "phrasing", "canonical", "steps")
_opening = threading.Lock()


def make_tasks(options: Mapping[str, Any]) -> TaskSet:
    """The task set under these options; nothing is built before a task is asked for.

    EnvUnavailable without bm25s.
    """
    need_packages(ENV_ID, "search", "bm25s")
    corpus, questions, retriever = (options.get(name) or "" for name in ("corpus", "questions", "retriever"))
    if bool(questions) != bool(corpus or is_address(retriever)):
        raise UnknownOption(
            "options corpus or the address of a retriever, and questions: give both what is searched and what is asked"
        )
    return file_tasks(Path(questions)) if questions else world_tasks(options.get("size") or "full")


def is_address(retriever: str) -> bool:
    """Whether the option names a server, which has passages of its own."""
    return retriever.startswith(("http://", "https://"))


def unreplayable(options: Mapping[str, Any]) -> str:
    """Why searches may find something else tomorrow or elsewhere; empty with BM25, which ranks alike everywhere."""
    retriever = options["retriever"]
    if is_address(retriever):
        return f"the retriever at {retriever} promises nothing"
    return "vectors are rounded differently on other machines" if retriever == "dense" else ""


def canonical_task(task: Task) -> Any:
    """What makes two tasks the same question: path and subjects in the encyclopedia, else the question's words."""
    return task.payload["canonical"]


def training_row(task: Task) -> Mapping[str, Any]:
    """What trainers are told beside the prompt: the accepted answers, in the form of Search-R1."""
    return {"ground_truth": {"target": list(task.payload["answers"])}}


def world_tasks(size: str) -> TaskSet:
    """The questions of the encyclopedia, which the first one asked for builds. Each split is asked in its own world.

    Version and size fix every task, and a golden test holds them to it.
    """
    return MadeTasks(
        counts=COUNTS[size], digest=digest_of([ENV_ID, VERSION, size]), make=functools.partial(_task, size)
    )


def _task(size: str, split: str, index: int) -> Task:
    row = json.loads(_line(size, split, index))
    return Task(
        id=f"{ENV_ID}/{split}/{index}",
        env=ENV_ID,
        split=split,
        index=index,
        category=row["category"],
        difficulty=row["difficulty"],
        template=row["template"],
        payload={name: row[name] for name in _PAYLOAD},
    )


def _line(size: str, split: str, index: int) -> bytes:
    from agentenv.config import home

    with _opening:
        starts, lines = _lines(size, split, str(home()))
    return lines[starts[index] : starts[index + 1]]


@functools.lru_cache(maxsize=8)
def _lines(size: str, split: str, at: str) -> tuple[list[int], bytes]:
    from envservers.search.world.build import line_starts, questions_file, world_folder

    path = questions_file(world_folder(size), split)
    return line_starts(path), path.read_bytes()
