"""What can be done with an order: the rules are a pure function, so every state is tried."""

from __future__ import annotations

import itertools

import pytest

from envservers.webarena.sites.admin.order_rules import OrderState, allowed, status_after
from envservers.webarena.sites.shop.orders import STATUSES

STATES = [
    OrderState(status=status, invoiced=invoiced, left_cents=left)
    for status, invoiced, left in itertools.product(STATUSES, (False, True), (0, 500))
]


def state(status: str, *, invoiced: bool = True, left: int = 500) -> OrderState:
    return OrderState(status=status, invoiced=invoiced, left_cents=left)


@pytest.mark.parametrize(
    ("status", "deeds"),
    [
        ("pending", {"edit_address", "cancel", "hold", "invoice"}),
        ("processing", {"edit_address", "hold", "ship", "refund"}),
        ("shipped", {"complete", "refund"}),
        ("complete", {"refund"}),
        ("on_hold", {"edit_address", "unhold"}),
        ("canceled", set()),
        ("closed", set()),
    ],
)
def test_each_status_allows_its_deeds(status: str, deeds: set[str]) -> None:
    assert set(allowed(state(status))) == deeds


@pytest.mark.parametrize("of", STATES, ids=str)
def test_what_is_done_leads_to_a_status_and_never_out_of_an_end(of: OrderState) -> None:
    for deed in allowed(of):
        assert status_after(of, deed, 1) in STATUSES
    if of.status in ("canceled", "closed"):
        assert allowed(of) == ()


def test_nothing_is_refunded_when_nothing_is_left() -> None:
    assert all("refund" not in allowed(state(status, left=0)) for status in STATUSES)


@pytest.mark.parametrize(("cents", "after"), [(1, "shipped"), (499, "shipped"), (500, "closed")])
def test_only_the_whole_refund_closes_an_order(cents: int, after: str) -> None:
    assert status_after(state("shipped"), "refund", cents) == after


@pytest.mark.parametrize(("invoiced", "after"), [(False, "pending"), (True, "processing")])
def test_an_order_goes_on_where_it_was_held(invoiced: bool, after: str) -> None:
    assert status_after(state("on_hold", invoiced=invoiced), "unhold") == after


def test_an_order_can_be_brought_from_its_beginning_to_its_end() -> None:
    status = "pending"
    for deed in ("invoice", "ship", "complete"):
        now = state(status)
        assert deed in allowed(now)
        status = status_after(now, deed)  # type: ignore[arg-type]
    assert status == "complete"
