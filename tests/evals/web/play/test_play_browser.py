"""A person plays in a real browser, on a real server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import puzzle_env
import pytest
from serving import running

from agentenv.registry import register
from agentenv.server.mounts import Served, mounts
from agentenv.server.sessions import Sessions
from envservers.webarena.engines.chromium.find import find_chromium, have_playwright
from evals.store.store import Store

pytestmark = pytest.mark.skipif(
    not have_playwright() or find_chromium() is None, reason="no Chromium with Playwright to look with"
)

PHONE = {"width": 390, "height": 800}
TOKEN = "a token"
SHOTS = os.environ.get("AGENTENV_TEST_SHOTS")
"""A folder for screenshots to look at."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = find_chromium()
        assert found is not None
        started = playwright.chromium.launch(executable_path=str(found.path))
        yield started
        started.close()


@pytest.fixture
def url(file_url, monkeypatch) -> Iterator[str]:
    register(puzzle_env.SPEC)
    monkeypatch.setenv("AGENTENV_DB", file_url.render_as_string())
    sessions = Sessions([puzzle_env.SPEC])
    with running(sessions, token=TOKEN, pages=mounts(Served(sessions=sessions, token=TOKEN))) as started:
        yield f"{started}/eval"


@pytest.fixture
def page(browser) -> Iterator[Any]:
    """A page whose complaints fail the test: of scripts, of the console, of the content security policy."""
    context = browser.new_context(viewport=PHONE)
    opened = context.new_page()
    opened.set_default_timeout(15_000)
    wrong: list[str] = []
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("console", lambda told: wrong.append(told.text) if told.type in ("error", "warning") else None)
    opened.on("dialog", lambda dialog: dialog.accept())
    yield opened
    context.close()
    assert wrong == []


def come_in(page: Any, url: str) -> None:
    page.goto(f"{url}/play?env=puzzle&task=puzzle/test/1")
    page.fill("#enter [name=name]", "Otter")
    page.fill("#enter [name=token]", TOKEN)
    page.press("#enter [name=token]", "Enter")
    page.wait_for_selector("#choose button.main:not([disabled])")


def shot(page: Any, name: str) -> None:
    if SHOTS:
        page.screenshot(path=str(Path(SHOTS) / f"{name}.png"), full_page=True)


def fits(page: Any) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def test_a_person_plays_an_episode_by_keyboard_and_finds_it_stored(page, url, file_url):
    come_in(page, url)
    shot(page, "choose")
    assert page.locator("#choose [name=source] option").first.text_content() == "test, 40 tasks"
    assert page.input_value("#choose [name=task]") == "puzzle/test/1"
    page.click("#choose button.main")
    page.wait_for_selector("#now img.shot")
    assert (
        page.locator("#now pre").text_content()
        == "Which word? <img src=x onerror=alert(1)><b>bold</b> ⟨ESC⟩[31mred⟨ESC⟩[0m"
    )
    assert page.locator("#now b").count() == 0
    assert page.wait_for_function("() => document.querySelector('#now img').naturalWidth === 1")
    assert "say WORD" in (page.text_content("#grammar") or "")
    assert page.locator("#actions button").count() == 0
    shot(page, "begin")
    assert fits(page)
    page.keyboard.type("say <i>even</i>")  # the input has the focus from the beginning
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('#position').textContent.startsWith('Step 2 ')")
    assert page.locator("#log .did").text_content() == "say <i>even</i>"
    page.keyboard.type("half")
    page.keyboard.press("ArrowUp")
    assert page.input_value("#said") == "say <i>even</i>"
    page.keyboard.press("ArrowDown")
    assert page.input_value("#said") == "half"

    page.reload()
    page.wait_for_function("() => document.querySelector('#position').textContent.startsWith('Step 2 ')")
    assert page.locator("#log .did").count() == 1

    page.click("#hints")
    page.wait_for_selector("#actions button")
    assert page.locator("#hinted").is_visible()
    shot(page, "hints")
    assert fits(page)
    page.click("#actions button >> text=say odd")
    page.wait_for_selector("#verdict")
    assert page.text_content("#verdict") == "Solved"
    assert "The word of the task is said." in (page.text_content("#rule") or "")
    assert "passed" in (page.text_content("#why") or "")
    assert fits(page)
    page.emulate_media(color_scheme="dark")
    shot(page, "end")
    page.click("#stored a")
    page.wait_for_load_state()
    assert "say <i>even</i>" in (page.text_content("main") or "")
    with Store.open(file_url) as store:
        [run] = store.runs()
        assert (run.agent, run.agent_settings["pseudonym"]) == ("human with hints", "otter")


def test_the_next_task_is_another_one_and_giving_up_is_asked_for(page, url):
    come_in(page, url)
    page.click("#choose button.main")
    page.wait_for_selector("#now pre")
    first = page.text_content("#task")
    page.click("#give-up")
    page.wait_for_selector("#verdict")
    assert page.text_content("#verdict") == "Given up"
    page.click("#next")
    page.wait_for_function("first => document.querySelector('#task').textContent !== first", arg=first)
    assert page.locator("#end").is_hidden()
    assert page.locator("#act").is_visible()


def test_a_wrong_token_is_told_and_leads_nowhere(browser, url):
    context = browser.new_context(color_scheme="dark")
    page = context.new_page()
    page.goto(f"{url}/play")
    page.fill("#enter [name=name]", "otter")
    page.fill("#enter [name=token]", "wrong")
    page.click("#enter button.main")
    page.wait_for_selector("#problem:not([hidden])")
    assert "wrong token" in (page.text_content("#problem") or "")
    assert page.locator("#enter").is_visible()
    context.close()
