"""One running browser and the contexts in it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from agentenv.config import home
from envservers.webarena.engines.chromium.confine import SCRIPT, Confinement, confined_environment, confinement
from envservers.webarena.engines.chromium.find import need_chromium
from envservers.webarena.engines.chromium.folder import browsers_below, end_tree, record_browsers
from envservers.webarena.engines.chromium.sites_server import HEADER
from envservers.webarena.engines.chromium.tabs import Tab

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Playwright

log = logging.getLogger(__name__)

WIDTH, HEIGHT = 1280, 720
"""CSS pixels of the viewport."""
SCALE = 1
"""Device pixels of a CSS pixel."""
LAUNCH_S = 30.0
CLOSE_S = 10.0


@dataclass(slots=True, kw_only=True, eq=False)
class Room:
    """One context with its first tab: cookies, history and the network name of one session."""

    token: str
    context: BrowserContext
    tab: Tab
    browser: RunningBrowser


@dataclass(slots=True, kw_only=True, eq=False)
class RunningBrowser:
    """A browser for one set of hosts."""

    browser: Browser
    hosts: frozenset[str]
    pids: list[int]
    folder: Path
    opened: int = 0
    """Contexts made so far."""
    rooms: set[str] = field(default_factory=set)
    """Tokens of those that are open."""
    retired: bool = False
    """It ends with its last context."""

    @property
    def alive(self) -> bool:
        """Whether it can be talked to."""
        return self.browser.is_connected()

    async def room(self, token: str) -> Room:
        """A fresh context."""
        self.opened += 1
        self.rooms.add(token)
        try:
            async with asyncio.timeout(LAUNCH_S):
                context = await self.browser.new_context(
                    viewport={"width": WIDTH, "height": HEIGHT},
                    device_scale_factor=SCALE,
                    locale="en-US",
                    timezone_id="UTC",
                    reduced_motion="reduce",
                    accept_downloads=False,
                    service_workers="block",
                    extra_http_headers={HEADER: token},
                )
                # The resolver knows no other host either; this also stops other schemes, and says so sooner.
                await context.route(elsewhere(self.hosts), lambda route: route.abort("blockedbyclient"))
                tab = await Tab.open(await context.new_page())
        except BaseException:
            self.rooms.discard(token)
            raise
        return Room(token=token, context=context, tab=tab, browser=self)

    async def leave(self, room: Room) -> None:
        """Close a context; a browser that does not answer is ended."""
        self.rooms.discard(room.token)
        try:
            await asyncio.wait_for(room.context.close(), CLOSE_S)
        except TimeoutError:
            await self.end()
        except Exception:  # it is gone already
            pass
        if self.retired and not self.rooms:
            await self.end()

    async def end(self) -> None:
        """Close it, by force if it does not."""
        self.retired = True
        with contextlib.suppress(Exception):
            await asyncio.wait_for(self.browser.close(), CLOSE_S)
        for pid in self.pids:
            await asyncio.to_thread(end_tree, pid)

    def pss_mb(self) -> float:
        """Memory of all its processes, shared pages counted by share."""
        total = 0
        for pid in self.pids:
            with contextlib.suppress(psutil.Error):
                root = psutil.Process(pid)
                for process in [root, *root.children(recursive=True)]:
                    with contextlib.suppress(psutil.Error):
                        total += process.memory_full_info().pss
        return total / 1e6


def elsewhere(hosts: Iterable[str]) -> re.Pattern[str]:
    """Matches every address but http to one of the hosts."""
    return re.compile(rf"^(?!http://({'|'.join(re.escape(host) for host in sorted(hosts))})([/?#]|$))")


def resolver_rules(hosts: Iterable[str], port: int) -> str:
    """Only the exact hosts at port 80 have an address; names, numbers and loopback have none."""
    return ", ".join([*(f"MAP {host}:80 127.0.0.1:{port}" for host in sorted(hosts)), "MAP * ~NOTFOUND"])


async def launch(playwright: Playwright, folder: Path, hosts: frozenset[str], port: int) -> RunningBrowser:
    """Start a browser that knows these hosts alone."""
    found = need_chromium()
    mode = confinement()
    hidden = home().resolve()
    if folder.resolve().is_relative_to(hidden):
        mode = Confinement.NONE  # its own profile lies in what would be hidden
    else:
        hidden.mkdir(parents=True, exist_ok=True)
    if mode is Confinement.NONE:
        log.warning("the browser has no namespace of its own here: files are kept from it by blocked addresses alone")
    before = set(browsers_below(folder))
    browser = await playwright.chromium.launch(
        executable_path=SCRIPT,
        env={**os.environ, **confined_environment(mode, found.path, hidden), "HOME": str(folder)},
        headless=True,
        chromium_sandbox=os.geteuid() != 0,
        handle_sigint=False,
        handle_sigterm=False,
        handle_sighup=False,
        timeout=1000 * LAUNCH_S,
        args=[
            f"--host-resolver-rules={resolver_rules(hosts, port)}",
            "--no-pings",
            "--disable-features=Translate,OptimizationHints,MediaRouter,AutofillServerCommunication,DnsOverHttps",
            "--disable-dns-prefetch",
            "--force-color-profile=srgb",
            "--font-render-hinting=none",
            "--hide-scrollbars",
            "--disable-partial-raster",  # else a pixel may depend on what was drawn anew in which order
        ],
    )
    pids = [pid for pid in browsers_below(folder) if pid not in before]
    record_browsers(folder, sorted({*before, *pids}))
    return RunningBrowser(browser=browser, hosts=hosts, pids=pids, folder=folder)
