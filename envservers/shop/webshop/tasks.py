"""The tasks of WebShop: wishes of the seeded catalogue, or those of WebShop's own files; read when asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agentenv.errors import UnknownOption
from agentenv.protocol import Task, digest_of
from agentenv.registry import MadeTasks, TaskSet
from envservers.shop.webshop.spec import ENV_ID

if TYPE_CHECKING:
    from envservers.shop.webshop.store import Store

VERSION = "1"
"""Of the catalogue and its goals."""
COUNTS: Mapping[str, Mapping[str, int]] = {
    "full": {"train": 5_000, "dev": 200, "test": 200, "test_ood": 200},
    "small": {"train": 200, "dev": 50, "test": 50, "test_ood": 50},
}
_OUTER = ("group", "difficulty", "template")
"""What a task says of itself; the rest of a goal is its payload."""


def make_tasks(options: Mapping[str, Any]) -> TaskSet:
    """The task set under these options."""
    items, attributes, goals = (options.get(name) or "" for name in ("items", "attributes", "goals"))
    if (attributes or goals) and not items:
        raise UnknownOption("options attributes and goals go with items, the file of products")
    if items and not attributes and not goals:
        raise UnknownOption("option items goes with goals (items_human_ins.json) or attributes (items_ins_v2.json)")
    if items:
        return FileTasks(items=items, attributes=attributes, goals=goals)
    return world_tasks(options.get("size") or "full")


def canonical_task(task: Task) -> Any:
    """What makes two tasks one wish: kind, attributes and options, whatever the price and the words."""
    return task.payload["canonical"]


def world_tasks(size: str) -> TaskSet:
    """The wishes of the seeded catalogue, which the first one asked for builds.

    Version and size fix every task, and a golden test holds them to it. `test_ood` has kinds of products, shapes and
    phrasings that are nowhere else.
    """

    def made(split: str, index: int) -> Task:
        from envservers.shop.webshop.sources import store_of

        return _task(split, index, store_of(size=size).goal(split, index))

    return MadeTasks(counts=COUNTS[size], digest=digest_of([ENV_ID, VERSION, size]), make=made)


class FileTasks:
    """The goals of WebShop's files. Whatever is asked first reads the files."""

    def __init__(self, *, items: str, attributes: str, goals: str) -> None:
        self._files = {"items": items, "attributes": attributes, "goals": goals}

    @property
    def digest(self) -> str:
        """Over all products and goals."""
        return self._store().digest

    def splits(self) -> tuple[str, ...]:
        """Those that have goals."""
        return tuple(split for split in ("train", "dev", "test") if self._store().count(split))

    def count(self, split: str) -> int:
        """Number of tasks in `split`."""
        return self._store().count(split)

    def get(self, split: str, index: int) -> Task:
        """Task `index` of `split`."""
        return _task(split, index, self._store().goal(split, index))

    def _store(self) -> Store:
        from envservers.shop.webshop.sources import store_of

        return store_of(**self._files)


def _task(split: str, index: int, goal: Mapping[str, Any]) -> Task:
    return Task(
        id=f"{ENV_ID}/{split}/{index}",
        env=ENV_ID,
        split=split,
        index=index,
        category=goal["group"],
        difficulty=goal["difficulty"],
        template=goal["template"],
        payload={name: value for name, value in goal.items() if name not in _OUTER},
    )
