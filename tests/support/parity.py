"""The same page in both engines: two sessions that were led the same way, one shown by each."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from web_browsing import Browser
from web_worlds import lend_world

from envservers.webarena.act import Act, Verb
from envservers.webarena.engines.chromium.engine import ChromiumEngine
from envservers.webarena.engines.engine import Cookie, Engine
from envservers.webarena.engines.lite.engine import LiteEngine
from envservers.webarena.language import Observation, printed, target_of
from envservers.webarena.nodes import View
from envservers.webarena.site import Site
from envservers.webarena.sites.registry import sites

SITES: dict[str, Site] = sites()
Prepare = Callable[[Browser], None]


def nothing(browser: Browser) -> None:
    """A session as it starts."""


def led(folder: Path, sites: Mapping[str, Site], host: str, prepare: Prepare) -> Browser:
    """A session on the small world, led to a state."""
    folder.mkdir(parents=True)
    lend_world()
    browser = Browser(folder, dict(sites), host)
    prepare(browser)
    return browser


@dataclass(slots=True)
class Pair:
    """Both engines on sessions of equal history; what differed so far."""

    chromium: ChromiumEngine
    lite: LiteEngine
    differences: list[str] = field(default_factory=list)
    compared: int = 0

    @property
    def engines(self) -> tuple[Engine, Engine]:
        return self.chromium, self.lite

    async def open(self, folder: Path, sites: Mapping[str, Site], host: str, prepare: Prepare, url: str) -> None:
        """Both at that page, in that state."""
        for engine in self.engines:
            browser = led(folder / engine.name, sites, host, prepare)
            cookies = [Cookie(host=h, name=n, value=v) for h, jar in browser.cookies.items() for n, v in jar.items()]
            await engine.open(browser.session, [url], cookies)

    async def act(self, verb: Verb, number: int = 0, *, dialect: str = "classic", **fields: Any) -> list[str]:
        """The same act in both, on the line with that number; what the agent of each reads as error."""
        act = Act(verb=verb, element=number, **fields)
        said = []
        for engine in self.engines:
            key = ""
            if number:
                key, error = target_of(act, printed(await engine.view(full=True, dom=dialect == "html"), dialect))
                assert not error, error
            said.append((await engine.act(act, key)).error)
        return said

    async def compare(self, name: str, dialect: str = "classic") -> Observation:
        """Note whether the full pages differ; Chromium's."""
        views = [await engine.view(full=True, dom=dialect == "html") for engine in self.engines]
        truth, ours = (printed(view, dialect) for view in views)
        self.compared += 1
        self.note(name, said(truth, views[0]), said(ours, views[1]))
        return truth

    def note(self, name: str, truth: list[str], ours: list[str]) -> None:
        """Keep how lite differs from Chromium."""
        if truth != ours:
            self.differences.append("\n".join(difflib.unified_diff(truth, ours, name, "lite", lineterm="", n=2)))

    async def close(self) -> None:
        """End both."""
        for engine in self.engines:
            await engine.close()


def said(shown: Observation, view: View) -> list[str]:
    """All that an agent reads of a page."""
    return [view.url, *shown.text.splitlines()]


def report(differences: Iterable[str], most: int = 12) -> str:
    """The first of them, for a failing test."""
    found = list(differences)
    return f"{len(found)} pages differ\n" + "\n\n".join(found[:most])
