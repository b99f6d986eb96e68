"""One browser runtime a process: driver, browsers and the server of the sites, on the loop of one thread.

Engines live on any loop and send their work here. It starts with the first of them, ends with the process or by
`shutdown`, and is never taken over by a forked child.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import shutil
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from envservers.webarena.engines.chromium.browser import Room, RunningBrowser, launch
from envservers.webarena.engines.chromium.folder import end_tree, make_folder, sweep
from envservers.webarena.engines.chromium.sites_server import SitesServer
from envservers.webarena.engines.engine import EngineFailed

if TYPE_CHECKING:
    from playwright.async_api import Playwright

T = TypeVar("T")

STEPS_PER_CORE = 2
"""Steps that run at once; more only wait for each other."""
WARM = 2
"""Contexts kept ready for the next sessions."""
MOST_CONTEXTS = 500
"""After so many a browser takes no new ones: its memory grows with what it has seen."""
MOST_PSS_MB = 3000
PSS_EVERY = 25
"""Contexts between two looks at the memory."""
STOP_S = 20.0


class Runtime:
    """Every method but `run` and `stop` runs on its loop."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.loop = asyncio.new_event_loop()
        self.sites = SitesServer()
        self.steps = asyncio.Semaphore(STEPS_PER_CORE * (os.cpu_count() or 1))
        self.folder: Path | None = None
        self._playwright: Playwright | None = None
        self._browsers: list[RunningBrowser] = []
        self._warm: list[Room] = []
        self._warming: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self._thread = threading.Thread(target=self._serve, name="agentenv-chromium", daemon=True)
        self._thread.start()

    async def run(self, work: Callable[[Runtime], Awaitable[T]]) -> T:
        """Do something on the runtime's loop; called from any other."""

        async def working() -> T:
            return await work(self)

        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(working(), self.loop))

    def stop(self) -> None:
        """End all of it; a second call does nothing."""
        if self.loop.is_closed():
            return
        if self._thread.is_alive():
            with contextlib.suppress(Exception):
                asyncio.run_coroutine_threadsafe(self._stop(), self.loop).result(STOP_S)
            self.loop.call_soon_threadsafe(self.loop.stop)
            self._thread.join(STOP_S)
        for browser in self._browsers:
            for pid in browser.pids:
                end_tree(pid)
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    async def take(self, hosts: frozenset[str]) -> Room:
        """A fresh context for a session on these hosts; from the warm ones if there is one."""
        room = await self._warm_room(hosts) or await self._room(hosts)
        if self._warming is None or self._warming.done():
            self._warming = self.loop.create_task(self._warm_up(hosts))
        return room

    async def give_back(self, room: Room) -> None:
        """A context that is done with."""
        self.sites.dismiss(room.token)
        await room.browser.leave(room)
        self._browsers = [browser for browser in self._browsers if browser.alive]

    def browsers(self) -> list[RunningBrowser]:
        """Those that run."""
        return list(self._browsers)

    async def _warm_room(self, hosts: frozenset[str]) -> Room | None:
        for room in [room for room in self._warm if room.browser.hosts == hosts and not room.browser.retired]:
            self._warm.remove(room)
            try:
                await room.tab.call("Page.getFrameTree")
                return room
            except EngineFailed:  # its browser went while it waited
                room.browser.retired = True
                await self.give_back(room)
        return None

    async def _room(self, hosts: frozenset[str]) -> Room:
        for attempt in (1, 2):
            browser = await self._browser(hosts)
            token = self.sites.admit()
            try:
                return await browser.room(token)
            except Exception as error:
                self.sites.dismiss(token)
                browser.retired = True
                if not browser.rooms:
                    await browser.end()
                if attempt == 2:
                    raise EngineFailed(f"no browser context could be made: {_line(error)}") from error
        raise AssertionError

    async def _browser(self, hosts: frozenset[str]) -> RunningBrowser:
        async with self._starting:
            for browser in self._browsers:
                if browser.hosts == hosts and browser.alive and not browser.retired:
                    if not self._worn(browser):
                        return browser
                    browser.retired = True
                    await self._drop_warm(browser)
            try:
                await self._start()
                browser = await self._launch(hosts)
            except Exception:
                # The driver may be what broke: once more with another one.
                await self._stop_driver()
                await self._start()
                browser = await self._launch(hosts)
            self._browsers.append(browser)
            return browser

    async def _launch(self, hosts: frozenset[str]) -> RunningBrowser:
        assert self._playwright is not None
        assert self.folder is not None
        return await launch(self._playwright, self.folder, hosts, self.sites.port)

    def _worn(self, browser: RunningBrowser) -> bool:
        if browser.opened >= MOST_CONTEXTS:
            return True
        return browser.opened % PSS_EVERY == PSS_EVERY - 1 and browser.pss_mb() > MOST_PSS_MB

    async def _warm_up(self, hosts: frozenset[str]) -> None:
        for room in [r for r in self._warm if r.browser.hosts != hosts or r.browser.retired or not r.browser.alive]:
            self._warm.remove(room)
            await self.give_back(room)
        while len(self._warm) < WARM:
            try:
                self._warm.append(await self._room(hosts))
            except Exception:
                return  # the session that needs one will say why

    async def _drop_warm(self, browser: RunningBrowser) -> None:
        for room in [room for room in self._warm if room.browser is browser]:
            self._warm.remove(room)
            await self.give_back(room)

    async def _start(self) -> None:
        if self.sites.port == 0:
            await asyncio.to_thread(sweep)
            self.folder = make_folder()
            await self.sites.start()
        if self._playwright is None:
            from playwright.async_api import async_playwright

            assert self.folder is not None
            with _temporary_files_in(self.folder):
                self._playwright = await async_playwright().start()

    async def _stop_driver(self) -> None:
        driver, self._playwright = self._playwright, None
        self._warm.clear()
        if driver is not None:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(driver.stop(), STOP_S)

    async def _stop(self) -> None:
        if self._warming is not None:
            self._warming.cancel()
        for browser in self._browsers:
            await browser.end()
        await self._stop_driver()
        await self.sites.stop()

    def _serve(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
        finally:
            left = asyncio.all_tasks(self.loop)
            for task in left:
                task.cancel()
            self.loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
            self.loop.run_until_complete(self.loop.shutdown_default_executor())
            self.loop.close()


_current: Runtime | None = None
_lock = threading.Lock()


def runtime() -> Runtime:
    """The runtime of this process; made when there is none."""
    global _current
    with _lock:
        if _current is None or _current.pid != os.getpid() or _current.loop.is_closed():
            _current = Runtime()
        return _current


def shutdown() -> None:
    """End the runtime of this process, if it has one. The next engine starts another."""
    global _current
    with _lock:
        old, _current = _current, None
    if old is not None and old.pid == os.getpid():
        old.stop()


def _forget() -> None:
    # A forked child has the object without its thread, and pipes that belong to its parent.
    global _current, _lock
    _current, _lock = None, threading.Lock()


@contextlib.contextmanager
def _temporary_files_in(folder: Path):  # type: ignore[no-untyped-def]
    """The driver, started inside, puts profiles and artifacts there."""
    old = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = str(folder)
    try:
        yield
    finally:
        if old is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = old


def _line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


atexit.register(shutdown)
os.register_at_fork(after_in_child=_forget)
