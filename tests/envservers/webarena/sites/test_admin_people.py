"""Signing in, customers, coupons, price rules, reports, pages, rates, users and roles."""

from __future__ import annotations

from pathlib import Path

import pytest
from web_browsing import Browser

from envservers.webarena.sites.admin import SITE
from envservers.webarena.sites.common.formats import money
from envservers.webarena.sites.shop import SITE as SHOP
from envservers.webarena.state.diff import changes_of

HOST = SITE.host


@pytest.fixture
def door(tmp_path: Path) -> Browser:
    return Browser(tmp_path, {HOST: SITE, SHOP.host: SHOP}, HOST)


@pytest.fixture
def desk(door: Browser) -> Browser:
    door.log_in(HOST, admin=1)
    return door


def only_change(desk: Browser) -> tuple[str, str, dict[str, object]]:
    """Table, kind, and the row's values now."""
    (change,) = changes_of(desk.db)
    return change.table, change.kind, dict(change.after or {})


def test_one_signs_in_lands_where_one_wanted_and_signs_out(door: Browser) -> None:
    name, word = door.db.one("SELECT username, password FROM admin_user WHERE id = 1") or ("", "")
    door.get("/orders?status=pending")
    door.submit("Sign in", username=name, password="wrong")
    assert "The user name or password is not correct." in door.text
    door.submit("Sign in", username=name.upper(), password=word)
    assert door.path == "/orders?status=pending"
    door.get("/logout")
    door.submit("Sign Out")
    assert "You have signed out." in door.text
    door.get("/login?next=//evil.test/")
    door.submit("Sign in", username=name, password=word)
    assert door.url == f"http://{HOST}/"


def test_an_account_that_is_not_active_stays_outside(door: Browser) -> None:
    row = door.db.one("SELECT * FROM admin_user WHERE NOT active")
    assert row is not None
    door.get("/login")
    door.submit("Sign in", username=row["username"], password=row["password"])
    assert "This account is not active." in door.text
    door.get("/orders")
    assert door.path == "/login?next=/orders"


def test_a_role_without_the_dashboard_begins_at_its_first_page(door: Browser) -> None:
    door.db.write("UPDATE admin_role SET permissions = 'reviews' WHERE id = 3")
    name, word = door.db.one("SELECT username, password FROM admin_user WHERE role_id = 3") or ("", "")
    door.get("/")
    door.submit("Sign in", username=name, password=word)
    assert door.path == "/reviews"


def test_a_customer_of_the_shop_is_nobody_here(door: Browser) -> None:
    door.log_in(HOST, customer=1)
    door.get("/orders")
    assert door.path.startswith("/login")


def test_ones_own_account_and_password_are_changed(desk: Browser) -> None:
    old = desk.db.value("SELECT password FROM admin_user WHERE id = 1")
    desk.get("/account")
    desk.submit("Save Account", first_name="Nadja")
    assert only_change(desk)[:2] == ("admin_user", "update")
    desk.submit("Change Password", old="nonsense", new="long enough", again="long enough")
    assert "The current password is not correct." in desk.text
    desk.submit("Change Password", old=old, new="long enough", again="long enougj")
    assert "please enter the same password again" in desk.text
    desk.submit("Change Password", old=old, new="long enough", again="long enough")
    assert desk.db.value("SELECT password FROM admin_user WHERE id = 1") == "long enough"
    assert "long enough" not in str(desk.db.scratch)


def test_a_customer_moves_to_another_group(desk: Browser) -> None:
    desk.get("/customers/2")
    group = desk.db.value("SELECT id FROM customer_group WHERE id <> (SELECT group_id FROM customer WHERE id = 2)")
    desk.submit("Save Customer", group=str(group))
    (change,) = changes_of(desk.db)
    assert (change.table, change.id, change.columns) == ("customer", 2, ("group_id",))


def test_a_new_customer_can_sign_in_to_the_shop(desk: Browser) -> None:
    desk.get("/customers/new")
    typed = {"first_name": "Ada", "last_name": "Quill", "email": "ada.quill@postbox.example"}
    desk.submit("Save Customer", **typed, password="short")
    assert "please use at least 8 characters" in desk.text
    desk.submit("Save Customer", password="long enough", newsletter="1")
    table, kind, made = only_change(desk)
    assert (table, kind, made["newsletter"], made["active"]) == ("customer", "insert", 1, 1)
    assert made["created_at"] == desk.session.now().time
    desk.get(f"http://{SHOP.host}/login")
    desk.submit("Sign In", email=typed["email"], password="long enough")
    assert desk.path == "/account"


def test_an_email_address_belongs_to_one_customer(desk: Browser) -> None:
    taken = desk.db.value("SELECT email FROM customer WHERE id = 1")
    desk.get("/customers/2")
    desk.submit("Save Customer", email=taken.upper())
    assert "already a customer with this email address" in desk.text
    assert not desk.db.written


def test_an_address_of_a_customer_is_added_and_changed(desk: Browser) -> None:
    desk.get("/customers/1/addresses")
    desk.click("Edit default address")
    desk.submit("Save Address", street="Pier 3")
    assert only_change(desk)[2]["street"] == "Pier 3"
    address = desk.db.value("SELECT id FROM address WHERE customer_id = 2 ORDER BY id LIMIT 1")
    assert desk.get(f"/customers/1/addresses/{address}").status == 404


def test_groups_are_made_and_changed(desk: Browser) -> None:
    desk.get("/groups")
    desk.click("Add Group")
    desk.submit("Save Group", name="general", discount="5")
    assert "already a group with this name" in desk.text
    desk.submit("Save Group", name="Press", discount="95")
    assert "from 0 to 90" in desk.text
    desk.submit("Save Group", name="Press", discount="12")
    assert only_change(desk)[2] | {"id": 0} == {"id": 0, "name": "Press", "discount_percent": 12}


def test_a_new_coupon_holds_in_the_shop(desk: Browser) -> None:
    desk.get("/coupons/new")
    desk.submit("Save Coupon", code="tide 15", description="For a test", amount="15", ends="2026-02-01")
    assert "letters, digits and hyphens" in desk.text
    assert "not before Valid from" in desk.text
    desk.submit("Save Coupon", code="tide15", ends="2026-12-31")
    table, kind, made = only_change(desk)
    assert (table, kind, made["code"], made["kind"], made["amount"]) == ("coupon", "insert", "TIDE15", "percent", 15)
    assert (made["min_cents"], made["use_limit"], made["uses"]) == (0, None, 0)
    desk.log_in(SHOP.host, customer=1)
    desk.db.write("UPDATE customer SET group_id = 1 WHERE id = 1")
    product = desk.db.one(
        "SELECT * FROM product WHERE status = 'enabled' AND stock > 5"
        " AND NOT EXISTS (SELECT 1 FROM variant WHERE product_id = product.id) LIMIT 1"
    )
    assert product is not None
    desk.get(f"http://{SHOP.host}/p/{product['slug']}")
    desk.submit("Add to Cart")
    desk.get(f"http://{SHOP.host}/cart")
    if "Remove Coupon" in desk.text:
        desk.submit("Remove Coupon")
    desk.submit("Apply Coupon", coupon="tide15")
    assert "You used the coupon code" in desk.text


@pytest.mark.parametrize(
    ("kind", "amount", "kept"), [("percent", "20", 20), ("fixed", "7.50", 750), ("free_shipping", "", 0)]
)
def test_the_amount_of_a_coupon_is_percent_or_money(desk: Browser, kind: str, amount: str, kept: int) -> None:
    desk.get("/coupons/new")
    desk.submit("Save Coupon", code="TESTING", description="x", kind=kind, amount=amount, ends="2026-12-31")
    assert only_change(desk)[2]["amount"] == kept


def test_saving_coupons_and_rules_as_they_are_changes_nothing(desk: Browser) -> None:
    for path, button in (("coupons", "Save Coupon"), ("price-rules", "Save Price Rule")):
        for number in range(1, 7):
            desk.get(f"/{path}/{number}")
            desk.submit(button)
            assert "You saved" in desk.text, f"/{path}/{number}"
    assert changes_of(desk.db) == ()


def test_a_price_rule_lowers_the_price_in_the_shop(desk: Browser) -> None:
    product = desk.db.one(
        "SELECT * FROM product WHERE status = 'enabled' AND special_cents IS NULL ORDER BY id LIMIT 1"
    )
    assert product is not None
    desk.get("/price-rules/new")
    desk.submit("Save Price Rule", name="Half", percent="50", ends="2026-04-01")
    assert only_change(desk)[2]["category_id"] is None
    desk.get(f"http://{SHOP.host}/p/{product['slug']}")
    assert money(product["price_cents"] - (product["price_cents"] * 50 + 50) // 100) in desk.text


def test_subscribers_are_taken_off_the_list(desk: Browser) -> None:
    desk.get("/subscribers")
    box = next(box for box in desk.page.iter("input") if box.get("name") == "picked")
    desk.submit("Submit", picked="1", do="delete")
    assert "removed" in desk.text
    assert all(change.table == "subscriber" and change.kind == "delete" for change in changes_of(desk.db))
    assert desk.db.value("SELECT count(*) FROM subscriber WHERE id = ?", int(box.get("value"))) == 0


def test_the_sales_report_adds_up(desk: Browser) -> None:
    desk.get("/reports/sales")
    desk.submit("Show Report", **{"from": "2025-01-01", "to": "2025-12-31", "period": "month"})
    total, number = desk.db.one(
        "SELECT sum(total_cents), count(*) FROM sales_order WHERE status <> 'canceled' AND placed_at LIKE '2025-%'"
    ) or (0, 0)
    last = list(next(desk.page.iter("tbody")).iter("tr"))[-1]
    cells = [cell.text_content() for cell in last]
    assert (cells[0], cells[1], cells[6]) == ("Total", str(number), money(total))


def test_the_best_seller_of_a_month_is_the_one_ordered_most(desk: Browser) -> None:
    desk.get("/reports/best-sellers?from=2025-12-01&to=2025-12-31")
    row = desk.db.one(
        "SELECT product_id, sum(quantity) AS sold, sum(quantity * price_cents) AS revenue FROM order_line"
        " JOIN sales_order ON sales_order.id = order_id"
        " WHERE placed_at LIKE '2025-12-%' AND sales_order.status <> 'canceled'"
        " GROUP BY product_id ORDER BY sold DESC, revenue DESC, product_id LIMIT 1"
    )
    assert row is not None
    first = next(next(desk.page.iter("tbody")).iter("tr"))
    assert next(first.iter("a")).get("href") == f"/products/{row['product_id']}"
    assert [cell.text_content() for cell in first][4:6] == [str(row["sold"]), money(row["revenue"])]


def test_a_report_of_no_days_says_so(desk: Browser) -> None:
    for name in ("sales", "best-sellers", "best-customers", "refunds", "coupons"):
        desk.get(f"/reports/{name}?from=2030-01-01&to=2030-01-31")
        assert "in this time." in desk.text, name
        desk.get(f"/reports/{name}?from=monday")
        assert "please enter a date as YYYY-MM-DD" in desk.text, name


def test_a_page_of_the_shop_is_written_anew(desk: Browser) -> None:
    desk.get("/pages/1")
    desk.submit("Save Page", title="Who we are", body="One.\n\nTwo.")
    (change,) = changes_of(desk.db)
    assert set(change.columns) == {"title", "body", "updated_at"}
    desk.get(f"http://{SHOP.host}/help/{change.after['slug']}")  # type: ignore[index]
    assert "Who we are" in desk.text


def test_a_shipping_rate_costs_what_it_says(desk: Browser) -> None:
    desk.get("/shipping/1")
    desk.submit("Save Shipping Rate", price="3.20", free_over="")
    (change,) = changes_of(desk.db)
    assert change.columns == ("price_cents", "free_over_cents")
    desk.get("/shipping/new")
    desk.submit("Save Shipping Rate", name="Night Boat", price="12", days="two nights")
    assert desk.db.value("SELECT code FROM shipping_rate ORDER BY id DESC LIMIT 1") == "night_boat"


def test_a_new_user_has_the_areas_of_the_role(desk: Browser) -> None:
    desk.get("/users/new")
    desk.submit(
        "Save User",
        username="Joan.Ito",
        first_name="Joan",
        last_name="Ito",
        email="joan@shop.example",
        role="5",
        password="long enough",
    )
    table, kind, made = only_change(desk)
    assert (table, kind, made["username"], made["role_id"]) == ("admin_user", "insert", "joan.ito", 5)
    desk.get("/logout")
    desk.submit("Sign Out")
    desk.submit("Sign in", username="joan.ito", password="long enough")
    assert desk.get("/reports/sales").status == 200
    assert desk.get("/orders").status == 403


def test_nobody_locks_themselves_out(desk: Browser) -> None:
    desk.get("/users/1")
    desk.submit("Save User", active="", role="2")
    assert "You cannot deactivate your own account." in desk.text
    assert "You cannot change your own role." in desk.text
    desk.get("/roles/1")
    desk.submit("Save Role", area_settings="")
    assert "You cannot take the settings from your own role." in desk.text
    assert not desk.db.written


def test_an_empty_password_stays_what_it_is(desk: Browser) -> None:
    desk.get("/users/2")
    desk.submit("Save User", first_name="Thomas")
    (change,) = changes_of(desk.db)
    assert change.columns == ("first_name",)
    desk.get("/users/2")
    desk.submit("Save User", password="short")
    assert "New password: please use at least 8 characters." in desk.text
    assert "short" not in str(desk.db.scratch.get("drafts", {}))


def test_a_role_is_made_of_areas(desk: Browser) -> None:
    desk.get("/roles/new")
    desk.submit("Save Role", name="Temp", area_dashboard="")
    assert "Permissions: please choose at least one." in desk.text
    desk.submit("Save Role", area_reviews="1", area_orders="1")
    assert only_change(desk)[2]["permissions"] == "orders,reviews"
