"""Every expected change once, and nothing else."""

from collections.abc import Mapping
from typing import Any

import pytest

from envservers.webarena.evaluators.database import Allow, Database, Delete, Insert, Update
from envservers.webarena.evaluators.evidence import Evidence, Verdict
from envservers.webarena.state.diff import Change

Row = Mapping[str, Any]


def inserted(table: str, id: int, **row: Any) -> Change:
    return Change(table=table, kind="insert", id=id, before=None, after={"id": id, **row})


def updated(table: str, id: int, before: Row, after: Row) -> Change:
    return Change(table=table, kind="update", id=id, before={"id": id, **before}, after={"id": id, **after})


def deleted(table: str, id: int, **row: Any) -> Change:
    return Change(table=table, kind="delete", id=id, before={"id": id, **row}, after=None)


def judge(check: Database, *changes: Change) -> Verdict:
    return check.judge(Evidence(answer="", tabs=(), active=0, changes=changes))


WISH = Database(
    inserts=(Insert(table="wish", values={"customer_id": 1, "product_id": 7}),),
    allow=(Allow(table="wish", column="added_at", reason="the moment of the click"),),
)
RIGHT = inserted("wish", 5, customer_id=1, product_id=7, added_at="2026-03-02 09:01:00")


def test_the_expected_row_passes_whatever_its_allowed_column_holds() -> None:
    assert judge(WISH, RIGHT).passed


@pytest.mark.parametrize(
    "changes",
    [
        (),
        (inserted("wish", 5, customer_id=1, product_id=8, added_at=""),),
        (inserted("wish", 5, customer_id="1", product_id=7, added_at=""),),
        (inserted("wish", 5, customer_id=1, product_id=7, added_at="", note="x"),),
        (inserted("wish", 5, customer_id=1, added_at=""),),
        (RIGHT, inserted("wish", 6, customer_id=1, product_id=7, added_at="")),
        (RIGHT, deleted("wish", 2, customer_id=1, product_id=3, added_at="")),
        (RIGHT, updated("product", 7, {"stock": 3}, {"stock": 2})),
    ],
)
def test_nothing_a_wrong_row_or_more_than_asked_fails(changes: tuple[Change, ...]) -> None:
    assert not judge(WISH, *changes).passed


def test_an_update_changes_exactly_the_named_columns_of_its_row() -> None:
    check = Database(updates=(Update(table="customer", id=1, values={"newsletter": 1}),))
    before = {"newsletter": 0, "phone": "1"}
    assert judge(check, updated("customer", 1, before, {"newsletter": 1, "phone": "1"})).passed
    assert not judge(check, updated("customer", 2, before, {"newsletter": 1, "phone": "1"})).passed
    assert not judge(check, updated("customer", 1, before, {"newsletter": 1, "phone": "2"})).passed
    assert not judge(check, updated("customer", 1, before, {"newsletter": 0, "phone": "2"})).passed


def test_a_delete_names_its_row() -> None:
    check = Database(deletes=(Delete(table="wish", id=4),))
    assert judge(check, deleted("wish", 4, product_id=1)).passed
    assert not judge(check, deleted("wish", 5, product_id=1)).passed
    assert not judge(check, updated("wish", 4, {"product_id": 1}, {"product_id": 2})).passed


def test_updates_of_allowed_columns_alone_are_not_looked_at() -> None:
    check = Database(allow=(Allow(table="coupon", column="uses", reason="counts orders"),))
    assert judge(check, updated("coupon", 1, {"uses": 1, "active": 1}, {"uses": 2, "active": 1})).passed
    assert not judge(check, updated("coupon", 1, {"uses": 1, "active": 1}, {"uses": 2, "active": 0})).passed
    assert not judge(check, deleted("coupon", 1, uses=1)).passed


def test_a_matcher_may_point_at_a_row_inserted_in_the_episode() -> None:
    check = Database(
        inserts=(
            Insert(table="cart", values={"customer_id": 1}),
            Insert(table="cart_line", values={"cart_id": {"new": "cart"}, "quantity": 2}),
        )
    )
    cart = inserted("cart", 9, customer_id=1)
    assert judge(check, cart, inserted("cart_line", 3, cart_id=9, quantity=2)).passed
    assert not judge(check, cart, inserted("cart_line", 3, cart_id=8, quantity=2)).passed


def test_expected_and_actual_rows_pair_up_in_whatever_order_they_come() -> None:
    check = Database(
        inserts=(
            Insert(table="t", values={"a": {"any": True}}),
            Insert(table="t", values={"a": {"one_of": [1, 2]}}),
            Insert(table="t", values={"a": 1}),
        )
    )
    rows = [inserted("t", place, a=value) for place, value in enumerate((1, 2, 3))]
    assert judge(check, *rows).passed
    assert judge(check, *reversed(rows)).passed
    assert not judge(check, *rows[:2]).passed


@pytest.mark.parametrize(
    ("matcher", "value", "fits"),
    [
        ({"text": "Great  value"}, "great value", True),
        ({"text": "Great value"}, "great values", False),
        ({"about": 100, "by": 2}, 101, True),
        ({"about": 100, "by": 2}, 103, False),
        ({"about": 100, "by": 2}, "101", False),
        (None, None, True),
        (1, True, False),
        (1, 1.0, False),
    ],
)
def test_matchers_are_typed(matcher: Any, value: Any, fits: bool) -> None:
    check = Database(inserts=(Insert(table="t", values={"a": matcher}),))
    assert judge(check, inserted("t", 1, a=value)).passed is fits


def test_the_reason_names_tables_and_not_values() -> None:
    verdict = judge(WISH, inserted("wish", 5, customer_id=1, product_id=8, added_at=""))
    assert verdict.reason == "missing: a new row in wish; not asked for: insert in wish"
