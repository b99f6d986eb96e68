"""The engine `chromium`: one session's tabs in a real browser."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from envservers.webarena.act import Act, Verb
from envservers.webarena.engines import refusals
from envservers.webarena.engines.addresses import read_address
from envservers.webarena.engines.chromium import acts, scripts
from envservers.webarena.engines.chromium.browser import HEIGHT, WIDTH, Room
from envservers.webarena.engines.chromium.dom import build_dom
from envservers.webarena.engines.chromium.find import need_chromium
from envservers.webarena.engines.chromium.runtime import Runtime, runtime
from envservers.webarena.engines.chromium.tabs import CALL_S, POPUP_S, Gone, Tab
from envservers.webarena.engines.chromium.tree import build_tree
from envservers.webarena.engines.chromium.visible import ViewportRule, mark_visible
from envservers.webarena.engines.dom import unreachable_dom
from envservers.webarena.engines.engine import Cookie, Done, EngineFailed, Field
from envservers.webarena.nodes import Node, View
from envservers.webarena.nodes import Tab as ListedTab
from envservers.webarena.state.session import SiteSession

if TYPE_CHECKING:
    from playwright.async_api import Page

T = TypeVar("T")

CONTROLS = frozenset({"textbox", "searchbox", "combobox", "checkbox", "radio", "spinbutton", "listbox", "slider"})


class ChromiumEngine:
    """See `Engine`. Used from any event loop; the work is done on the runtime's."""

    name = "chromium"

    def __init__(self, *, viewport_rule: ViewportRule = ViewportRule.WEBARENA, type_rule: str = "replace") -> None:
        self.viewport_rule = viewport_rule
        self.type_rule = type_rule
        self.version = need_chromium().version
        self._browsing: _Browsing | None = None

    async def open(self, session: SiteSession, urls: Sequence[str], cookies: Sequence[Cookie] = ()) -> None:
        """See `Engine.open`."""
        await self.close()
        where = runtime()
        self._browsing = await where.run(lambda r: _open(r, self, session, urls, cookies))

    async def act(self, act: Act, key: str) -> Done:
        """See `Engine.act`."""
        return await self._run(lambda browsing: browsing.act(act, key))

    async def view(self, *, full: bool, dom: bool = False) -> View:
        """See `Engine.view`: one call for the tree, and one for layout and document where they are needed."""
        return await self._run(lambda browsing: browsing.view(full=full, dom=dom))

    async def html(self) -> str:
        """See `Engine.html`."""
        return await self._run(lambda browsing: browsing.html())

    async def fields(self) -> list[Field]:
        """See `Engine.fields`."""
        return await self._run(lambda browsing: browsing.fields())

    async def screenshot(self) -> bytes:
        """See `Engine.screenshot`."""
        return await self._run(lambda browsing: browsing.screenshot())

    async def close(self) -> None:
        """See `Engine.close`."""
        browsing, self._browsing = self._browsing, None
        if browsing is not None and browsing.runtime is runtime():
            await browsing.runtime.run(lambda _: browsing.close())

    async def _run(self, work: Callable[[_Browsing], Awaitable[T]]) -> T:
        browsing = self._browsing
        if browsing is None:
            raise EngineFailed("no session is open")

        async def stepping(where: Runtime) -> T:
            async with where.steps:
                return await browsing.guarded(work)

        return await browsing.runtime.run(stepping)


class _Browsing:
    """What one session has in the browser. Lives on the runtime's loop."""

    def __init__(self, where: Runtime, room: Room, session: SiteSession, rule: ViewportRule, type_rule: str) -> None:
        self.runtime = where
        self.room = room
        self.tabs = [room.tab]
        self.active = 0
        self._hosts = session.sites
        self._rule = rule
        self._type_rule = type_rule
        self._came: asyncio.Queue[Page] = asyncio.Queue()
        self._broken = ""
        room.context.on("page", self._came.put_nowait)

    @property
    def tab(self) -> Tab:
        return self.tabs[self.active]

    async def guarded(self, work: Callable[[_Browsing], Awaitable[T]]) -> T:
        """Do it; whatever breaks is `EngineFailed`, and this session is over: its context goes."""
        from playwright.async_api import Error

        if self._broken:
            raise EngineFailed(self._broken)
        try:
            found = await work(self)
        except EngineFailed as error:
            await self._give_up(str(error))
            raise
        except Error as error:
            await self._give_up(str(error).splitlines()[0])
            raise EngineFailed(self._broken) from error
        guest = self.runtime.sites.guests.get(self.room.token)
        if guest is not None and guest.failure is not None:
            failure = guest.failure
            await self._give_up(f"a site failed: {failure!r}")
            raise EngineFailed(self._broken) from failure
        return found

    async def start(self, urls: Sequence[str], cookies: Sequence[Cookie]) -> None:
        """The session's cookies and first tabs."""
        if cookies:
            given = [{"name": c.name, "value": c.value, "url": f"http://{c.host}/"} for c in cookies]
            await self.tab.do(self.room.context.add_cookies(given))  # type: ignore[arg-type]
        for number, url in enumerate(urls):
            address = read_address(url, self._hosts)
            if address is None:
                raise EngineFailed(f"{url} is not on a site of this session")
            if number:
                await self._new_tab()
            await self.tab.go(address)
            await self.tab.look_at_title()
            await self.tab.call("Page.resetNavigationHistory")
        await self._focus(0)

    async def act(self, act: Act, key: str) -> Done:
        """Carry it out and wait."""
        commits = self.tab.commits
        error = await self._do(act, key)
        if not error or self.tab.commits != commits:
            await self.tab.ready()
            await self._take_windows()
        return Done(error=error)

    async def view(self, *, full: bool, dom: bool) -> View:
        """The active page."""
        root, document = await self._look(full=full, dom=dom)
        self.tab.title = root.name
        listed = tuple(ListedTab(title=tab.title, url=tab.url) for tab in self.tabs)
        return View(root=root, tabs=listed, active=self.active, dom=document)

    async def html(self) -> str:
        """The live document."""
        return str(await self.tab.evaluate(scripts.HTML) or "")

    async def fields(self) -> list[Field]:
        """Controls of the active page."""
        tree = build_tree((await self.tab.call("Accessibility.getFullAXTree"))["nodes"])
        found = []
        for node in tree.walk():
            if node.role in CONTROLS and not node.ignored and node.key:
                try:
                    value = await self.tab.ask(node.key, scripts.FIELD)
                except Gone:
                    continue
                if value is not None:
                    found.append(Field(role=node.role, name=node.name, value=str(value)))
        return found

    async def screenshot(self) -> bytes:
        """PNG of the viewport, without the caret: it blinks, and equal pages shall give equal bytes."""
        return await self.tab.do(self.tab.page.screenshot(caret="hide", scale="css", timeout=1000 * CALL_S))

    async def close(self) -> None:
        """The context goes."""
        if not self._broken:
            self._broken = "the session is closed"
            await self.runtime.give_back(self.room)

    async def _do(self, act: Act, key: str) -> str:
        match act.verb:
            case Verb.CLICK:
                return await acts.click(self.tab, key)
            case Verb.HOVER:
                return await acts.hover(self.tab, key)
            case Verb.TYPE:
                return await acts.type_text(self.tab, key, act.text, enter=act.enter, rule=self._type_rule)
            case Verb.SELECT:
                return await acts.select(self.tab, key, act.text)
            case Verb.PRESS:
                return await acts.press(self.tab, act.text)
            case Verb.SCROLL:
                return await acts.scroll(self.tab, down=act.down)
            case Verb.GOTO:
                address = read_address(act.text, self._hosts)
                if address is None:
                    return refusals.blocked(act.text)
                await self.tab.go(address)
            case Verb.GO_BACK:
                return "" if await self.tab.step(-1) else refusals.NO_BACK
            case Verb.GO_FORWARD:
                return "" if await self.tab.step(1) else refusals.NO_FORWARD
            case Verb.NEW_TAB:
                await self._new_tab()
            case Verb.CLOSE_TAB:
                await self._close_tab()
            case Verb.TAB_FOCUS:
                if not 0 <= act.tab < len(self.tabs):
                    return refusals.no_tab(act.tab, len(self.tabs))
                await self._focus(act.tab)
            case _:
                raise ValueError(f"{act.verb} is nothing that an engine does")
        return ""

    async def _look(self, *, full: bool, dom: bool) -> tuple[Node, Node | None]:
        for _ in range(2):
            if self.tab.unreachable:
                return refusals.unreachable_page(self.tab.url), unreachable_dom(self.tab.url) if dom else None
            commits = self.tab.commits
            nodes = (await self.tab.call("Accessibility.getFullAXTree"))["nodes"]
            snapshot: dict[str, Any] = {}
            if dom or not full:
                snapshot = await self.tab.call("DOMSnapshot.captureSnapshot", computedStyles=[])
            if self.tab.commits == commits:
                root = build_tree(nodes)
                document = build_dom(snapshot) if dom else None
                for seen in (root, document):
                    if seen is not None and not full:
                        mark_visible(seen, snapshot, width=WIDTH, height=HEIGHT, rule=self._rule)
                return root, document
            await self.tab.ready()
        raise EngineFailed("the page changed twice while it was being looked at")

    async def _new_tab(self) -> None:
        page = await asyncio.wait_for(self.room.context.new_page(), CALL_S)
        await self._take_page(await asyncio.wait_for(self._came.get(), CALL_S))
        assert self.tab.page is page

    async def _take_windows(self) -> None:
        for _ in range(self.tab.take_windows()):
            try:
                page = await asyncio.wait_for(self._came.get(), POPUP_S)
            except TimeoutError:
                return  # the browser refused it
            await self._take_page(page)
            await self.tab.do(page.wait_for_load_state("load"))
            await self.tab.ready()

    async def _take_page(self, page: Page) -> None:
        await self.tab.look_at_title()
        self.tabs.append(await Tab.open(page))
        self.active = len(self.tabs) - 1
        await self.tab.do(page.bring_to_front())

    async def _focus(self, number: int) -> None:
        if number != self.active:
            await self.tab.look_at_title()
            self.active = number
            await self.tab.do(self.tab.page.bring_to_front())

    async def _close_tab(self) -> None:
        if len(self.tabs) == 1:  # a blank one takes the place of the last
            await self._new_tab()
            self.active = 0
        closing = self.tabs.pop(self.active)
        self.active = len(self.tabs) - 1
        await self.tab.do(closing.page.close())
        await self.tab.do(self.tab.page.bring_to_front())

    async def _give_up(self, why: str) -> None:
        if not self._broken:
            self._broken = why
            await self.runtime.give_back(self.room)


async def _open(
    where: Runtime, engine: ChromiumEngine, session: SiteSession, urls: Sequence[str], cookies: Sequence[Cookie]
) -> _Browsing:
    async with where.steps:
        room = await where.take(frozenset(session.sites))
        where.sites.guests[room.token].session = session
        browsing = _Browsing(where, room, session, engine.viewport_rule, engine.type_rule)

        async def starting(it: _Browsing) -> None:
            await it.start(urls, cookies)

        try:
            await browsing.guarded(starting)
        except BaseException:
            await browsing.close()
            raise
        return browsing
