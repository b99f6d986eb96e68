"""Texts that tasks ask to be typed: names, streets, reviews, messages. Drawn from fixed parts and from the world."""

from __future__ import annotations

import random

from envservers.webarena.world.world import World

_TITLES = (
    "Does what it should",
    "Better than I had hoped",
    "Solid and simple",
    "Not for me",
    "A small disappointment",
    "Would buy it again",
    "Good, with one flaw",
    "Nice idea, poor finish",
    "My new favourite",
    "Fine for the price",
)
_OPENINGS = (
    "I have used it for two weeks now.",
    "It came well packed and on time.",
    "A friend had told me about it.",
    "I bought it as a present for my brother.",
    "It replaces one that lasted nine years.",
)
_MIDDLES = (
    "The handle sits well in the hand.",
    "The colour is a little darker than in the picture.",
    "Cleaning it takes no time at all.",
    "The instructions could be clearer.",
    "It is lighter than I expected.",
    "The lid does not close firmly.",
)
_CLOSINGS = (
    "I am happy with it.",
    "I expected more for that money.",
    "My neighbour wants one too.",
    "I will keep it.",
    "Let us see how long it lasts.",
)
_QUESTIONS = (
    "Could you tell me when the parcel will leave your store?",
    "Is it possible to change the delivery address?",
    "Do you offer gift wrapping for this order?",
    "Please send me a copy of the invoice on paper.",
    "The parcel arrived with a dent. What shall I do?",
    "Can I still add another item to it?",
)
_ENDINGS = (
    "Thank you for your help.",
    "I look forward to your answer.",
    "Many thanks in advance.",
    "Please answer by e-mail.",
)
_NOTES = (
    "Happy birthday, {name}! May the day be as bright as you are.",
    "For {name}, with love from Mara.",
    "Dear {name}, thank you for looking after the cat.",
    "{name}, good luck in the new house!",
    "To {name}: see you at the lake in June.",
    "Congratulations, {name}! We are proud of you.",
)
_FIRST = (
    "Ada",
    "Bruno",
    "Clara",
    "Dario",
    "Edda",
    "Felix",
    "Greta",
    "Hugo",
    "Ilse",
    "Jonas",
    "Karla",
    "Leon",
    "Mina",
    "Nils",
)
_LAST = (
    "Abel",
    "Brandt",
    "Corso",
    "Dahl",
    "Ekman",
    "Falk",
    "Grimm",
    "Holt",
    "Imhoff",
    "Jarvis",
    "Keller",
    "Lorca",
    "Moser",
)
_STREETS = (
    "Maple Row",
    "Harbour Street",
    "Mill Lane",
    "Station Road",
    "Chapel Hill",
    "Quarry Path",
    "Elm Court",
    "Ferry Road",
)


def review_title(rng: random.Random) -> str:
    """A short title."""
    return rng.choice(_TITLES)


def review_body(rng: random.Random) -> str:
    """Two or three sentences."""
    return " ".join(rng.choice(part) for part in (_OPENINGS, _MIDDLES, _CLOSINGS))


def message(rng: random.Random) -> str:
    """A question to the shop."""
    return f"{rng.choice(_QUESTIONS)} {rng.choice(_ENDINGS)}"


def gift_note(rng: random.Random) -> str:
    """A line for a card."""
    return rng.choice(_NOTES).format(name=rng.choice(_FIRST))


def full_name(rng: random.Random) -> tuple[str, str]:
    """First and last name."""
    return rng.choice(_FIRST), rng.choice(_LAST)


def email(rng: random.Random) -> str:
    """An address that nobody in the world has."""
    first, last = full_name(rng)
    return f"{first}.{last}{rng.randint(10, 99)}@letterbox.example".lower()


def phone(rng: random.Random) -> str:
    """A number of the world's form."""
    return f"02{rng.randint(1, 3)} 555 {rng.randint(2000, 9899)}"


def street(rng: random.Random) -> str:
    """Street and house number."""
    return f"{rng.choice(_STREETS)} {rng.randint(2, 140)}"


def town(world: World, rng: random.Random) -> dict[str, str]:
    """Town, region and postcode as they belong together."""
    row = rng.choice(
        world.rows(
            "SELECT town.name AS town, region.name AS region, postcode FROM town "
            "JOIN region ON region.id = region_id ORDER BY town.id"
        )
    )
    return {name: row[name] for name in ("town", "region", "postcode")}


def password(rng: random.Random) -> str:
    """A new password that the shop takes."""
    return f"{rng.choice(_STREETS).split()[0].lower()}-{rng.choice(_LAST).lower()}-{rng.randint(100, 999)}"


_STAFF_NOTES = (
    "The parcel will leave our store {when}.",
    "We had to order one item anew; it arrives {when}.",
    "Your payment has reached us, and we pack the goods {when}.",
    "The carrier will try again {when}.",
    "We found the missing piece and send it {when}.",
    "Please tell us by phone whether delivery {when} suits you.",
)
_WHEN = ("tomorrow", "on Thursday", "before the weekend", "within three days", "early next week", "this afternoon")


def staff_note(rng: random.Random) -> str:
    """What the store's people write to a customer."""
    return rng.choice(_STAFF_NOTES).format(when=rng.choice(_WHEN))
