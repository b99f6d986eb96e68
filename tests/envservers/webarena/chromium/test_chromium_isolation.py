"""Nothing but http to the exact hosts of the sites, by whatever way one tries."""

from __future__ import annotations

import asyncio
import http.client
import socket
import threading

import pytest
from browse import do, texts
from tiny_site import TinySite, script, see_other, tiny_session

from envservers.webarena.act import Verb
from envservers.webarena.engines.addresses import read_address
from envservers.webarena.engines.chromium import confine
from envservers.webarena.engines.chromium import runtime as running
from envservers.webarena.engines.chromium.browser import elsewhere, resolver_rules
from envservers.webarena.engines.chromium.confine import Confinement, confinement
from envservers.webarena.engines.chromium.engine import ChromiumEngine
from envservers.webarena.engines.chromium.sites_server import HEADER

HOSTS = {"shop.test", "admin.shop.test"}
OUTSIDE = [
    "file:///etc/hostname",
    "FILE:///etc/hostname",
    "data:text/html,<p>inside out",
    "view-source:http://shop.test/",
    "chrome://version/",
    "chrome-error://chromewebdata/",
    "about:version",
    "javascript:document.write(1)",
    "blob:http://shop.test/1234",
    "filesystem:http://shop.test/temporary/x",
    "ftp://shop.test/",
    "ws://shop.test/",
    "https://shop.test/",
    "http://shop.test:81/",
    "http://user@shop.test/",
    "http://user:pass@shop.test/",
    "http://shop.test@127.0.0.1/",
    "http://127.0.0.1/",
    "http://[::1]/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://localhost/",
    "http://evil.shop.test/",
    "http://shop.test.evil.test/",
    "http://shop.test./",
    "http://example.com/",
    "http://sh\u043ep.test/",
    "http:\\\\127.0.0.1\\",
    "http:///etc/hostname",
    "//127.0.0.1/",
    "/etc/hostname",
    "",
]


@pytest.mark.parametrize("address", OUTSIDE)
def test_an_address_outside_is_no_address(address):
    assert read_address(address, HOSTS) is None


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("http://shop.test", "http://shop.test/"),
        ("  shop.test/a?b=c#d ", "http://shop.test/a?b=c#d"),
        ("HTTP://SHOP.TEST:80/A", "http://shop.test/A"),
        ("http://admin.shop.test/x", "http://admin.shop.test/x"),
        ("about:blank", "about:blank"),
    ],
)
def test_an_address_of_a_site_is_written_one_way(text, address):
    assert read_address(text, HOSTS) == address


@pytest.mark.parametrize("address", [a for a in OUTSIDE if ":" in a and not a.startswith(("http:/\\", "http:\\"))])
def test_the_browser_stops_what_the_parser_would_let_through(address):
    assert elsewhere(HOSTS).match(address)


def test_the_browser_lets_pages_of_the_sites_through():
    for address in ("http://shop.test/", "http://shop.test", "http://admin.shop.test/a?b", "http://shop.test?x"):
        assert not elsewhere(HOSTS).match(address)


def test_only_exact_hosts_at_port_80_have_an_address():
    rules = resolver_rules(HOSTS, 4000)
    assert rules == "MAP admin.shop.test:80 127.0.0.1:4000, MAP shop.test:80 127.0.0.1:4000, MAP * ~NOTFOUND"


@pytest.fixture
def decoy():
    """A listener on loopback that nobody may reach; its port, and how many did."""
    reached = []
    listener = socket.create_server(("127.0.0.1", 0))

    def listen():
        while True:
            try:
                reached.append(listener.accept())
            except OSError:
                return

    thread = threading.Thread(target=listen)
    thread.start()
    yield listener.getsockname()[1], reached
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join()


@pytest.mark.slow
def test_no_way_leads_out_of_the_sites(tmp_path, decoy):
    port, reached = decoy
    targets = {
        "file": "file:///etc/hostname",
        "data": "data:text/html,<p>inside out",
        "source": "view-source:http://shop.test/",
        "chrome": "chrome://version/",
        "blob": "blob:http://shop.test/1234",
        "script": "javascript:document.write('inside out')",
        "port": f"http://shop.test:{port}/",
        "ip": f"http://127.0.0.1:{port}/",
        "six": f"http://[::1]:{port}/",
        "localhost": f"http://localhost:{port}/",
        "evil": "http://evil.shop.test/",
        "secure": "https://shop.test/",
        "user": "http://user:pass@evil.test/",
    }
    links = " ".join(f'<a href="{url}">{name}</a>' for name, url in targets.items())
    apart = " ".join(f'<a href="{url}" target="_blank">{name} apart</a>' for name, url in targets.items())
    opened = " ".join(f'<button value="{url}">{name} open</button>' for name, url in targets.items())
    away = " ".join(f'<a href="/away/{name}">{name} away</a>' for name in targets)
    opens = "document.addEventListener('click', event => event.target.value && window.open(event.target.value))"
    pages = {"/": f'<p>home</p>{links}{apart}{opened}{away}<script src="/open.js"></script>', "/open.js": script(opens)}
    pages |= {f"/away/{name}": see_other(url) for name, url in targets.items()}
    site = TinySite(pages)

    async def play():
        engine = ChromiumEngine()
        await engine.open(tiny_session(tmp_path, site), ["http://shop.test/"])
        shown = []
        for name in targets:
            for link in (name, f"{name} apart", f"{name} open", f"{name} away"):
                await do(engine, Verb.CLICK, link)
                view = await engine.view(full=True)
                shown.append((link, view.url, tuple(await texts(engine))))
                if len(view.tabs) > 1:
                    await do(engine, Verb.CLOSE_TAB)
                await do(engine, Verb.GOTO, text="http://shop.test/")
        blocked = [await do(engine, Verb.GOTO, text=url) for url in targets.values()]
        await engine.close()
        return shown, blocked

    shown, blocked = asyncio.run(play())
    for link, url, found in shown:
        inside = url == "http://shop.test/" and found[0] == "home"
        refused = found in ((f"blocked: {url} is not on a site of this task",), ())
        assert inside or refused, (link, url, found)
    assert blocked == [f"blocked: {url} is not on a site of this task" for url in targets.values()]
    assert {request.host for request in site.asked} == {"shop.test"}
    assert reached == []


def test_a_request_without_its_session_is_turned_away(tmp_path):
    site = TinySite({"/": "<p>home</p>"})

    async def play():
        engine = ChromiumEngine()
        await engine.open(tiny_session(tmp_path, site), ["http://shop.test/"])
        where = running.runtime()
        port, token = where.sites.port, engine._browsing.room.token
        html = await engine.html()
        answers = [await asyncio.to_thread(ask, port, *call) for call in calls(token)]
        await engine.close()
        return answers, token in html, await asyncio.to_thread(ask, port, "shop.test", token)

    def calls(token):
        return [("shop.test", token), ("shop.test", "guessed"), ("shop.test", ""), ("evil.shop.test", token)]

    answers, rendered, after = asyncio.run(play())
    assert answers == [200, 403, 403, 421]
    assert not rendered
    assert after == 403


def ask(port, host, token):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", "/", headers={"Host": host} | ({HEADER: token} if token else {}))
    status = connection.getresponse().status
    connection.close()
    return status


def test_two_sessions_have_nothing_in_common(tmp_path):
    one, two = TinySite({"/": "<p>one</p>"}), TinySite({"/": "<p>two</p>"})
    for name in ("one", "two"):
        (tmp_path / name).mkdir()

    async def play():
        engines = ChromiumEngine(), ChromiumEngine()
        sessions = tiny_session(tmp_path / "one", one), tiny_session(tmp_path / "two", two)
        await asyncio.gather(*(e.open(s, ["http://shop.test/"]) for e, s in zip(engines, sessions, strict=True)))
        found = await asyncio.gather(*(texts(engine) for engine in engines))
        await asyncio.gather(*(engine.close() for engine in engines))
        return found

    assert asyncio.run(play()) == [["one"], ["two"]]


def test_pages_carry_the_sessions_time_and_assets_are_kept(tmp_path):
    from envservers.webarena.site import SiteResponse

    asset = SiteResponse(body=b"p{color:red}", content_type="text/css", immutable=True)
    site = TinySite({"/": '<link rel="stylesheet" href="/a.css"><p>home</p>', "/a.css": asset})

    async def play():
        engine = ChromiumEngine()
        await engine.open(tiny_session(tmp_path, site, step=lambda: 3), ["http://shop.test/"])
        port, token = running.runtime().sites.port, engine._browsing.room.token
        found = [await asyncio.to_thread(headers, port, path, token) for path in ("/", "/a.css")]
        await engine.close()
        return found

    def headers(port, path, token):
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request("GET", path, headers={"Host": "shop.test", HEADER: token})
        answer = connection.getresponse()
        found = {name: answer.getheader(name) for name in ("Date", "Cache-Control", "Server")}
        connection.close()
        return found

    html, css = asyncio.run(play())
    assert html == {"Date": "Mon, 02 Mar 2026 09:03:00 GMT", "Cache-Control": "no-store", "Server": None}
    assert css == {"Date": None, "Cache-Control": "public, max-age=31536000, immutable", "Server": None}


@pytest.mark.skipif(confinement() is not Confinement.ROOT, reason="needs root's mounts")
def test_a_user_without_rights_is_confined_as_well():
    assert confine._works(Confinement.USER)


@pytest.mark.skipif(confinement() is Confinement.NONE, reason="namespaces are not to be had here")
def test_the_browser_cannot_read_our_folder(tmp_path, monkeypatch):
    """Not even when it is told to open a file by the debugging protocol, past every other fence."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "secret.txt").write_text("the answer")
    (tmp_path / "open.txt").write_text("for all")
    monkeypatch.setenv("AGENTENV_HOME", str(home))
    running.shutdown()

    async def play():
        engine = ChromiumEngine()
        await engine.open(tiny_session(tmp_path, TinySite({"/": "<p>home</p>"})), ["http://shop.test/"])
        browser = running.runtime().browsers()[0].browser

        async def read(_):
            page = await browser.new_page()  # without our route
            found = []
            for path in (tmp_path / "open.txt", home / "secret.txt"):
                try:
                    await page.goto(path.as_uri())
                    found.append(await page.content())
                except Exception as error:
                    found.append(str(error))
            await page.close()
            return found

        found = await running.runtime().run(read)
        await engine.close()
        return found

    outside, inside = asyncio.run(play())
    running.shutdown()
    assert "for all" in outside
    assert "ERR_FILE_NOT_FOUND" in inside
