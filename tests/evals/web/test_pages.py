"""The pages as they are served: what they say, what they refuse, and that nothing of a model's becomes markup."""

from __future__ import annotations

import csv
import io
import json
import re
from html.parser import HTMLParser
from urllib.parse import parse_qs, urlsplit

import pytest
from made_pages import HOSTILE, PIXEL, fill
from made_runs import ended, new_run
from sqlalchemy.engine import URL
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from agentenv.protocol import Outcome
from agentenv.trajectory import Trajectory
from evals.store.store import Store
from evals.web.app import PAGES, make_app
from evals.web.database import ReadOnlyStore
from evals.web.headers import HEADERS, POLICY

EVERY = (
    "/", "/?suite=s&env=maze&split=test&agent=hasty", "/leaderboard.csv", "/runs", "/runs?suite=s", "/run/s-a-1",
    "/run/s-c-1", "/run/s-c-1?q=markup", "/run/s-b-1?tag=invalid+action&outcome=failure", "/run/s-live-1",
    "/live/s-live-1", "/episodes.csv/s-c-1", "/compare", "/compare?a=s-a-1&b=s-c-1",
    "/compare/task?a=s-b-1&b=s-c-1&env=maze&task=maze/test/0", "/static/pages.css", "/static/pages.js",
)  # fmt: skip


class Markup(HTMLParser):
    """What a browser would make of a page: its elements, their attributes, and the text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def links(self) -> list[str]:
        return [str(attrs["href"]) for tag, attrs in self.elements if tag == "a" and "href" in attrs]


def page_of(pages: TestClient, path: str) -> Markup:
    reply = pages.get(path)
    assert reply.status_code == 200, (path, reply.text)
    return Markup(reply.text)


def hostile_episode(pages: TestClient) -> str:
    """The path of an episode whose every text tries something."""
    return next(link for link in page_of(pages, "/run/s-c-1?outcome=agent_error").links() if "/episode/" in link)


@pytest.mark.parametrize("path", EVERY)
def test_every_page_answers_with_the_policy_and_every_link_leads_somewhere(pages: TestClient, path: str):
    reply = pages.get(path)
    assert reply.status_code == 200
    assert {name: reply.headers[name] for name in HEADERS} == HEADERS
    if reply.headers["content-type"].startswith("text/html"):
        for link in dict.fromkeys(Markup(reply.text).links()):
            assert link.startswith(("/", "#", "?"))
            assert pages.get(link).status_code == 200 if link.startswith("/") else True


@pytest.mark.parametrize(
    "path", ["/nothing", "/episode/999999", "/run/nobody", "/run/s-", "/static/../app.py", "/episode/x"]
)
def test_what_is_not_there_is_a_404_with_the_same_headers(pages: TestClient, path: str):
    reply = pages.get(path)
    assert reply.status_code == 404
    assert reply.headers["content-security-policy"] == POLICY


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_looking_is_all_that_can_be_done(pages: TestClient, method: str):
    for path in PAGES:
        where = path.replace("{run:path}", "s-a-1").replace("{id:int}", "1")
        assert pages.request(method, where).status_code == 405


def test_pages_have_no_inline_script_or_style_and_load_nothing_from_elsewhere(pages: TestClient):
    for path in (*EVERY[:1], "/run/s-c-1", hostile_episode(pages), "/compare?a=s-a-1&b=s-c-1"):
        for tag, attrs in page_of(pages, path).elements:
            assert not any(name.startswith("on") or name == "style" for name in attrs)
            assert tag != "style"
            if tag == "script":
                assert str(attrs["src"]).startswith("/static/")
            for name in ("src", "href", "action"):
                if name in attrs:
                    assert str(attrs[name]).startswith(("/", "#", "?", "data:image/png;base64,"))


def test_texts_of_models_stay_texts(pages: TestClient):
    paths = ("/", "/runs", "/run/s-c-1", "/run/s-c-1?q=stolen", hostile_episode(pages), "/compare?a=s-a-1&b=s-c-1",
             "/compare/task?a=s-b-1&b=s-c-1&env=maze&task=maze/test/0")  # fmt: skip
    for path in paths:
        page = page_of(pages, path)
        assert "window.stolen" in page.text
        assert not [attrs for tag, attrs in page.elements if tag == "img"]
        assert sum(tag == "script" for tag, _ in page.elements) <= 2
        assert "\x1b" not in page.text
        assert "\u202e" not in page.text
        assert "{{ 7 * 7 }}" in page.text or path in ("/", "/runs", "/run/s-c-1?q=stolen") or "compare" in path


def test_what_the_query_says_stays_a_text_too(pages: TestClient):
    for name in ("suite", "env", "split", "agent"):
        page = Markup(pages.get("/", params={name: HOSTILE}).text)
        assert not [tag for tag, _ in page.elements if tag == "img"]
    for name in ("env", "category", "outcome", "tag", "q", "after"):
        reply = pages.get("/run/s-b-1", params={name: HOSTILE})
        assert reply.status_code == 200
        assert not [tag for tag, _ in Markup(reply.text).elements if tag == "img"]
    for name in ("a", "b", "suite"):
        assert "<img" not in pages.get("/compare", params={name: HOSTILE}).text


def test_an_episode_shows_the_exact_texts_and_why_it_failed(pages: TestClient):
    listed = page_of(pages, "/run/s-b-1?tag=parse+failure").links()
    page = page_of(pages, next(link for link in listed if "/episode/" in link))
    for text in (
        "Success:", "Thought: turn 1 needs a look around.\nAction: well", "no action: no line `Action:`",
        "You see 1 doors, and a note: room 1.", "24 tokens, mean log-probability", "Answer with one action.",
        "parse failure", "1 error:",
    ):  # fmt: skip
        assert text in page.text
    assert {f"turn-{i}" for i in range(3)} <= {attrs.get("id") for _, attrs in page.elements}
    assert "#turn-1" in page.links()
    shades = [str(attrs["class"]) for tag, attrs in page.elements if "token" in str(attrs.get("class")).split()]
    assert len(shades) == 72
    assert len(set(shades)) > 2


def test_screenshots_are_shown_where_they_were_recorded_and_nothing_else_is(pages: TestClient):
    found = page_of(pages, "/run/s-b-1?q=data:image/png").links()
    page = page_of(pages, next(link for link in found if "/episode/" in link))
    assert [attrs["src"] for tag, attrs in page.elements if tag == "img"] == [PIXEL]


def test_the_record_of_an_episode_reads_back(pages: TestClient):
    text = pages.get(hostile_episode(pages) + ".jsonl").text
    assert Trajectory.from_json(text).error == HOSTILE


def test_a_cell_of_the_matrix_leads_to_as_many_episodes_as_it_says(pages: TestClient):
    reply = pages.get("/run/s-b-1")
    cells = re.findall(r'<td class="cell"><a href="([^"]+)">(\d+)</a>', reply.text)
    assert len(cells) > 6
    assert sum(int(count) for _, count in cells) == 48
    for link, count in cells:
        shown = page_of(pages, link.replace("&amp;", "&"))
        assert f"{count} episodes" in shown.text
        assert sum("/episode/" in found for found in shown.links()) == min(int(count), 40)


def test_filters_of_the_leaderboard_leave_ranks_as_they_are(pages: TestClient):
    whole = list(csv.DictReader(io.StringIO(pages.get("/leaderboard.csv").text)))
    part = list(csv.DictReader(io.StringIO(pages.get("/leaderboard.csv?env=maze&agent=hasty").text)))
    assert [row["agent"] for row in part] == ["hasty"]
    assert part[0] in whole
    assert {row["env"] for row in whole} == {"all", "maze", "shop"}
    assert next(float(row["cost"]) for row in whole if row["agent"] == "steady") > 0


def test_csv_of_episodes_has_the_numbers_of_the_run(pages: TestClient):
    rows = list(csv.DictReader(io.StringIO(pages.get("/episodes.csv/s-b-1").text)))
    assert len(rows) == 48
    assert {row["success"] for row in rows} == {"True", "False"}


def test_a_row_says_what_it_is_worth(pages: TestClient):
    page = page_of(pages, "/")
    assert "partial 7/24" in page.text
    assert "1-2" in page.text
    assert sum(tag == "circle" for tag, _ in page.elements) >= 12


def test_compare_shows_flips_that_lead_to_two_episodes(pages: TestClient):
    page = page_of(pages, "/compare?a=s-a-1&b=s-b-1")
    assert "p = " in page.text
    flip = next(link for link in page.links() if "/compare/task" in link)
    assert set(parse_qs(urlsplit(flip).query)) == {"a", "b", "env", "task"}
    beside = page_of(pages, flip)
    assert "They part at" in beside.text
    assert "first difference" in beside.text


def test_two_attempts_of_one_run_stand_side_by_side(pages: TestClient):
    page = page_of(pages, "/compare/task?a=s-b-1&b=s-b-1&env=maze&task=maze/test/2")
    shown = [link.rpartition("/")[2] for link in page.links() if "/episode/" in link]
    assert len(set(shown)) == 2


def test_runs_that_measured_different_things_are_refused_with_the_reason(tmp_path):
    url = URL.create("sqlite", database=str(tmp_path / "two.db"))
    with Store.open(url) as store:
        store.add_runs([new_run("one"), new_run("two", version="2")])
        with ReadOnlyStore.open(url) as reader:
            pages = TestClient(make_app(reader))
            assert "measured different things" in pages.get("/compare?a=one&b=two").text
            assert "not the same" in pages.get("/compare?a=one&b=two&anyway=1").text


def test_the_live_part_follows_the_run(tmp_path):
    url = URL.create("sqlite", database=str(tmp_path / "live.db"))
    with Store.open(url) as store, ReadOnlyStore.open(url) as reader:
        pages = TestClient(make_app(reader))
        assert "No runs yet" in pages.get("/").text
        store.add_runs([new_run("one", tasks=2)])
        assert "0 of 2 attempts settled" in pages.get("/live/one").text
        for slot in store.open_slots("one"):
            store.record("one", slot.slot, 0, ended(Outcome.SUCCESS, slot.task))
        assert 'data-open data-tries="2"' in pages.get("/live/one").text
        assert "2 of 2 attempts settled" in pages.get("/live/one").text
        store.finish("one")
        assert "data-open" not in pages.get("/live/one").text
        assert "complete" in pages.get("/runs").text
        store.delete("one", reason="for the test")
        assert "were deleted" in pages.get("/run/one").text


def test_looking_changes_nothing_in_the_database(filled: URL, pages: TestClient):
    with Store.open(filled) as store:
        before = [list(store.ask(f"SELECT * FROM {table}").rows) for table in ("runs", "tasks", "derived", "slots")]
        for path in EVERY:
            pages.get(path)
        after = [list(store.ask(f"SELECT * FROM {table}").rows) for table in ("runs", "tasks", "derived", "slots")]
    assert before == after


def unspecific(text: str) -> str:
    """Without the time of creation, and without the last digits of sums, which depend on their order."""
    text = re.sub(r"2\d{3}-\d\d-\d\d.\d\d:\d\d", "", text)
    return re.sub(r"\d+\.\d{5,}", lambda number: f"{float(number.group()):.9g}", text)


def test_pages_are_the_same_on_both_databases(url: URL, store: Store, pages: TestClient):
    fill(store)
    with ReadOnlyStore.open(url) as reader:
        own = TestClient(make_app(reader))
        for path in EVERY[:16]:
            mine, other = (unspecific(client.get(path).text) for client in (own, pages))
            assert mine == other, path


@pytest.mark.parametrize("run", ["a/b", "../x", "odd ?#&=\u00e4", "x.csv"])
def test_runs_of_any_name_have_their_pages(tmp_path, run: str):
    url = URL.create("sqlite", database=str(tmp_path / "odd.db"))
    with Store.open(url) as store, ReadOnlyStore.open(url) as reader:
        store.add_runs([new_run(run, tasks=1)])
        store.record(run, 0, 0, ended(Outcome.FAILURE, store.open_slots(run)[0].task))
        pages = TestClient(make_app(reader))
        for link in page_of(pages, "/").links() + page_of(pages, "/runs").links():
            assert pages.get(link).status_code == 200, link
        here = next(link for link in page_of(pages, "/").links() if link.startswith("/run/"))
        assert "/episode/1" in page_of(pages, here).links()
        assert pages.get(here.replace("/run/", "/live/")).status_code == 200
        assert pages.get(here.replace("/run/", "/episodes.csv/")).status_code == 200
        assert f"/run/{run}" not in here or run in ("x.csv",)


def test_older_runs_are_on_the_next_page(tmp_path, monkeypatch: pytest.MonkeyPatch):
    from evals.web import runs_page

    monkeypatch.setattr(runs_page, "ROWS", 2)
    url = URL.create("sqlite", database=str(tmp_path / "many.db"))
    with Store.open(url) as store, ReadOnlyStore.open(url) as reader:
        store.add_runs([new_run(f"run-{i}") for i in range(5)])
        pages, seen, link = TestClient(make_app(reader)), [], "/runs"
        while link:
            found = page_of(pages, link).links()
            seen += [part.rpartition("/")[2] for part in found if "/run/" in part]
            link = next((part for part in found if "/runs?" in part), "")
    assert sorted(seen) == [f"run-{i}" for i in range(5)]


def test_links_are_right_under_a_path(filled: URL):
    with ReadOnlyStore.open(filled) as store:
        pages = TestClient(Starlette(routes=[Mount("/eval", app=make_app(store))]))
        page = page_of(pages, "/eval/")
        assert "/eval/run/s-a-1" in page.links()
        assert pages.get("/eval/run/s-a-1").status_code == 200
        assert {attrs["href"] for tag, attrs in page.elements if tag == "link"} == {
            "/eval/static/icon.svg", "/eval/static/pages.css",
        }  # fmt: skip


def test_a_long_episode_has_pages_and_its_errors_lead_to_them(tmp_path, monkeypatch: pytest.MonkeyPatch):
    from made_pages import model_turn

    from evals.web import episode_page

    monkeypatch.setattr(episode_page, "TURNS", 3)
    url = URL.create("sqlite", database=str(tmp_path / "long.db"))
    with Store.open(url) as store, ReadOnlyStore.open(url) as reader:
        store.add_runs([new_run("one", tasks=1)])
        turns = [model_turn(i, action=f"go {i}", malformed="no" if i == 7 else None) for i in range(8)]
        store.record("one", 0, 0, ended(Outcome.FAILURE, store.open_slots("one")[0].task, turns=turns))
        pages = TestClient(make_app(reader))
        first, last = page_of(pages, "/episode/1"), page_of(pages, "/episode/1?from=7")
    assert "?from=6#turn-7" in first.links()
    shown = [[str(attrs["id"]) for tag, attrs in page.elements if tag == "article"] for page in (first, last)]
    assert shown == [["turn-0", "turn-1", "turn-2"], ["turn-6", "turn-7", "end"]]


def test_json_in_a_page_is_shown_not_run(pages: TestClient):
    page = page_of(pages, "/run/s-c-1")
    assert json.dumps({"name": HOSTILE.split("\x1b")[0]})[1:20] in page.text.replace("\n", "").replace("  ", "")
