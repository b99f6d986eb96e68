"""Every link and button of the administration leads to a page that keeps the rules, for every role."""

from __future__ import annotations

import asyncio
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

import pytest
from web_browsing import Browser
from web_crawl import crawl, forms, route_of
from web_lint import faults_of_page

from envservers.webarena.engines.engine import Cookie
from envservers.webarena.engines.lite.engine import LiteEngine
from envservers.webarena.language import classic
from envservers.webarena.site import SiteResponse
from envservers.webarena.sites.admin import SITE
from envservers.webarena.sites.common.routing import Route
from envservers.webarena.sites.shop import SITE as SHOP

START = "http://admin.shop.test/"
NEED_WORK = {"GET /login", "GET /no-permission", "GET /already-sent", "GET /form-expired", "GET /not-found"}
"""Pages that no link alone leads to, once one is signed in."""
STAFF = {1: "manager", 2: "orders", 3: "catalogue", 4: "marketing", 6: "auditor"}
MEDIAN, MOST = 250, 800
"""Lines of the classic dialect."""


def browser(folder: Path, who: int | None) -> Browser:
    made = Browser(folder, {SITE.host: SITE, SHOP.host: SHOP}, SITE.host)
    if who:
        made.log_in(SITE.host, admin=who)
    return made


def walk(desk: Browser, per_route: int) -> dict[str, list[str]]:
    """Pages by route; links to the shop must lead to its pages."""
    read = crawl(desk, SITE, START, per_route=per_route)
    for fault in read.pop("faults"):
        url = fault.partition(" ")[0]
        assert urlsplit(url).hostname == SHOP.host, fault
        assert desk.get(url).status == 200, fault
    return read


@pytest.mark.parametrize("who", STAFF, ids=STAFF.values())
def test_no_link_leads_nowhere_and_every_page_keeps_the_rules(tmp_path: Path, who: int) -> None:
    desk = browser(tmp_path, who)
    faults: set[str] = set()

    def look(url: str, response: SiteResponse) -> None:
        if response.status == 200 and not response.immutable:
            faults.update(f"{url}: {fault}" for fault in faults_of_page(response.body.decode()))

    desk.seen = look
    read = walk(desk, 3)
    assert sorted(faults) == []
    areas = desk.db.value(
        "SELECT permissions FROM admin_user JOIN admin_role ON admin_role.id = role_id WHERE admin_user.id = ?", who
    ).split(",")
    wanted = {f"GET {r.pattern}" for r in SITE.routes if r.method == "GET" and (not r.area or r.area in areas)}
    missed = wanted - {name for name, urls in read.items() if urls} - NEED_WORK
    # Whoever may not see customers finds no way to their orders.
    assert missed <= ({"GET /customers/{id:int}/orders"} if "customers" not in areas else set())
    assert not desk.db.written


def test_every_button_is_answered_by_a_redirect_to_a_page(tmp_path: Path) -> None:
    desk = browser(tmp_path, 1)
    pressed: set[str] = set()
    read = walk(desk, 2)
    read["more"] = [f"{START}orders?status={status}" for status in ("pending", "processing", "shipped", "on_hold")]
    for status in ("pending", "processing", "shipped", "on_hold"):
        number = desk.db.value("SELECT number FROM sales_order WHERE status = ? ORDER BY id LIMIT 1", status)
        read["more"] += [f"{START}orders/{number}", *(f"{START}orders/{number}/{deed}" for deed in ("ship", "refund"))]
    desk.db.write("UPDATE return_request SET status = 'requested' WHERE id = 1")
    read["more"].append(f"{START}returns/1")
    for url in [url for urls in read.values() for url in urls]:
        desk.get(url)
        for action, _ in forms(desk):
            name = route_of(SITE, action, "POST")
            assert name is not None, f"{url} sends a form to {action}"
            if name in pressed or name == "POST /logout":
                continue
            desk.get(url)
            fresh = next((pairs for target, pairs in forms(desk) if target == action), None)
            if fresh is None:  # what was pressed before took it away
                continue
            pressed.add(name)
            answer = desk.ask("POST", action, tuple(fresh))
            assert answer.status == 303, action
            assert desk.get(answer.location).status == 200, f"{action} leads to {answer.location}"
    wanted = {f"POST {route.pattern}" for route in SITE.routes if route.method == "POST"}
    assert wanted - pressed == {"POST /login", "POST /logout"}


@pytest.mark.parametrize("route", [route for route in SITE.routes if route.method == "POST"], ids=lambda r: r.pattern)
def test_a_post_without_a_token_changes_nothing(tmp_path: Path, route: Route) -> None:
    desk = browser(tmp_path, 1)
    path = route.pattern.replace("{number:digits}", "000000001").replace("{id:int}", "1").replace("{address:int}", "1")
    before = dict(desk.db.scratch)
    answer = desk.ask("POST", START.rstrip("/") + path, (("name", "x"),))
    assert (answer.status, answer.location) == (303, "/form-expired")
    assert not desk.db.written
    assert desk.db.scratch == before


def test_who_is_not_signed_in_sees_the_log_in_page_alone(tmp_path: Path) -> None:
    door = browser(tmp_path, None)
    for route in SITE.routes:
        if route.needs:
            path = route.pattern.replace("{number:digits}", "000000001").replace("{id:int}", "1")
            door.get(path.replace("{address:int}", "1") if route.method == "GET" else "/")
            assert door.path.startswith("/login?next="), route.pattern
            assert "Main menu" not in door.response.body.decode()


@pytest.mark.parametrize("who", [2, 3, 4, 6])
def test_a_role_sees_no_page_outside_its_areas(tmp_path: Path, who: int) -> None:
    desk = browser(tmp_path, who)
    areas = desk.db.value(
        "SELECT permissions FROM admin_user JOIN admin_role ON admin_role.id = role_id WHERE admin_user.id = ?", who
    ).split(",")
    closed = [route for route in SITE.routes if route.area and route.area not in areas and route.method == "GET"]
    assert closed
    for route in closed:
        path = route.pattern.replace("{number:digits}", "000000001").replace("{id:int}", "1")
        assert desk.get(path.replace("{address:int}", "1")).status == 403, route.pattern
        assert "You have no permission for this page" in desk.text
        assert faults_of_page(desk.response.body.decode()) == []


def test_a_form_of_an_area_that_was_taken_away_changes_nothing(tmp_path: Path) -> None:
    desk = browser(tmp_path, 2)
    number = desk.db.value("SELECT number FROM sales_order WHERE status = 'pending' ORDER BY id LIMIT 1")
    desk.get(f"/orders/{number}")
    desk.db.write("UPDATE admin_role SET permissions = 'dashboard' WHERE id = 2")
    writes = desk.db.writes
    desk.submit("Hold")
    assert desk.path == "/no-permission"
    assert desk.db.writes == writes


def test_equal_requests_give_equal_bytes(tmp_path: Path) -> None:
    first, second = browser(tmp_path / "a", 1), browser(tmp_path / "b", 1)
    for url in [url for urls in walk(first, 1).values() for url in urls]:
        first.step = second.step = 7
        first.url = second.url = START
        assert first.get(url).body == second.get(url).body, url


async def lines_of(desk: Browser, urls: list[str]) -> dict[str, int]:
    engine = LiteEngine()
    cookies = [Cookie(host=SITE.host, name="sid", value=desk.cookies[SITE.host]["sid"])]
    counts = {}
    for url in urls:
        await engine.open(desk.session, [url], cookies)
        counts[url] = len(classic.lines(await engine.view(full=True)))
    await engine.close()
    return counts


def test_the_median_page_and_the_longest_page_are_small(tmp_path: Path) -> None:
    desk = browser(tmp_path, 1)
    urls = [url for urls in walk(desk, 2).values() for url in urls]
    counts = asyncio.run(lines_of(desk, urls))
    assert median(counts.values()) < MEDIAN
    assert {url: count for url, count in counts.items() if count > MOST} == {}
