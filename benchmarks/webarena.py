"""Measure the engines of the web environment; write its section of docs/benchmarks.md.

    python benchmarks/webarena.py [--rounds 5] [--sessions 32] [--no-docs]

The original's way of observing is re-created here: the whole accessibility tree, then for every node two calls for its
box. Both ways look at the same page through the same debugging session, in turns.
"""

import argparse
import asyncio
import itertools
import os
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import psutil
import sections

from agentenv.testing import machine
from envservers.webarena.act import Act, Verb
from envservers.webarena.engines.chromium import runtime as running
from envservers.webarena.engines.chromium.engine import ChromiumEngine
from envservers.webarena.engines.chromium.find import need_chromium
from envservers.webarena.engines.chromium.tabs import Gone
from envservers.webarena.engines.chromium.visible import Box, ViewportRule, in_viewport
from envservers.webarena.engines.engine import Cookie
from envservers.webarena.engines.lite.engine import LiteEngine
from envservers.webarena.language import printed
from envservers.webarena.site import Now, SiteRequest, SiteResponse
from envservers.webarena.sites.common.logins import COOKIE, log_in
from envservers.webarena.sites.shop import SITE
from envservers.webarena.state.database import Db
from envservers.webarena.state.session import SiteSession
from envservers.webarena.world.build import build_world
from envservers.webarena.world.world import World

HOME = "http://shop.test/"
ROWS = 85
"""Of the page that both ways look at: ten nodes a row."""
LONG_ROWS = 135
STEPS = 40
BOX = """function () {
  let box;
  if (this.nodeType === Node.TEXT_NODE) {
    const range = document.createRange();
    range.selectNode(this);
    box = range.getBoundingClientRect();
  } else box = this.getBoundingClientRect();
  return [box.x, box.y, box.width, box.height];
}"""

Play = Callable[[], Awaitable[object]]


class Table:
    """A page of many rows, made of nothing but the table."""

    host = "shop.test"

    def __init__(self, rows: int) -> None:
        lines = "".join(
            f'<tr><td>{n}</td><td><a href="/orders/{n}">Order {n}</a></td><td>paid</td><td>{n}.00</td></tr>'
            for n in range(rows)
        )
        names = "".join(f'<th scope="col">{name}</th>' for name in ("No.", "Order", "State", "Sum"))
        self.body = (
            '<!doctype html><html lang="en"><head><title>Orders</title></head><body><main><h1>Orders</h1>'
            f"<table><thead><tr>{names}</tr></thead><tbody>{lines}</tbody></table></main></body></html>"
        ).encode()

    def handle(self, request: SiteRequest, db: Db, now: Now) -> SiteResponse:
        """The page, whatever is asked."""
        return SiteResponse(body=self.body)


class Sessions:
    """Sessions of one person on a small world."""

    def __init__(self, folder: Path) -> None:
        self.world = World(build_world(0, "small"))
        self._folder = folder
        self._numbers = itertools.count()

    def shop(self) -> tuple[SiteSession, list[Cookie]]:
        """On the shop, logged in as its main customer."""
        session = self._session(SITE)
        sid = log_in(session.db, session.now(), customer=1)
        return session, [Cookie(host=SITE.host, name=COOKIE, value=sid)]

    def table(self, rows: int) -> SiteSession:
        """On one long table."""
        return self._session(Table(rows))

    def _session(self, site: object) -> SiteSession:
        db = Db(self.world.path, self._folder / f"{next(self._numbers)}.db")
        sites = {SITE.host: site}
        return SiteSession(sites, db, starts_at=self.world.starts_at, secret=b"bench", step=lambda: 0)  # type: ignore[arg-type]


async def node_by_node(engine: ChromiumEngine) -> int:
    """The original's way: a tree, and two calls for the box of every node; nodes in view."""

    async def look(browsing):
        tab = browsing.tab
        nodes = (await tab.call("Accessibility.getFullAXTree"))["nodes"]
        seen = 0
        for node in nodes:
            if "backendDOMNodeId" not in node:
                continue
            try:
                handle = await tab.handle(str(node["backendDOMNodeId"]))
            except Gone:
                continue
            answer = await tab.call(
                "Runtime.callFunctionOn", objectId=handle, functionDeclaration=BOX, returnByValue=True
            )
            box = answer["result"].get("value")
            seen += box is not None and in_viewport(Box(*box), 1280, 720, ViewportRule.WEBARENA)
        return seen

    return await engine._run(look)


async def took_ms(play: Play) -> float:
    """Milliseconds of one."""
    began = time.perf_counter()
    await play()
    return 1e3 * (time.perf_counter() - began)


async def observing(found: Sessions, rounds: int) -> dict[str, float]:
    """One observation of the table by both ways, in turns."""
    engine = ChromiumEngine()
    await engine.open(found.table(ROWS), [HOME])
    full = await engine.view(full=True)
    nodes = sum(1 for node in full.root.walk() if node.key and not node.ignored)
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(rounds):
        theirs.append(await took_ms(lambda: node_by_node(engine)))
        ours += [await took_ms(lambda: engine.view(full=False)) for _ in range(5)]
    await engine.close()
    return {"nodes": nodes, "ours_ms": statistics.median(ours), "theirs_ms": statistics.median(theirs)}


async def walking(engine, found: Sessions, steps: int) -> dict[str, float]:
    """A walk through the shop by links: an act, a view of the screen, its text."""
    session, cookies = found.shop()
    await engine.open(session, [HOME], cookies)
    shown = printed(await engine.view(full=False))
    times, lines = [], []
    for step in range(steps):
        links = [number for number, name in enumerate(shown.names) if name.startswith("link ")]
        # A prime goes through the links of a page in an order that repeats late.
        act = Act(verb=Verb.CLICK, element=links[(7 * step) % len(links)] + 1)
        began = time.perf_counter()
        await engine.act(act, shown.keys[act.element - 1])
        shown = printed(await engine.view(full=False))
        times.append(1e3 * (time.perf_counter() - began))
        lines.append(len(printed(await engine.view(full=True)).keys))
        if step % 10 == 9:
            await engine.act(Act(verb=Verb.GOTO, text=HOME), "")
            shown = printed(await engine.view(full=False))
    await engine.close()
    session.db.close()
    return {
        "p50_ms": statistics.median(times),
        "p95_ms": sorted(times)[int(0.95 * len(times))],
        "rate": 1e3 * len(times) / sum(times),
        "lines": statistics.median(lines),
        "most": max(lines),
    }


async def long_page(found: Sessions) -> dict[str, float]:
    """A step of lite on a page of about 800 lines."""
    engine = LiteEngine()
    await engine.open(found.table(LONG_ROWS), [HOME])
    lines = len(printed(await engine.view(full=True)).keys)
    times = []
    for _ in range(STEPS):
        began = time.perf_counter()
        await engine.act(Act(verb=Verb.GOTO, text=HOME), "")
        printed(await engine.view(full=False))
        times.append(1e3 * (time.perf_counter() - began))
    return {"lines": lines, "p50_ms": statistics.median(times)}


async def resetting(found: Sessions, rounds: int) -> dict[str, float]:
    """A new session with a state of its own: the files, and the browser's context made before."""
    opening, state = [], []
    engine = ChromiumEngine()
    for _ in range(4 * rounds):
        began = time.perf_counter()
        session, cookies = found.shop()
        session.db.write("UPDATE customer SET id = id WHERE id = 1")
        session.db.close()
        state.append(1e3 * (time.perf_counter() - began))
        session, cookies = found.shop()
        await engine.close()
        while running.runtime()._warming is not None and not running.runtime()._warming.done():
            await asyncio.sleep(0.01)
        opening.append(await took_ms(lambda s=session, c=cookies: engine.open(s, [HOME], c)))
    await engine.close()
    return {"state_ms": statistics.median(state), "open_ms": statistics.median(opening[1:])}


def pss_mb() -> float:
    """Of this process and all below it."""
    root = psutil.Process()
    return sum(p.memory_full_info().pss for p in [root, *root.children(recursive=True)]) / 1e6


async def memory(make, found: Sessions, count: int) -> float:
    """MB a session, over the process that serves none."""
    one = make()
    session, cookies = found.shop()
    await one.open(session, [HOME], cookies)  # starts what all share
    await one.view(full=False)
    await one.close()
    await asyncio.sleep(1)
    empty = pss_mb()
    engines = []
    for _ in range(count):
        engine = make()
        session, cookies = found.shop()
        await engine.open(session, [HOME], cookies)
        await engine.view(full=False)
        engines.append(engine)
    await asyncio.sleep(1)
    full = pss_mb()
    for engine in engines:
        await engine.close()
    return (full - empty) / count


async def measure(rounds: int, sessions: int) -> dict[str, dict[str, float]]:
    with tempfile.TemporaryDirectory() as folder:
        found = Sessions(Path(folder))
        rows = {
            "observe": await observing(found, rounds),
            "chromium": await walking(ChromiumEngine(), found, STEPS),
            "lite": await walking(LiteEngine(), found, 5 * STEPS),
            "long": await long_page(found),
            "reset": await resetting(found, rounds),
        }
        running.WARM = 0
        running.shutdown()
        rows["memory"] = {
            "chromium_mb": await memory(ChromiumEngine, found, sessions),
            "lite_mb": await memory(LiteEngine, found, sessions),
        }
        return rows


def section(rows: dict[str, dict[str, float]], sessions: int, load: str) -> str:
    look, chromium, lite, long = rows["observe"], rows["chromium"], rows["lite"], rows["long"]
    reset, memory = rows["reset"], rows["memory"]
    return "\n".join(
        [
            "## Web environment",
            "",
            "Written by `python benchmarks/webarena.py`.",
            "",
            f"An observation of a page of {look['nodes']:.0f} nodes, cut to the viewport, takes "
            f"**{look['theirs_ms'] / look['ours_ms']:.1f} times** less than by the original's way of asking for every "
            f"node's box: {look['ours_ms']:.0f} ms against {look['theirs_ms']:,.0f} ms (medians). The engine lite does "
            f"**{lite['rate']:.0f} steps per second** on the shop.",
            "",
            "| | chromium | lite |",
            "|---|---:|---:|",
            f"| step, median, ms | {chromium['p50_ms']:.0f} | {lite['p50_ms']:.1f} |",
            f"| step, 95th percentile, ms | {chromium['p95_ms']:.0f} | {lite['p95_ms']:.1f} |",
            f"| lines of the pages, median (most) | {chromium['lines']:.0f} ({chromium['most']:.0f}) | "
            f"{lite['lines']:.0f} ({lite['most']:.0f}) |",
            f"| memory a session at {sessions}, MB | {memory['chromium_mb']:.1f} | {memory['lite_mb']:.1f} |",
            f"| step on a page of {long['lines']:.0f} lines, median, ms | | {long['p50_ms']:.1f} |",
            "",
            f"A reset of the state of a session that wrote takes {reset['state_ms']:.1f} ms; Chromium then opens the "
            f"first page in a context made before in {reset['open_ms']:.0f} ms.",
            "",
            f"One session after the other on the small world, by {need_chromium().path.name} "
            f"{need_chromium().version}. A step is a click on a link, the page until it is ready, the view of the "
            "screen and its text. Memory is the proportional set size of all processes over that of the server "
            f"without sessions, each session with the shop's first page open. {load}",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sessions", type=int, default=32)
    parser.add_argument("--no-docs", action="store_true", help="leave docs/benchmarks.md as it is")
    wanted = parser.parse_args()
    about = machine.describe()
    rows = asyncio.run(measure(wanted.rounds, wanted.sessions))
    load = f"Load average {about['load_1m']} before, {os.getloadavg()[0]:.2f} after, on {about['cores']} cores."
    text = section(rows, wanted.sessions, load)
    print(text)
    if not wanted.no_docs:
        sections.put("webarena", text)


if __name__ == "__main__":
    main()
