"""What holds in every world: sums, times, states and texts."""

import json
import re
import sqlite3
from collections import Counter
from contextlib import closing

import pytest
from web_worlds import shared_world

from envservers.webarena.world.grammar.load import departments, words
from envservers.webarena.world.sizes import SIZES
from envservers.webarena.world.totals import percent_of
from envservers.webarena.world.vocabulary import PAYMENTS, RETURN_REASONS
from envservers.webarena.world.world import World


@pytest.fixture(scope="module", params=[(0, "small"), (3, "small"), (0, "medium")], ids=str)
def world(request):
    world = World(shared_world(*request.param))
    yield world
    world.close()


def test_every_table_has_rows(world):
    tables = world.column("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'")
    empty = [table for table in tables if world.value(f"SELECT count(*) FROM {table}") == 0]
    assert [table for table in empty if not table.startswith("product_search")] == []


def test_the_counts_are_those_of_the_size(world):
    size = SIZES[world.size]
    counted = {
        table: world.value(f"SELECT count(*) FROM {table}")
        for table in ("product", "brand", "customer", "sales_order", "order_line", "review", "coupon", "search_term")
    }
    assert counted == {
        "product": size.products,
        "brand": size.brands,
        "customer": size.customers,
        "sales_order": size.orders,
        "order_line": size.order_lines,
        "review": size.reviews,
        "coupon": size.coupons,
        "search_term": size.search_terms,
    }
    places = [world.value(f"SELECT count(*) FROM {table}") for table in ("region", "town", "person")]
    assert places == [3, 14, 60]


def test_the_medium_shop_has_ninety_categories_in_three_levels():
    assert sum(1 + len(d.groups) + sum(len(g.leaves) for g in d.groups) for d in departments()) == 90


def test_foreign_keys_and_the_file_are_sound(world):
    assert world.rows("PRAGMA foreign_key_check") == []
    assert world.value("PRAGMA integrity_check") == "ok"


def test_only_leaves_hold_products_and_one_leaf_is_empty(world):
    assert world.column("SELECT id FROM product WHERE category_id IN (SELECT parent_id FROM category)") == []
    empty = world.column(
        "SELECT name FROM category WHERE id NOT IN (SELECT parent_id FROM category WHERE parent_id IS NOT NULL) "
        "AND id NOT IN (SELECT category_id FROM product)"
    )
    assert empty == ["Propagators"]


def test_orders_add_up_to_the_cent(world):
    wrong = world.rows(
        "SELECT o.number FROM sales_order AS o JOIN (SELECT order_id, sum(quantity * price_cents) AS goods "
        "FROM order_line GROUP BY order_id) AS l ON l.order_id = o.id WHERE l.goods <> o.subtotal_cents "
        "OR o.total_cents <> o.subtotal_cents - o.discount_cents + o.shipping_cents OR o.total_cents < 0"
    )
    assert wrong == []
    assert world.value("SELECT count(*) FROM sales_order WHERE id NOT IN (SELECT order_id FROM order_line)") == 0


def test_shipping_costs_what_its_rate_says(world):
    for order in world.rows(
        "SELECT o.*, r.price_cents, r.free_over_cents, c.kind FROM sales_order AS o "
        "JOIN shipping_rate AS r ON r.name = o.shipping_method LEFT JOIN coupon AS c ON c.code = o.coupon_code"
    ):
        goods = order["subtotal_cents"] - order["discount_cents"]
        free = order["kind"] == "free_shipping" or (order["free_over_cents"] or 1e9) <= goods
        assert order["shipping_cents"] == (0 if free else order["price_cents"]), order["number"]


def test_discounts_are_those_of_coupon_or_group(world):
    for order in world.rows(
        "SELECT o.*, c.kind, c.amount, c.min_cents, c.starts_on, c.ends_on, g.discount_percent FROM sales_order AS o "
        "LEFT JOIN coupon AS c ON c.code = o.coupon_code LEFT JOIN customer ON customer.id = o.customer_id "
        "LEFT JOIN customer_group AS g ON g.id = customer.group_id"
    ):
        expected = percent_of(order["subtotal_cents"], order["discount_percent"] or 0)
        if order["coupon_code"]:
            assert order["starts_on"] <= order["placed_at"][:10] <= order["ends_on"]
            assert order["subtotal_cents"] >= order["min_cents"]
            percent = percent_of(order["subtotal_cents"], order["amount"])
            expected = {"percent": percent, "fixed": order["amount"], "free_shipping": 0}[order["kind"]]
        assert order["discount_cents"] == expected, order["number"]


def test_coupons_were_used_as_often_as_they_say_and_no_more_than_allowed(world):
    wrong = world.rows(
        "SELECT code FROM coupon WHERE uses <> (SELECT count(*) FROM sales_order WHERE coupon_code = code) "
        "OR uses > use_limit"
    )
    assert wrong == []


def test_there_are_coupons_of_every_state(world):
    today = world.starts_at[:10]
    assert world.value("SELECT count(*) FROM coupon WHERE ends_on < ?", today)
    assert world.value("SELECT count(*) FROM coupon WHERE starts_on > ?", today)
    assert world.value("SELECT count(*) FROM coupon WHERE NOT active")
    assert world.value("SELECT count(*) FROM coupon WHERE use_limit IS NOT NULL")
    running = "SELECT count(DISTINCT kind) FROM coupon WHERE active AND starts_on <= ? AND ends_on >= ?"
    assert world.value(running, today, today) >= 2
    assert set(world.column("SELECT kind FROM coupon")) == {"percent", "fixed", "free_shipping"}


def test_documents_agree_with_the_status(world):
    for table, states in (
        ("invoice", ("processing", "shipped", "complete", "closed")),
        ("shipment", ("shipped", "complete", "closed")),
    ):
        marks = ",".join("?" * len(states))
        having = f"id IN (SELECT order_id FROM {table})"
        assert world.rows(f"SELECT id FROM sales_order WHERE (status IN ({marks})) <> ({having})", *states) == []
    assert (
        world.rows(
            "SELECT i.id FROM invoice AS i JOIN sales_order AS o ON o.id = order_id "
            "WHERE i.total_cents <> o.total_cents"
        )
        == []
    )
    assert world.rows("SELECT id FROM sales_order WHERE status = 'closed' AND refunded_cents <> total_cents") == []


def test_refunds_sum_to_what_the_order_says(world):
    wrong = world.rows(
        "SELECT number FROM sales_order WHERE refunded_cents <> "
        "(SELECT coalesce(sum(amount_cents), 0) FROM refund WHERE order_id = sales_order.id) "
        "OR refunded_cents > total_cents"
    )
    assert wrong == []


def test_received_returns_are_refunded_and_no_more_comes_back_than_was_sent(world):
    wrong = world.rows(
        "SELECT r.id FROM return_request AS r JOIN order_line AS l ON l.id = r.order_line_id WHERE "
        "l.order_id <> r.order_id OR r.quantity > l.quantity "
        "OR (r.status = 'received') <> (r.order_id IN (SELECT order_id FROM refund WHERE reason = 'Returned goods'))"
        " AND r.order_id NOT IN (SELECT id FROM sales_order WHERE status = 'closed')"
    )
    assert wrong == []
    assert set(world.column("SELECT reason FROM return_request")) <= set(RETURN_REASONS)
    assert set(world.column("SELECT payment_method FROM sales_order")) == set(PAYMENTS)


def test_time_runs_forward_and_nothing_is_from_the_future(world):
    columns = [
        (table, column)
        for table in world.column("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
        for column in world.column("SELECT name FROM pragma_table_info(?)", table)
        if column.endswith("_at") and table != "world"
    ]
    assert len(columns) > 12
    for table, column in columns:
        assert world.value(f"SELECT max({column}) FROM {table}") < world.starts_at, (table, column)
    for table, column in (
        ("sales_order", "placed_at"), ("invoice", "created_at"), ("shipment", "shipped_at"), ("review", "created_at"),
        ("customer", "created_at"), ("refund", "created_at"), ("order_note", "created_at"),
    ):  # fmt: skip
        times = world.column(f"SELECT {column} FROM {table} ORDER BY id")
        assert times == sorted(times), table
    assert (
        world.rows(
            "SELECT o.id FROM sales_order AS o LEFT JOIN invoice AS i ON i.order_id = o.id LEFT JOIN shipment AS s "
            "ON s.order_id = o.id WHERE i.created_at < o.placed_at OR s.shipped_at < i.created_at"
        )
        == []
    )


def test_nobody_orders_before_there_is_an_account_or_a_product(world):
    assert (
        world.rows(
            "SELECT o.id FROM sales_order AS o JOIN customer AS c ON c.id = customer_id "
            "WHERE o.placed_at < c.created_at"
        )
        == []
    )
    assert (
        world.rows(
            "SELECT l.id FROM order_line AS l JOIN product AS p ON p.id = product_id "
            "JOIN sales_order AS o ON o.id = order_id WHERE o.placed_at < p.created_at"
        )
        == []
    )
    assert (
        world.rows(
            "SELECT r.id FROM review AS r JOIN product AS p ON p.id = product_id WHERE r.created_at < p.created_at"
        )
        == []
    )


def test_a_customer_reviews_a_product_once_and_has_bought_it(world):
    pairs = world.rows("SELECT customer_id, product_id FROM review WHERE customer_id IS NOT NULL")
    assert len(pairs) == len({tuple(pair) for pair in pairs})
    bought = {
        tuple(row)
        for row in world.rows(
            "SELECT customer_id, product_id FROM order_line JOIN sales_order ON sales_order.id = order_id"
        )
    }
    assert {tuple(pair) for pair in pairs} <= bought


def test_the_stock_of_a_product_is_that_of_its_variants(world):
    wrong = world.rows(
        "SELECT p.id FROM product AS p JOIN (SELECT product_id, sum(stock) AS stock FROM variant GROUP BY product_id) "
        "AS v ON v.product_id = p.id WHERE p.stock <> v.stock"
    )
    assert wrong == []
    assert world.value("SELECT count(*) FROM variant WHERE stock = 0") > 10
    assert world.value("SELECT count(*) FROM product WHERE stock = 0") >= 2
    assert world.value("SELECT count(*) FROM product WHERE stock BETWEEN 1 AND 5") >= 2
    assert world.value("SELECT count(*) FROM product WHERE status = 'disabled'") >= 1


def test_lines_with_a_variant_say_its_options(world):
    for line in world.rows(
        "SELECT l.options, l.sku, v.color, v.size, v.sku AS variant_sku, v.product_id = l.product_id AS fits "
        "FROM order_line AS l JOIN variant AS v ON v.id = l.variant_id LIMIT 500"
    ):
        parts = [f"{name}: {value}" for name, value in (("Color", line["color"]), ("Size", line["size"])) if value]
        assert (line["options"], line["sku"], line["fits"]) == (", ".join(parts), line["variant_sku"], 1)


def test_a_special_is_below_the_price(world):
    assert world.rows("SELECT id FROM product WHERE special_cents >= price_cents OR price_cents < 100") == []
    assert world.value("SELECT count(*) FROM product WHERE special_cents IS NOT NULL") > 3


def test_what_a_name_says_the_specifications_say_too(world):
    for row in world.rows(
        "SELECT p.name, s.value FROM product AS p JOIN product_spec AS s ON s.product_id = p.id "
        "WHERE s.name = 'Material' AND p.name LIKE '%Titanium%'"
    ):
        assert row["value"] == "titanium", row["name"]
    toasters = "SELECT s.value FROM product AS p JOIN product_spec AS s ON s.product_id = p.id AND s.name = 'Slots' "
    assert set(world.column(toasters + "WHERE p.name LIKE '%Two-Slice%'")) <= {"2 short slots", "1 long slot"}


def test_the_search_index_holds_every_product(world):
    assert world.value("SELECT count(*) FROM product_search") == world.value("SELECT count(*) FROM product")
    row = world.row("SELECT id, name FROM product ORDER BY id LIMIT 1")
    match = " ".join(f'"{word}"' for word in re.findall(r"\w+", row["name"]))
    assert row["id"] in world.column("SELECT rowid FROM product_search WHERE product_search MATCH ?", match)


def test_the_main_shopper_has_something_of_everything(world):
    mara = world.row("SELECT * FROM customer WHERE id = 1")
    assert (mara["first_name"], mara["group_id"], mara["active"]) == ("Mara", 1, 1)
    states = set(world.column("SELECT status FROM sales_order WHERE customer_id = 1"))
    assert states == {"pending", "processing", "shipped", "complete", "on_hold", "canceled", "closed"}
    assert world.value("SELECT count(*) FROM sales_order WHERE customer_id = 1") >= SIZES[world.size].main_orders
    assert world.value("SELECT count(*) FROM address WHERE customer_id = 1") == 3
    assert world.value("SELECT sum(is_default) FROM address WHERE customer_id = 1") == 1
    assert world.value("SELECT count(*) FROM wish WHERE customer_id = 1") == 9
    assert world.value("SELECT count(*) FROM comparison WHERE customer_id = 1") >= 2
    assert world.value("SELECT count(*) FROM review WHERE customer_id = 1") >= 8
    assert "pending" in world.column("SELECT status FROM review WHERE customer_id = 1")
    lines = world.rows(
        "SELECT l.quantity, p.status, coalesce(v.stock, p.stock) AS stock FROM cart_line AS l "
        "JOIN cart ON cart.id = l.cart_id JOIN product AS p ON p.id = l.product_id "
        "LEFT JOIN variant AS v ON v.id = l.variant_id WHERE cart.customer_id = 1"
    )
    assert len(lines) == 3
    assert all(line["status"] == "enabled" and line["stock"] >= line["quantity"] for line in lines)


def test_there_are_empty_states(world):
    assert world.value("SELECT count(*) FROM product WHERE id NOT IN (SELECT product_id FROM review)") > 3
    customers = "SELECT count(*) FROM customer WHERE id NOT IN "
    assert world.value(customers + "(SELECT customer_id FROM sales_order WHERE customer_id IS NOT NULL)") > 1
    assert world.value(customers + "(SELECT customer_id FROM address)") > 1
    assert world.value(customers + "(SELECT customer_id FROM wish)") > 1
    assert world.value("SELECT count(*) FROM cms_page WHERE NOT active") == 1


def test_popularity_has_a_long_tail(world):
    sold = world.column("SELECT sum(quantity) AS n FROM order_line GROUP BY product_id ORDER BY n DESC, product_id")
    assert sum(sold[: len(sold) // 10]) > 0.3 * sum(sold)
    assert sold[-1] < sold[0] / 10


def test_days_come_in_bursts(world):
    days = Counter(time[:10] for time in world.column("SELECT placed_at FROM sales_order")).most_common()
    mean = sum(count for _, count in days) / 730
    assert days[0][1] > 4 * mean


def test_names_and_titles_are_sometimes_long_and_sometimes_taken(world):
    lengths = [len(name) for name in world.column("SELECT name FROM product")]
    assert max(lengths) > 90
    assert 0.02 < sum(length > 80 for length in lengths) / len(lengths) < 0.1
    if world.size == "medium":
        assert world.value("SELECT count(*) - count(DISTINCT name) FROM product") >= 5
        assert world.value("SELECT count(*) - count(DISTINCT first_name || last_name) FROM customer") >= 2


def test_mail_goes_to_domains_that_cannot_exist(world):
    mails = world.column(
        "SELECT email FROM customer UNION ALL SELECT email FROM sales_order "
        "UNION ALL SELECT email FROM subscriber UNION ALL SELECT email FROM admin_user"
    )
    assert all(re.fullmatch(r"[a-z0-9._-]+@[a-z-]+\.example", mail) for mail in mails)


def test_pictures_are_those_that_can_be_drawn(world):
    for drawn in world.column("SELECT DISTINCT picture FROM product"):
        assert set(json.loads(drawn)) == {"silhouette", "palette", "angle"}


def test_no_text_has_an_open_slot(world):
    for table, column in (("review", "body"), ("review", "title"), ("product", "description"), ("order_note", "text"),
                          ("contact_message", "body"), ("sales_order", "gift_note"), ("return_request", "comment"),
                          ("product", "name"), ("brand", "about")):  # fmt: skip
        texts = world.column(f"SELECT {column} FROM {table}")
        assert not [text for text in texts if "{" in text or "}" in text or "  " in text], (table, column)


# What reviews say


def sentences(body: str) -> list[str]:
    return re.split(r"(?<=[.!?]) ", body)


def test_no_sentence_stands_in_more_than_one_review_in_a_hundred(world):
    uses = Counter(s for body in world.column("SELECT body FROM review") for s in set(sentences(body)))
    assert uses.most_common(1)[0][1] <= SIZES[world.size].reviews / 100


def test_reviews_agree_with_their_stars(world):
    """The clause of a serious fault never stands in a review of four or five stars, praise never alone in one star."""
    leaves = {leaf.name: leaf for d in departments() for g in d.groups for leaf in g.leaves}
    rows = world.rows(
        "SELECT r.stars, lower(r.body) AS body, c.name AS category FROM review AS r "
        "JOIN product AS p ON p.id = r.product_id JOIN category AS c ON c.id = p.category_id"
    )
    speaking = 0
    for row in rows:
        leaf = leaves[row["category"]]
        serious = any(clause.lower() in row["body"] for clause in leaf.broken)
        praised = any(clause.lower() in row["body"] for clause in leaf.good)
        speaking += serious or praised or any(clause.lower() in row["body"] for clause in leaf.bad)
        assert not (serious and row["stars"] >= 4), row["body"]
        assert not (praised and row["stars"] == 1), row["body"]
    assert speaking > 0.9 * len(rows)


def test_about_one_review_in_twenty_has_a_slip(world):
    known = set(re.findall(r"[a-z]+", json.dumps([words("frames"), str(departments()), words("names")]).lower()))
    bodies = world.column("SELECT body FROM review")
    slips = sum(any(word not in known for word in re.findall(r"[a-z]{4,}", body.lower())) for body in bodies)
    assert 0.02 < slips / len(bodies) < 0.08


KINDS = [
    *("context", "praise", "complaint", "minor", "concession"),
    *("verdict_good", "verdict_bad", "verdict_mixed", "title_good", "title_bad", "title_mixed"),
    *("description_open", "description_spec", "description_feature", "description_close"),
]


@pytest.mark.parametrize("kind", KINDS)
def test_there_are_forty_frames_of_a_kind(kind):
    assert len(set(words("frames")[kind])) >= 40


def test_a_world_file_cannot_be_written(world):
    with pytest.raises(sqlite3.OperationalError):
        world.rows("DELETE FROM product")
    with closing(sqlite3.connect(f"{world.path.as_uri()}?mode=ro", uri=True)) as connection:
        assert connection.execute("PRAGMA freelist_count").fetchone()[0] == 0
