"""Where a catalogue comes from: the seeded one, or WebShop's own files; opened once in a process."""

from __future__ import annotations

import functools
import threading

from agentenv.config import home
from envservers.shop.webshop.store import Store

_opening = threading.Lock()


def store_of(*, size: str = "full", items: str = "", attributes: str = "", goals: str = "") -> Store:
    """The catalogue that the options name, made if it is not there yet."""
    with _opening:  # threads that start together open it once
        return _store(size, items, attributes, goals, str(home()))


@functools.lru_cache(maxsize=4)
def _store(size: str, items: str, attributes: str, goals: str, at: str) -> Store:
    if items:
        from envservers.shop.webshop.files.build import files_catalogue

        return Store(files_catalogue(items=items, attributes=attributes, goals=goals))
    from envservers.shop.webshop.world.build import world_file

    return Store(world_file(size))
