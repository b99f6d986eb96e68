"""Work on many items, so many at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


async def at_once(items: Iterable[Item], work: Callable[[Item], Awaitable[Result]], *, most: int) -> list[Result]:
    """The result of `work` on each item, in the items' order; the first exception cancels the rest and leaves bare."""
    found: dict[int, Result] = {}
    listed = list(items)
    queue = iter(enumerate(listed))

    async def worker() -> None:
        for number, item in queue:
            found[number] = await work(item)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(most, len(listed))):
                group.create_task(worker())
    except BaseExceptionGroup as several:
        raise several.exceptions[0] from None
    return [found[number] for number in range(len(listed))]
