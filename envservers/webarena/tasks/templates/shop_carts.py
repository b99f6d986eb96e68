"""Cart, coupon, wish list, comparison and checkout."""

from __future__ import annotations

import random
from functools import lru_cache
from sqlite3 import Row
from typing import Any

from envservers.webarena.evaluators.combine import TaskKind
from envservers.webarena.evaluators.database import Allow, Database, Delete, Insert, Update
from envservers.webarena.evaluators.evidence import Check
from envservers.webarena.evaluators.log import Request
from envservers.webarena.evaluators.status import Unachievable
from envservers.webarena.evaluators.values import Matcher
from envservers.webarena.tasks import facts, wording
from envservers.webarena.tasks.facts import SHOPPER
from envservers.webarena.tasks.plan import Choose, Click, Fill, Plan, Read, Step, Stop, Within
from envservers.webarena.tasks.reading import matching
from envservers.webarena.tasks.template import Params, Template
from envservers.webarena.tasks.templates.shop_lists import on_sale, some_leaf
from envservers.webarena.tasks.templates.shop_steps import (
    HOST,
    by_name,
    search_for,
    some_product,
    sort_by,
    walk_down,
)
from envservers.webarena.world.totals import order_totals
from envservers.webarena.world.world import World

ADDRESS = ("first_name", "last_name", "street", "town", "region", "postcode", "phone")


def cart_id(world: World) -> int:
    """The shopper's cart."""
    found: int = world.value("SELECT id FROM cart WHERE customer_id = ?", SHOPPER)
    return found


@lru_cache(maxsize=4)
def cart_lines(world: World) -> tuple[Row, ...]:
    """What is in it at the start, with the names of the products."""
    rows = world.rows(
        "SELECT cart_line.*, product.name, product.sku AS product_sku, category_id, price_cents, special_cents, "
        "product.stock AS product_stock, variant.sku AS variant_sku, variant.stock AS variant_stock, color, size "
        "FROM cart_line JOIN product ON product.id = cart_line.product_id LEFT JOIN variant ON variant.id = variant_id "
        "WHERE cart_id = ? ORDER BY cart_line.id",
        cart_id(world),
    )
    return tuple(rows)


def _in_cart(world: World, product_id: int) -> bool:
    return any(line["product_id"] == product_id for line in cart_lines(world))


def _new_line(world: World, product_id: int, quantity: int, variant_id: int | None = None) -> Database:
    values: dict[str, Matcher] = {
        "cart_id": cart_id(world),
        "product_id": product_id,
        "variant_id": variant_id,
        "quantity": quantity,
    }
    return Database(inserts=(Insert(table="cart_line", values=values),))


def _add(world: World, rng: random.Random) -> dict[str, Any] | None:
    """A product without options; half of the time one that is sold out."""
    soldout = rng.random() < 0.5
    fit = [
        p
        for p in facts.products(world)
        if not p.varied and (p.stock == 0 if soldout else p.stock > 8) and not _in_cart(world, p.id)
    ]
    if not fit:
        return None
    params = {"product": rng.choice(fit).name, "quantity": rng.randint(2, 6)}
    return params | {"absent": True} if soldout else params


def _expect_add(world: World, params: Params) -> tuple[Check, ...]:
    product = by_name(world, params)
    if params.get("absent"):
        return (Unachievable(reveals=(Request(host=HOST, path=f"/p/{product.slug}"),)),)
    return (_new_line(world, product.id, params["quantity"]),)


def _plan_add(params: Params) -> Plan:
    if params.get("absent"):
        return *search_for(params["product"]), Read("stock", matching("(Out of stock)")), Stop("N/A")
    return (
        *search_for(params["product"]),
        Fill("Quantity", str(params["quantity"])),
        Click("button", "Add to Cart"),
        Stop(),
    )


ADD = Template(
    name="shop.add_to_cart",
    family="cart filled",
    kind=TaskKind.MUTATE,
    phrasings=(
        'Put {quantity} pieces of "{product}" into my cart. If it is sold out, answer N/A.',
        'I need {quantity} of "{product}" in the shopping cart; reply N/A when there are none to be had.',
        'Add "{product}" to the cart, quantity {quantity}. Should it be out of stock, say N/A and change nothing.',
        'My cart should hold {quantity} x "{product}" in addition to what is there. N/A if the shop has none left.',
        'Please place {quantity} units of "{product}" in my cart, or answer N/A in case it cannot be bought.',
    ),
    generate=_add,
    expect=_expect_add,
    plan=_plan_add,
    extra=1,
    twins=True,
)


def _variant(world: World, rng: random.Random) -> dict[str, Any] | None:
    product = some_product(world, rng)
    variants = world.rows("SELECT * FROM variant WHERE product_id = ? AND stock > 3 ORDER BY id", product.id)
    if not variants or _in_cart(world, product.id):
        return None
    chosen = rng.choice(variants)
    parts = [f"color {chosen['color']}"] if chosen["color"] else []
    parts += [f"size {chosen['size']}"] if chosen["size"] else []
    return {
        "product": product.name,
        "color": chosen["color"],
        "size": chosen["size"],
        "options": ", ".join(parts),
        "quantity": rng.randint(1, 3),
    }


def _expect_variant(world: World, params: Params) -> tuple[Check, ...]:
    product = by_name(world, params)
    variant = world.value(
        "SELECT id FROM variant WHERE product_id = ? AND color = ? AND size = ?",
        *(product.id, params["color"], params["size"]),
    )
    return (_new_line(world, product.id, params["quantity"], variant),)


def _plan_variant(params: Params) -> Plan:
    color = (Click("radio", params["color"], new_page=False),) if params["color"] else ()
    size = (Choose("Size", params["size"]),) if params["size"] else ()
    return (
        *search_for(params["product"]),
        *color,
        *size,
        Fill("Quantity", str(params["quantity"])),
        Click("button", "Add to Cart"),
        Stop(),
    )


VARIANT = Template(
    name="shop.add_variant_to_cart",
    family="cart filled",
    kind=TaskKind.MUTATE,
    phrasings=(
        'Add "{product}" in {options} to my cart, quantity {quantity}.',
        'I want {quantity} of "{product}" ({options}) in the shopping cart.',
        'Choose {options} for "{product}" and put {quantity} of it into the cart.',
        'Place {quantity} x "{product}" with {options} in my cart and leave it there.',
        'Get me "{product}", {options}, {quantity} in number: into the cart, please, no checkout.',
    ),
    generate=_variant,
    expect=_expect_variant,
    plan=_plan_variant,
    extra=1,
)


def _cheapest(world: World, rng: random.Random) -> dict[str, Any] | None:
    found = some_leaf(world, rng)
    if found is None:
        return None
    prices = sorted(on_sale(world, "category_id = ?", found[0]))
    product = next((p for p in facts.products(world) if p.id == prices[0][2]), None)
    if product is None or product.varied or product.stock < 1 or prices[0][0] == prices[1][0]:
        return None
    if _in_cart(world, product.id):
        return None
    return {"path": found[1], "category": " > ".join(found[1])}


def _expect_cheapest(world: World, params: Params) -> tuple[Check, ...]:
    leaf = next(
        p.category_id
        for p in facts.products(world)
        if list(facts.category_path(world, p.category_id)) == params["path"]
    )
    return (_new_line(world, min(on_sale(world, "category_id = ?", leaf))[2], 1),)


CHEAPEST = Template(
    name="shop.add_cheapest_to_cart",
    family="cart filled from a list",
    kind=TaskKind.MUTATE,
    phrasings=(
        'Put one of the cheapest product in "{category}" into my cart.',
        'Find the least expensive article of the category "{category}" and add a single one to the cart.',
        'Whatever costs least in "{category}": I want it once in my shopping cart.',
        'Add the lowest-priced item from "{category}" to my cart, quantity one.',
        'My cart needs the product with the smallest price under "{category}". One piece is enough.',
    ),
    generate=_cheapest,
    expect=_expect_cheapest,
    plan=lambda params: (
        *walk_down(params["path"]),
        *sort_by("Price: low to high"),
        Click("button", "Add to Cart"),
        Stop(),
    ),
    extra=3,
    held_out=True,
)


def _quantity(world: World, rng: random.Random) -> dict[str, Any] | None:
    line = rng.choice(cart_lines(world))
    left = line["product_stock"] if line["variant_stock"] is None else line["variant_stock"]
    quantity = rng.randint(2, 9)
    if quantity == line["quantity"] or quantity > left or len(line["name"]) > 60:
        return None
    return {"product": line["name"], "quantity": quantity, "line": line["id"]}


def _expect_quantity(world: World, params: Params) -> tuple[Check, ...]:
    return (Database(updates=(Update(table="cart_line", id=params["line"], values={"quantity": params["quantity"]}),)),)


QUANTITY = Template(
    name="shop.change_cart_quantity",
    family="cart changed",
    kind=TaskKind.MUTATE,
    phrasings=(
        'Change the quantity of "{product}" in my cart to {quantity}.',
        'There is "{product}" in my shopping cart. Make it {quantity} of them.',
        'Set the number of "{product}" in the cart to {quantity} and save that.',
        'I want exactly {quantity} x "{product}" in my cart instead of what is there now.',
        'Update my cart so that "{product}" has a quantity of {quantity}.',
    ),
    generate=_quantity,
    expect=_expect_quantity,
    plan=lambda params: (
        Click("link", "Cart (", starts=True),
        Fill(f"Quantity of {params['product']}", str(params["quantity"])),
        Click("button", "Update", Within("row", params["product"])),
        Stop(),
    ),
    extra=1,
)


def _coupon(world: World, rng: random.Random) -> dict[str, Any] | None:
    """A coupon that holds for the cart as it is, or one that has expired."""
    subtotal = _subtotal(world)
    today = world.starts_at[:10]
    expired = rng.random() < 0.5
    rows = world.rows("SELECT * FROM coupon WHERE active = 1 ORDER BY id")
    fit = [row for row in rows if (row["ends_on"] < today if expired else _holds(row, subtotal, today))]
    if not fit:
        return None
    params = {"coupon": rng.choice(fit)["code"], "note": wording.gift_note(rng)}
    return params | {"absent": True} if expired else params


def _subtotal(world: World) -> int:
    percents = facts.rule_percents(world)
    return sum(line["quantity"] * _unit(line, percents.get(line["category_id"], 0)) for line in cart_lines(world))


def _unit(line: Row, percent: int) -> int:
    return facts.unit_cents(line["price_cents"], line["special_cents"], percent)


def _holds(row: Row, subtotal: int, today: str) -> bool:
    limit = row["use_limit"]
    dated: bool = row["starts_on"] <= today <= row["ends_on"]
    return dated and subtotal >= row["min_cents"] and (limit is None or row["uses"] < limit)


def _expect_coupon(world: World, params: Params) -> tuple[Check, ...]:
    if params.get("absent"):
        form = (("coupon", params["coupon"]),)
        return (Unachievable(reveals=(Request(host=HOST, path="/cart/coupon", method="POST", form=form),)),)
    values: dict[str, Matcher] = {"coupon_code": params["coupon"], "gift_note": params["note"]}
    return (Database(updates=(Update(table="cart", id=cart_id(world), values=values),)),)


def _plan_coupon(params: Params) -> Plan:
    use: tuple[Step, ...] = (
        Click("link", "Cart (", starts=True),
        Fill("Coupon code", params["coupon"]),
        Click("button", "Apply Coupon"),
    )
    if params.get("absent"):
        return *use, Read("refusal", matching("(The coupon code .*)")), Stop("N/A")
    return *use, Fill("Message on the card", params["note"]), Click("button", "Save Gift Note"), Stop()


COUPON = Template(
    name="shop.use_coupon",
    family="cart's coupon and note",
    kind=TaskKind.MUTATE,
    phrasings=(
        'Use the coupon {coupon} on my cart, and then save this gift note for it: "{note}" If the coupon is not '
        "accepted, answer N/A and write no note.",
        'Redeem {coupon} in my shopping cart. Only if that works, add the gift note "{note}"; otherwise reply N/A.',
        'Apply the code {coupon} to the cart. Should it be refused, tell me N/A and stop. If not, put "{note}" on the '
        "card as gift note.",
        'I have a coupon, {coupon}. Try it on my cart: when it is valid, also save the gift note "{note}"; when it is '
        "not, answer N/A.",
        'See whether {coupon} gives a discount on my cart. If so, set the gift note to "{note}"; else say N/A.',
    ),
    generate=_coupon,
    expect=_expect_coupon,
    plan=_plan_coupon,
    extra=2,
    twins=True,
)


def _wish(world: World, rng: random.Random) -> dict[str, Any] | None:
    product = some_product(world, rng)
    there = world.value("SELECT 1 FROM wish WHERE customer_id = ? AND product_id = ?", SHOPPER, product.id)
    return None if there else {"product": product.name}


def _expect_wish(world: World, params: Params) -> tuple[Check, ...]:
    row = Insert(table="wish", values={"customer_id": SHOPPER, "product_id": by_name(world, params).id})
    return (Database(inserts=(row,), allow=(WISHED,)),)


WISHED = Allow(table="wish", column="added_at", reason="the moment at which the button was pressed")

WISH = Template(
    name="shop.add_to_wish_list",
    family="wish list changed",
    kind=TaskKind.MUTATE,
    phrasings=(
        'Put "{product}" on my wish list.',
        'Save "{product}" to my wish list for later.',
        'I cannot buy "{product}" yet; remember it on the wish list.',
        'Add the article "{product}" to what I wish for.',
        'Make sure that "{product}" stands on my wish list.',
    ),
    generate=_wish,
    expect=_expect_wish,
    plan=lambda params: (*search_for(params["product"]), Click("button", "Add to Wish List"), Stop()),
    extra=1,
)


def _wishes(world: World) -> list[Row]:
    return world.rows(
        "SELECT wish.id, product.name FROM wish JOIN product ON product.id = product_id "
        "WHERE customer_id = ? AND status = 'enabled' ORDER BY wish.id",
        SHOPPER,
    )


def _unwish(world: World, rng: random.Random) -> dict[str, Any] | None:
    wishes = _wishes(world)
    one, two = rng.sample(wishes, 2)
    names = [row["name"] for row in wishes]
    if any(name.startswith(other["name"]) and name != other["name"] for name in names for other in (one, two)):
        return None
    return {"one": one["name"], "two": two["name"], "ids": sorted((one["id"], two["id"]))}


def _expect_unwish(world: World, params: Params) -> tuple[Check, ...]:
    return (Database(deletes=tuple(Delete(table="wish", id=number) for number in params["ids"])),)


UNWISH = Template(
    name="shop.remove_from_wish_list",
    family="wish list changed",
    kind=TaskKind.MUTATE,
    phrasings=(
        'Take "{one}" and "{two}" off my wish list.',
        'Remove two things from my wish list: "{one}" and "{two}".',
        'I no longer wish for "{one}" or "{two}". Delete both from the list.',
        'My wish list should be without "{one}" and without "{two}" from now on.',
        'Strike "{one}" as well as "{two}" from the wish list.',
    ),
    generate=_unwish,
    expect=_expect_unwish,
    plan=lambda params: (
        Click("link", "My wish list"),
        Click("button", "Remove", Within("row", params["one"])),
        Click("button", "Remove", Within("row", params["two"])),
        Stop(),
    ),
    extra=3,
    held_out=True,
)


def _compared(world: World) -> list[Row]:
    return world.rows("SELECT * FROM comparison WHERE customer_id = ? ORDER BY id", SHOPPER)


def _compare(world: World, rng: random.Random) -> dict[str, Any] | None:
    product = some_product(world, rng)
    there = any(row["product_id"] == product.id for row in _compared(world))
    return None if there else {"product": product.name}


def _expect_compare(world: World, params: Params) -> tuple[Check, ...]:
    gone = tuple(Delete(table="comparison", id=row["id"]) for row in _compared(world))
    row = Insert(table="comparison", values={"customer_id": SHOPPER, "product_id": by_name(world, params).id})
    return (Database(deletes=gone, inserts=(row,)),)


COMPARE = Template(
    name="shop.compare_anew",
    family="comparison changed",
    kind=TaskKind.MUTATE,
    phrasings=(
        'Clear my list of products to compare, then put "{product}" on it.',
        'Empty the comparison and start a new one with "{product}" alone.',
        'I want "{product}" to be the only product in my comparison.',
        'Throw everything out of the compare list and add "{product}" instead.',
        'Make my comparison consist of "{product}" and nothing else.',
    ),
    generate=_compare,
    expect=_expect_compare,
    plan=lambda params: (
        Click("link", "Compare"),
        Click("button", "Clear All"),
        *search_for(params["product"]),
        Click("button", "Add to Compare"),
        Stop(),
    ),
    extra=3,
)

SHIPPING = (("standard", "Standard delivery"), ("express", "Express delivery"), ("pickup", "Pick up in store"))
PAYMENT = (
    ("Credit card", "credit card"),
    ("Pay on invoice", "invoice"),
    ("Bank transfer", "bank transfer"),
)


def _checkout(world: World, rng: random.Random) -> dict[str, Any] | None:
    if any(line["quantity"] > _stock(line) for line in cart_lines(world)):
        return None
    address = rng.choice(world.rows("SELECT * FROM address WHERE customer_id = ? ORDER BY id", SHOPPER))
    code, shipping = rng.choice(SHIPPING)
    method, payment = rng.choice(PAYMENT)
    return {
        "street": address["street"],
        "address": f"{address['first_name']} {address['last_name']}, {address['street']}",
        "town": address["town"],
        "address_id": address["id"],
        "code": code,
        "shipping": shipping,
        "method": method,
        "payment": payment,
    }


def _stock(line: Row) -> int:
    stock: int = line["product_stock"] if line["variant_stock"] is None else line["variant_stock"]
    return stock


def _expect_checkout(world: World, params: Params) -> tuple[Check, ...]:
    lines, percents = cart_lines(world), facts.rule_percents(world)
    rate = world.row("SELECT * FROM shipping_rate WHERE code = ?", params["code"])
    address = world.row("SELECT * FROM address WHERE id = ?", params["address_id"])
    customer = world.row(
        "SELECT customer.*, discount_percent FROM customer JOIN customer_group ON customer_group.id = group_id "
        "WHERE customer.id = ?",
        SHOPPER,
    )
    totals = order_totals(
        _subtotal(world),
        group_percent=customer["discount_percent"],
        rate=(rate["price_cents"], rate["free_over_cents"]),
    )
    number = int(world.value("SELECT max(number) FROM sales_order")) + 1
    order: dict[str, Matcher] = {
        "number": f"{number:09d}",
        "customer_id": SHOPPER,
        "email": customer["email"],
        "status": "pending",
        "subtotal_cents": totals.subtotal,
        "discount_cents": totals.discount,
        "shipping_cents": totals.shipping,
        "total_cents": totals.total,
        "refunded_cents": 0,
        "coupon_code": "",
        "gift_note": "",
        "shipping_method": rate["name"],
        "payment_method": params["method"],
        **{name: address[name] for name in ADDRESS},
    }
    inserts = [Insert(table="sales_order", values=order)]
    updates: dict[tuple[str, int], int] = {}
    for line in lines:
        inserts.append(Insert(table="order_line", values=_ordered(line, percents.get(line["category_id"], 0))))
        for table, key, stock in (
            ("product", line["product_id"], line["product_stock"]),
            ("variant", line["variant_id"], line["variant_stock"]),
        ):
            if key is not None:
                updates[table, key] = updates.get((table, key), stock) - line["quantity"]
    return (
        Database(
            inserts=tuple(inserts),
            updates=tuple(Update(table=t, id=k, values={"stock": left}) for (t, k), left in updates.items()),
            deletes=tuple(Delete(table="cart_line", id=line["id"]) for line in lines),
            allow=(Allow(table="sales_order", column="placed_at", reason="the moment at which it was placed"),),
        ),
    )


def _ordered(line: Row, percent: int) -> dict[str, Matcher]:
    pairs = (("Color", line["color"]), ("Size", line["size"]))
    return {
        "order_id": {"new": "sales_order"},
        "product_id": line["product_id"],
        "variant_id": line["variant_id"],
        "sku": line["variant_sku"] or line["product_sku"],
        "name": line["name"],
        "options": ", ".join(f"{name}: {value}" for name, value in pairs if value),
        "quantity": line["quantity"],
        "price_cents": _unit(line, percent),
    }


CHECKOUT = Template(
    name="shop.check_out",
    family="order placed",
    kind=TaskKind.MUTATE,
    phrasings=(
        "Order what is in my cart: to my address in {town} ({address}), by {shipping}, paid by {payment}.",
        "Check out my cart. Ship to {address} in {town} with {shipping}; payment: {payment}.",
        "Buy everything in the shopping cart. Address: {address}, {town}. Shipping: {shipping}. I pay by {payment}.",
        "Place an order for the contents of my cart, delivered to {address}, {town}, using {shipping} and {payment}.",
        "Complete the purchase of my cart with {shipping} to {address} in {town}; settle it by {payment}.",
    ),
    generate=_checkout,
    expect=_expect_checkout,
    plan=lambda params: (
        Click("link", "Cart (", starts=True),
        Click("link", "Proceed to Checkout"),
        Click("radio", params["address"], starts=True, new_page=False),
        Click("button", "Continue to Shipping"),
        Click("radio", f"{params['shipping']}, ", starts=True, new_page=False),
        Click("button", "Continue to Payment"),
        Click("radio", params["method"], starts=True, new_page=False),
        Click("button", "Continue to Review"),
        Click("button", "Place Order"),
        Stop(),
    ),
    extra=2,
)

TEMPLATES = (ADD, VARIANT, CHEAPEST, QUANTITY, COUPON, WISH, UNWISH, COMPARE, CHECKOUT)
