"""Tabs, history and cookies of one session, and the acts on them. Pages come straight from the sites, without HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from urllib.parse import parse_qsl, unquote, urlencode, urljoin, urlsplit

from envservers.webarena.act import Act, Verb
from envservers.webarena.engines import refusals
from envservers.webarena.engines.addresses import BLANK, read_address
from envservers.webarena.engines.dom import unreachable_dom
from envservers.webarena.engines.engine import Cookie, EngineFailed, Field, UnsupportedMarkup
from envservers.webarena.engines.lite import pointer
from envservers.webarena.engines.lite.document import Element
from envservers.webarena.engines.lite.forms import entries
from envservers.webarena.engines.lite.keyboard import press
from envservers.webarena.engines.lite.page import Page, Typed
from envservers.webarena.engines.lite.serialise import html_of
from envservers.webarena.engines.lite.styles import PLAIN, Styles, read_styles
from envservers.webarena.nodes import Node, Tab, View
from envservers.webarena.site import Pairs, SiteRequest, SiteResponse
from envservers.webarena.state.session import SiteSession

MOST_REDIRECTS = 20
BLANK_SOURCE = "<!doctype html><html><head></head><body></body></html>"
FIELD_ROLES = frozenset({"textbox", "searchbox", "spinbutton", "combobox", "checkbox", "radio"})


@dataclass(slots=True)
class _Entry:
    """A place in a tab's history."""

    url: str
    document: int
    """Entries of one number are fragments of one page."""
    referer: str = ""
    """Sent again when the page is fetched again."""


@dataclass(slots=True)
class _Tab:
    page: Page
    entries: list[_Entry] = field(default_factory=list)
    at: int = 0
    unreachable: bool = False

    @property
    def url(self) -> str:
        return self.entries[self.at].url

    @property
    def title(self) -> str:
        return refusals.UNREACHABLE if self.unreachable else self.page.title


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedTab:
    """A tab as plain data."""

    source: str
    page_url: str
    typed: Typed
    alert: str
    entries: tuple[tuple[str, int, str], ...]
    at: int
    unreachable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """A browser's state, without the sites' databases: cookies, tabs, history and what was typed."""

    cookies: dict[str, dict[str, str]]
    tabs: tuple[SavedTab, ...]
    active: int
    documents: int


class Browser:
    """One session's browser. Not thread-safe; used by one thread at a time."""

    def __init__(self, session: SiteSession, urls: Sequence[str], cookies: Sequence[Cookie] = ()) -> None:
        self._session = session
        self._cookies: dict[str, dict[str, str]] = {}
        self._sheets: dict[str, str] = {}
        self._documents = 0
        self._tabs: list[_Tab] = []
        self._active = 0
        for cookie in cookies:
            self._cookies.setdefault(cookie.host, {})[cookie.name] = cookie.value
        for url in urls or (BLANK,):
            address = read_address(url, session.sites)
            if address is None:
                raise EngineFailed(f"{url} is not on a site of this session")
            self._open_tab(address)
        self._active = 0

    # ---- looking ----

    def view(self, *, full: bool, dom: bool = False) -> View:
        """The active page."""
        tab = self._tab
        document = None
        if tab.unreachable:
            root = refusals.unreachable_page(tab.url)
            document = unreachable_dom(tab.url) if dom else None
        else:
            root = tab.page.view(full=full)
            document = tab.page.dom(root, full=full) if dom else None
        tabs = tuple(Tab(title=each.title, url=each.url) for each in self._tabs)
        return View(root=root, tabs=tabs, active=self._active, dom=document)

    def html(self) -> str:
        """The live document of the active tab."""
        return html_of(self._tab.page.document)

    def fields(self) -> list[Field]:
        """Form controls of the active page in document order."""
        page = self._tab.page
        return [_field(page, node) for node in page.tree().walk() if node.role in FIELD_ROLES]

    # ---- acting ----

    def act(self, act: Act, key: str) -> str:
        """Carry it out; the line for the agent when it could not be done."""
        page = self._tab.page
        page.alert = ""
        match act.verb:
            case Verb.CLICK | Verb.HOVER | Verb.TYPE | Verb.SELECT:
                element = page.element(key) if key and not self._tab.unreachable else None
                page.ready()
                if element is None:
                    return refusals.GONE
                return self._act_on(act, page, element)
            case Verb.PRESS:
                return self._follow(press(page, act.text))
            case Verb.SCROLL:
                page.scroll(down=act.down)
            case Verb.GOTO:
                address = read_address(act.text, self._session.sites)
                if address is None:
                    return refusals.blocked(act.text)
                self._navigate(address, replace=address == self._tab.url, referer="")
            case Verb.GO_BACK:
                return "" if self._step(-1) else refusals.NO_BACK
            case Verb.GO_FORWARD:
                return "" if self._step(1) else refusals.NO_FORWARD
            case Verb.NEW_TAB:
                self._open_tab(BLANK)
            case Verb.CLOSE_TAB:
                self._close_tab()
            case Verb.TAB_FOCUS:
                if not 0 <= act.tab < len(self._tabs):
                    return refusals.no_tab(act.tab, len(self._tabs))
                self._active = act.tab
            case _:
                raise ValueError(f"{act.verb} is nothing that an engine does")
        return ""

    def _act_on(self, act: Act, page: Page, element: Element) -> str:
        page.show(element)
        match act.verb:
            case Verb.CLICK:
                return self._follow(pointer.click(page, element))
            case Verb.TYPE:
                result = pointer.replace_text(page, element, act.text)
                return self._follow(result or (press(page, "Enter") if act.enter else None))
            case Verb.SELECT:
                return self._follow(pointer.select(page, element, act.text))
            case _:
                return ""

    def _follow(self, result: pointer.Result) -> str:
        """Do what a click or a key asked for."""
        tab = self._tab
        match result:
            case None:
                return ""
            case str():
                return result
            case pointer.Follow(href=href, blank=blank):
                self._follow_link(tab, href, blank)
            case pointer.Submit(form=form, button=button):
                self._submit(tab, form, button)
        return ""

    def _follow_link(self, tab: _Tab, href: str, blank: bool) -> None:
        url = urljoin(tab.page.url, href.strip())
        if urlsplit(url).scheme not in ("http", "https"):
            return
        referer = _referer(tab.page.url, url)
        if blank:
            self._open_tab(url, referer=referer)
        else:
            self._navigate(url, replace=url == tab.url, referer=referer)

    def _submit(self, tab: _Tab, form: Element, button: Element | None) -> None:
        url = urljoin(tab.page.url, form.attrs.get("action", "") or tab.page.url)
        pairs = entries(form, button)
        referer = _referer(tab.page.url, url)
        if form.attrs.get("method", "get").lower() == "post":
            self._load(url, method="POST", form=pairs, referer=referer)
            return
        url = url.partition("#")[0].partition("?")[0] + "?" + urlencode(pairs)
        if urlsplit(url).scheme in ("http", "https"):
            self._load(url, referer=referer)

    # ---- going places ----

    @property
    def _tab(self) -> _Tab:
        return self._tabs[self._active]

    def _open_tab(self, url: str, referer: str = "") -> None:
        self._tabs.append(_Tab(page=Page(BLANK, BLANK_SOURCE)))
        self._active = len(self._tabs) - 1
        self._load(url, referer=referer)

    def _close_tab(self) -> None:
        closing = self._tab
        if len(self._tabs) == 1:
            self._open_tab(BLANK)
        self._tabs.remove(closing)
        self._active = len(self._tabs) - 1

    def _navigate(self, url: str, *, replace: bool, referer: str) -> None:
        """A link or an address; one that only differs in its fragment stays on the page."""
        tab = self._tab
        here, _, _ = tab.url.partition("#")
        there, mark, fragment = url.partition("#")
        if mark and here == there and not tab.unreachable:
            if not replace:
                self._add(tab, _Entry(url, tab.entries[tab.at].document, referer))
            self._show_fragment(tab.page, fragment)
            return
        self._load(url, replace=replace, referer=referer)

    def _load(
        self, url: str, *, method: str = "GET", form: Pairs = (), referer: str = "", replace: bool = False
    ) -> None:
        url, response = self._fetch(url, method, form, referer)
        self._documents += 1
        tab = self._tab
        entry = _Entry(url, self._documents, referer)
        self._put(tab, url, response)
        if replace and tab.entries:
            tab.entries[tab.at] = entry
        else:
            self._add(tab, entry)

    def _add(self, tab: _Tab, entry: _Entry) -> None:
        del tab.entries[tab.at + 1 :]
        tab.entries.append(entry)
        tab.at = len(tab.entries) - 1

    def _step(self, by: int) -> bool:
        tab = self._tab
        at = tab.at + by
        if not 0 <= at < len(tab.entries):
            return False
        entry, left = tab.entries[at], tab.entries[tab.at]
        tab.at = at
        if entry.document == left.document:
            self._show_fragment(tab.page, entry.url.partition("#")[2])
            return True
        url, response = self._fetch(entry.url, "GET", (), entry.referer)
        self._documents += 1
        self._put(tab, url, response)
        # Fragments of one page keep belonging together after it is fetched anew.
        for other in tab.entries:
            if other.document == entry.document and other is not entry:
                other.document = self._documents
        entry.url, entry.document = url, self._documents
        return True

    def _show_fragment(self, page: Page, fragment: str) -> None:
        target = page.document.ids.get(unquote(fragment))
        if target is None:
            if not fragment:
                page.top = 0
            return
        page.ready()
        page.give_focus(target if pointer.focusable(target) else None)
        page.start = target.index
        page.show(target)

    def _fetch(self, url: str, method: str, form: Pairs, referer: str) -> tuple[str, SiteResponse | None]:
        """The answer after redirects, and its address; no answer from what is no site of ours."""
        for _ in range(MOST_REDIRECTS):
            address = read_address(url, self._session.sites) if "@" not in url else None
            if address is None:
                return _with_slash(url), None
            if address == BLANK:
                return BLANK, SiteResponse(body=BLANK_SOURCE.encode())
            response = self._request(address, method, form, referer)
            if not response.location:
                return address, response
            target = urljoin(address, response.location)
            fragment = address.partition("#")[2]
            url = target if "#" in target or not fragment else f"{target}#{fragment}"
            method, form = "GET", ()
        return _with_slash(url), None

    def _request(self, url: str, method: str, form: Pairs, referer: str) -> SiteResponse:
        parts = urlsplit(url)
        host = parts.netloc
        jar = self._cookies.setdefault(host, {})
        response = self._session.handle(
            SiteRequest(
                method=method,
                host=host,
                path=unquote(parts.path),
                query=tuple(parse_qsl(parts.query, keep_blank_values=True)),
                form=form,
                cookies=dict(jar),
                referer=referer,
            )
        )
        for name, value in response.cookies:
            if value:
                jar[name] = value
            else:
                jar.pop(name, None)
        return response

    def _put(self, tab: _Tab, url: str, response: SiteResponse | None) -> None:
        """Show an answer: a page or a text. A picture or a font, which only an address leads to, is no page."""
        if response is not None and not response.content_type.startswith("text/"):
            response = None
        tab.unreachable = response is None
        if response is None:
            tab.page = Page(url, BLANK_SOURCE)
            return
        source = response.body.decode()
        if not response.content_type.startswith("text/html"):
            source = f"<!doctype html><html><head></head><body><pre>{escape(source)}</pre></body></html>"
        tab.page = self._page(url, source)
        if "#" in url:
            self._show_fragment(tab.page, url.partition("#")[2])

    def _page(self, url: str, source: str) -> Page:
        page = Page(url, source)
        page.styles = self._styles(page)
        return page

    def _styles(self, page: Page) -> Styles:
        sheets: list[str] = []
        for link in page.document.head.kids:
            if isinstance(link, Element) and link.tag == "link" and link.attrs.get("rel") == "stylesheet":
                sheets.append(self._sheet(urljoin(page.url, link.attrs["href"])))
        return read_styles(tuple(sheets)) if sheets else PLAIN

    def _sheet(self, url: str) -> str:
        if url not in self._sheets:
            if read_address(url, self._session.sites) is None:
                raise UnsupportedMarkup(f"style sheet {url} is on no site")
            response = self._request(url, "GET", (), "")
            self._sheets[url] = response.body.decode() if response.status == 200 else ""
        return self._sheets[url]

    # ---- keeping and restoring ----

    def save(self) -> Saved:
        """The whole state but the databases, as plain data."""
        return Saved(
            cookies={host: dict(jar) for host, jar in self._cookies.items()},
            tabs=tuple(
                SavedTab(
                    source=tab.page.source,
                    page_url=tab.page.url,
                    typed=tab.page.typed(),
                    alert=tab.page.alert,
                    entries=tuple((entry.url, entry.document, entry.referer) for entry in tab.entries),
                    at=tab.at,
                    unreachable=tab.unreachable,
                )
                for tab in self._tabs
            ),
            active=self._active,
            documents=self._documents,
        )

    @classmethod
    def restored(cls, session: SiteSession, saved: Saved) -> Browser:
        """A browser in the state that was saved."""
        browser = cls(session, ())
        browser._cookies = {host: dict(jar) for host, jar in saved.cookies.items()}
        browser._tabs = [browser._restored_tab(tab) for tab in saved.tabs]
        browser._active = saved.active
        browser._documents = saved.documents
        return browser

    def _restored_tab(self, saved: SavedTab) -> _Tab:
        page = self._page(saved.page_url, saved.source)
        page.restore(saved.typed)
        page.alert = saved.alert
        entries = [_Entry(*entry) for entry in saved.entries]
        return _Tab(page=page, entries=entries, at=saved.at, unreachable=saved.unreachable)


def _with_slash(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(path="/").geturl() if parts.netloc and not parts.path else url


def _referer(here: str, there: str) -> str:
    """What a browser says of the page that it comes from: all of it to the same host, else the host alone."""
    one, other = urlsplit(here), urlsplit(there)
    if one.scheme != "http":
        return ""
    return here.partition("#")[0] if one.netloc == other.netloc else f"http://{one.netloc}/"


def _field(page: Page, node: Node) -> Field:
    element = page.element(node.key)
    assert element is not None
    return Field(role=node.role, name=node.name, value=pointer.value_of(element))
