"""Addresses, forms, requests, reports that a task cannot be done, and the guards of kinds."""

from typing import Any

import pytest

from envservers.webarena.engines.engine import Field
from envservers.webarena.evaluators.answer import Answer
from envservers.webarena.evaluators.combine import TaskKind, from_json, guarded, judge, to_json
from envservers.webarena.evaluators.database import Allow, Database, Delete, Insert, Update
from envservers.webarena.evaluators.evidence import Check, Evidence
from envservers.webarena.evaluators.form import Form
from envservers.webarena.evaluators.log import Log, Request
from envservers.webarena.evaluators.status import Unachievable, says_no
from envservers.webarena.evaluators.url import Url
from envservers.webarena.nodes import Tab
from envservers.webarena.state.diff import Change
from envservers.webarena.state.session import Logged

SHOP = "shop.test"


def at(*urls: str, active: int = 0, **more: Any) -> Evidence:
    return Evidence(answer=more.pop("answer", ""), tabs=[Tab(title="", url=url) for url in urls], active=active, **more)


def logged(path: str, method: str = "GET", status: int = 200, **more: Any) -> Logged:
    values: dict[str, Any] = {"query": (), "form": (), **more}
    return Logged(step=1, method=method, host=SHOP, path=path, status=status, location="", **values)


FILTERED = Url(host=SHOP, path="/c/tea/*", query=(("brand", "Fen"), ("sort", "price")), without=("page", "stock"))


@pytest.mark.parametrize(
    ("url", "right"),
    [
        ("http://shop.test/c/tea/green?sort=price&brand=Fen", True),
        ("http://shop.test/c/tea/green/?sort=price&brand=Fen&view=list&page=", True),
        ("http://shop.test/c/tea/green?sort=price", False),
        ("http://shop.test/c/tea/green?sort=price&brand=Fen&page=1", True),
        ("http://shop.test/c/tea/green?sort=price&brand=Fen&page=2", False),
        ("http://shop.test/c/tea/green?sort=price&brand=fen", False),
        ("http://shop.test/c/tea/green?sort=price&brand=Fen&brand=Elm", False),
        ("http://shop.test/c/tea/green?sort=price&brand=&brand=Fen", False),
        ("http://shop.test/c/tea?sort=price&brand=Fen", False),
        ("http://shop.test/c/tea/green/x?sort=price&brand=Fen", False),
        ("http://shop.test.evil/c/tea/green?sort=price&brand=Fen", False),
        ("http://admin.shop.test/c/tea/green?sort=price&brand=Fen", False),
        ("https://shop.test/c/tea/green?sort=price&brand=Fen", False),
        ("", False),
    ],
)
def test_an_address_is_compared_by_segments_and_pairs(url: str, right: bool) -> None:
    assert FILTERED.judge(at(url)).passed is right


@pytest.mark.parametrize(
    ("query", "right"),
    [
        ("q=Dome++Tent&total_from=450", True),
        ("q=dome+tent&total_from=450.00", True),
        ("q=dome+tent&total_from=$450", True),
        ("q=dome+tent&total_from=450.01", False),
        ("q=dome+tent&total_from=450.000", False),
        ("q=dome+tents&total_from=450", False),
    ],
)
def test_a_search_and_an_amount_are_compared_as_the_sites_read_them(query: str, right: bool) -> None:
    check = Url(host=SHOP, path="/search", query=(("q", "dome tent"), ("total_from", "450")))
    assert check.judge(at(f"http://shop.test/search?{query}")).passed is right


def test_the_active_tab_counts_unless_any_may() -> None:
    evidence = at("http://shop.test/a", "http://shop.test/b", active=1)
    assert not Url(host=SHOP, path="/a").judge(evidence).passed
    assert Url(host=SHOP, path="/b").judge(evidence).passed
    assert Url(host=SHOP, path="/a", any_tab=True).judge(evidence).passed
    assert not Url(host=SHOP, path="/a").judge(at()).passed


def test_every_field_of_a_form_stands_once_with_its_value() -> None:
    check = Form(fields=(("Title", "Fine"), ("Subscribe", "true")))
    title = Field(role="textbox", name="Title", value=" Fine ")
    subscribe = Field(role="checkbox", name="Subscribe", value="true")
    assert check.judge(at("http://shop.test/", fields=(title, subscribe))).passed
    assert not check.judge(at("http://shop.test/", fields=(title,))).passed
    assert not check.judge(at("http://shop.test/", fields=(title, title, subscribe))).passed
    other = Field(role="textbox", name="Title", value="fine")
    assert not check.judge(at("http://shop.test/", fields=(other, subscribe))).passed


def test_the_log_must_have_some_requests_and_must_not_have_others() -> None:
    check = Log(
        must=(Request(host=SHOP, path="/orders/*"),), must_not=(Request(host=SHOP, path="/send", method="POST"),)
    )
    assert check.judge(at(log=[logged("/orders/12")])).passed
    assert not check.judge(at(log=[])).passed
    assert not check.judge(at(log=[logged("/orders/12", status=404)])).passed
    assert not check.judge(at(log=[logged("/orders/12"), logged("/send", "POST", 303)])).passed
    search = Request(host=SHOP, path="/search", contains=(("q", "kettle"),))
    assert search.matches(logged("/search", query=(("q", "Blue Kettles"),)))
    assert not search.matches(logged("/search", query=(("q", "pot"),)))


@pytest.mark.parametrize(
    "text",
    ["N/A", " n/a ", '"N/A"', "**N/A**", "Answer: N/A", "N/A: the coupon has expired", '{"status": "not found"}'],
)
def test_these_say_that_it_cannot_be_done(text: str) -> None:
    assert says_no(text)


@pytest.mark.parametrize("text", ["", "no", "na", "n/abc", "It is N/A", '{"status": "ok"}', "[" * 400, "N/A " * 200])
def test_these_do_not(text: str) -> None:
    assert not says_no(text)


def test_not_achievable_counts_only_after_the_pages_that_reveal_it() -> None:
    check = Unachievable(reveals=(Request(host=SHOP, path="/orders"), Request(host=SHOP, path="/returns")))
    seen = [logged("/orders"), logged("/returns")]
    assert check.judge(at(answer="N/A", log=seen)).passed
    assert not check.judge(at(answer="N/A", log=seen[:1])).passed
    assert not check.judge(at(answer="12", log=seen)).passed
    assert not check.judge(at(answer=None, log=seen)).passed


def test_another_page_that_tells_it_alone_will_do() -> None:
    gone = Request(host=SHOP, path="/orders/7", missing=True)
    check = Unachievable(reveals=(Request(host=SHOP, path="/orders"),), or_one=(gone,))
    assert check.judge(at(answer="N/A", log=[logged("/orders/7", status=404)])).passed
    assert not check.judge(at(answer="N/A", log=[logged("/orders/7")])).passed
    assert not check.judge(at(answer="N/A", log=[logged("/orders", status=404)])).passed
    assert from_json(to_json(check)) == check


CHANGE = Change(table="wish", kind="insert", id=1, before=None, after={"id": 1})
ANSWER = Answer(type="number", values=("3",))


def test_a_retrieve_task_fails_with_any_change() -> None:
    assert judge(TaskKind.RETRIEVE, [ANSWER], at(answer="3")).passed
    changed = judge(TaskKind.RETRIEVE, [ANSWER], at(answer="3", changes=(CHANGE,)))
    assert not changed.passed
    assert changed.progress == 0.5


def test_a_navigate_task_needs_stop_and_no_excuse() -> None:
    check = Url(host=SHOP, path="/cart")
    assert judge(TaskKind.NAVIGATE, [check], at("http://shop.test/cart", answer="")).passed
    assert not judge(TaskKind.NAVIGATE, [check], at("http://shop.test/cart", answer=None)).passed
    assert not judge(TaskKind.NAVIGATE, [check], at("http://shop.test/cart", answer="N/A")).passed


@pytest.mark.parametrize(
    ("kind", "checks"),
    [
        (TaskKind.RETRIEVE, [Url(host=SHOP, path="/")]),
        (TaskKind.MUTATE, [Database()]),
        (TaskKind.MUTATE, [ANSWER]),
        (TaskKind.FILL, [Database()]),
        (TaskKind.RETRIEVE, [ANSWER, Database(deletes=(Delete(table="t", id=1),))]),
    ],
)
def test_a_task_without_the_check_of_its_kind_is_refused(kind: TaskKind, checks: list[Check]) -> None:
    with pytest.raises(ValueError):
        guarded(kind, checks)


@pytest.mark.parametrize(
    "check",
    [
        Answer(type="money", values=("1", "2"), many=True, ordered=True, tolerance="0.1"),
        Database(
            inserts=(Insert(table="t", values={"a": 1, "b": {"text": "x"}, "c": {"one_of": [1, 2]}}),),
            updates=(Update(table="t", id=3, values={"a": None}),),
            deletes=(Delete(table="t", id=4),),
            allow=(Allow(table="t", column="c", reason="r"),),
        ),
        FILTERED,
        Form(fields=(("Title", "x"),)),
        Log(must=(Request(host=SHOP, path="/a", contains=(("q", "x"),)),), must_not=(Request(host=SHOP, path="/b"),)),
        Unachievable(reveals=(Request(host=SHOP, path="/a", query=(("q", "x"),)),)),
    ],
)
def test_checks_go_through_json(check: Check) -> None:
    import json

    assert from_json(json.loads(json.dumps(to_json(check)))) == check
