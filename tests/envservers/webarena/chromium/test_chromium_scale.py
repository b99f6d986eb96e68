"""Boxes, clicks and pictures are in CSS pixels, however many pixels a device has for one."""

from __future__ import annotations

import asyncio

import pytest
from browse import do, find, texts
from tiny_site import TinySite, page, tiny_session

from envservers.webarena.act import Verb
from envservers.webarena.engines.chromium import browser
from envservers.webarena.engines.chromium.engine import ChromiumEngine
from envservers.webarena.engines.chromium.runtime import shutdown
from envservers.webarena.engines.chromium.visible import layout_boxes

PAGE = "".join(f'<p style="height:40px;margin:0"><a href="/to/{n}" id="a{n}">Link {n}</a></p>' for n in range(60))
BOX = "(b => [b.x, b.y, b.width, b.height])(document.getElementById('a30').getBoundingClientRect())"


@pytest.fixture
def scale(monkeypatch):
    shutdown()
    monkeypatch.setattr(browser, "SCALE", 2)
    yield 2
    shutdown()


def test_the_scale_of_the_device_changes_nothing(tmp_path, scale):
    async def play():
        engine = ChromiumEngine()
        site = TinySite({"/": page(PAGE), "/to/30": page("<p>thirty</p>")})
        await engine.open(tiny_session(tmp_path, site), ["http://shop.test/"])

        async def ratio(browsing):
            return await browsing.tab.evaluate("devicePixelRatio")

        async def boxes(browsing):
            snapshot = await browsing.tab.call("DOMSnapshot.captureSnapshot", computedStyles=[])
            key = find(await browsing.view(full=True, dom=False), "Link 30").key
            return list(layout_boxes(snapshot)[0][int(key)]), await browsing.tab.evaluate(BOX)

        assert await engine._run(ratio) == scale
        view = await engine.view(full=False)
        seen = [node.name for node in view.root.walk() if node.role == "link" and node.visible]
        before = await engine._run(boxes)
        await do(engine, Verb.SCROLL, down=True)
        after = await engine._run(boxes)
        shot = await engine.screenshot()
        error = await do(engine, Verb.CLICK, "Link 30")
        reached = await texts(engine)
        await engine.close()
        return seen, before, after, shot, error, reached

    seen, before, after, shot, error, reached = asyncio.run(play())
    assert seen == [f"Link {n}" for n in range(18)]
    for ours, theirs in (before, after):
        assert ours == pytest.approx(theirs, abs=1)
    assert after[0][1] == pytest.approx(before[0][1] - 720, abs=1)
    assert (int.from_bytes(shot[16:20]), int.from_bytes(shot[20:24])) == (1280, 720)
    assert (error, reached) == ("", ["thirty"])
