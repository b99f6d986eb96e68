"""Every page reads the same in both engines: the full tree with its numbers, in each state of a session."""

from __future__ import annotations

import asyncio

import pytest
from parity import SITES, Pair, led, nothing, report
from web_crawl import crawl, forms

from envservers.webarena.act import Verb
from envservers.webarena.engines.chromium.engine import ChromiumEngine
from envservers.webarena.engines.lite.engine import LiteEngine


def shopper(browser):
    browser.log_in("shop.test", customer=1)


def busy_shopper(browser):
    """Logged in, with something in every list."""
    shopper(browser)
    browser.get("http://shop.test/best-sellers")
    for product in product_links(browser)[:3]:
        browser.get(product)
        send(browser, "/cart/add/")
        browser.get(product)
        send(browser, "/wishlist/add/")
        browser.get(product)
        send(browser, "/compare/add/")


def product_links(browser):
    return list(dict.fromkeys(a.get("href") for a in browser.page.iter("a") if a.get("href", "").startswith("/p/")))


def send(browser, path):
    """The first form that goes there."""
    for url, pairs in forms(browser):
        if path in url:
            browser.post(url, *pairs)
            return


STATES = [
    pytest.param("shop.test", nothing, id="shop-guest"),
    pytest.param("shop.test", shopper, id="shop-customer"),
    pytest.param("shop.test", busy_shopper, id="shop-busy"),
]


def pages(folder, host, prepare, per_route):
    """URLs by route, as far as links lead in that state."""
    browser = led(folder, SITES, host, prepare)
    found = crawl(browser, SITES[host], f"http://{host}/", per_route=per_route)
    found.pop("faults")
    return found


@pytest.mark.timeout(600)
@pytest.mark.parametrize("per_route", [1, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("host", "prepare"), STATES)
def test_every_page_reads_the_same(tmp_path, host, prepare, per_route):
    found = pages(tmp_path / "crawl", host, prepare, per_route)

    async def play():
        pair = Pair(ChromiumEngine(), LiteEngine())
        await pair.open(tmp_path, SITES, host, prepare, f"http://{host}/")
        for route, urls in found.items():
            for url in urls:
                await pair.act(Verb.GOTO, text=url)
                await pair.compare(f"{route} {url}")
        await pair.close()
        return pair

    pair = asyncio.run(play())
    assert pair.compared >= sum(len(urls) for urls in found.values())
    assert not pair.differences, report(pair.differences)
