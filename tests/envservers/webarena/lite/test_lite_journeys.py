"""The same acts in both engines: after each one the errors, tabs and trees are the same."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ax_oracle
import pytest
from browse import find
from tiny_site import TinySite, page, see_other, tiny_session

from envservers.webarena.act import Act, Verb
from envservers.webarena.engines.chromium.engine import ChromiumEngine
from envservers.webarena.engines.engine import Engine
from envservers.webarena.engines.lite.engine import LiteEngine
from envservers.webarena.site import SiteRequest, SiteResponse

pytestmark = pytest.mark.skipif(not ax_oracle.have_oracle, reason="no Chromium with Playwright")


def echo(request: SiteRequest) -> SiteResponse:
    sent = "".join(f"<p>{name} is {value}</p>" for name, value in (*request.query, *request.form))
    jar = "".join(f"<p>cookie {name} {value}</p>" for name, value in sorted(request.cookies.items()))
    return page(f"<h1>Echo</h1>{sent}{jar}<p>from {request.referer}</p><a href='/'>Home</a>", title="Echo")


def keep(request: SiteRequest) -> SiteResponse:
    sent = "; ".join(f"{name} is {value!r}" for name, value in request.form)
    SENT.append(sent)
    return SiteResponse(status=303, location="/done", cookies=(("last", str(len(request.form))),))


SENT: list[str] = []

FIELDS = """
<form action="/echo">
<label for="t">Text</label><input id="t" name="t" value="old" maxlength="12">
<label for="s">Search</label><input id="s" name="s" type="search">
<label for="n">Number</label><input id="n" name="n" type="number" min="1" max="9" value="3">
<label for="a">Area</label><textarea id="a" name="a">
first</textarea>
<div><input type="checkbox" id="c" name="c" value="yes"> <label for="c">Check</label></div>
<div><input type="radio" id="r1" name="r" value="1"> <label for="r1">One</label></div>
<div><input type="radio" id="r2" name="r" value="2" checked> <label for="r2">Two</label></div>
<label for="o">Pick</label><select id="o" name="o"><option value="1">First</option><option>Second</option>
<option disabled>Third</option><option>Fourth</option></select>
<input name="fixed" aria-label="Fixed" value="f" readonly>
<input name="off" aria-label="Off" value="o" disabled>
<button name="b" value="go">Go</button><button disabled>Later</button><button type="button">Idle</button>
</form>
"""
PAGES: dict[str, Any] = {
    "/": """<h1>Home</h1><a href="/fields">Fields</a> <a href="/post">Post</a> <a href="/long">Long</a>
<a href="/echo" target="_blank">Apart</a> <a href="http://evil.test/x">Evil</a> <a href="/away">Away</a>
<a href="/hop">Hop</a> <a href="/">Same</a> <a href="/nowhere">Nowhere</a> <a href="http://home.test/">Other</a>
<details><summary>More</summary><p>Hidden <a href="/echo?d=1">Deep</a></p></details>""",
    "/fields": FIELDS,
    "/echo": echo,
    "/post": """<form action="/keep" method="post"><input type="hidden" name="h" value="1">
<label>Name <input name="name"></label><label>Note <textarea name="note"></textarea></label>
<button>Send</button></form>
<form action="/keep" method="post"><input aria-label="Only" name="only"></form>
<form action="/keep" method="post"><input aria-label="One" name="one"><input aria-label="Two" name="two"></form>""",
    "/keep": keep,
    "/done": "<p>Done</p><a href='/'>Home</a>",
    "/away": see_other("http://evil.test/y"),
    "/hop": see_other("/hop2"),
    "/hop2": see_other("/done#here"),
    "/long": "".join(f"<h2 id='h{n}'>Part {n}</h2><p>text</p>" for n in range(30)) + "<a href='#h3' id='up'>Up</a>",
    "/checked": """<form action="/echo"><label>Name <input name="name" required></label>
<label>Email <input type="email" name="email"></label><label>Code <input name="code" pattern="[0-9]{4}"></label>
<label>Part <input name="part" pattern="[A-Z]" title="One letter"></label>
<label>Count <input type="number" name="count" min="1" max="9"></label>
<div><input type="checkbox" id="ok" name="ok" required> <label for="ok">Agreed</label></div>
<label>Kind <select name="kind" required><option value="">Choose</option><option>One</option></select></label>
<button>Send</button></form>""",
    "/required": """<form action="/echo" novalidate>
<label>Name <input name="name" required></label><button>Send</button></form>""",
}
HOME = {"/": "<h1>Other</h1><a href='http://shop.test/'>Back to the shop</a>"}

CLICK, TYPE, SELECT, PRESS, GOTO = Verb.CLICK, Verb.TYPE, Verb.SELECT, Verb.PRESS, Verb.GOTO
Step = tuple[Verb, str, str]
"""Verb, `role name` of the node or nothing, text."""

JOURNEYS: dict[str, tuple[str, Sequence[Step]]] = {
    "links and history": (
        "/",
        [
            (CLICK, "link Fields", ""),
            (CLICK, "textbox Text", ""),
            (Verb.GO_BACK, "", ""),
            (Verb.GO_BACK, "", ""),
            (Verb.GO_FORWARD, "", ""),
            (Verb.GO_FORWARD, "", ""),
            (GOTO, "", "http://shop.test/done"),
            (CLICK, "link Home", ""),
            (CLICK, "link Same", ""),
            (Verb.GO_BACK, "", ""),
            (CLICK, "link Home", ""),
            (Verb.GO_FORWARD, "", ""),
            (CLICK, "link Hop", ""),
            (Verb.GO_BACK, "", ""),
            (CLICK, "link Nowhere", ""),
            (Verb.GO_BACK, "", ""),
            (CLICK, "link Other", ""),
            (CLICK, "link Back to the shop", ""),
        ],
    ),
    "outside": (
        "/",
        [
            (CLICK, "link Evil", ""),
            (Verb.GO_BACK, "", ""),
            (CLICK, "link Away", ""),
            (GOTO, "", "http://shop.test/done"),
            (GOTO, "", "http://evil.test/"),
            (GOTO, "", "file:///etc/hostname"),
            (GOTO, "", "data:text/html,x"),
            (GOTO, "", "javascript:alert(1)"),
            (GOTO, "", "view-source:http://shop.test/"),
            (GOTO, "", "http://shop.test:81/"),
            (GOTO, "", "http://u@shop.test/"),
            (GOTO, "", "http://127.0.0.1/"),
            (GOTO, "", "https://shop.test/"),
            (GOTO, "", "shop.test/fields"),
            (GOTO, "", "http://SHOP.test/done?x=ä&y= z#f"),
        ],
    ),
    "tabs": (
        "/",
        [
            (CLICK, "link Apart", ""),
            (CLICK, "link Home", ""),
            (Verb.GO_BACK, "", ""),
            (Verb.GO_BACK, "", ""),
            (Verb.TAB_FOCUS, "", "0"),
            (Verb.NEW_TAB, "", ""),
            (GOTO, "", "http://home.test/"),
            (Verb.GO_BACK, "", ""),
            (Verb.TAB_FOCUS, "", "1"),
            (Verb.CLOSE_TAB, "", ""),
            (Verb.TAB_FOCUS, "", "5"),
            (Verb.CLOSE_TAB, "", ""),
            (Verb.CLOSE_TAB, "", ""),
            (GOTO, "", "http://shop.test/done"),
        ],
    ),
    "filling a form": (
        "/fields",
        [
            (TYPE, "textbox Text", "a longer text than fits"),
            (TYPE, "searchbox Search", "two\nlines"),
            (TYPE, "spinbutton Number", "12abc"),
            (TYPE, "textbox Area", "one\ntwo  three"),
            (CLICK, "checkbox Check", ""),
            (CLICK, "radio One", ""),
            (SELECT, "combobox Pick", "second"),
            (SELECT, "combobox Pick", "Third"),
            (SELECT, "combobox Pick", "Fifth"),
            (SELECT, "textbox Text", "x"),
            (TYPE, "textbox Fixed", "x"),
            (TYPE, "textbox Off", "x"),
            (TYPE, "checkbox Check", "x"),
            (CLICK, "button Later", ""),
            (CLICK, "button Idle", ""),
            (TYPE, "spinbutton Number", "7"),
            (CLICK, "button Go", ""),
            (Verb.GO_BACK, "", ""),
        ],
    ),
    "labels and options": (
        "/fields",
        [
            (CLICK, "LabelText-of Text", ""),
            (TYPE, "LabelText-of Search", "by label"),
            (CLICK, "option Fourth", ""),
            (CLICK, "option Third", ""),
            (CLICK, "combobox Pick", ""),
            (TYPE, "textbox Text", ""),
            (CLICK, "button Go", ""),
        ],
    ),
    "keys": (
        "/fields",
        [
            (TYPE, "textbox Text", "abc"),
            (PRESS, "", "Backspace"),
            (PRESS, "", "x"),
            (PRESS, "", "Control+a"),
            (PRESS, "", "Backspace"),
            (PRESS, "", "Q"),
            (PRESS, "", "Tab"),
            (PRESS, "", "s"),
            (PRESS, "", "Tab"),
            (PRESS, "", "ArrowUp"),
            (PRESS, "", "5"),
            (PRESS, "", "Tab"),
            (PRESS, "", "Control+a"),
            (PRESS, "", "z"),
            (PRESS, "", "Enter"),
            (PRESS, "", "y"),
            (PRESS, "", "Tab"),
            (PRESS, "", "Space"),
            (PRESS, "", "Tab"),
            (PRESS, "", "ArrowDown"),
            (PRESS, "", "Tab"),
            (PRESS, "", "ArrowDown"),
            (PRESS, "", "f"),
            (PRESS, "", "Tab"),
            (PRESS, "", "Tab"),
            (PRESS, "", "Shift+Tab"),
            (PRESS, "", "Tab"),
            (PRESS, "", "Enter"),
        ],
    ),
    "keys on links and folds": (
        "/",
        [
            (CLICK, "DisclosureTriangle More", ""),
            (PRESS, "", "Enter"),
            (PRESS, "", "Space"),
            (PRESS, "", "Tab"),
            (PRESS, "", "Enter"),
            (PRESS, "", "bogus+key"),
        ],
    ),
    "sending by post": (
        "/post",
        [
            (TYPE, "textbox Note", "line\nline"),
            (TYPE, "textbox Name", "Größe & <b>\n"),
            (Verb.GO_BACK, "", ""),
            (TYPE, "textbox Only", "one field\n"),
            (Verb.GO_BACK, "", ""),
            (TYPE, "textbox One", "two fields\n"),
            (CLICK, "button Send", ""),
            (GOTO, "", "http://shop.test/echo"),
        ],
    ),
    "fragments": (
        "/long",
        [
            (CLICK, "link Up", ""),
            (CLICK, "link Up", ""),
            (Verb.GO_BACK, "", ""),
            (GOTO, "", "http://shop.test/long#up"),
            (Verb.GO_BACK, "", ""),
            (Verb.GO_BACK, "", ""),
        ],
    ),
    "validation": (
        "/checked",
        [
            (CLICK, "button Send", ""),
            (TYPE, "textbox Name", "Mara"),
            (CLICK, "button Send", ""),
            (TYPE, "textbox Email", "mara\n"),
            (TYPE, "textbox Email", "mara@\n"),
            (TYPE, "textbox Email", "@x\n"),
            (TYPE, "textbox Email", "mara lind@x\n"),
            (TYPE, "textbox Email", "mara@x..y\n"),
            (TYPE, "textbox Email", "mara@x.test"),
            (TYPE, "textbox Code", "12\n"),
            (TYPE, "textbox Code", "1234"),
            (TYPE, "textbox Part", "x\n"),
            (TYPE, "textbox Part", "X"),
            (CLICK, "checkbox Agreed", ""),
            (CLICK, "button Send", ""),
            (SELECT, "combobox Kind", "One"),
            (TYPE, "spinbutton Count", "0\n"),
            (TYPE, "spinbutton Count", "10\n"),
            (TYPE, "spinbutton Count", "2.5\n"),
            (TYPE, "spinbutton Count", "2e\n"),
            (TYPE, "spinbutton Count", "2\n"),
        ],
    ),
    "no validation where the form says so": ("/required", [(CLICK, "button Send", ""), (Verb.GO_BACK, "", "")]),
    "clicks on text and on nothing": (
        "/fields",
        [
            (CLICK, "textbox Text", ""),
            (CLICK, "StaticText Search", ""),
            (CLICK, "StaticText Go", ""),
        ],
    ),
}


async def play(engine: Engine, folder: Path, start: str, steps: Sequence[Step]) -> list[str]:
    """What there is to see at first and after every step."""
    folder.mkdir()
    shop, home = TinySite(PAGES), TinySite(HOME, host="home.test")
    seen = []
    await engine.open(tiny_session(folder, shop, home), [f"http://shop.test{start}"])
    try:
        seen.append(await look(engine))
        for verb, target, text in steps:
            said = await engine.act(read_step(verb, text), await key_of(engine, target))
            seen.append(f"{verb} {target} {text!r}: {said.error}\n{await look(engine)}")
    finally:
        await engine.close()
    asked = [
        (a.method, a.host, a.path, a.query, a.form, sorted(a.cookies.items()), a.referer)
        for a in (*shop.asked, *home.asked)
        if a.path != "/favicon.ico"
    ]
    return [*seen, *map(str, asked)]


def read_step(verb: Verb, text: str) -> Act:
    if verb is TYPE:
        return Act(verb=verb, text=text.removesuffix("\n"), enter=text.endswith("\n"))
    return Act(verb=verb, text=text, tab=int(text) if verb is Verb.TAB_FOCUS else 0)


async def key_of(engine: Engine, target: str) -> str:
    if not target:
        return ""
    view = await engine.view(full=True)
    role, _, name = target.partition(" ")
    if role == "LabelText-of":
        for node in view.root.walk():
            if node.role == "LabelText" and any(child.name == name for child in node.walk()):
                return node.key
    return find(view, name, role).key


async def look(engine: Engine) -> str:
    view = await engine.view(full=True)
    tabs = [f"{tab.title} {tab.url}" for tab in view.tabs]
    fields = [f"{field.role} {field.name}={field.value!r}" for field in await engine.fields()]
    return "\n".join([f"{view.active} of {tabs}", *ax_oracle.outline(view.root), *fields])


@pytest.mark.parametrize("name", JOURNEYS)
def test_both_engines_see_the_same_at_every_step(name: str, tmp_path: Path) -> None:
    start, steps = JOURNEYS[name]
    lite = asyncio.run(play(LiteEngine(), tmp_path / "lite", start, steps))
    chromium = asyncio.run(play(ChromiumEngine(), tmp_path / "chromium", start, steps))
    for one, other in zip(lite, chromium, strict=True):
        assert one == other
