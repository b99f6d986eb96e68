"""What the order desk does, from end to end, and that nothing else changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from web_browsing import Browser

from envservers.webarena.sites.admin import SITE
from envservers.webarena.sites.shop import SITE as SHOP
from envservers.webarena.state.database import Row
from envservers.webarena.state.diff import Change, changes_of

HOST = SITE.host


@pytest.fixture
def desk(tmp_path: Path) -> Browser:
    made = Browser(tmp_path, {HOST: SITE, SHOP.host: SHOP}, HOST)
    made.log_in(HOST, admin=1)
    return made


def order(desk: Browser, status: str) -> Row:
    found = desk.db.one("SELECT * FROM sales_order WHERE status = ? ORDER BY id LIMIT 1", status)
    assert found is not None
    return found


def changed(desk: Browser) -> dict[tuple[str, str], Change]:
    """What differs from the world, one row of a table at most."""
    found = changes_of(desk.db)
    assert len({(change.table, change.kind) for change in found}) == len(found)
    return {(change.table, change.kind): change for change in found}


def status_of(desk: Browser, row: Row) -> str:
    return str(desk.db.value("SELECT status FROM sales_order WHERE id = ?", row["id"]))


def test_an_invoice_is_for_all_of_the_order_and_makes_it_processing(desk: Browser) -> None:
    row = order(desk, "pending")
    last = desk.db.value("SELECT max(number) FROM invoice")
    desk.get(f"/orders/{row['number']}")
    desk.click("Invoice")
    desk.submit("Submit Invoice")
    assert desk.path == f"/orders/{row['number']}"
    assert f"Invoice # {int(last) + 1:09d} was created." in desk.text
    found = changed(desk)
    assert set(found) == {("invoice", "insert"), ("sales_order", "update")}
    made = found["invoice", "insert"].after
    assert made is not None
    assert (made["order_id"], made["total_cents"]) == (row["id"], row["total_cents"])
    assert made["created_at"] == desk.session.now().time
    assert found["sales_order", "update"].columns == ("status",)
    assert status_of(desk, row) == "processing"


def test_a_shipment_needs_a_carrier_and_a_tracking_number(desk: Browser) -> None:
    row = order(desk, "processing")
    desk.get(f"/orders/{row['number']}")
    desk.click("Ship")
    desk.submit("Submit Shipment", tracking="  ")
    assert "Carrier: please choose an option." in desk.text
    assert "Tracking number: this is a required field." in desk.text
    assert not desk.db.written
    desk.submit("Submit Shipment", carrier="Swiftpost", tracking="SP 123")
    found = changed(desk)
    assert set(found) == {("shipment", "insert"), ("sales_order", "update")}
    made = found["shipment", "insert"].after
    assert made is not None
    assert (made["carrier"], made["tracking"], made["order_id"]) == ("Swiftpost", "SP 123", row["id"])
    assert status_of(desk, row) == "shipped"
    desk.submit("Mark as Complete")
    assert status_of(desk, row) == "complete"


def test_a_part_is_refunded_and_then_the_rest(desk: Browser) -> None:
    row = desk.db.one("SELECT * FROM sales_order WHERE status = 'complete' AND refunded_cents = 0 ORDER BY id LIMIT 1")
    assert row is not None
    path = f"/orders/{row['number']}/refund"
    desk.get(path)
    desk.submit("Submit Refund", amount="1.00", reason="Goodwill")
    assert "of $1.00 was created" in desk.text
    assert status_of(desk, row) == "complete"
    desk.get(path)
    desk.submit("Submit Refund", amount="99999", reason="Goodwill")
    assert "please enter an amount from 0.01 to" in desk.text
    desk.submit("Submit Refund", amount="0", reason="Goodwill")
    assert "please enter an amount from 0.01 to" in desk.text
    desk.get(path)
    desk.submit("Submit Refund", reason="Returned goods")
    assert status_of(desk, row) == "closed"
    assert desk.db.value("SELECT refunded_cents FROM sales_order WHERE id = ?", row["id"]) == row["total_cents"]
    amounts = desk.db.all("SELECT amount_cents FROM refund WHERE order_id = ? ORDER BY id", row["id"])
    assert [amount[0] for amount in amounts] == [100, row["total_cents"] - 100]


def test_canceling_gives_the_goods_back_to_the_stock(desk: Browser) -> None:
    row = order(desk, "pending")
    lines = desk.db.all("SELECT * FROM order_line WHERE order_id = ?", row["id"])
    before = {line["id"]: _stock(desk, line) for line in lines}
    desk.get(f"/orders/{row['number']}")
    desk.click("Cancel Order")
    desk.submit("Cancel This Order")
    assert status_of(desk, row) == "canceled"
    for line in lines:
        product, variant = before[line["id"]]
        assert _stock(desk, line)[0] >= product + line["quantity"]
        if line["variant_id"]:
            assert _stock(desk, line)[1] == variant + line["quantity"]
    assert {change.table for change in changes_of(desk.db)} <= {"sales_order", "product", "variant"}


def _stock(desk: Browser, line: Row) -> tuple[int, int]:
    return (
        desk.db.value("SELECT stock FROM product WHERE id = ?", line["product_id"]),
        desk.db.value("SELECT stock FROM variant WHERE id = ?", line["variant_id"]) or 0,
    )


def test_hold_and_unhold_lead_back_to_where_the_order_was(desk: Browser) -> None:
    for status in ("pending", "processing"):
        row = order(desk, status)
        desk.get(f"/orders/{row['number']}")
        desk.submit("Hold")
        assert status_of(desk, row) == "on_hold"
        desk.submit("Unhold")
        assert status_of(desk, row) == status
    assert changes_of(desk.db) == ()


@pytest.mark.parametrize("deed", ["invoice", "ship", "refund", "cancel", "address"])
def test_what_the_status_does_not_allow_has_no_page(desk: Browser, deed: str) -> None:
    row = order(desk, "canceled")
    desk.get(f"/orders/{row['number']}/{deed}")
    assert desk.path == f"/orders/{row['number']}"
    assert "This order cannot be" in desk.text or "can no longer be changed" in desk.text
    assert not desk.db.written


def test_a_form_that_comes_too_late_changes_nothing(desk: Browser) -> None:
    row = order(desk, "pending")
    desk.get(f"/orders/{row['number']}/invoice")
    desk.db.write("UPDATE sales_order SET status = 'canceled' WHERE id = ?", row["id"])
    writes = desk.db.writes
    desk.submit("Submit Invoice")
    assert "This order cannot be invoiced." in desk.text
    assert desk.db.writes == writes


def test_the_address_is_changed_on_the_order_alone(desk: Browser) -> None:
    row = order(desk, "pending")
    desk.get(f"/orders/{row['number']}")
    desk.click("Edit Address")
    desk.submit("Save Address", street="New Road 9", town="Elsewhere")
    found = changed(desk)
    assert set(found) == {("sales_order", "update")}
    assert set(found["sales_order", "update"].columns) == {"street", "town"}
    assert "New Road 9" in desk.text


def test_a_comment_that_notifies_is_read_by_the_customer(desk: Browser) -> None:
    row = desk.db.one("SELECT * FROM sales_order WHERE customer_id = 1 ORDER BY id DESC LIMIT 1")
    assert row is not None
    desk.get(f"/orders/{row['number']}")
    desk.submit("Submit Comment", comment="Kept behind the counter.")
    desk.submit("Submit Comment", comment="Your parcel leaves today.", notify="1")
    note = desk.db.one("SELECT * FROM order_note ORDER BY id DESC LIMIT 1")
    assert note is not None
    assert (note["author"], note["notify"], note["created_at"]) == ("Nadia Reyes", 1, desk.session.now().time)
    desk.log_in(SHOP.host, customer=1)
    desk.get(f"http://{SHOP.host}/account/orders/{row['number']}")
    assert "Your parcel leaves today." in desk.text
    assert "Kept behind the counter." not in desk.text


def test_an_empty_comment_is_refused(desk: Browser) -> None:
    desk.get("/orders/000000001")
    desk.submit("Submit Comment", comment=" ", notify="1")
    assert "Comment: this is a required field." in desk.text
    assert not desk.db.written


def test_filters_narrow_the_grid_and_stay_while_it_is_sorted(desk: Browser) -> None:
    desk.get("/orders")
    desk.submit("Apply Filters", status="complete", total_from="50", total_to="120.00", **{"from": "2025-01-01"})
    wanted = desk.db.all(
        "SELECT number FROM sales_order WHERE status = 'complete' AND total_cents BETWEEN 5000 AND 12000"
        " AND placed_at >= '2025-01-01' ORDER BY total_cents, id LIMIT 20"
    )
    desk.click("Grand total")
    assert numbers(desk) == [row["number"] for row in wanted]
    desk.click("Grand total")
    assert "order=desc" in desk.path
    assert numbers(desk) != [row["number"] for row in wanted]
    desk.click("Clear filters")
    assert len(numbers(desk)) == 20


def numbers(desk: Browser) -> list[str]:
    """Of the orders in the table, from top to bottom."""
    links = [a.get("href") for a in next(desk.page.iter("tbody")).iter("a")]
    return [href.rpartition("/")[2] for href in links if href.startswith("/orders/")]


@pytest.mark.parametrize("query", ["from=yesterday", "total_from=abc", "from=2026-02-30", "status=sold", "to=%00"])
def test_a_filter_that_cannot_be_read_says_so_and_filters_nothing(desk: Browser, query: str) -> None:
    desk.get(f"/orders?{query}")
    assert "Please correct the field" in desk.text
    assert f"of {desk.db.value('SELECT count(*) FROM sales_order')}" in desk.text


@pytest.mark.parametrize("typed", ["%", "_", "\\", "' OR 1=1 --", "zzz"])
def test_signs_of_sql_are_only_signs(desk: Browser, typed: str) -> None:
    desk.get("/orders")
    desk.submit("Apply Filters", customer=typed)
    count = desk.db.value("SELECT count(*) FROM sales_order WHERE instr(first_name || last_name || email, ?)", typed)
    assert ("could not find any orders" in desk.text) is (count == 0)


def test_what_has_equal_values_is_sorted_the_same_way_each_time(desk: Browser) -> None:
    shown = []
    for page in range(1, desk.db.value("SELECT count(*) FROM sales_order") // 20 + 2):
        desk.get(f"/orders?sort=status&order=desc&page={page}")
        shown += numbers(desk)
    assert len(set(shown)) == len(shown) == desk.db.value("SELECT count(*) FROM sales_order")


def test_a_status_for_many_leaves_those_that_do_not_allow_it(desk: Browser) -> None:
    pending, done = order(desk, "pending"), order(desk, "complete")
    desk.get(f"/orders?number={pending['number']}")
    form = next(form for form in desk.page.iter("form") if form.get("action") == "/orders/status")
    token = next(field.get("value") for field in form.iter("input") if field.get("name") == "form_key")
    picked = [("picked", str(row["id"])) for row in (pending, done)]
    desk.post("/orders/status", ("form_key", token), *picked, ("do", "hold"))
    assert "1 order was put on hold." in desk.text
    assert "1 order was not changed" in desk.text
    assert desk.path == f"/orders?number={pending['number']}"
    assert (status_of(desk, pending), status_of(desk, done)) == ("on_hold", "complete")


def test_an_action_without_orders_or_without_a_choice_does_nothing(desk: Browser) -> None:
    desk.get("/orders")
    desk.submit("Submit", do="hold")
    assert "Please select at least one order." in desk.text
    desk.submit("Submit", picked="1")
    assert "Please choose an action." in desk.text
    assert not desk.db.written


def test_the_export_shows_what_the_filters_leave(desk: Browser) -> None:
    desk.get("/orders?status=canceled&sort=total&order=asc")
    desk.click("Export preview")
    rows = desk.db.all("SELECT * FROM sales_order WHERE status = 'canceled' ORDER BY total_cents, id LIMIT 20")
    first = next(next(desk.page.iter("tbody")).iter("tr"))
    assert next(cell.text_content() for cell in first) == rows[0]["number"]
    assert len(list(next(desk.page.iter("tbody")).iter("tr"))) == len(rows)
    desk.click("Back to orders")
    assert "status=canceled" in desk.path


def test_a_return_goes_its_way_and_no_other(desk: Browser) -> None:
    desk.db.write("UPDATE return_request SET status = 'requested' WHERE id = 1")
    desk.get("/returns/1")
    desk.submit("Approve Return")
    desk.submit("Mark as Received")
    assert "Return # 1 is now received." in desk.text
    assert "Nothing is left to do here." in desk.text
