"""The pages in a real browser: nothing of a model's runs, keys and links work, and a page fits a phone."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn
from easel_env import png
from made_pages import fill, play_one
from made_runs import ended, new_run
from sqlalchemy.engine import URL

from agentenv.errors import EnvUnavailable
from agentenv.protocol import Outcome
from agentenv.trajectory import Turn
from envservers.webarena.engines.chromium.find import need_chromium
from evals.store.pictures import pictures_in
from evals.store.store import Store
from evals.web.app import make_app
from evals.web.database import ReadOnlyStore

PATHS = ("/", "/runs", "/run/s-c-1", "/run/s-c-1?q=stolen", "/run/s-live-1", "/compare?a=s-a-1&b=s-c-1",
         "/compare/task?a=s-b-1&b=s-c-1&env=maze&task=maze/test/0")  # fmt: skip


@contextlib.contextmanager
def served(store: ReadOnlyStore) -> Iterator[str]:
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(make_app(store), log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> URL:
    url = URL.create("sqlite", database=str(tmp_path_factory.mktemp("chromium") / "runs.db"))
    with Store.open(url) as store:
        fill(store)
    return url


@pytest.fixture(scope="module")
def site(own: URL) -> Iterator[str]:
    with ReadOnlyStore.open(own) as store, served(store) as base:
        yield base


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    api = pytest.importorskip("playwright.sync_api")
    try:
        found = need_chromium()
    except EnvUnavailable as exc:
        pytest.skip(exc.message)
    with api.sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=str(found.path))
        yield opened
        opened.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page whose complaints fail the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    opened, said = context.new_page(), []
    opened.on("console", lambda message: said.append(message.text))
    opened.on("pageerror", lambda error: said.append(str(error)))
    yield opened
    context.close()
    assert said == []


def hostile_episode(page: Any, site: str) -> str:
    page.goto(f"{site}/run/s-c-1?outcome=agent_error")
    return site + page.locator("ol.episodes a").first.get_attribute("href")


def test_nothing_of_a_models_runs_or_becomes_an_element(page: Any, site: str):
    for url in (*(site + path for path in PATHS), hostile_episode(page, site)):
        page.goto(url)
        page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true })")
        assert page.evaluate("window.stolen") is None
        assert page.locator("img").count() == 0
        assert page.evaluate("[...document.scripts].every((s) => s.src && !s.textContent)")
    assert "window.stolen" in page.inner_text("main")


def test_a_page_fits_a_phone_in_light_and_dark(browser: Any, site: str):
    papers = set()
    for scheme in ("light", "dark"):
        context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme=scheme)
        page = context.new_page()
        for url in (*(site + path for path in PATHS), hostile_episode(page, site)):
            page.goto(url)
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, url
        papers.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
        context.close()
    assert len(papers) == 2


def test_keys_go_by_turns_and_to_the_next_error_and_the_address_follows(page: Any, site: str):
    page.goto(f"{site}/run/s-b-1?tag=parse+failure")
    page.locator("ol.episodes a").first.click()
    page.wait_for_url("**/episode/*")
    episode = page.url
    for key, place in (("n", "turn-1"), ("j", "turn-2"), ("k", "turn-1"), ("k", "turn-0"), ("k", "turn-0"),
                       ("j", "turn-1"), ("j", "turn-2"), ("j", "end"), ("j", "end"), ("N", "turn-1")):  # fmt: skip
        page.keyboard.press(key)
        assert page.url == f"{episode}#{place}"
        assert page.evaluate("document.activeElement.id") == place
    page.goto(f"{episode}#turn-2")
    page.reload()
    page.keyboard.press("k")
    assert page.url == f"{episode}#turn-1"
    page.locator("select").first.focus()
    page.keyboard.press("j")
    assert page.url == f"{episode}#turn-1"


def test_the_first_difference_is_marked_and_reached_by_a_key(page: Any, site: str):
    page.goto(f"{site}/compare?a=s-a-1&b=s-b-1")
    page.locator('a[href*="/compare/task"]').first.click()
    page.wait_for_url("**/compare/task*")
    assert page.locator("article.first").count() == 1
    page.keyboard.press("n")
    assert page.evaluate("document.activeElement.classList.contains('first')")
    assert page.locator("article.first mark").count() >= 1


def test_a_command_is_copied_or_marked(page: Any, site: str):
    page.goto(f"{site}/run/s-a-1?outcome=success")
    page.locator("ol.episodes a").first.click()
    page.wait_for_url("**/episode/*")
    page.get_by_text("Play it again").click()
    command = page.inner_text("#command")
    assert command.startswith("printf '%s\\n' look 'go north' 'open door' | agentenv play ")
    page.locator("[data-copy]").click()
    page.get_by_role("button", name=re.compile("Copied|Marked")).wait_for()
    if page.inner_text("[data-copy]") == "Marked":
        assert page.evaluate("getSelection().toString()").strip() == command


def test_a_run_that_goes_on_is_followed(page: Any, site: str, own: URL):
    page.goto(f"{site}/run/s-live-1")
    assert "7 of 24" in page.inner_text("#live")
    with Store.open(own) as store:
        slot = next(slot for slot in store.open_slots("s-live-1") if slot.slot % 4 != 3)
        play_one(store, "s-live-1", slot)
    page.get_by_text("8 of 24").wait_for(timeout=10_000)
    assert re.search(r"a minute, about \d+ min left", page.inner_text("#live"))


def test_a_search_goes_on_by_itself_until_it_has_found_something(page: Any, site: str, monkeypatch: pytest.MonkeyPatch):
    from evals.web import listing

    monkeypatch.setattr(listing, "TURNS", 10)
    page.goto(f"{site}/run/s-c-1?q=%5Bbold%5D")
    page.get_by_role("link", name=re.compile("Look")).wait_for(state="detached")
    assert page.locator("ol.episodes li").count() == 4


def test_the_leaderboards_filters_go_into_the_address(page: Any, site: str):
    page.goto(site)
    page.select_option("select[name=env]", "maze")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**env=maze*")
    assert page.locator("tr.section").all_inner_texts() == ["maze"]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An episode of forty turns, each with a picture of its own."""
    url = URL.create("sqlite", database=str(tmp_path_factory.mktemp("drawn") / "runs.db"))
    with Store.open(url) as store:
        store.add_runs([new_run("s-a-1", tasks=1)])
        keep = pictures_in(store).keep("s-a-1")
        pictures = [keep(png(shade, width=1280, height=720)) for shade in range(40)]
        turns = [Turn(observation="seen", action="look", reward=0.0, image=picture) for picture in pictures]
        [slot] = store.open_slots("s-a-1")
        store.record("s-a-1", slot.slot, slot.tries, ended(Outcome.FAILURE, slot.task, turns=turns))
    with ReadOnlyStore.open(url) as store, served(store) as base:
        yield f"{base}/episode/1"


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_moves_when_pictures_come_and_nothing_is_wider_than_the_window(browser: Any, drawn: str, width: int):
    context = browser.new_context(viewport={"width": width, "height": 844})
    page, held, waiting = context.new_page(), [], True
    page.route("**/picture/**", lambda route: held.append(route) if waiting else route.continue_())
    page.goto(drawn, wait_until="domcontentloaded")
    page.wait_for_timeout(200)
    before = page.evaluate("document.documentElement.scrollHeight")
    assert held
    waiting = False
    for route in held:
        route.continue_()
    page.evaluate("for (const image of document.images) image.loading = 'eager'")
    page.evaluate("Promise.all([...document.images].map((image) => image.decode())).then(() => 0)")
    assert page.evaluate("document.documentElement.scrollHeight") == before > 40 * 100
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    context.close()


def test_only_pictures_near_the_window_are_loaded_and_one_is_shown_in_full_by_a_click(page: Any, drawn: str):
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "/picture/" in request.url else None)
    page.goto(drawn)
    page.evaluate("document.images[0].decode().then(() => 0)")
    assert 1 <= len(asked) < 20
    page.locator("a.picture").first.click()
    page.wait_for_url("**/picture/*.png")
    assert page.evaluate("document.images[0].naturalWidth") == 1280
    page.go_back()
    assert page.url == drawn
