"""The manager's work on products, categories and reviews."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache
from sqlite3 import Row
from typing import Any

from envservers.webarena.evaluators.answer import Answer
from envservers.webarena.evaluators.combine import TaskKind
from envservers.webarena.evaluators.database import Allow, Database, Delete, Insert, Update
from envservers.webarena.evaluators.evidence import Check
from envservers.webarena.evaluators.url import Url
from envservers.webarena.evaluators.values import Matcher
from envservers.webarena.tasks import facts
from envservers.webarena.tasks.observed import Line
from envservers.webarena.tasks.plan import Choose, Click, Fill, Read, Stop, Within
from envservers.webarena.tasks.reading import cell, matching
from envservers.webarena.tasks.template import ADMIN, Params, Template
from envservers.webarena.tasks.templates.admin_orders import found_in_list
from envservers.webarena.tasks.templates.admin_steps import HOST, to_product, to_products, to_reviews
from envservers.webarena.tasks.templates.shop_steps import said, some_product
from envservers.webarena.world.world import World

SHOWN_NAME = 60
"""Characters of a product's name that lists of reviews show."""


def _plain(world: World, rng: random.Random) -> dict[str, Any]:
    product = some_product(world, rng)
    return {"sku": product.sku, "product": product.name}


def _row(world: World, params: Params) -> Row:
    return world.row("SELECT * FROM product WHERE sku = ?", params["sku"])


def _expect_stock(world: World, params: Params) -> tuple[Check, ...]:
    return (Answer(type="number", values=(str(_row(world, params)["stock"]),)),)


STOCK = Template(
    name="admin.stock_of_product",
    family="list counted",
    kind=TaskKind.RETRIEVE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        'How many pieces of "{product}" (SKU {sku}) are in stock? Answer with a number.',
        'What is the stock of the product with the SKU {sku}, "{product}"? Digits only.',
        'Look up how many of {sku} ("{product}") we have.',
        'Give me the stock count of "{product}", article {sku}.',
        'In the product list, which stock is shown for {sku}, named "{product}"?',
    ),
    generate=_plain,
    expect=_expect_stock,
    plan=lambda params: (
        *to_products(Fill("SKU", params["sku"])),
        Read("stock", _stock_in_row(params["sku"])),
        Stop(said("stock")),
    ),
    extra=1,
)


def _stock_in_row(sku: str) -> Any:
    """The last number of the product's row."""

    def read(lines: Sequence[Line]) -> str | None:
        row = [cell(sku, number)(lines) for number in range(9)]
        return next((text for text in reversed(row) if text and text.isdecimal()), None)

    return read


def _price(world: World, rng: random.Random) -> dict[str, Any] | None:
    product = some_product(world, rng)
    row = world.row("SELECT * FROM product WHERE id = ?", product.id)
    price = rng.randint(row["price_cents"] // 200 * 2, row["price_cents"] // 50) * 100 + rng.choice((0, 49, 95, 99))
    if price == row["price_cents"] or price <= (row["special_cents"] or 0):
        return None
    return {"sku": product.sku, "product": product.name, "price": facts.dollars(price)}


def _expect_price(world: World, params: Params) -> tuple[Check, ...]:
    cents = int(params["price"].replace(".", ""))
    return (Database(updates=(Update(table="product", id=_row(world, params)["id"], values={"price_cents": cents}),)),)


PRICE = Template(
    name="admin.change_price",
    family="product changed",
    kind=TaskKind.MUTATE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        'Set the price of "{product}" (SKU {sku}) to {price}. Leave its special price alone.',
        'Change the regular price of the product {sku}, "{product}", to {price}.',
        '"{product}" with the SKU {sku} shall cost {price}. Update the price, and nothing else.',
        'The price of {sku} ("{product}") must be {price} from now on.',
        'Edit the product "{product}" ({sku}): new price {price}.',
    ),
    generate=_price,
    expect=_expect_price,
    plan=lambda params: (
        *to_product(params["sku"], params["product"]),
        Fill("Price", params["price"]),
        Click("button", "Save Product"),
        Stop(),
    ),
    extra=3,
)


def _spec(world: World, rng: random.Random) -> dict[str, Any] | None:
    product = some_product(world, rng)
    specs = world.rows("SELECT * FROM product_spec WHERE product_id = ? ORDER BY position, id", product.id)
    if not specs:
        return None
    place = rng.randrange(len(specs))
    value = rng.choice(("to be measured", "see the leaflet", "as pictured", "on request", "improved in 2026"))
    return {
        "sku": product.sku,
        "product": product.name,
        "spec": specs[place]["name"],
        "value": value,
        "place": place + 1,
        "spec_id": specs[place]["id"],
    }


def _expect_spec(world: World, params: Params) -> tuple[Check, ...]:
    update = Update(table="product_spec", id=params["spec_id"], values={"value": params["value"]})
    return (Database(updates=(update,)),)


SPEC = Template(
    name="admin.change_specification",
    family="product changed",
    kind=TaskKind.MUTATE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        'In the specifications of "{product}" (SKU {sku}), change the value of "{spec}" to "{value}".',
        'Set "{spec}" to "{value}" among the specifications of the product {sku}, "{product}".',
        'The specification "{spec}" of {sku} ("{product}") is wrong; it should say "{value}".',
        'Edit what "{product}" with SKU {sku} has under "{spec}": the new value is "{value}".',
        'Make the entry "{spec}" of the product {sku} ("{product}") read "{value}".',
    ),
    generate=_spec,
    expect=_expect_spec,
    plan=lambda params: (
        *to_product(params["sku"], params["product"]),
        Click("link", "Specifications"),
        Fill(f"Value {params['place']}", params["value"]),
        Click("button", "Save Specifications"),
        Stop(),
    ),
    extra=2,
)


def _variant(world: World, rng: random.Random) -> dict[str, Any] | None:
    product = some_product(world, rng)
    variants = world.rows("SELECT * FROM variant WHERE product_id = ? ORDER BY id", product.id)
    if not variants:
        return None
    row = rng.choice(variants)
    stock = rng.randint(3, 90)
    if stock == row["stock"]:
        return None
    name = " / ".join(part for part in (row["color"], row["size"]) if part)
    return {"sku": product.sku, "product": product.name, "variant": name, "stock": stock, "variant_id": row["id"]}


def _expect_variant(world: World, params: Params) -> tuple[Check, ...]:
    product = _row(world, params)
    before = world.value("SELECT stock FROM variant WHERE id = ?", params["variant_id"])
    total = product["stock"] + params["stock"] - before
    return (
        Database(
            updates=(
                Update(table="variant", id=params["variant_id"], values={"stock": params["stock"]}),
                Update(table="product", id=product["id"], values={"stock": total}),
            )
        ),
    )


VARIANT = Template(
    name="admin.change_variant_stock",
    family="product's variant changed",
    kind=TaskKind.MUTATE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        'We counted the variant {variant} of "{product}" (SKU {sku}): there are {stock}. Correct its stock.',
        'Set the stock of {variant} of the product {sku}, "{product}", to {stock}.',
        'The variant "{variant}" of "{product}" ({sku}) has {stock} pieces in stock now. Save that.',
        'Update the variants of {sku} ("{product}"): {variant} has a stock of {stock}.',
        'Change the stock quantity of {variant} to {stock} for the article "{product}" with SKU {sku}.',
    ),
    generate=_variant,
    expect=_expect_variant,
    plan=lambda params: (
        *to_product(params["sku"], params["product"]),
        Click("link", "Variants"),
        Fill(f"Stock of {params['variant']}", str(params["stock"])),
        Click("button", "Save Stock"),
        Stop(),
    ),
    extra=2,
    held_out=True,
)


def _disable(world: World, rng: random.Random) -> dict[str, Any] | None:
    product = some_product(world, rng)
    parts = [p for p in facts.products(world) if p.category_id == product.category_id and p.brand == product.brand]
    if not 2 <= len(parts) <= 15:
        return None
    one, two = rng.sample(parts, 2)
    category = facts.category_path(world, product.category_id)[-1]
    return {"brand": product.brand, "category": category, "one": one.sku, "two": two.sku}


def _expect_disable(world: World, params: Params) -> tuple[Check, ...]:
    ids = [world.value("SELECT id FROM product WHERE sku = ?", params[slot]) for slot in ("one", "two")]
    return (Database(updates=tuple(Update(table="product", id=n, values={"status": "disabled"}) for n in ids)),)


DISABLE = Template(
    name="admin.disable_two_products",
    family="product changed",
    kind=TaskKind.MUTATE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        "Take the products {one} and {two} (SKUs; {brand}, category {category}) out of the shop by disabling them.",
        "Disable two products of {brand} in {category}: the SKUs are {one} and {two}.",
        "{one} and {two}, both {category} by {brand}, shall no longer be sold. Set their status to disabled.",
        "The articles with the SKUs {one} and {two} ({brand}, {category}) are discontinued; disable both.",
        "Switch off the {brand} products {one} and {two} from the category {category}.",
    ),
    generate=_disable,
    expect=_expect_disable,
    plan=lambda params: (
        *to_products(Fill("Brand", params["brand"]), Fill("Category", params["category"])),
        Click("checkbox", f"Select {params['one']}", new_page=False),
        Click("checkbox", f"Select {params['two']}", new_page=False),
        Choose("Action for selected products", "Disable"),
        Click("button", "Submit"),
        Stop(),
    ),
    extra=6,
)


def _new(world: World, rng: random.Random) -> dict[str, Any]:
    like = some_product(world, rng)
    path = " / ".join(facts.category_path(world, like.category_id))
    name = f"{rng.choice(_SERIES)} {rng.choice(_KINDS)}"
    sku = f"NEW-{rng.randint(1000, 9999)}"
    cents = rng.randint(8, 240) * 100 + rng.choice((0, 50, 99))
    return {
        "name": name,
        "sku": sku,
        "price": facts.dollars(cents),
        "stock": rng.randint(5, 80),
        "weight": rng.randint(4, 60) * 50,
        "brand": like.brand,
        "category": path,
    }


_SERIES = ("Northlight", "Pebble", "Quayline", "Fernside", "Lantern", "Drift", "Heron", "Slate")
_KINDS = ("Organiser", "Starter Set", "Travel Case", "Gift Box", "Refill Pack", "Wall Hook", "Storage Tin", "Cover")


def _expect_new(world: World, params: Params) -> tuple[Check, ...]:
    brand = world.value("SELECT id FROM brand WHERE name = ?", params["brand"])
    names = params["category"].split(" / ")
    category = world.value(
        "SELECT leaf.id FROM category AS leaf JOIN category AS middle ON middle.id = leaf.parent_id "
        "JOIN category AS top ON top.id = middle.parent_id WHERE top.name = ? AND middle.name = ? AND leaf.name = ?",
        *names,
    )
    values: dict[str, Matcher] = {
        "name": params["name"],
        "sku": params["sku"],
        "brand_id": brand,
        "category_id": category,
        "price_cents": int(params["price"].replace(".", "")),
        "special_cents": None,
        "stock": params["stock"],
        "status": "enabled",
        "weight_g": params["weight"],
        "description": f"{params['name']} by {params['brand']}.",
        "popularity": {"about": 0, "by": 0},
    }
    made_up = "the shop makes it of the name or the category"
    return (
        Database(
            inserts=(Insert(table="product", values=values),),
            allow=(
                Allow(table="product", column="slug", reason=made_up),
                Allow(table="product", column="picture", reason=made_up),
                Allow(table="product", column="created_at", reason="the moment at which it was saved"),
            ),
        ),
    )


NEW = Template(
    name="admin.add_product",
    family="product added",
    kind=TaskKind.MUTATE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        'Add a product: name "{name}", SKU {sku}, brand {brand}, category {category}, price {price}, stock {stock}, '
        'weight {weight} grams, description "{name} by {brand}." It is enabled and has no special price.',
        'Create the product "{name}" by {brand} in {category}. SKU {sku}; price {price}; {stock} in stock; {weight} '
        'grams; enabled; description: "{name} by {brand}."',
        'We now sell "{name}" ({brand}, SKU {sku}). Enter it under {category} with price {price}, stock {stock}, '
        'the weight {weight} g and the description "{name} by {brand}."',
        'Put a new article into the catalog: {sku}, "{name}", made by {brand}, category {category}, {price} dollars, '
        'stock quantity {stock}, {weight} grams. Describe it as "{name} by {brand}."',
        'Please enter "{name}" as a new enabled product. Brand: {brand}. Category: {category}. SKU: {sku}. Price: '
        '{price}. Stock: {stock}. Weight in grams: {weight}. Description: "{name} by {brand}."',
    ),
    generate=_new,
    expect=_expect_new,
    plan=lambda params: (
        Click("link", "Catalog"),
        Click("link", "Add Product"),
        Fill("Product name", params["name"]),
        Fill("SKU", params["sku"]),
        Fill("Price", params["price"]),
        Fill("Stock quantity", str(params["stock"])),
        Fill("Weight in grams", str(params["weight"])),
        Choose("Brand", params["brand"]),
        Choose("Category", params["category"]),
        Fill("Description", f"{params['name']} by {params['brand']}."),
        Click("button", "Save Product"),
        Stop(),
    ),
    extra=6,
)


def _scarce(world: World, rng: random.Random) -> dict[str, Any]:
    low = rng.randint(0, 30)
    return {"low": low, "high": low + rng.randint(2, 12)}


def _expect_scarce(world: World, params: Params) -> tuple[Check, ...]:
    query = (("status", "enabled"), ("stock_from", str(params["low"])), ("stock_to", str(params["high"])))
    without = ("name", "sku", "brand", "category", "price_from", "price_to", "page")
    return (Url(host=HOST, path="/products", query=query, without=without),)


SCARCE = Template(
    name="admin.show_stock_range",
    family="list shown",
    kind=TaskKind.NAVIGATE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        "Show me the enabled products with a stock from {low} to {high}.",
        "Filter the products: status enabled, stock between {low} and {high}.",
        "Which enabled products have {low} to {high} pieces left? Bring up the list.",
        "I want to see all enabled articles whose stock lies in the range {low} to {high}.",
        "Narrow the product list to what is enabled and stocked with no less than {low} and no more than {high}.",
    ),
    generate=_scarce,
    expect=_expect_scarce,
    plan=lambda params: (
        *to_products(
            Choose("Status", "Enabled"),
            Fill("Stock from", str(params["low"])),
            Fill("Stock to", str(params["high"])),
        ),
        Stop(),
    ),
    extra=1,
)


def _category(world: World, rng: random.Random) -> dict[str, Any] | None:
    """A category whose name no other one of its department has."""
    leaf = some_product(world, rng).category_id
    path = facts.category_path(world, leaf)
    paths = (facts.category_path(world, n) for n in world.column("SELECT id FROM category ORDER BY id"))
    if sum(other[0] == path[0] and other[-1] == path[-1] for other in paths) > 1:
        return None
    return {
        "department": path[0],
        "category": path[-1],
        "path": " / ".join(path),
        "name": f"{path[-1]} {rng.choice(('& More', 'for Every Day', '2026', 'Selection', 'Corner'))}",
        "category_id": leaf,
    }


def _expect_category(world: World, params: Params) -> tuple[Check, ...]:
    update = Update(table="category", id=params["category_id"], values={"name": params["name"]})
    return (Database(updates=(update,)),)


CATEGORY = Template(
    name="admin.rename_category",
    family="category changed",
    kind=TaskKind.MUTATE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        'Rename the category "{path}" to "{name}".',
        'The category {path} shall be called "{name}" in the future. Change its name.',
        'Give the category {path}, as it is called now, the name "{name}".',
        'Change the name of {path} in the category tree to "{name}".',
        'Edit the category {path}: its new name is "{name}".',
    ),
    generate=_category,
    expect=_expect_category,
    plan=lambda params: (
        Click("link", "Catalog"),
        Click("link", "Categories"),
        Click("link", params["department"]),
        Click("link", params["category"]),
        Fill("Category name", params["name"]),
        Click("button", "Save Category"),
        Stop(),
    ),
    extra=4,
)


@lru_cache(maxsize=16)
def _alone(world: World, status: str) -> tuple[Row, ...]:
    """Reviews of a status whose product, and any with a name like its, has no other one of it."""
    rows = world.rows(
        "SELECT review.*, product.name AS product FROM review JOIN product ON product.id = product_id "
        "WHERE review.status = ? ORDER BY review.id",
        status,
    )
    names = [row["product"].casefold() for row in rows]
    found = (row for row in rows if sum(row["product"].casefold() in name for name in names) == 1)
    return tuple(row for row in found if len(row["product"]) <= SHOWN_NAME)


def _one_reviewed(world: World, rng: random.Random, status: str) -> Row | None:
    rows = _alone(world, status)
    return rng.choice(rows) if rows else None


def _pending(world: World, rng: random.Random) -> dict[str, Any] | None:
    row = _one_reviewed(world, rng, "pending")
    if row is None:
        return None
    verb = rng.choice(("approve", "reject"))
    return {
        "product": row["product"],
        "verb": verb,
        "button": f"{verb.capitalize()} Review",
        "review_id": row["id"],
    }


def _expect_pending(world: World, params: Params) -> tuple[Check, ...]:
    status = {"approve": "approved", "reject": "rejected"}[params["verb"]]
    return (Database(updates=(Update(table="review", id=params["review_id"], values={"status": status}),)),)


PENDING = Template(
    name="admin.decide_review",
    family="review decided",
    kind=TaskKind.MUTATE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        'There is one pending review of "{product}"; {verb} it.',
        'Find the review of "{product}" that waits for approval and {verb} it.',
        'Please {verb} the pending review on "{product}".',
        'A customer reviewed "{product}" and the review is still pending. Your decision: {verb} it.',
        'Go through the pending reviews to the one about "{product}" and {verb} it.',
    ),
    generate=_pending,
    expect=_expect_pending,
    plan=lambda params: (
        *to_reviews(Choose("Status", "Pending"), Fill("Product name", params["product"])),
        Click("link", "", Within("row", params["product"]), starts=True),
        Click("button", params["button"]),
        Stop(),
    ),
    extra=1,
)


def _rejected(world: World, rng: random.Random) -> dict[str, Any] | None:
    row = _one_reviewed(world, rng, "rejected")
    return None if row is None else {"product": row["product"], "review_id": row["id"]}


def _expect_rejected(world: World, params: Params) -> tuple[Check, ...]:
    return (Database(deletes=(Delete(table="review", id=params["review_id"]),)),)


DELETE = Template(
    name="admin.delete_rejected_review",
    family="review deleted",
    kind=TaskKind.MUTATE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        'Delete the rejected review of "{product}".',
        'One review of "{product}" was rejected. Remove it for good.',
        'The rejected review about "{product}" need not be kept; delete it.',
        'Find the review of "{product}" with the status rejected and delete it.',
        'Clean up: erase the review on "{product}" that was rejected.',
    ),
    generate=_rejected,
    expect=_expect_rejected,
    plan=lambda params: (
        *to_reviews(Choose("Status", "Rejected"), Fill("Product name", params["product"])),
        Click("link", "", Within("row", params["product"]), starts=True),
        Click("link", "Delete Review"),
        Click("button", "Delete This Review"),
        Stop(),
    ),
    extra=1,
    held_out=True,
)


def _author(world: World, rng: random.Random) -> dict[str, Any] | None:
    product = some_product(world, rng)
    rows = world.rows(
        "SELECT review.*, email FROM review JOIN customer ON customer.id = review.customer_id "
        "WHERE product_id = ? ORDER BY review.id",
        product.id,
    )
    if not rows:
        return None
    row = rng.choice(rows)
    alone = world.value(
        "SELECT count(*) FROM review WHERE nickname = ? AND product_id = ?", row["nickname"], product.id
    )
    return {"product": product.name, "nickname": row["nickname"]} if alone == 1 else None


def _expect_author(world: World, params: Params) -> tuple[Check, ...]:
    email = world.value(
        "SELECT email FROM review JOIN customer ON customer.id = review.customer_id "
        "JOIN product ON product.id = product_id WHERE product.name = ? AND nickname = ?",
        *(params["product"], params["nickname"]),
    )
    return (Answer(type="text", values=(email,)),)


AUTHOR = Template(
    name="admin.reviewer_email",
    family="review looked up",
    kind=TaskKind.RETRIEVE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        '"{nickname}" reviewed "{product}". What is the e-mail address of that customer? Answer with it alone.',
        'I want to thank the author of the review of "{product}" signed "{nickname}". Give me the e-mail address.',
        'Which e-mail address belongs to the reviewer "{nickname}" of "{product}"?',
        'Open the review that "{nickname}" wrote on "{product}" and report the e-mail address of its author.',
        'Find out by which e-mail address the reviewer called "{nickname}" (product "{product}") is reached.',
    ),
    generate=_author,
    expect=_expect_author,
    plan=lambda params: (
        *to_reviews(Fill("Product name", params["product"]), Fill("Nickname", params["nickname"])),
        Click("link", "", Within("row", params["nickname"]), starts=True),
        Read("email", matching(r".*\((\S+@\S+)\)")),
        Stop(said("email")),
    ),
    extra=1,
)


def _counted(world: World, rng: random.Random) -> dict[str, Any]:
    stars = rng.randint(1, 5)
    word = rng.choice(("present", "birthday", "refund", "gift", "quality", "packaging", "delivery", "colour", "summer"))
    label = f"{stars} star{'s' * (stars > 1)}"
    return {"word": word, "stars": stars, "label": label}


def _expect_counted(world: World, params: Params) -> tuple[Check, ...]:
    count = world.value(
        "SELECT count(*) FROM review WHERE stars = ? AND (title LIKE ? OR body LIKE ?)",
        *(params["stars"], f"%{params['word']}%", f"%{params['word']}%"),
    )
    return (Answer(type="number", values=(str(count),)),)


COUNTED = Template(
    name="admin.reviews_with_word",
    family="list counted",
    kind=TaskKind.RETRIEVE,
    start=(ADMIN,),
    account="manager",
    phrasings=(
        'How many reviews of any status give {label} and have "{word}" in title or text, also as a part of a word? '
        "Answer with a number.",
        'Count the reviews with {label}, whatever their status, in which "{word}" occurs, in title or text, also '
        "inside a longer word.",
        'Filter all reviews, of any status, by a rating of {label} and the word "{word}", which may stand in a title '
        "or text and in a longer word: how many are there?",
        'In how many reviews that give {label}, of any status, do customers write "{word}", in title or text, also as '
        "a part of a word?",
        'Tell me the number of reviews of any status that are rated {label} and contain "{word}" in title or text, '
        "also inside longer words.",
    ),
    generate=_counted,
    expect=_expect_counted,
    plan=lambda params: (
        *to_reviews(Choose("Rating", params["label"]), Fill("Words in the review", params["word"])),
        Read("count", found_in_list),
        Stop(said("count")),
    ),
    extra=1,
    held_out=True,
)

TEMPLATES = (STOCK, PRICE, SPEC, VARIANT, DISABLE, NEW, SCARCE, CATEGORY, PENDING, DELETE, AUTHOR, COUNTED)
