"""What every engine does for one session. The session runs one call at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from envservers.webarena.act import Act
from envservers.webarena.nodes import View
from envservers.webarena.state.session import SiteSession


class UnsupportedMarkup(Exception):
    """A page holds what the engine lite does not know; never guessed. An env_error."""


class EngineFailed(Exception):
    """The engine broke: a crashed renderer, a lost connection, a page that did not become ready. An env_error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cookie:
    """A cookie that a session starts with: a log-in made for it. Without Expires, path /."""

    host: str
    name: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What came of an act."""

    error: str = ""
    """One line for the agent when the act could not be done (covered, gone, disabled, blocked address, no such tab)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A form control of the active page, for the evaluator of prepared forms."""

    role: str
    name: str
    """Accessible name."""
    value: str
    """Typed text; the chosen option's text; `true` or `false` of a checkbox or radio button."""


class Engine(Protocol):
    """A browser with tabs, cookies and history of its own."""

    name: str
    """`chromium` or `lite`."""
    version: str
    """Of the browser, or of the rules that stand for one: another version may give other trees."""

    async def open(self, session: SiteSession, urls: Sequence[str], cookies: Sequence[Cookie] = ()) -> None:
        """Start afresh on a session's sites: these cookies, no history, one tab for each URL, the first one active."""

    async def act(self, act: Act, key: str) -> Done:
        """Carry out any act but none and stop. `key` is that of the node which `act.element` names, else empty.

        Returns when the page is ready: loaded, no request in flight.
        """

    async def view(self, *, full: bool, dom: bool = False) -> View:
        """The active page. `full`: every node is visible; else only those in the viewport. `dom`: with its `dom`."""

    async def html(self) -> str:
        """The live document of the active tab, serialised."""

    async def fields(self) -> list[Field]:
        """Form controls of the active page in document order."""

    async def screenshot(self) -> bytes | None:
        """PNG of the viewport; None where the engine cannot draw."""

    async def close(self) -> None:
        """Free all; a second call does nothing."""
