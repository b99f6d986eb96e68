"""What the engine does with pages: acts, tabs, history, readiness and what lies in view."""

from __future__ import annotations

import asyncio
import time

import pytest
from browse import do, find, texts
from tiny_site import TinySite, page, script, see_other, tiny_session

from envservers.webarena.act import Act, Verb
from envservers.webarena.engines.chromium.engine import ChromiumEngine
from envservers.webarena.engines.chromium.visible import ViewportRule
from envservers.webarena.engines.engine import Cookie, EngineFailed, Field
from envservers.webarena.site import SiteResponse

FORM = """
<h1>Order</h1>
<form action="/post" method="post">
<label>Name <input name="name" value="old"></label>
<label>Note <textarea name="note"></textarea></label>
<label><input type="checkbox" name="gift" value="yes"> Gift</label>
<label>Size <select name="size"><option value="s">Small</option><option value="l">Very  Large</option></select></label>
<label>Fixed <input name="fixed" value="f" readonly></label>
<button>Send</button><button disabled>Later</button>
</form>
"""
PAGES = {
    "/": '<h1>Home</h1><a href="/form">Form</a> <a href="/second" target="_blank">Apart</a> <a href="/gone">Gone</a>',
    "/form": FORM,
    "/second": page("<p>second</p>", title="Second"),
    "/post": lambda request: see_other("/thanks"),
    "/thanks": page("<p>Thank you</p>", title="Thanks"),
    "/covered": '<button>Under</button><div style="position:fixed;inset:0;background:#fff">Look here</div>',
    "/tall": "".join(f"<p style='height:40px'>line {n}</p>" for n in range(100)) + '<a href="/second">Last</a>',
    "/late": '<p id="p">early</p><script src="/late.js"></script>',
    "/late.js": script("fetch('/slow').then(r => r.text()).then(t => p.textContent = t)"),
    "/inline": '<p id="p">early</p><script>p.textContent = "late"</script>',
    "/broken": lambda request: 1 / 0,
}


def slow(request):
    time.sleep(0.3)
    return SiteResponse(body=b"late", content_type="text/plain")


def browse(tmp_path, work, *urls, pages=PAGES, cookies=(), **options):
    """Run an async function on an engine that stands at these addresses."""
    site = TinySite(pages | {"/slow": slow})

    async def running():
        engine = ChromiumEngine(**options)
        try:
            await engine.open(tiny_session(tmp_path, site), urls or ["http://shop.test/"], cookies)
            return await work(engine)
        finally:
            await engine.close()

    return asyncio.run(running()), site


def test_a_click_on_a_link_shows_the_next_page(tmp_path):
    async def play(engine):
        assert await do(engine, Verb.CLICK, "Form") == ""
        return await engine.view(full=True)

    view, _ = browse(tmp_path, play)
    assert view.url == "http://shop.test/form"
    assert view.root.role == "RootWebArea"


def test_a_form_is_filled_sent_once_and_not_again_by_the_history(tmp_path):
    async def play(engine):
        await do(engine, Verb.TYPE, "Name", text="new name", enter=False)
        await do(engine, Verb.TYPE, "Note", text="two\nlines €日本", enter=False)
        await do(engine, Verb.CLICK, "Gift")
        await do(engine, Verb.SELECT, "Size", text="Very Large")
        fields = await engine.fields()
        await do(engine, Verb.CLICK, "Send")
        await do(engine, Verb.GO_BACK)
        restored = await engine.fields()
        await do(engine, Verb.GO_FORWARD)
        return fields, restored, (await engine.view(full=True)).url

    (fields, restored, url), site = browse(tmp_path, play, "http://shop.test/form")
    assert fields == [
        Field(role="textbox", name="Name", value="new name"),
        Field(role="textbox", name="Note", value="two\nlines €日本"),
        Field(role="checkbox", name="Gift", value="true"),
        Field(role="combobox", name="Size", value="Very Large"),
        Field(role="textbox", name="Fixed", value="f"),
    ]
    assert [f.value for f in restored] == ["old", "", "false", "Small", "f"]
    assert url == "http://shop.test/thanks"
    posts = [r for r in site.asked if r.method == "POST"]
    sent = (("name", "new name"), ("note", "two\r\nlines €日本"), ("gift", "yes"), ("size", "l"), ("fixed", "f"))
    assert [r.form for r in posts] == [sent]


def test_enter_after_typing_sends_the_form(tmp_path):
    async def play(engine):
        await do(engine, Verb.TYPE, "Name", text="me")
        return (await engine.view(full=True)).url

    assert browse(tmp_path, play, "http://shop.test/form")[0] == "http://shop.test/thanks"


def test_an_empty_text_clears_the_field(tmp_path):
    async def play(engine):
        await do(engine, Verb.TYPE, "Name", text="", enter=False)
        return (await engine.fields())[0].value

    assert browse(tmp_path, play, "http://shop.test/form")[0] == ""


LONG = "a text that is longer than its field"


@pytest.mark.parametrize(("rule", "first"), [("replace", LONG), ("append", f"old{LONG}"), ("point", f"old{LONG}")])
def test_text_goes_where_the_rule_says(tmp_path, rule, first):
    async def play(engine):
        values = []
        for text in (LONG, "|"):
            await do(engine, Verb.TYPE, "Name", text=text, enter=False)
            values.append((await engine.fields())[0].value)
        return values

    one, two = browse(tmp_path, play, "http://shop.test/form", type_rule=rule)[0]
    assert one == first
    before, after = two.split("|")
    assert before + after == ("" if rule == "replace" else first)
    assert (before == first) == (rule == "append")
    assert bool(before and after) == (rule == "point")


@pytest.mark.parametrize(
    ("verb", "name", "fields", "said"),
    [
        (Verb.CLICK, "Later", {}, "the element is disabled"),
        (Verb.TYPE, "Fixed", {"text": "x"}, "the element is read-only"),
        (Verb.TYPE, "Send", {"text": "x"}, "the element takes no text"),
        (Verb.SELECT, "Name", {"text": "x"}, "the element has no options to select"),
        (Verb.SELECT, "Size", {"text": "Huge"}, "no option 'Huge'; there are: 'Small', 'Very Large'"),
        (Verb.PRESS, "", {"text": "Hyper+q"}, "unknown keys 'Hyper+q'"),
        (Verb.TAB_FOCUS, "", {"tab": 1}, "there is no tab 1; tabs are 0 to 0"),
        (Verb.GO_BACK, "", {}, "there is no page to go back to"),
        (Verb.GO_FORWARD, "", {}, "there is no page to go forward to"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(tmp_path, verb, name, fields, said):
    assert browse(tmp_path, lambda e: do(e, verb, name, **fields), "http://shop.test/form")[0] == said


def test_an_element_under_another_is_not_clicked_through(tmp_path):
    said, _ = browse(tmp_path, lambda e: do(e, Verb.CLICK, "Under"), "http://shop.test/covered")
    assert said == 'the element is covered by div "Look here"'


def test_an_element_of_a_page_that_was_left_is_gone(tmp_path):
    async def play(engine):
        key = find(await engine.view(full=True), "Form").key
        await do(engine, Verb.GOTO, text="http://shop.test/second")
        return (await engine.act(Act(verb=Verb.CLICK), key)).error

    assert browse(tmp_path, play)[0] == "the element is no longer on the page"


def test_a_link_to_a_new_window_becomes_the_active_tab(tmp_path):
    async def play(engine):
        await do(engine, Verb.CLICK, "Apart")
        opened = await engine.view(full=True)
        await do(engine, Verb.TAB_FOCUS, tab=0)
        first = await engine.view(full=True)
        await do(engine, Verb.CLOSE_TAB)
        return opened, first, await engine.view(full=True)

    (opened, first, left), _ = browse(tmp_path, play)
    assert [(t.title, t.url) for t in opened.tabs] == [
        ("Page", "http://shop.test/"),
        ("Second", "http://shop.test/second"),
    ]
    assert (opened.active, opened.root.name) == (1, "Second")
    assert (first.active, first.root.name) == (0, "Page")
    assert [t.title for t in left.tabs] == ["Second"]


def test_closing_the_last_tab_leaves_a_blank_one(tmp_path):
    async def play(engine):
        await do(engine, Verb.CLOSE_TAB)
        blank = await engine.view(full=True)
        await do(engine, Verb.GOTO, text="shop.test/second")
        return blank, await engine.view(full=True)

    (blank, after), _ = browse(tmp_path, play)
    assert [(t.title, t.url) for t in blank.tabs] == [("", "about:blank")]
    assert [(t.title, t.url) for t in after.tabs] == [("Second", "http://shop.test/second")]


def test_every_address_gets_a_tab_and_the_first_is_active(tmp_path):
    async def play(engine):
        return await engine.view(full=True)

    view, _ = browse(tmp_path, play, "http://shop.test/form", "http://shop.test/second")
    assert [(t.title, t.url) for t in view.tabs] == [
        ("Page", "http://shop.test/form"),
        ("Second", "http://shop.test/second"),
    ]
    assert view.active == 0


def test_the_cookies_of_a_session_are_sent_and_new_ones_kept(tmp_path):
    pages = {"/set": SiteResponse(body=b"<p>set", cookies=(("cart", "c1"),)), "/": "<p>home"}

    async def play(engine):
        await do(engine, Verb.GOTO, text="http://shop.test/")

    cookies = [Cookie(host="shop.test", name="sid", value="s1")]
    _, site = browse(tmp_path, play, "http://shop.test/set", pages=pages, cookies=cookies)
    assert [dict(r.cookies) for r in site.asked] == [{"sid": "s1"}, {"sid": "s1", "cart": "c1"}]


def test_a_page_is_looked_at_when_its_requests_are_answered(tmp_path):
    found, _ = browse(tmp_path, texts, "http://shop.test/late")
    assert found == ["late"]


def test_only_scripts_from_files_of_the_site_run(tmp_path):
    found, _ = browse(tmp_path, texts, "http://shop.test/inline")
    assert found == ["early"]


def test_the_viewport_shows_what_lies_in_it_and_moves_by_its_height(tmp_path):
    async def seen(engine):
        root = (await engine.view(full=False)).root
        return [n.name for n in root.walk() if n.role == "StaticText" and n.visible]

    async def play(engine):
        before = await seen(engine)
        await do(engine, Verb.SCROLL, down=True)
        after = await seen(engine)
        await do(engine, Verb.SCROLL, down=False)
        return before, after, await seen(engine)

    (before, after, again), _ = browse(tmp_path, play, "http://shop.test/tall", viewport_rule=ViewportRule.AREA)
    assert before[0] == "line 0"
    assert "line 0" not in after
    assert set(before) & set(after) == set()
    assert again == before


def test_an_element_below_the_fold_is_scrolled_to_before_the_click(tmp_path):
    async def play(engine):
        await do(engine, Verb.CLICK, "Last")
        return (await engine.view(full=True)).url

    assert browse(tmp_path, play, "http://shop.test/tall")[0] == "http://shop.test/second"


def test_a_page_that_is_not_there_is_the_sites_own(tmp_path):
    async def play(engine):
        await do(engine, Verb.CLICK, "Gone")
        return (await engine.view(full=True)).root.name

    assert browse(tmp_path, play)[0] == "Not found"


def test_a_site_that_raises_is_an_engine_failure_with_its_cause(tmp_path):
    async def play(engine):
        with pytest.raises(EngineFailed, match="ZeroDivisionError") as failed:
            await do(engine, Verb.GOTO, text="http://shop.test/broken")
        return failed.value.__cause__

    assert isinstance(browse(tmp_path, play)[0], ZeroDivisionError)


def test_the_document_and_a_picture_are_to_be_had(tmp_path):
    async def play(engine):
        return await engine.html(), await engine.screenshot()

    (html, picture), _ = browse(tmp_path, play)
    assert html.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert picture.startswith(b"\x89PNG")
    assert int.from_bytes(picture[16:20]), int.from_bytes(picture[20:24]) == (1280, 720)


def test_closing_twice_does_nothing_and_a_closed_engine_says_so(tmp_path):
    async def play(engine):
        await engine.close()
        await engine.close()
        with pytest.raises(EngineFailed, match="no session is open"):
            await engine.view(full=True)

    browse(tmp_path, play)
