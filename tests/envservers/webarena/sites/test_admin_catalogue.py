"""Products, categories and reviews, and that the shop shows what was changed."""

from __future__ import annotations

from pathlib import Path

import pytest
from web_browsing import Browser

from envservers.webarena.sites.admin import SITE
from envservers.webarena.sites.shop import SITE as SHOP
from envservers.webarena.sites.shop.catalogue import search
from envservers.webarena.state.database import Row
from envservers.webarena.state.diff import changes_of

HOST = SITE.host


@pytest.fixture
def desk(tmp_path: Path) -> Browser:
    made = Browser(tmp_path, {HOST: SITE, SHOP.host: SHOP}, HOST)
    made.log_in(HOST, admin=1)
    return made


def plain(desk: Browser) -> Row:
    """A product on sale that comes in no colors or sizes."""
    found = desk.db.one(
        "SELECT * FROM product WHERE status = 'enabled' AND special_cents IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM variant WHERE product_id = product.id) ORDER BY id LIMIT 1"
    )
    assert found is not None
    return found


def varied(desk: Browser) -> Row:
    """One that does."""
    found = desk.db.one("SELECT * FROM product WHERE id = (SELECT min(product_id) FROM variant)")
    assert found is not None
    return found


def columns_changed(desk: Browser) -> set[str]:
    return {f"{change.table}.{column}" for change in changes_of(desk.db) for column in change.columns}


def test_a_price_is_changed_and_nothing_else(desk: Browser) -> None:
    row = plain(desk)
    desk.get(f"/products/{row['id']}")
    desk.submit("Save Product", price="1,234.5")
    assert "You saved the product." in desk.text
    assert columns_changed(desk) == {"product.price_cents"}
    desk.click("View in the shop")
    assert "$1,234.50" in desk.text


def test_saving_a_product_as_it_is_changes_nothing(desk: Browser) -> None:
    for row in desk.db.all("SELECT id FROM product ORDER BY id LIMIT 12"):
        desk.get(f"/products/{row['id']}")
        desk.submit("Save Product")
        assert "You saved the product." in desk.text
        desk.click("Specifications")
        desk.submit("Save Specifications")
    assert changes_of(desk.db) == ()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"name": " "}, "Product name: this is a required field."),
        ({"price": "cheap"}, "Price: please enter an amount"),
        ({"price": "0"}, "above 0"),
        ({"price": "10", "special": "10"}, "below the price"),
        ({"stock": "-1"}, "from 0 to"),
        ({"stock": "many"}, "a whole number"),
        ({"brand": ""}, "Brand: please choose an option."),
        ({"sku": "TAKEN"}, "another product has this SKU"),
    ],
)
def test_a_product_that_cannot_be_is_refused_and_keeps_what_was_typed(
    desk: Browser, fields: dict[str, str], words: str
) -> None:
    row = plain(desk)
    taken = desk.db.value("SELECT sku FROM product WHERE id <> ? ORDER BY id LIMIT 1", row["id"])
    desk.get(f"/products/{row['id']}")
    desk.submit("Save Product", **{name: taken if text == "TAKEN" else text for name, text in fields.items()})
    assert words in desk.text
    assert not desk.db.written


def test_the_search_of_the_shop_knows_a_new_name_and_forgets_the_old_one(desk: Browser) -> None:
    row = plain(desk)
    desk.get(f"/products/{row['id']}")
    desk.submit("Save Product", name="Quixotic Zebrafish Lantern")
    assert search(desk.db, "zebrafish") == [row["id"]]
    assert row["id"] not in search(desk.db, f'"{row["name"]}"')


def test_a_new_product_is_found_in_the_shop(desk: Browser) -> None:
    desk.get("/products/new")
    brand, category = desk.db.value("SELECT id FROM brand"), desk.db.value("SELECT category_id FROM product LIMIT 1")
    typed = {
        "name": "Copper Ladle",
        "sku": "LAD-1",
        "brand": str(brand),
        "category": str(category),
        "price": "19.90",
        "stock": "7",
        "weight": "240",
        "description": "For soup.",
    }
    desk.submit("Save Product", **typed)
    made = desk.db.one("SELECT * FROM product WHERE sku = 'LAD-1'")
    assert made is not None
    assert desk.path == f"/products/{made['id']}"
    assert (made["price_cents"], made["special_cents"], made["stock"], made["status"]) == (1990, None, 7, "enabled")
    assert (made["slug"], made["created_at"]) == ("copper-ladle", desk.session.now().time)
    assert [change.table for change in changes_of(desk.db)] == ["product"]
    desk.get(f"http://{SHOP.host}/search?q=copper+ladle")
    assert "Copper Ladle" in desk.text
    desk.get(f"http://{HOST}/products/new")
    desk.submit("Save Product", **(typed | {"sku": "LAD-2"}))
    assert desk.db.value("SELECT slug FROM product WHERE sku = 'LAD-2'") == "copper-ladle-2"


def test_specifications_are_changed_added_and_removed(desk: Browser) -> None:
    row = plain(desk)
    before = desk.db.all("SELECT * FROM product_spec WHERE product_id = ? ORDER BY position", row["id"])
    number = len(before)
    desk.get(f"/products/{row['id']}/specs")
    desk.submit(
        "Save Specifications",
        value_1="changed",
        name_2="",
        value_2="",
        **{f"name_{number + 1}": "Country", f"value_{number + 1}": "Iceland"},
    )
    after = desk.db.all("SELECT * FROM product_spec WHERE product_id = ? ORDER BY position", row["id"])
    assert (after[0]["name"], after[0]["value"]) == (before[0]["name"], "changed")
    assert (after[-1]["name"], after[-1]["value"]) == ("Country", "Iceland")
    assert before[1]["id"] not in [spec["id"] for spec in after]
    assert len(changes_of(desk.db)) == 3


def test_half_a_specification_is_refused(desk: Browser) -> None:
    row = plain(desk)
    desk.get(f"/products/{row['id']}/specs")
    desk.submit("Save Specifications", value_1="")
    assert "Value 1: this is a required field." in desk.text
    assert not desk.db.written


def test_a_product_has_what_its_variants_have(desk: Browser) -> None:
    row = varied(desk)
    first = desk.db.one("SELECT * FROM variant WHERE product_id = ? ORDER BY id LIMIT 1", row["id"])
    assert first is not None
    desk.get(f"/products/{row['id']}")
    assert "the sum of the variants" in desk.text
    desk.click("Variants")
    desk.submit("Save Stock", **{f"stock_{first['id']}": str(first["stock"] + 5)})
    assert columns_changed(desk) == {"variant.stock", "product.stock"}
    desk.submit("Add Variant", color="Ultraviolet", size="", sku="UV-1", stock="3")
    sums = desk.db.one("SELECT sum(stock), count(*) FROM variant WHERE product_id = ?", row["id"])
    assert sums is not None
    assert desk.db.value("SELECT stock FROM product WHERE id = ?", row["id"]) == sums[0] == row["stock"] + 8
    desk.submit("Add Variant", color="Ultraviolet", size="", sku="UV-2", stock="3")
    assert "already a variant with this color and size" in desk.text


def test_one_status_for_many_products(desk: Browser) -> None:
    desk.get("/products?status=enabled")
    ids = [box.get("value") for box in desk.page.iter("input") if box.get("name") == "picked"][:3]
    form = next(form for form in desk.page.iter("form") if form.get("action") == "/products/status")
    token = next(field.get("value") for field in form.iter("input") if field.get("name") == "form_key")
    pairs = (("form_key", token), *(("picked", one) for one in ids), ("do", "disabled"))
    desk.post("/products/status", *pairs)
    assert "3 products were disabled." in desk.text
    assert {(change.table, change.columns, str(change.id)) for change in changes_of(desk.db)} == {
        ("product", ("status",), one) for one in ids
    }
    assert desk.path == "/products?status=enabled"


def test_a_category_gets_another_name_in_the_shop_and_in_its_search(desk: Browser) -> None:
    row = desk.db.one("SELECT * FROM category WHERE id = (SELECT min(category_id) FROM product)")
    assert row is not None
    desk.get(f"/categories/{row['id']}")
    desk.submit("Save Category", name="Zithers")
    assert columns_changed(desk) == {"category.name"}
    found = [one[0] for one in desk.db.all("SELECT id FROM product WHERE category_id = ?", row["id"])]
    assert set(search(desk.db, "zithers")) == set(found)
    desk.get(f"http://{SHOP.host}/c/{row['slug']}")
    assert "Zithers" in desk.text


def test_a_new_category_lies_below_its_group(desk: Browser) -> None:
    group = desk.db.one("SELECT * FROM category WHERE parent_id = 1 ORDER BY id LIMIT 1")
    assert group is not None
    desk.get(f"/categories/{group['id']}")
    desk.click("Add Subcategory")
    desk.submit("Save Category", name="Odds & Ends", description="What is left.")
    made = desk.db.one("SELECT * FROM category ORDER BY id DESC LIMIT 1")
    assert made is not None
    assert (made["parent_id"], made["active"], made["slug"]) == (group["id"], 1, f"{group['slug']}-odds-ends")
    desk.get(f"/categories/{made['id']}")
    assert "Add Subcategory" not in desk.text
    desk.get(f"/categories/{group['id']}/new")
    desk.submit("Save Category", name="odds & ends")
    assert "already a category with this name" in desk.text


def test_a_pending_review_is_approved_and_shows_in_the_shop(desk: Browser) -> None:
    desk.get("/reviews")
    desk.click("Pending reviews")
    row = desk.db.one(
        "SELECT review.*, slug FROM review JOIN product ON product.id = product_id"
        " WHERE review.status = 'pending' AND product.status = 'enabled' ORDER BY review.id DESC LIMIT 1"
    )
    assert row is not None
    desk.get(f"/reviews/{row['id']}")
    desk.submit("Approve Review")
    assert "The review was approved." in desk.text
    assert columns_changed(desk) == {"review.status"}
    desk.get(f"http://{SHOP.host}/p/{row['slug']}/reviews")
    assert row["title"] in desk.text


def test_a_review_is_mended_rejected_and_deleted(desk: Browser) -> None:
    desk.get("/reviews/5")
    desk.submit("Save Review", title="A better summary", stars="4")
    assert columns_changed(desk) <= {"review.title", "review.stars"}
    desk.submit("Reject Review")
    assert desk.db.value("SELECT status FROM review WHERE id = 5") == "rejected"
    desk.click("Delete Review")
    desk.submit("Delete This Review")
    assert desk.path == "/reviews"
    assert [(change.table, change.kind, change.id) for change in changes_of(desk.db)] == [("review", "delete", 5)]


def test_many_reviews_are_decided_at_once(desk: Browser) -> None:
    desk.get("/reviews?status=pending")
    boxes = [box.get("value") for box in desk.page.iter("input") if box.get("name") == "picked"][:2]
    form = next(form for form in desk.page.iter("form") if form.get("action") == "/reviews/status")
    token = next(field.get("value") for field in form.iter("input") if field.get("name") == "form_key")
    desk.post("/reviews/status", ("form_key", token), *(("picked", one) for one in boxes), ("do", "approved"))
    assert "2 reviews were approved." in desk.text
    assert {str(change.id) for change in changes_of(desk.db)} == set(boxes)
