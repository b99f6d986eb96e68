"""Pages stay small: an agent reads them line by line."""

from __future__ import annotations

import asyncio
from pathlib import Path
from statistics import median

import pytest
from web_browsing import Browser
from web_crawl import crawl

from envservers.webarena.engines.engine import Cookie
from envservers.webarena.engines.lite.engine import LiteEngine
from envservers.webarena.language import classic
from envservers.webarena.sites.shop import SITE

MEDIAN, MOST = 250, 800
"""Lines of the classic dialect."""


async def lines_of(shop: Browser, urls: list[str]) -> dict[str, int]:
    engine = LiteEngine()
    cookies = [Cookie(host=host, name="sid", value=jar["sid"]) for host, jar in shop.cookies.items() if "sid" in jar]
    counts = {}
    for url in urls:
        await engine.open(shop.session, [url], cookies)
        counts[url] = len(classic.lines(await engine.view(full=True)))
    await engine.close()
    return counts


@pytest.mark.parametrize("who", [None, 1], ids=["guest", "mara"])
def test_the_median_page_and_the_longest_page_are_small(tmp_path: Path, who: int | None) -> None:
    shop = Browser(tmp_path, {SITE.host: SITE}, SITE.host)
    if who:
        shop.log_in(SITE.host, customer=who)
    read = crawl(shop, SITE, "http://shop.test/", per_route=2)
    department = shop.db.value("SELECT slug FROM category ORDER BY id LIMIT 1")
    longest = [f"http://shop.test/c/{department}?per=48", "http://shop.test/sale?per=48"]
    counts = asyncio.run(
        lines_of(shop, [url for name, urls in read.items() if name != "faults" for url in urls] + longest)
    )
    assert median(counts.values()) < MEDIAN
    assert {url: count for url, count in counts.items() if count > MOST} == {}
