"""The engine `lite`: a session's tabs in this process, each call in a worker thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeVar

from envservers.webarena.act import Act
from envservers.webarena.engines.engine import Cookie, Done, EngineFailed, Field
from envservers.webarena.engines.lite.browser import Browser, Saved
from envservers.webarena.nodes import View
from envservers.webarena.state.session import SiteSession

T = TypeVar("T")


class LiteEngine:
    """See `Engine`. Draws nothing; its state can be kept and restored."""

    name = "lite"
    version = "1"

    def __init__(self) -> None:
        self._browser: Browser | None = None
        self._session: SiteSession | None = None

    async def open(self, session: SiteSession, urls: Sequence[str], cookies: Sequence[Cookie] = ()) -> None:
        """See `Engine.open`."""
        self._session = session
        self._browser = await asyncio.to_thread(Browser, session, urls, cookies)

    async def act(self, act: Act, key: str) -> Done:
        """See `Engine.act`."""
        return Done(error=await self._run(lambda browser: browser.act(act, key)))

    async def view(self, *, full: bool, dom: bool = False) -> View:
        """See `Engine.view`."""
        return await self._run(lambda browser: browser.view(full=full, dom=dom))

    async def html(self) -> str:
        """See `Engine.html`."""
        return await self._run(lambda browser: browser.html())

    async def fields(self) -> list[Field]:
        """See `Engine.fields`."""
        return await self._run(lambda browser: browser.fields())

    async def screenshot(self) -> None:
        """None: there is nothing to see."""
        return None

    async def save(self) -> Saved:
        """Cookies, tabs, history and typed text as plain data; the databases are the session's."""
        return await self._run(lambda browser: browser.save())

    async def restore(self, session: SiteSession, saved: Saved) -> None:
        """Go on from a saved state on a session whose database is in the state of then."""
        self._session = session
        self._browser = await asyncio.to_thread(Browser.restored, session, saved)

    async def close(self) -> None:
        """See `Engine.close`."""
        self._browser = self._session = None

    async def _run(self, work: Callable[[Browser], T]) -> T:
        browser = self._browser
        if browser is None:
            raise EngineFailed("no session is open")
        return await asyncio.to_thread(work, browser)
