"""The homepage: every link leads somewhere, the accounts are right, notes stay in the session."""

from __future__ import annotations

from pathlib import Path

import pytest
from web_browsing import Browser
from web_crawl import crawl
from web_lint import faults_of_page

from envservers.webarena.sites.admin import SITE as ADMIN
from envservers.webarena.sites.home import SITE
from envservers.webarena.sites.shop import SITE as SHOP

START = f"http://{SITE.host}/"


@pytest.fixture
def home(tmp_path: Path) -> Browser:
    return Browser(tmp_path, {site.host: site for site in (SITE, SHOP, ADMIN)}, SITE.host)


def test_every_link_leads_to_a_page_that_keeps_the_rules(home: Browser) -> None:
    read = crawl(home, SITE, START, per_route=2)
    outside = [fault.partition(" ")[0] for fault in read.pop("faults")]
    assert {url.split("/")[2] for url in outside} == {SHOP.host, ADMIN.host}
    for url in [*outside, *(url for urls in read.values() for url in urls)]:
        assert home.get(url).status == 200
        assert faults_of_page(home.response.body.decode()) == []
    gets = {f"GET {route.pattern}" for route in SITE.routes if route.method == "GET"}
    assert gets - set(read) == {"GET /already-sent", "GET /form-expired", "GET /not-found"}


def test_one_can_sign_in_with_the_accounts_shown(home: Browser) -> None:
    home.get(f"{START}accounts")
    shopper, manager = [[cell.text_content() for cell in row] for row in next(home.page.iter("tbody")).iter("tr")]
    home.get(f"http://{SHOP.host}/login")
    home.submit("Sign In", email=shopper[2], password=shopper[3])
    assert home.path == "/account"
    home.get(f"http://{ADMIN.host}/")
    home.submit("Sign in", username=manager[2], password=manager[3])
    assert home.url == f"http://{ADMIN.host}/"


def test_the_calculator_shows_the_result_or_what_is_wrong(home: Browser) -> None:
    home.get(f"{START}calculator")
    home.submit("Calculate", expression="19.90 * 3 + 4.90")
    assert "19.90 * 3 + 4.90 = 64.6" in home.text
    home.submit("Calculate", expression="2 +")
    assert "The sum ends too early." in home.text
    assert faults_of_page(home.response.body.decode()) == []
    home.submit("Calculate", expression="<b>1</b>")
    assert "is not part of a sum" in home.text


def test_notes_stay_until_they_are_cleared_and_are_no_data_of_the_shop(home: Browser) -> None:
    home.get(f"{START}scratchpad")
    home.submit("Save Notes", note="one\n  two")
    home.get(f"{START}scratchpad")
    assert "one\n  two" in home.response.body.decode()
    home.submit("Clear Notes")
    assert "Your notes were cleared." in home.text
    assert "one" not in home.response.body.decode().partition("<textarea")[2].partition("</textarea>")[0]
    home.submit("Save Notes", note="x" * 4001)
    assert "please use at most 4000 characters" in home.text
    assert not home.db.written
