"""One tab: a page, its debugging session, and when it is ready."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from envservers.webarena.engines.addresses import BLANK
from envservers.webarena.engines.chromium import scripts
from envservers.webarena.engines.engine import EngineFailed

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Page

T = TypeVar("T")

CALL_S = 20.0
"""Most seconds of one call to the browser."""
LOAD_S = 40.0
"""Most seconds until a page is ready."""
POPUP_S = 5.0
"""Most seconds until an opened window shows up."""
WINDOWS = frozenset({"", "http", "https", "about", "blob"})
"""Schemes that a window is opened for, if only to say that it is blocked; the browser ignores others."""
ERROR_PAGE = "chrome-error:"


class Gone(Exception):
    """The node of an act is not on the page any more."""


class Tab:
    """Lives on the runtime's loop. `open` makes one."""

    def __init__(self, page: Page, cdp: CDPSession) -> None:
        self.page = page
        self.url = BLANK
        self.title = ""
        """Of the last time that somebody looked."""
        self.unreachable = False
        """Whether the page is the browser's own error page for `url`."""
        self.commits = 0
        """Documents that the main frame got so far."""
        self._cdp = cdp
        self._frame = ""
        self._asked = False  # a navigation was asked for and has not begun
        self._loading = False
        self._flying: set[str] = set()
        self._windows = 0  # opened and not yet seen
        self._change = asyncio.Event()
        self._crashed = asyncio.get_running_loop().create_future()

    @classmethod
    async def open(cls, page: Page) -> Tab:
        """Attach to a page, which may be loading."""
        tab = cls(page, await asyncio.wait_for(page.context.new_cdp_session(page), CALL_S))
        page.on("crash", lambda _: tab._fail("the page crashed"))
        page.on("close", lambda _: tab._fail("the page was closed"))
        for name, heard in tab._listeners().items():
            tab._cdp.on(name, heard)
        tree = await tab.call("Page.getFrameTree")
        tab._on_commit({"frame": tree["frameTree"]["frame"]})
        await tab.call("Page.enable")
        await tab.call("Network.enable", maxTotalBufferSize=0, maxResourceBufferSize=0)
        return tab

    async def call(self, method: str, /, **arguments: Any) -> Any:
        """One call to the browser, under the time limit."""
        sending = asyncio.ensure_future(self._cdp.send(method, arguments))
        try:
            await asyncio.wait({sending, self._crashed}, timeout=CALL_S, return_when=asyncio.FIRST_COMPLETED)
            if sending.done() and sending.exception() is None:
                return sending.result()
            if self._crashed.done():
                raise EngineFailed(self._crashed.result())
            if not sending.done():
                raise EngineFailed(f"{method} took more than {CALL_S:g} s")
            error = sending.exception()
            assert error is not None
            raise _read_error(method, error)
        finally:
            if not sending.done():
                sending.cancel()

    async def do(self, work: Awaitable[T]) -> T:
        """Await something of Playwright's own, under the same limit."""
        from playwright.async_api import Error

        try:
            return await asyncio.wait_for(work, CALL_S)
        except TimeoutError as error:
            raise EngineFailed(f"the browser did not answer within {CALL_S:g} s") from error
        except Error as error:
            raise EngineFailed(str(error).splitlines()[0]) from error

    async def evaluate(self, expression: str, *, wait: bool = False) -> Any:
        """The value of an expression in the page; None when the page went away meanwhile."""
        try:
            answer = await self.call("Runtime.evaluate", expression=expression, awaitPromise=wait, returnByValue=True)
        except _Left:
            return None
        if "exceptionDetails" in answer:
            raise EngineFailed(f"a script failed: {answer['exceptionDetails'].get('text', '')}")
        return answer["result"].get("value")

    async def ask(self, key: str, function: str, *arguments: Any) -> dict[str, Any]:
        """Call a function of `scripts` on the node of that key."""
        handle = await self.handle(key)
        answer = await self.call(
            "Runtime.callFunctionOn",
            objectId=handle,
            functionDeclaration=function,
            arguments=[{"value": value} for value in arguments],
            returnByValue=True,
        )
        if "exceptionDetails" in answer:
            raise EngineFailed(f"a script failed: {answer['exceptionDetails'].get('text', '')}")
        found: dict[str, Any] = answer["result"].get("value")
        return found

    async def handle(self, key: str) -> str:
        """The browser's handle of a node."""
        if not key.lstrip("-").isdecimal():
            raise Gone
        try:
            found = await self.call("DOM.resolveNode", backendNodeId=int(key))
        except _Left as error:
            raise Gone from error
        return str(found["object"]["objectId"])

    async def go(self, url: str) -> None:
        """Open an address and wait until it is ready."""
        self._asked = True
        answer = await self.call("Page.navigate", url=url)
        # A fragment of the same page has no loader, a download no document.
        if "loaderId" not in answer or answer.get("isDownload"):
            self._asked = False
        await self.ready()

    async def step(self, by: int) -> bool:
        """Go through the history and show the page as it is served; False where it ends."""
        history = await self.call("Page.getNavigationHistory")
        at = history["currentIndex"] + by
        if not 0 <= at < len(history["entries"]):
            return False
        self._asked = True
        await self.call("Page.navigateToHistoryEntry", entryId=history["entries"][at]["id"])
        await self.ready()
        if not self.unreachable:
            await self.evaluate(scripts.FRESH)
        return True

    async def ready(self) -> None:
        """Wait until the page is loaded, no request is in flight and two frames were drawn."""
        try:
            async with asyncio.timeout(LOAD_S):
                while True:
                    commits = self.commits
                    state = await self.evaluate(scripts.FRAMES, wait=True)
                    if self._quiet and state == "complete" and commits == self.commits:
                        return
                    while not self._quiet:
                        self._change.clear()
                        waiting = asyncio.ensure_future(self._change.wait())
                        try:
                            await asyncio.wait({waiting, self._crashed}, return_when=asyncio.FIRST_COMPLETED)
                        finally:
                            waiting.cancel()
                        if self._crashed.done():
                            raise EngineFailed(self._crashed.result())
        except TimeoutError as error:
            raise EngineFailed(f"{self.url} was not ready within {LOAD_S:g} s") from error

    async def look_at_title(self) -> None:
        """Note the title, for the line of tabs."""
        if not self.unreachable:
            self.title = str(await self.evaluate("document.title") or "")

    def take_windows(self) -> int:
        """How many windows the page opened since the last call."""
        count, self._windows = self._windows, 0
        return count

    @property
    def _quiet(self) -> bool:
        return not (self._asked or self._loading or self._flying)

    def _listeners(self) -> dict[str, Any]:
        return {
            "Page.frameRequestedNavigation": self._on_asked,
            "Page.frameStartedLoading": self._on_started,
            "Page.frameStoppedLoading": self._on_stopped,
            "Page.frameNavigated": self._on_commit,
            "Page.navigatedWithinDocument": self._on_fragment,
            "Page.windowOpen": self._on_window,
            "Network.requestWillBeSent": lambda event: self._flying.add(event["requestId"]),
            "Network.loadingFinished": self._on_landed,
            "Network.loadingFailed": self._on_landed,
        }

    def _on_asked(self, event: Mapping[str, Any]) -> None:
        if event["frameId"] == self._frame and event["disposition"] == "currentTab":
            self._asked = True

    def _on_started(self, event: Mapping[str, Any]) -> None:
        if event["frameId"] == self._frame:
            self._asked, self._loading = False, True

    def _on_stopped(self, event: Mapping[str, Any]) -> None:
        if event["frameId"] == self._frame:
            self._asked = self._loading = False
            self._change.set()

    def _on_commit(self, event: Mapping[str, Any]) -> None:
        frame = event["frame"]
        if "parentId" in frame:
            return
        self._frame = frame["id"]
        self.commits += 1
        self._flying.clear()
        self.unreachable = frame["url"].startswith(ERROR_PAGE)
        self.url = frame.get("unreachableUrl") or frame["url"] + frame.get("urlFragment", "")
        self._change.set()

    def _on_fragment(self, event: Mapping[str, Any]) -> None:
        if event["frameId"] == self._frame:
            self.url = event["url"]
            self._asked = False
            self._change.set()

    def _on_window(self, event: Mapping[str, Any]) -> None:
        if event["url"].partition(":")[0] in WINDOWS:
            self._windows += 1

    def _on_landed(self, event: Mapping[str, Any]) -> None:
        self._flying.discard(event["requestId"])
        self._change.set()

    def _fail(self, why: str) -> None:
        if not self._crashed.done():
            self._crashed.set_result(why)


class _Left(EngineFailed):
    """The document or node that a call was about went away while it ran."""


_LEFT = (
    "Could not find node",
    "with given id",
    "context was destroyed",
    "navigated or closed",
    "Cannot find context",
)


def _read_error(method: str, error: BaseException) -> EngineFailed:
    said = str(error)
    kind = _Left if any(part in said for part in _LEFT) else EngineFailed
    return kind(f"{method}: {said.splitlines()[0] if said else type(error).__name__}")
