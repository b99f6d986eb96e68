"""Every page reads the same in both engines: the full tree with its numbers, in each state of a session."""

from __future__ import annotations

import asyncio

import pytest
from parity import SITES, Pair, led, nothing, report
from web_crawl import crawl, forms, route_of

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


def manager(browser):
    browser.log_in("admin.shop.test", admin=1)


def busy_manager(browser):
    """With every form sent once as it stands, so that messages and what was refused are on the pages."""
    manager(browser)
    for path in ("/orders", "/products", "/coupons", "/customers"):
        browser.get(f"http://admin.shop.test{path}")
        for url, pairs in forms(browser)[:2]:
            browser.post(url, *pairs)


def checking_out(steps):
    """A shopper who has sent so many forms of the checkout."""

    def prepare(browser):
        busy_shopper(browser)
        browser.get("http://shop.test/checkout")
        for _ in range(steps):
            url, pairs = next((url, pairs) for url, pairs in forms(browser) if "/checkout/" in url)
            browser.post(url, *pairs, *first_choices(browser, {name for name, _ in pairs}))

    return prepare


def first_choices(browser, chosen):
    """The first radio button of every group without a choice."""
    buttons = {}
    for button in browser.page.iter("input"):
        if button.get("type") == "radio" and button.get("name") not in chosen:
            buttons.setdefault(button.get("name"), button.get("value"))
    return list(buttons.items())


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
    pytest.param("admin.shop.test", nothing, id="admin-signed-out"),
    pytest.param("admin.shop.test", manager, id="admin-manager"),
    pytest.param("admin.shop.test", busy_manager, id="admin-busy"),
    pytest.param("home.test", nothing, id="home"),
]
UNLINKED = {
    "GET /already-sent",
    "GET /form-expired",
    "GET /not-found",
    "GET /no-permission",
    "GET /static/<hash>/<name>",
}
"""Where no link leads."""


def pages(folder, host, prepare, per_route):
    """URLs by route, as far as links lead in that state."""
    browser = led(folder, SITES, host, prepare)
    found = crawl(browser, SITES[host], f"http://{host}/", per_route=per_route)
    found.pop("faults")
    return found


CHECKOUT = range(5)
"""Forms sent, from the address to the order that was placed."""


def test_the_pages_compared_are_all_that_the_sites_have(tmp_path):
    declared = {(host, f"GET {r.pattern}") for host, site in SITES.items() for r in site.routes if r.method == "GET"}
    reached = set()
    for number, state in enumerate(STATES):
        host, prepare = state.values
        reached |= {(host, name) for name in pages(tmp_path / str(number), host, prepare, 12)}
    shop = SITES["shop.test"]
    reached |= {
        ("shop.test", route_of(shop, led(tmp_path / f"c{n}", SITES, "shop.test", checking_out(n)).url))
        for n in CHECKOUT
    }
    left = {(host, name) for host, name in declared - reached if name not in UNLINKED}
    assert left == set()


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


def test_every_page_of_the_checkout_reads_the_same(tmp_path):
    async def play():
        pair = Pair(ChromiumEngine(), LiteEngine())
        for steps in CHECKOUT:
            prepare = checking_out(steps)
            url = led(tmp_path / f"ahead-{steps}", SITES, "shop.test", prepare).url
            await pair.open(tmp_path / str(steps), SITES, "shop.test", prepare, url)
            await pair.compare(url)
        await pair.close()
        return pair

    pair = asyncio.run(play())
    assert pair.compared == len(CHECKOUT)
    assert not pair.differences, report(pair.differences)
