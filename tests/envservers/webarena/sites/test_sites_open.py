"""The sites in a person's own browser: below paths, a session for each browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from web_worlds import shared_world

from envservers.webarena.sites.open import MOST_SESSIONS, Visits, make_app, written_over
from envservers.webarena.sites.registry import by_folder


@pytest.fixture
def visits(tmp_path: Path) -> Visits:
    return Visits(by_folder(), shared_world(), tmp_path)


@pytest.fixture
def person(visits: Visits) -> Iterator[TestClient]:
    with TestClient(make_app(visits)) as client:
        yield client


def send(person: TestClient, page: str, action: str, **fields: str) -> str:
    """Send a form of a page with its token; the page that follows."""
    form = page[page.index(f'action="{action}"') :]
    token = re.search(r'name="form_key" value="([^"]+)"', form)
    assert token
    return person.post(
        action, data={"form_key": token[1], **fields}, headers={"referer": "http://testserver/shop/"}
    ).text


def test_the_start_page_names_the_sites_and_the_people(person: TestClient) -> None:
    page = person.get("/").text
    assert 'href="/shop/"' in page
    assert "mara.lindqvist@postbox.example" in page


def test_no_address_in_a_page_or_style_sheet_leaves_the_sites_path(person: TestClient) -> None:
    page = person.get("/shop/").text
    addresses = re.findall(r'(?:href|action|src)="([^"]*)"', page)
    assert len(addresses) > 30
    assert all(address.startswith("/shop/") for address in addresses)
    style = next(address for address in addresses if address.endswith(".css"))
    answer = person.get(style)
    assert "immutable" in answer.headers["cache-control"]
    assert all(url.startswith("/shop/") for url in re.findall(r'url\("([^"]+)"\)', answer.text))


def test_one_signs_in_and_stays_signed_in(person: TestClient) -> None:
    page = person.get("/shop/login").text
    page = send(
        person, page, "/shop/login", email="mara.lindqvist@postbox.example", password="lantern-42", next="/account"
    )
    assert "Welcome, Mara Lindqvist!" in page
    assert "My account" in person.get("/shop/account").text


def test_two_browsers_do_not_see_each_other(visits: Visits) -> None:
    app = make_app(visits)
    with TestClient(app) as one, TestClient(app) as two:
        send(one, one.get("/shop/newsletter").text, "/shop/newsletter", email="one@postbox.example")
        answer = send(one, one.get("/shop/newsletter").text, "/shop/newsletter", email="one@postbox.example")
        assert "already subscribed" in answer
        answer = send(two, two.get("/shop/newsletter").text, "/shop/newsletter", email="one@postbox.example")
        assert "Thank you for your subscription" in answer


def test_starting_afresh_forgets_what_was_changed(person: TestClient) -> None:
    send(person, person.get("/shop/newsletter").text, "/shop/newsletter", email="one@postbox.example")
    person.post("/")
    answer = send(person, person.get("/shop/newsletter").text, "/shop/newsletter", email="one@postbox.example")
    assert "Thank you for your subscription" in answer


def test_the_oldest_session_goes_when_there_are_too_many(visits: Visits) -> None:
    first, _ = visits.session("")
    for _ in range(MOST_SESSIONS):
        visits.session("")
    assert visits.session(first)[0] != first


def test_other_host_names_are_refused(person: TestClient) -> None:
    assert person.get("/shop/", headers={"host": "evil.test"}).status_code == 400


def test_an_unknown_site_or_page_is_not_found(person: TestClient) -> None:
    assert person.get("/nothing/").status_code == 404
    assert person.get("/shop/nothing").status_code == 404


def test_links_to_another_site_lead_to_its_path() -> None:
    sites = by_folder()
    text = b'<a href="http://shop.test/cart">x</a> <a href="/a">y</a> <a href="//b">z</a> http://shop.test/'
    expected = b'<a href="/shop/cart">x</a> <a href="/home/a">y</a> <a href="//b">z</a> http://shop.test/'
    assert written_over(text, "home", sites) == expected
