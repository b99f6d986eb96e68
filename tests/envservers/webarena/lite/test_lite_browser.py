"""What only lite has: refusals of markup, style sheets, screens of lines, states kept and restored, and its costs."""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import json
import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from ax_oracle import page_of
from browse import do, find, texts
from tiny_site import TinySite, page, tiny_session

from envservers.webarena.act import Act, Verb
from envservers.webarena.engines import refusals
from envservers.webarena.engines.engine import Cookie, EngineFailed, UnsupportedMarkup
from envservers.webarena.engines.lite.browser import Browser
from envservers.webarena.engines.lite.document import number_of, parse
from envservers.webarena.engines.lite.engine import LiteEngine
from envservers.webarena.engines.lite.page import SCREEN_LINES, SCROLL_LINES, Page
from envservers.webarena.engines.lite.styles import read_styles
from envservers.webarena.engines.lite.validation import shown_invalid
from envservers.webarena.site import SiteResponse

LONG = "".join(f"<h2>Part {n}</h2>" for n in range(150)) + "<p><a href='/b'>Last</a></p>"
PAGES: dict[str, Any] = {
    "/": "<h1>Home</h1><a href='/b'>B</a><label>Name <input name='name'></label>"
    "<details><summary>More</summary><p>inside</p></details>",
    "/b": "<h1>Bee</h1><a href='/'>A</a>",
    "/long": LONG,
    "/cookie": lambda request: SiteResponse(
        body=page(f"<p>{sorted(request.cookies.items())}</p>").body, cookies=(("seen", "1"), ("sid", ""))
    ),
    "/plain": SiteResponse(body=b"a <b> & c", content_type="text/plain; charset=utf-8"),
    "/picture": SiteResponse(body=b"<svg/>", content_type="image/svg+xml"),
    "/odd": "<marquee>x</marquee>",
    "/loop": SiteResponse(status=303, location="/loop"),
}


def browse(folder: Path, work: Any, url: str = "http://shop.test/", cookies: Any = ()) -> Any:
    async def running() -> Any:
        engine = LiteEngine()
        try:
            await engine.open(tiny_session(folder, TinySite(PAGES)), [url], cookies)
            return await work(engine)
        finally:
            await engine.close()

    return asyncio.run(running())


@pytest.mark.parametrize(
    "body",
    [
        "<marquee>x</marquee>",
        "<b>x</b>",
        "<p onclick='x'>x</p>",
        "<div style='display:flex'>x</div>",
        "<div tabindex='0'>x</div>",
        "<div role='button'>x</div>",
        "<p role='search'>x</p>",
        "<ul role='none'><li>x</li></ul>",
        "<input type='date'>",
        "<input type='button' value='x'>",
        "<svg width='8'></svg>",
        "<p aria-hidden='false'>x</p>",
        "<p aria-pressed='true'>x</p>",
        "<em aria-label='x'>y</em>",
        "<details>x</details>",
        "<details name='a'><summary>s</summary></details>",
        "<p aria-labelledby='nobody'>x</p>",
        "<table><tr><td>x</td></tr></table>",
        "<table>x<tr><th>x</th><td>y</td></tr></table>",
        "<ul>x</ul>",
        "<ul><p>x</p></ul>",
        "<p><div>x</div></p>",
        "<p>x",
        "<ul><li>x<li>y</ul>",
        "<em><strong>x</em></strong>",
        "<a href='/x'><a href='/y'>x</a></a>",
        "<form><form>x</form></form>",
        "<button><a href='/x'>x</a></button>",
        "<h1><h2>x</h2></h1>",
        "<div aria-hidden='true'><a href='/x'>x</a></div>",
        "<script>x</script>",
        "<select><option>a</option>x</select>",
    ],
)
def test_what_is_not_in_the_vocabulary_is_refused(body: str) -> None:
    with pytest.raises(UnsupportedMarkup):
        Page("http://shop.test/", page_of(body)).tree()


def test_a_page_that_is_not_understood_fails_the_act_and_says_why(tmp_path: Path) -> None:
    async def play(engine: LiteEngine) -> None:
        await engine.act(Act(verb=Verb.GOTO, text="http://shop.test/odd"), "")

    with pytest.raises(UnsupportedMarkup, match="marquee"):
        browse(tmp_path, play)


@pytest.mark.parametrize(
    "sheet",
    [
        "span { display: block } span:hover { display: none }",
        "caption { display: flex }",
        "button { display: block }",
        "p { position: absolute }",
        "p { float: left }",
        "p { white-space: pre }",
        "p { visibility: hidden }",
        "p { text-transform: uppercase }",
        "p::before { content: 'x' }",
        "* { display: block }",
        "#i { display: block }",
        ".a { display: table }",
        ".a { display: contents }",
        ".a { display: none !important }",
        "@media (hover) { .a { display: none } }",
        "@supports (display: grid) { .a { display: grid } }",
        ".a { color: red",
    ],
)
def test_style_sheets_that_change_the_tree_otherwise_are_refused(sheet: str) -> None:
    shown = Page(
        "http://shop.test/", page_of("<p class='a'>x</p><button>b</button><table><caption>h</caption></table>")
    )

    def look() -> None:
        shown.styles = read_styles((sheet,))
        shown.tree()

    with pytest.raises(UnsupportedMarkup):
        look()


@pytest.mark.parametrize(
    ("sheet", "name"),
    [
        ("", "ab"),
        (".x { display: block }", "a b"),
        ("h1 .x { display: inline-block }", "a b"),
        ("h2 .x { display: block }", "ab"),
        ("h1 > .x { display: block }", "a b"),
        ("h1 > em > .x { display: block }", "ab"),
        ("span { display: block } .x { display: inline }", "ab"),
        (".x { display: block } .x { display: inline }", "ab"),
        (".x.y { display: block }", "a b"),
        (".x.z { display: block }", "ab"),
        ("[lang=en] .x { display: block }", "a b"),
        (".x { display: none }", "a"),
        ("h1 { display: flex }", "a b"),
        ("/* .x { display: block } */ p { color: red }", "ab"),
        ("@media (max-width: 700px) { .x { display: block } }", "ab"),
        ("@media (min-width: 700px) { .x { display: block } }", "a b"),
        ("@media print { .x { display: block } }", "ab"),
        ("@font-face { font-family: x } .x { position: relative; display: block }", "a b"),
        (".x::before { content: ''; position: absolute }", "ab"),
    ],
)
def test_the_display_of_style_sheets_decides_about_spaces(sheet: str, name: str) -> None:
    shown = Page("http://shop.test/", page_of("<h1>a<span class='x y'>b</span></h1>"))
    shown.styles = read_styles((sheet,))
    assert shown.tree().children[0].name == name


def test_a_screen_is_a_count_of_lines_and_screens_overlap(tmp_path: Path) -> None:
    async def seen(engine: LiteEngine) -> list[str]:
        view = await engine.view(full=False)
        return [node.name for node in view.root.walk() if node.visible and node.role == "heading"]

    async def play(engine: LiteEngine) -> list[list[str]]:
        screens = [await seen(engine)]
        for _ in range(4):
            await engine.act(Act(verb=Verb.SCROLL, down=True), "")
            screens.append(await seen(engine))
        await engine.act(Act(verb=Verb.SCROLL, down=False), "")
        return [*screens, await seen(engine)]

    screens = browse(tmp_path, play, "http://shop.test/long")
    assert screens[0][0] == "Part 0"
    assert len(screens[1]) == SCREEN_LINES
    assert screens[1][0] == f"Part {SCROLL_LINES - 1}"
    assert set().union(*screens) == {f"Part {n}" for n in range(150)}
    assert screens[3] == screens[4]
    assert screens[5] != screens[4]


def test_the_full_view_shows_everything(tmp_path: Path) -> None:
    async def play(engine: LiteEngine) -> bool:
        return all(node.visible for node in (await engine.view(full=True)).root.walk())

    assert browse(tmp_path, play, "http://shop.test/long")


def test_an_act_brings_its_element_onto_the_screen(tmp_path: Path) -> None:
    async def play(engine: LiteEngine) -> bool:
        key = find(await engine.view(full=True), "Part 120").key
        await engine.act(Act(verb=Verb.CLICK), key)
        return find(await engine.view(full=False), "Part 120").visible

    assert browse(tmp_path, play, "http://shop.test/long")


def test_cookies_are_kept_by_host_and_deleted_by_an_empty_value(tmp_path: Path) -> None:
    async def play(engine: LiteEngine) -> list[list[str]]:
        found = []
        for _ in range(2):
            await engine.act(Act(verb=Verb.GOTO, text="http://shop.test/cookie"), "")
            found.append(await texts(engine))
        return found

    given = [Cookie(host="shop.test", name="sid", value="s"), Cookie(host="home.test", name="other", value="o")]
    assert browse(tmp_path, play, cookies=given) == [["[('sid', 's')]"], ["[('seen', '1')]"]]


def test_redirects_end(tmp_path: Path) -> None:
    async def play(engine: LiteEngine) -> str:
        await engine.act(Act(verb=Verb.GOTO, text="http://shop.test/loop"), "")
        return (await engine.view(full=True)).root.name

    assert browse(tmp_path, play) == refusals.UNREACHABLE


def test_plain_text_is_shown_and_a_picture_is_no_page(tmp_path: Path) -> None:
    async def play(engine: LiteEngine) -> tuple[list[str], str]:
        await engine.act(Act(verb=Verb.GOTO, text="http://shop.test/plain"), "")
        shown = await texts(engine)
        await engine.act(Act(verb=Verb.GOTO, text="http://shop.test/picture"), "")
        return shown, (await engine.view(full=True)).root.name

    assert browse(tmp_path, play) == (["a <b> & c"], refusals.UNREACHABLE)


@pytest.mark.parametrize("typed", ["1e9999999999", "-1e9999999999", "1e-9999999999", "9" * 10_000, "0." + "1" * 10_000])
def test_a_number_of_any_length_costs_no_time(typed: str) -> None:
    document = parse(page("<label>Pieces <input type='number' min='1' max='99'></label>").body.decode())
    number = next(element for element in document.elements if element.tag == "input")
    number.value = typed
    start = time.perf_counter()
    assert shown_invalid(document, number)
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize(
    ("text", "value"), [("12", 12), ("1e3", 1000), (".5", 0.5), ("1e-9999", 0), ("1e309", None), ("1,2", None)]
)
def test_a_number_lies_within_the_range_of_a_double(text: str, value: float | None) -> None:
    assert number_of(text) == value


@pytest.mark.parametrize("key", ["", "9999", "-1", "x"])
def test_a_node_that_is_not_there_is_gone(tmp_path: Path, key: str) -> None:
    async def play(engine: LiteEngine) -> str:
        return (await engine.act(Act(verb=Verb.CLICK), key)).error

    assert browse(tmp_path, play) == refusals.GONE


def test_a_closed_engine_says_so_and_closes_twice(tmp_path: Path) -> None:
    async def play() -> None:
        engine = LiteEngine()
        await engine.open(tiny_session(tmp_path, TinySite(PAGES)), ["http://shop.test/"])
        await engine.close()
        await engine.close()
        await engine.view(full=True)

    with pytest.raises(EngineFailed, match="no session"):
        asyncio.run(play())


def test_an_address_outside_cannot_be_opened_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(EngineFailed, match=r"evil\.test"):
        browse(tmp_path, lambda engine: engine.html(), "http://evil.test/")


def test_the_document_is_serialised_as_browsers_do(tmp_path: Path) -> None:
    async def play(engine: LiteEngine) -> str:
        await do(engine, Verb.CLICK, "More")
        await do(engine, Verb.TYPE, "Name", text="typed", enter=False)
        return await engine.html()

    html = browse(tmp_path, play)
    assert html.startswith("<!DOCTYPE html>\n<html")
    assert '<details open=""><summary>More</summary>' in html
    assert "typed" not in html
    assert parse(html).title == "Page"


def test_a_state_is_kept_as_data_and_restored(tmp_path: Path) -> None:
    async def play(engine: LiteEngine) -> tuple[Any, Any, Any]:
        await do(engine, Verb.CLICK, "B")
        await do(engine, Verb.CLICK, "A")
        await do(engine, Verb.CLICK, "More")
        await do(engine, Verb.TYPE, "Name", text="typed", enter=False)
        await engine.act(Act(verb=Verb.NEW_TAB), "")
        await engine.act(Act(verb=Verb.TAB_FOCUS, tab=0), "")
        saved = await engine.save()
        before = await look(engine)
        await do(engine, Verb.CLICK, "B")
        await engine.act(Act(verb=Verb.CLOSE_TAB), "")
        other = LiteEngine()
        (tmp_path / "other").mkdir()
        await other.restore(tiny_session(tmp_path / "other", TinySite(PAGES)), saved)
        after = await look(other)
        await other.act(Act(verb=Verb.GO_BACK), "")
        return saved, (before, after), (await other.view(full=True)).url

    saved, (before, after), back = browse(tmp_path, play)
    assert before == after
    assert back == "http://shop.test/b"
    assert json.loads(json.dumps(dataclasses.asdict(saved)))["active"] == 0


async def look(engine: LiteEngine) -> Any:
    view = await engine.view(full=True)
    nodes = [(node.key, node.role, node.name, node.properties) for node in view.root.walk()]
    return view.tabs, view.active, nodes, await engine.fields()


def rows(count: int) -> str:
    """A table page of about three lines a row."""
    cells = "".join(
        f"<tr><td><a href='/p/{n}'>Product {n}</a></td><td>$12.50</td><td><button>Add {n}</button></td></tr>"
        for n in range(count)
    )
    return f"<main><h1>Rows</h1><table><caption>All</caption><tbody>{cells}</tbody></table></main>"


@pytest.mark.parametrize(("count", "least"), [(42, 150), (114, 50)])
def test_steps_are_cheap(tmp_path: Path, count: int, least: int) -> None:
    """300 and 800 nodes; processor time, the best of five runs of ten steps."""
    browser = Browser(tiny_session(tmp_path, TinySite({"/": rows(count)})), ["http://shop.test/"])
    rates = []
    for _ in range(5):
        start = time.process_time()
        for _ in range(10):
            browser.act(Act(verb=Verb.GOTO, text="http://shop.test/"), "")
            browser.view(full=False)
        rates.append(10 / (time.process_time() - start))
    assert max(rates) >= least


def test_a_session_takes_less_than_two_megabytes(tmp_path: Path) -> None:
    session = tiny_session(tmp_path, TinySite({"/": rows(114)}))
    tracemalloc.start()
    try:
        browser = Browser(session, ["http://shop.test/"])
        browser.view(full=True)
        for _ in range(20):
            browser.act(Act(verb=Verb.GOTO, text="http://shop.test/"), "")
        gc.collect()  # left pages are cycles
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 2_000_000
