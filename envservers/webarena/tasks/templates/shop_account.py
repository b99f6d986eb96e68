"""The shopper's account: details, addresses, password, reviews; and what is read there."""

from __future__ import annotations

import random
from functools import lru_cache
from sqlite3 import Row
from typing import Any

from envservers.webarena.evaluators.answer import Answer
from envservers.webarena.evaluators.combine import TaskKind
from envservers.webarena.evaluators.database import Allow, Database, Delete, Insert, Update
from envservers.webarena.evaluators.evidence import Check
from envservers.webarena.evaluators.form import Form
from envservers.webarena.evaluators.url import Url
from envservers.webarena.evaluators.values import Matcher
from envservers.webarena.tasks import wording
from envservers.webarena.tasks.facts import SHOPPER
from envservers.webarena.tasks.plan import Choose, Click, Fill, Page, Read, Step, Stop, Within
from envservers.webarena.tasks.reading import cell
from envservers.webarena.tasks.template import Params, Template
from envservers.webarena.tasks.templates.shop_steps import HOST, by_name, said, search_for, some_product, to_account
from envservers.webarena.world.world import World

STARS = {1: "1 star", 2: "2 stars", 3: "3 stars", 4: "4 stars", 5: "5 stars"}


def _new_address(world: World, rng: random.Random) -> dict[str, Any]:
    first, last = wording.full_name(rng)
    return {
        "first": first,
        "last": last,
        "street": wording.street(rng),
        "phone": wording.phone(rng),
        **wording.town(world, rng),
    }


def _address_values(params: Params) -> dict[str, Matcher]:
    return {
        "first_name": params["first"],
        "last_name": params["last"],
        **{name: params[name] for name in ("street", "town", "region", "postcode", "phone")},
    }


def _expect_address(world: World, params: Params) -> tuple[Check, ...]:
    values = {"customer_id": SHOPPER, "is_default": 0, **_address_values(params)}
    return (Database(inserts=(Insert(table="address", values=values),)),)


def _fill_address(params: Params) -> tuple[Step, ...]:
    return (
        *to_account("Address book"),
        Click("link", "Add New Address"),
        Fill("First name", params["first"]),
        Fill("Last name", params["last"]),
        Fill("Street address", params["street"]),
        Fill("Postcode", params["postcode"]),
        Fill("Town", params["town"]),
        Choose("Region", params["region"]),
        Fill("Phone number", params["phone"]),
    )


ADDRESS = Template(
    name="shop.add_address",
    family="address book changed",
    kind=TaskKind.MUTATE,
    phrasings=(
        "Add this address to my address book, but not as the default: {first} {last}, {street}, {postcode} {town}, "
        "{region}, phone {phone}.",
        "Save another address for me: {first} {last}, {street}, {postcode} {town} in {region}; phone number {phone}. "
        "My default stays as it is.",
        "Put {first} {last} into my address book: {street}, {postcode} {town}, region {region}, telephone {phone}. "
        "It shall not become the default.",
        "My address book needs an entry for {first} {last} who lives at {street}, {postcode} {town}, {region} and is "
        "reached at {phone}. Keep my default address.",
        "Enter a further address (no default): name {first} {last}; street {street}; postcode {postcode}; town {town}; "
        "region {region}; phone {phone}.",
    ),
    generate=_new_address,
    expect=_expect_address,
    plan=lambda params: (*_fill_address(params), Click("button", "Save Address"), Stop()),
    extra=2,
)


def _expect_prepared_address(world: World, params: Params) -> tuple[Check, ...]:
    fields = (
        ("First name", params["first"]),
        ("Last name", params["last"]),
        ("Street address", params["street"]),
        ("Postcode", params["postcode"]),
        ("Town", params["town"]),
        ("Region", params["region"]),
        ("Phone number", params["phone"]),
        ("Use as my default address", "true"),
    )
    return (Form(fields=fields), Url(host=HOST, path="/account/addresses/new"))


PREPARED = Template(
    name="shop.prepare_address",
    family="address form filled in",
    kind=TaskKind.FILL,
    phrasings=(
        "Fill in the form for a new address with {first} {last}, {street}, {postcode} {town}, {region}, phone {phone}, "
        "and tick that it is my default. Do not save it, I want to check it first.",
        "Prepare, but do not save, a new address in my address book: {first} {last}, {street}, {postcode} {town}, "
        "{region}, {phone}; mark it as the default.",
        "Type a new default address into the address form without sending it: {first} {last}, {street}, {postcode} "
        "{town}, region {region}, phone {phone}.",
        "Get the new-address form ready for me to save: name {first} {last}, street {street}, {postcode} {town} in "
        "{region}, phone {phone}, to be used as default. Leave it unsaved.",
        "In my account, complete the form for another address ({first} {last}; {street}; {postcode} {town}; {region}; "
        "{phone}), default box ticked, and stop before saving.",
    ),
    generate=_new_address,
    expect=_expect_prepared_address,
    plan=lambda params: (
        *_fill_address(params),
        Click("checkbox", "Use as my default address", new_page=False),
        Stop(),
    ),
    extra=2,
)


def _addresses(world: World) -> list[Row]:
    return world.rows("SELECT * FROM address WHERE customer_id = ? ORDER BY is_default DESC, id", SHOPPER)


def _move(world: World, rng: random.Random) -> dict[str, Any] | None:
    new = {"street": wording.street(rng), "phone": wording.phone(rng)}
    return None if any(_addresses(world)[0][name] == text for name, text in new.items()) else new


def _expect_move(world: World, params: Params) -> tuple[Check, ...]:
    values: dict[str, Matcher] = {"street": params["street"], "phone": params["phone"]}
    return (Database(updates=(Update(table="address", id=_addresses(world)[0]["id"], values=values),)),)


MOVE = Template(
    name="shop.edit_default_address",
    family="address book changed",
    kind=TaskKind.MUTATE,
    phrasings=(
        "I moved within the town: change the street of my default address to {street} and its phone number to {phone}.",
        "Update my default address. The street is now {street}, the phone {phone}; the rest stays.",
        "In my address book, set street and phone of the default address to {street} and {phone}.",
        "My default address should read {street} as its street and {phone} as its phone number.",
        "Correct the default address of mine: new street {street}, new telephone {phone}, nothing else.",
    ),
    generate=_move,
    expect=_expect_move,
    plan=lambda params: (
        *to_account("Address book"),
        Click("link", "Edit address"),
        Fill("Street address", params["street"]),
        Fill("Phone number", params["phone"]),
        Click("button", "Save Address"),
        Stop(),
    ),
    extra=2,
    held_out=True,
)


def _details(world: World, rng: random.Random) -> dict[str, Any] | None:
    phone, last = wording.phone(rng), wording.full_name(rng)[1]
    known = world.value("SELECT phone FROM customer WHERE id = ?", SHOPPER)
    return None if phone == known else {"phone": phone, "last": last}


def _expect_details(world: World, params: Params) -> tuple[Check, ...]:
    values: dict[str, Matcher] = {"phone": params["phone"], "last_name": params["last"]}
    return (Database(updates=(Update(table="customer", id=SHOPPER, values=values),)),)


DETAILS = Template(
    name="shop.edit_details",
    family="customer changed",
    kind=TaskKind.MUTATE,
    phrasings=(
        "I married: change the last name in my account details to {last}, and the phone number to {phone}.",
        "Set my last name to {last} and my phone number to {phone} in the account information.",
        "Update the details of my account: last name {last}, phone {phone}. Leave the rest alone.",
        "My account should show {last} as last name and {phone} as phone number from now on.",
        "Please correct my account details. Surname: {last}. Phone: {phone}.",
    ),
    generate=_details,
    expect=_expect_details,
    plan=lambda params: (
        *to_account("Account details"),
        Fill("Last name", params["last"]),
        Fill("Phone number (optional)", params["phone"]),
        Click("button", "Save"),
        Stop(),
    ),
    extra=1,
)


def _password(world: World, rng: random.Random) -> dict[str, Any]:
    old = world.value("SELECT password FROM customer WHERE id = ?", SHOPPER)
    return {"old": old, "new": wording.password(rng)}


def _expect_password(world: World, params: Params) -> tuple[Check, ...]:
    return (Database(updates=(Update(table="customer", id=SHOPPER, values={"password": params["new"]}),)),)


PASSWORD = Template(
    name="shop.change_password",
    family="customer changed",
    kind=TaskKind.MUTATE,
    phrasings=(
        "Change my password from {old} to {new}.",
        "My password is {old}. Make it {new} from now on.",
        "Replace the password of my account ({old}) by {new}.",
        "I want to sign in with {new} in the future. The present password is {old}; please change it.",
        "Set a new account password: {new}. The old one, which you will be asked for, is {old}.",
    ),
    generate=_password,
    expect=_expect_password,
    plan=lambda params: (
        *to_account("Change password"),
        Fill("Current password", params["old"]),
        Fill("New password", params["new"]),
        Fill("Confirm new password", params["new"]),
        Click("button", "Change Password"),
        Stop(),
    ),
    extra=1,
)


def _review(world: World, rng: random.Random) -> dict[str, Any] | None:
    """Of a product that has reviews, so that its page has the link."""
    product = some_product(world, rng)
    count = world.value("SELECT count(*) FROM review WHERE product_id = ? AND status = 'approved'", product.id)
    stars = rng.randint(1, 5)
    words = {"title": wording.review_title(rng), "body": wording.review_body(rng)}
    return {"product": product.name, "stars": stars, "label": STARS[stars], **words} if count else None


REVIEWED = Allow(table="review", column="created_at", reason="the moment at which it was sent")


def _expect_review(world: World, params: Params) -> tuple[Check, ...]:
    values: dict[str, Matcher] = {
        "product_id": by_name(world, params).id,
        "customer_id": SHOPPER,
        "nickname": "Mara",
        "title": params["title"],
        "body": params["body"],
        "stars": params["stars"],
        "status": "pending",
    }
    return (Database(inserts=(Insert(table="review", values=values),), allow=(REVIEWED,)),)


def _fill_review(params: Params) -> tuple[Step, ...]:
    return (
        *search_for(params["product"]),
        Click("link", "Reviews (", starts=True),
        Click("link", "Write a review"),
        Click("radio", params["label"], new_page=False),
        Fill("Summary", params["title"]),
        Fill("Review", params["body"]),
    )


REVIEW = Template(
    name="shop.write_review",
    family="review written",
    kind=TaskKind.MUTATE,
    phrasings=(
        'Review "{product}" with {label}, the summary "{title}" and the text "{body}" Keep the nickname that is filled '
        "in.",
        'Write a review of "{product}" for me: rating {label}; summary "{title}"; review "{body}" My nickname stays as '
        "the form has it.",
        'Post my opinion on "{product}". I give {label}. Headline: "{title}" Text: "{body}" Keep the nickname.',
        'Submit a {label} review for "{product}" titled "{title}" that says: "{body}" Leave the suggested nickname.',
        'Rate "{product}" with {label} under the title "{title}" and write "{body}" as the review; use the nickname '
        "that is already there.",
    ),
    generate=_review,
    expect=_expect_review,
    plan=lambda params: (*_fill_review(params), Click("button", "Submit Review"), Stop()),
    extra=4,
)


def _expect_prepared_review(world: World, params: Params) -> tuple[Check, ...]:
    fields = (
        (params["label"], "true"),
        ("Nickname", params["nickname"]),
        ("Summary", params["title"]),
        ("Review", params["body"]),
    )
    return (Form(fields=fields), Url(host=HOST, path=f"/p/{by_name(world, params).slug}/write-review"))


def _prepared_review(world: World, rng: random.Random) -> dict[str, Any] | None:
    params = _review(world, rng)
    return None if params is None else params | {"nickname": f"{wording.full_name(rng)[0]} {rng.randint(10, 99)}"}


PREPARED_REVIEW = Template(
    name="shop.prepare_review",
    family="review form filled in",
    kind=TaskKind.FILL,
    phrasings=(
        'Fill in a review of "{product}" but do not submit it: {label}, nickname "{nickname}", summary "{title}", '
        'text "{body}"',
        'Get a review for "{product}" ready without sending it. Rating: {label}. Nickname: {nickname}. Summary: '
        '"{title}" Review: "{body}"',
        'Draft my review of "{product}" in the form and leave it there: {label}; nickname {nickname}; "{title}"; '
        '"{body}"',
        'I want to look over my review of "{product}" before it goes out. Enter {label}, the nickname {nickname}, the '
        'summary "{title}" and the text "{body}" and stop.',
        'Prepare the review form of "{product}": rating {label}, nickname "{nickname}", headline "{title}", body '
        '"{body}" Nothing shall be submitted.',
    ),
    generate=_prepared_review,
    expect=_expect_prepared_review,
    plan=lambda params: (*_fill_review(params), Fill("Nickname", params["nickname"]), Stop()),
    extra=4,
)


@lru_cache(maxsize=4)
def my_reviews(world: World) -> tuple[Row, ...]:
    """The shopper's reviews of products that one of them alone names, the newest first."""
    rows = world.rows(
        "SELECT review.*, product.name AS product FROM review JOIN product ON product.id = product_id "
        "WHERE review.customer_id = ? ORDER BY review.created_at DESC, review.id DESC",
        SHOPPER,
    )
    names = [row["product"] for row in rows]
    return tuple(row for row in rows if names.count(row["product"]) == 1 and len(row["product"]) <= 70)


def _mine(world: World, rng: random.Random) -> dict[str, Any]:
    return {"product": rng.choice(my_reviews(world))["product"]}


def _mine_of(world: World, params: Params) -> Row:
    return next(row for row in my_reviews(world) if row["product"] == params["product"])


def _expect_rating(world: World, params: Params) -> tuple[Check, ...]:
    return (Answer(type="number", values=(str(_mine_of(world, params)["stars"]),)),)


RATING = Template(
    name="shop.my_rating",
    family="own review read",
    kind=TaskKind.RETRIEVE,
    phrasings=(
        'How many stars did I give "{product}" in my review? Answer with a number.',
        'I once reviewed "{product}". What was my rating in stars? Just the number.',
        'Look among the reviews I wrote and tell me the stars that "{product}" got from me.',
        'Which rating, from 1 to 5, stands in my own review of "{product}"?',
        'Find my review of "{product}" and report its number of stars as a digit.',
    ),
    generate=_mine,
    expect=_expect_rating,
    plan=lambda params: (
        *to_account("My reviews"),
        Page("link", params["product"]),
        Read("stars", cell(params["product"], 2)),
        Stop(said("stars")),
    ),
    extra=2,
)


def _edited(world: World, rng: random.Random) -> dict[str, Any] | None:
    row = rng.choice(my_reviews(world))
    stars, title = rng.randint(1, 5), wording.review_title(rng)
    if row["stars"] == stars or row["title"] == title or row["status"] == "pending":
        return None
    return {"product": row["product"], "stars": stars, "label": STARS[stars], "title": title}


def _expect_edited(world: World, params: Params) -> tuple[Check, ...]:
    values: dict[str, Matcher] = {"stars": params["stars"], "title": params["title"], "status": "pending"}
    return (Database(updates=(Update(table="review", id=_mine_of(world, params)["id"], values=values),)),)


EDITED = Template(
    name="shop.edit_review",
    family="review changed",
    kind=TaskKind.MUTATE,
    phrasings=(
        'Change my review of "{product}" to {label} and its summary to "{title}". Leave the text as it is.',
        'I changed my mind about "{product}": edit my review to {label} with the summary "{title}".',
        'Update the review that I wrote on "{product}". New rating {label}, new summary "{title}", same text.',
        'Turn my existing review of "{product}" into one with {label} and the headline "{title}"; its text stays.',
        'In my review for "{product}", set the rating to {label} and the title to "{title}"; touch nothing else.',
    ),
    generate=_edited,
    expect=_expect_edited,
    plan=lambda params: (
        *to_account("My reviews"),
        Page("link", params["product"]),
        Click("link", "See details", Within("row", params["product"])),
        Click("radio", params["label"], new_page=False),
        Fill("Summary", params["title"]),
        Click("button", "Save Review"),
        Stop(),
    ),
    extra=3,
    held_out=True,
)


def _expect_deleted(world: World, params: Params) -> tuple[Check, ...]:
    return (Database(deletes=(Delete(table="review", id=_mine_of(world, params)["id"]),)),)


DELETED = Template(
    name="shop.delete_review",
    family="review changed",
    kind=TaskKind.MUTATE,
    phrasings=(
        'Delete the review that I wrote about "{product}".',
        'My review of "{product}" shall disappear. Please delete it.',
        'Remove my own opinion on "{product}" from the shop.',
        'I no longer stand by my review of "{product}"; erase it.',
        'Take back what I wrote on "{product}": delete that review.',
    ),
    generate=_mine,
    expect=_expect_deleted,
    plan=lambda params: (
        *to_account("My reviews"),
        Page("link", params["product"]),
        Click("link", "See details", Within("row", params["product"])),
        Click("link", "Delete review"),
        Click("button", "Delete Review"),
        Stop(),
    ),
    extra=3,
)

TEMPLATES = (ADDRESS, PREPARED, MOVE, DETAILS, PASSWORD, REVIEW, PREPARED_REVIEW, RATING, EDITED, DELETED)
