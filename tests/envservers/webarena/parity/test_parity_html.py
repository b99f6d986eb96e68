"""The html dialect reads the same in both engines: attributes, texts, what was typed, and what acts do."""

from __future__ import annotations

import asyncio

import pytest
from parity import SITES, Pair, report
from test_parity_pages import STATES, pages
from tiny_site import TinySite, page, tiny_session

from envservers.webarena.act import Verb
from envservers.webarena.engines.chromium.engine import ChromiumEngine
from envservers.webarena.engines.lite.engine import LiteEngine

HANDFUL = 6

CONTROLS = """<form action="/next" method="get" id="f"><p>Before  the <strong>bold</strong>   word</p>
<input type="text" name="a" value="old" aria-label="A" required><input type="password" name="p" aria-label="P">
<input type="checkbox" name="c" value="1" checked aria-label="C"><input type="hidden" name="h" value="secret">
<input type="radio" name="r" value="1" aria-label="R1"><input type="radio" name="r" value="2" aria-label="R2">
<textarea name="t" aria-label="T">first
second</textarea><input type="number" name="n" aria-label="N">
<select name="s" aria-label="S">
<optgroup label="G"><option value="1">One</option></optgroup><option>Two</option></select>
<button name="go" value="&quot;x&quot;">Go</button></form><details><summary>More</summary><p>Inside</p></details>
<svg aria-hidden="true" viewBox="0 0 1 1"><path d="M0 0"/></svg><p hidden>Unseen</p>"""


@pytest.mark.timeout(600)
@pytest.mark.parametrize("most", [HANDFUL, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("host", "prepare"), STATES)
def test_pages_read_the_same_as_html(tmp_path, host, prepare, most):
    found = [urls[0] for urls in pages(tmp_path / "crawl", host, prepare, 1).values()]
    chosen = found[:: max(1, len(found) // most)]

    async def play():
        pair = Pair(ChromiumEngine(), LiteEngine())
        await pair.open(tmp_path, SITES, host, prepare, f"http://{host}/")
        for url in chosen:
            await pair.act(Verb.GOTO, text=url)
            await pair.compare(url, "html")
        await pair.close()
        return pair

    pair = asyncio.run(play())
    assert pair.compared == len(chosen) > 0
    assert not pair.differences, report(pair.differences)


async def opened(tmp_path, html):
    pair = Pair(ChromiumEngine(), LiteEngine())
    for engine in pair.engines:
        (tmp_path / engine.name).mkdir()
        site = TinySite({"/": page(html), "/next": page("<p>next</p>")})
        await engine.open(tiny_session(tmp_path / engine.name, site), ["http://shop.test/"])
    return pair


def test_what_was_typed_and_chosen_is_in_the_attributes(tmp_path):
    acts = [
        (Verb.TYPE, 'name="a"', {"text": "new", "enter": False}),
        (Verb.TYPE, 'name="p"', {"text": "abc", "enter": False}),
        (Verb.TYPE, 'name="n"', {"text": "12", "enter": False}),
        (Verb.TYPE, 'name="t"', {"text": "typed", "enter": False}),
        (Verb.CLICK, 'name="c"', {}),
        (Verb.CLICK, 'aria-label="R2"', {}),
        (Verb.SELECT, 'name="s"', {"text": "Two"}),
        (Verb.CLICK, "More", {}),
    ]

    async def play():
        pair = await opened(tmp_path, CONTROLS)
        shown = await pair.compare("start", "html")
        for verb, part, fields in acts:
            number = next(n for n, name in enumerate(shown.names, start=1) if part in name)
            assert await pair.act(verb, number, dialect="html", **fields) == ["", ""]
            shown = await pair.compare(f"{verb} {part}", "html")
        await pair.close()
        return pair, shown

    pair, shown = asyncio.run(play())
    assert not pair.differences, report(pair.differences)
    lines = [name for name in shown.names if name.startswith(("<INPUT", "<TEXT", "<OPTION", "<DETAILS", "<#text>"))]
    assert lines == [
        "<#text> Before the",
        "<#text> bold",
        "<#text> word",
        '<INPUT type="text" name="a" value="new" aria-label="A" required="">',
        '<INPUT type="password" name="p" aria-label="P" value="•••">',
        '<INPUT type="checkbox" name="c" value="1" aria-label="C">',
        '<INPUT type="radio" name="r" value="1" aria-label="R1">',
        '<INPUT type="radio" name="r" value="2" aria-label="R2" checked="">',
        '<TEXTAREA name="t" aria-label="T"> typed',
        '<INPUT type="number" name="n" aria-label="N" value="12">',
        '<OPTION value="1">',
        "<#text> One",
        '<OPTION selected="">',
        "<#text> Two",
        "<#text> Go",
        '<DETAILS open="">',
        "<#text> More",
        "<#text> Inside",
    ]


def test_what_is_off_the_screen_is_left_out_of_the_html(tmp_path):
    parts = "".join(f'<section id="s{n}"><h2>Part {n}</h2><p>Words {n}</p></section>' for n in range(200))

    async def play():
        pair = await opened(tmp_path, f"<main>{parts}</main>")
        views = [await engine.view(full=False, dom=True) for engine in pair.engines]
        await pair.act(Verb.SCROLL, down=True)
        views += [await engine.view(full=False, dom=True) for engine in pair.engines]
        await pair.close()
        return views

    for number, view in enumerate(asyncio.run(play())):
        seen = [dict(node.properties)["id"] for node in view.dom.walk() if node.role == "section" and node.visible]
        first = int(seen[0].removeprefix("s"))
        assert seen == [f"s{n}" for n in range(first, first + len(seen))]
        assert len(seen) < 40
        assert (first == 0) == (number < 2)


def test_a_page_that_cannot_be_opened_says_so_in_html_too(tmp_path):
    async def play():
        pair = await opened(tmp_path, '<a href="http://evil.test/x">Out</a>')
        shown = await pair.compare("start", "html")
        number = next(n for n, name in enumerate(shown.names, start=1) if name.startswith("<A "))
        await pair.act(Verb.CLICK, number, dialect="html")
        shown = await pair.compare("out", "html")
        await pair.close()
        return pair, shown

    pair, shown = asyncio.run(play())
    assert not pair.differences, report(pair.differences)
    assert "blocked: http://evil.test/x is not on a site of this task" in shown.text
