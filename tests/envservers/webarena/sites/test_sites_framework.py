"""Routes, tokens, log-ins, drafts, messages, assets: what every site stands on."""

from __future__ import annotations

from pathlib import Path

import pytest
from web_worlds import shared_world

from envservers.webarena.site import Now, SiteRequest, SiteResponse
from envservers.webarena.sites.common import formats, tokens
from envservers.webarena.sites.common.forms import Form
from envservers.webarena.sites.common.logins import current_admin, current_customer, log_in, log_out
from envservers.webarena.sites.common.page import local
from envservers.webarena.sites.common.paging import pages
from envservers.webarena.sites.common.routing import Route, Router
from envservers.webarena.sites.common.tokens import Verdict
from envservers.webarena.sites.shop import SITE
from envservers.webarena.state.database import Db

NOW = Now(time="2026-03-02 09:04:00", step=4, secret=b"key")


@pytest.fixture
def db(tmp_path: Path) -> Db:
    return Db(shared_world(0, "small"), tmp_path / "session.db")


def route(method: str, pattern: str) -> Route:
    return Route(method=method, pattern=pattern, name=pattern, page=lambda page: SiteResponse())  # type: ignore[arg-type]


def test_a_pattern_gives_typed_values() -> None:
    router = Router([route("GET", "/a/{id:int}/{slug:slug}")])
    match = router.match("GET", "/a/12/blue-kettle")
    assert match is not None
    assert match.params == {"id": 12, "slug": "blue-kettle"}


@pytest.mark.parametrize("path", ["/a/x/y", "/a/0/y", "/a/1", "/a/1/Y", "/a/1/y/", "/b/1/y", "/a/1/y\n", ""])
def test_a_path_that_does_not_fit_has_no_route(path: str) -> None:
    assert Router([route("GET", "/a/{id:int}/{slug:slug}")]).match("GET", path or "/") is None


def test_a_fixed_path_comes_before_a_pattern_and_methods_are_apart() -> None:
    router = Router([route("GET", "/a/{slug:slug}"), route("GET", "/a/new"), route("POST", "/a/new")])
    assert [router.match(method, "/a/new").route.pattern for method in ("GET", "POST")] == ["/a/new", "/a/new"]  # type: ignore[union-attr]
    assert router.match("POST", "/a/other") is None


def test_two_routes_for_one_path_are_refused() -> None:
    with pytest.raises(ValueError, match="two routes answer GET /a"):
        Router([route("GET", "/a"), route("GET", "/a")])


def test_a_token_is_good_once(db: Db) -> None:
    token = tokens.issue(NOW, "/contact")
    assert tokens.spend(db, NOW, "/contact", token) is Verdict.FRESH
    assert tokens.spend(db, NOW, "/contact", token) is Verdict.SPENT


def test_a_token_of_an_earlier_step_is_good_and_differs(db: Db) -> None:
    earlier = Now(time="2026-03-02 09:01:00", step=1, secret=b"key")
    assert tokens.issue(earlier, "/contact") != tokens.issue(NOW, "/contact")
    assert tokens.spend(db, NOW, "/contact", tokens.issue(earlier, "/contact")) is Verdict.FRESH


@pytest.mark.parametrize("token", ["", "4", "4.", "x.y", "9.0000000000000000", "-1.abc", "²." + "0" * 16, "٣.aaaa"])
def test_a_made_up_token_is_unknown(db: Db, token: str) -> None:
    assert tokens.spend(db, NOW, "/contact", token) is Verdict.UNKNOWN


def test_a_token_of_another_form_session_or_later_step_is_unknown(db: Db) -> None:
    later = Now(time="2026-03-02 09:09:00", step=9, secret=b"key")
    other = Now(time="2026-03-02 09:04:00", step=4, secret=b"other")
    for token in (tokens.issue(NOW, "/cart"), tokens.issue(later, "/contact"), tokens.issue(other, "/contact")):
        assert tokens.spend(db, NOW, "/contact", token) is Verdict.UNKNOWN


def test_a_log_in_holds_until_it_is_ended(db: Db) -> None:
    cookies = {"sid": log_in(db, NOW, customer=1)}
    customer = current_customer(db, cookies)
    assert customer is not None
    assert customer["id"] == 1
    assert current_admin(db, cookies) is None
    log_out(db, cookies)
    assert current_customer(db, cookies) is None


def test_log_ins_differ_and_nobody_is_logged_in_by_a_guess(db: Db) -> None:
    first, second = log_in(db, NOW, customer=1), log_in(db, NOW, admin=1)
    assert first != second
    assert current_admin(db, {"sid": second})["username"]  # type: ignore[index]
    assert current_customer(db, {"sid": first[:-1]}) is None
    assert current_customer(db, {}) is None


def test_a_log_in_writes_nothing_to_the_database(db: Db) -> None:
    log_in(db, NOW, customer=1)
    assert not db.written


def test_an_asset_is_immutable_and_a_wrong_hash_is_not_found(db: Db) -> None:
    url = SITE.assets.url("site.css")
    answer = SITE.handle(SiteRequest(method="GET", host="shop.test", path=url), db, NOW)
    assert answer.immutable
    assert answer.content_type.startswith("text/css")
    assert SITE.assets.url("inter.woff2").encode() in answer.body
    wrong = SITE.handle(SiteRequest(method="GET", host="shop.test", path="/static/0/site.css"), db, NOW)
    assert (wrong.status, wrong.immutable) == (404, False)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "HEAD", "OPTIONS"])
def test_other_methods_are_refused(db: Db, method: str) -> None:
    assert SITE.handle(SiteRequest(method=method, host="shop.test", path="/"), db, NOW).status == 405


def test_a_form_collects_what_is_wrong() -> None:
    form = Form([("name", "  Ann   Lee "), ("email", "ann@"), ("number", "-3"), ("stars", "9"), ("price", "1,299.5")])
    assert form.text("name", "Name") == "Ann Lee"
    assert form.email() == "ann@"
    assert form.number("number", "Number", low=1) == 0
    assert form.choice("stars", "Stars", ["1", "2"]) == ""
    assert form.cents("price", "Price") == 129950
    assert form.text("missing", "Missing") == ""
    assert set(form.errors) == {"email", "number", "stars", "missing"}


@pytest.mark.parametrize(("text", "cents"), [("12", 1200), ("12.5", 1250), ("$12.50", 1250), ("0.07", 7)])
def test_amounts_are_read_to_the_cent(text: str, cents: int) -> None:
    form = Form([("price", text)])
    assert (form.cents("price", "Price"), form.errors) == (cents, {})


@pytest.mark.parametrize("text", ["", "-1", "1.234", "1e3", "abc", "1,2,3.00.", "٣"])
def test_what_is_no_amount_is_an_error(text: str) -> None:
    form = Form([("price", text)])
    assert form.cents("price", "Price") is None
    assert form.errors


@pytest.mark.parametrize(
    ("text", "good"), [("2026-02-28", True), ("2026-02-30", False), ("2/3/2026", False), ("", False)]
)
def test_days_are_days(text: str, good: bool) -> None:
    form = Form([("day", text)])
    assert bool(form.day("day", "Day")) is good
    assert bool(form.errors) is not good


@pytest.mark.parametrize(
    ("cents", "text"),
    [(0, "$0.00"), (5, "$0.05"), (129900, "$1,299.00"), (-450, "-$4.50"), (100000000, "$1,000,000.00")],
)
def test_money_is_written_with_two_places(cents: int, text: str) -> None:
    assert formats.money(cents) == text


def test_times_are_written_as_people_do() -> None:
    assert formats.moment("2026-03-02 00:05:00") == "Mar 2, 2026, 12:05 AM"
    assert formats.moment("2026-12-31 12:30:00") == "Dec 31, 2026, 12:30 PM"
    assert formats.day("2026-03-12") == "Mar 12, 2026"


def test_a_cut_text_ends_at_a_word() -> None:
    assert formats.cut("one two three", 9) == "one two…"
    assert formats.cut("one two", 7) == "one two"


@pytest.mark.parametrize(("asked", "number"), [("", 1), ("0", 1), ("2", 2), ("99", 3), ("-1", 1), ("x", 1), ("²", 1)])
def test_a_page_that_is_not_there_is_the_nearest(asked: str, number: int) -> None:
    assert pages(25, asked, 10).number == number


def test_pages_say_where_they_lie() -> None:
    last = pages(25, "3", 10)
    assert (last.start, last.end, last.last, last.cut(range(25))) == (21, 25, 3, range(20, 25))
    assert pages(0, "", 10).start == 0
    assert pages(500, "25", 10).numbers == [1, 0, 23, 24, 25, 26, 27, 0, 50]


@pytest.mark.parametrize("path", ["http://evil.test/", "//evil.test/", "/\\evil.test", "", "cart"])
def test_no_redirect_leaves_the_site(path: str) -> None:
    assert not local(path)
    assert local("/cart?page=2")
