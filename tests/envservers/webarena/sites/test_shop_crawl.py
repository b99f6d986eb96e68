"""Every link and every button of the shop leads to a page that keeps the rules, for a guest and for a customer."""

from __future__ import annotations

from pathlib import Path

import pytest
from web_browsing import Browser
from web_crawl import crawl, forms, route_of
from web_lint import faults_of_page

from envservers.webarena.site import SiteResponse
from envservers.webarena.sites.shop import SITE

START = "http://shop.test/"
NEED_WORK = {
    "GET /checkout/shipping",
    "GET /checkout/payment",
    "GET /checkout/review",
    "GET /checkout/success",
    "GET /already-sent",
    "GET /form-expired",
    "GET /not-found",
}
"""Pages that no link alone leads to."""
GUEST_ONLY = {"GET /login", "GET /register", "GET /forgot-password"}


def browser(tmp_path: Path, who: int | None) -> Browser:
    made = Browser(tmp_path, {SITE.host: SITE}, SITE.host)
    if who:
        made.log_in(SITE.host, customer=who)
    return made


@pytest.mark.parametrize("who", [None, 1], ids=["guest", "mara"])
def test_no_link_leads_nowhere_and_every_page_keeps_the_rules(tmp_path: Path, who: int | None) -> None:
    shop = browser(tmp_path, who)
    faults: set[str] = set()

    def look(url: str, response: SiteResponse) -> None:
        if response.status == 200 and not response.immutable:
            faults.update(f"{url}: {fault}" for fault in faults_of_page(response.body.decode()))

    shop.seen = look
    read = crawl(shop, SITE, START, per_route=4)
    assert read.pop("faults") == []
    assert sorted(faults) == []
    wanted = {f"GET {route.pattern}" for route in SITE.routes if route.method == "GET" and (who or not route.needs)}
    skipped = NEED_WORK | (GUEST_ONLY if who else {"GET /logout", "GET /checkout", "GET /checkout/address"})
    assert wanted - {name for name, urls in read.items() if urls} == skipped
    assert not shop.db.written


@pytest.mark.parametrize("who", [None, 1], ids=["guest", "mara"])
def test_every_button_is_answered_by_a_redirect_to_a_page(tmp_path: Path, who: int | None) -> None:
    shop = browser(tmp_path, who)
    pressed: set[str] = set()
    read = crawl(shop, SITE, START, per_route=2)
    for url in [url for name, urls in read.items() if name != "faults" for url in urls]:
        shop.get(url)
        for action, _ in forms(shop):
            name = route_of(SITE, action, "POST")
            assert name is not None, f"{url} sends a form to {action}"
            if name in pressed or name == "POST /logout":
                continue
            shop.get(url)
            fresh = next((pairs for target, pairs in forms(shop) if target == action), None)
            if fresh is None:  # what was pressed before took it away
                continue
            pressed.add(name)
            answer = shop.ask("POST", action, tuple(fresh))
            assert answer.status == 303, action
            assert shop.get(answer.location).status == 200, f"{action} leads to {answer.location}"
    assert len(pressed) >= (8 if who is None else 18), sorted(pressed)


@pytest.mark.parametrize("route", [route for route in SITE.routes if route.method == "POST"], ids=lambda r: r.pattern)
@pytest.mark.parametrize("who", [None, 1], ids=["guest", "mara"])
def test_a_post_without_a_token_changes_nothing(tmp_path: Path, who: int | None, route: object) -> None:
    shop = browser(tmp_path, who)
    path = route.pattern.replace("{id:int}", "1").replace("{number:digits}", "000000001").replace("{slug:slug}", "x")  # type: ignore[attr-defined]
    before = dict(shop.db.scratch)
    answer = shop.ask("POST", START.rstrip("/") + path, (("quantity", "1"),))
    assert (answer.status, answer.location) == (303, "/form-expired")
    assert not shop.db.written
    assert shop.db.scratch == before


def test_equal_requests_give_equal_bytes(tmp_path: Path) -> None:
    first, second = browser(tmp_path / "a", 1), browser(tmp_path / "b", 1)
    for url in [
        url for name, urls in crawl(first, SITE, START, per_route=1).items() if name != "faults" for url in urls
    ]:
        first.step = second.step = 7
        first.url = second.url = START
        assert first.get(url).body == second.get(url).body, url


def test_a_post_to_an_unknown_path_is_answered_by_a_redirect(tmp_path: Path) -> None:
    shop = browser(tmp_path, None)
    assert shop.ask("POST", "http://shop.test/nothing").status == 303
    assert shop.get("/nothing").status == 404
    assert "Page not found" in shop.text
