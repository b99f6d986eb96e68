"""The products: lines of a kind, and in each line some that differ in one or two things, so that near misses abound."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from envservers.shop.webshop.products import PATH, Product, Review
from envservers.shop.webshop.world.language import Kind, attributes, kinds, words

LINES = {"full": 24, "small": 4}
"""Of each kind."""
IN_LINE = 10
"""Products of a line."""
_ASIN = "ABCDEFGHJKLMNPQRSTUVWXYZ0123456789"
_LISTED, _SWAPPED = (5, 6), (0, 1, 1, 2)
"""Attributes of a line, and how many of them a product has exchanged for others."""
_TITLE, _FEATURE = 0.4, 0.75
"""Shares of attributes: told in the title; told in title or features (the rest in the description)."""
_LITERAL = 0.6
"""Share of sentences that name the attribute."""
_VALUES = (4, 6)
_SOLD_OUT, _DROPPED = 0.06, 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A product, its kind, and where its attributes are told."""

    product: Product
    kind: Kind
    told: dict[str, str]
    """Attribute to `Title`, `Features` or `Description`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    kind: Kind
    attributes: tuple[str, ...]
    options: dict[str, tuple[str, ...]]
    price: float


def make_catalogue(seed: int, size: str) -> list[Made]:
    """Every product, in the order of the ids, which says nothing of the products."""
    rng = random.Random(f"webshop catalogue {seed} {size}")
    count = len(kinds()) * LINES[size] * IN_LINE
    asins = set[str]()
    while len(asins) < count:
        asins.add("B0" + "".join(rng.choices(_ASIN, k=8)))
    order = sorted(asins)
    rng.shuffle(order)
    made = [
        _product(rng, _varied(rng, line), order.pop())
        for kind in kinds()
        for _ in range(LINES[size])
        for line in [_line(rng, kind)]
        for _ in range(IN_LINE)
    ]
    return sorted(made, key=lambda m: m.product.asin)


def _line(rng: random.Random, kind: Kind) -> _Line:
    options = {}
    for pool in kind.options:
        some = set(rng.sample(pool.values, min(len(pool.values), rng.randint(*_VALUES))))
        options[pool.name] = tuple(value for value in pool.values if value in some)
    listed = tuple(rng.sample(kind.attributes, rng.randint(*_LISTED)))
    return _Line(kind=kind, attributes=listed, options=options, price=kind.price * rng.uniform(0.7, 1.5))


def _varied(rng: random.Random, line: _Line) -> _Line:
    """A product of the line: some attributes exchanged, values dropped and in another order, another price."""
    has = list(line.attributes)
    others = [name for name in line.kind.attributes if name not in has]
    for name in rng.sample(others, min(len(others), rng.choice(_SWAPPED))):
        has[rng.randrange(len(has))] = name
    options = {}
    for name, values in line.options.items():
        kept = [value for value in values if rng.random() >= _DROPPED] or [values[0]]
        rng.shuffle(kept)
        options[name] = tuple(kept)
    price = line.price * rng.uniform(0.75, 1.35)
    return _Line(kind=line.kind, attributes=tuple(dict.fromkeys(has)), options=options, price=price)


def _product(rng: random.Random, line: _Line, asin: str) -> Made:
    told = {name: _place(rng) for name in line.attributes}
    brand = _brand(rng)
    style, use = rng.choice(words()["styles"]), rng.choice(words()["uses"][line.kind.path[0]])
    cents = rng.choice((0.99, 0.49, 0.95, 0.0, 0.5))
    price = round(max(2, int(line.price)) + cents, 2)
    sold_out = [value for values in line.options.values() for value in _sold_out(rng, values)]
    product = Product(
        asin=asin,
        title=_title(rng, line, told, brand, style, use),
        query=line.kind.noun,
        category=PATH.join(line.kind.path),
        price=price,
        price_tag=f"${price:.2f}",
        rating=f"{rng.choice((2.9, 3.4, 3.8, 4.1, 4.3, 4.4, 4.6, 4.8)):.1f}",
        attributes=line.attributes,
        options=line.options,
        sold_out=frozenset(sold_out),
        description=" ".join(f"{text.rstrip('.')}." for text in _description(rng, line, told, brand, style)),
        features=tuple(_features(rng, line, told)),
        reviews=tuple(_reviews(rng)),
    )
    return Made(product=product, kind=line.kind, told=told)


def _sold_out(rng: random.Random, values: Sequence[str]) -> list[str]:
    gone = [value for value in values if rng.random() < _SOLD_OUT]
    return gone if len(gone) < len(values) else []


def _place(rng: random.Random) -> str:
    drawn = rng.random()
    return "Title" if drawn < _TITLE else "Features" if drawn < _FEATURE else "Description"


def _brand(rng: random.Random) -> str:
    parts = words()["brands"]
    middle = rng.choice(parts["middles"]) if rng.random() < 0.5 else ""
    return str(rng.choice(parts["starts"]) + middle + rng.choice(parts["ends"]))


def _title(rng: random.Random, line: _Line, told: dict[str, str], brand: str, style: str, use: str) -> str:
    said = ", ".join(_headline(name) for name, place in told.items() if place == "Title")
    noun = line.kind.noun.title()
    form = rng.randrange(3)
    if form == 0:
        parts = [f"{brand} {style} {noun}", said, use]
    elif form == 1:
        parts = [f"{brand} {noun} {use}", said, style]
    else:
        parts = [f"{style} {noun} by {brand}", use, said]
    return ", ".join(filter(None, parts))


def _headline(name: str) -> str:
    """An attribute with capitals: `USB Port`, `Easy Install`."""
    return " ".join(word if word.isupper() else word.capitalize() for word in _spelled(name))


def _spelled(name: str) -> list[str]:
    """The words of an attribute, acronyms in capitals."""
    return [word.upper() if word.upper() in words()["acronyms"] else word for word in name.split()]


def _sentence(rng: random.Random, name: str) -> str:
    says = rng.choice(attributes()[name])
    first, *rest = _spelled(name)
    return f"{' '.join([_headline(first), *rest])}: {says[0].lower()}{says[1:]}" if rng.random() < _LITERAL else says


def _features(rng: random.Random, line: _Line, told: dict[str, str]) -> list[str]:
    said = [_sentence(rng, name) for name, place in told.items() if place == "Features"]
    said += [rng.choice(attributes()[n]) for n, place in told.items() if place == "Title" and rng.random() < 0.4]
    lines = [*said, *rng.sample(words()["extras"][line.kind.path[0]], rng.randint(1, 3))]
    rng.shuffle(lines)
    return lines


def _description(rng: random.Random, line: _Line, told: dict[str, str], brand: str, style: str) -> list[str]:
    names = {"brand": brand, "noun": line.kind.noun, "many": line.kind.many, "style": style}
    about = [text.format_map(names) for text in words()["about"]]
    said = [_sentence(rng, name) for name, place in told.items() if place == "Description"]
    lines = [*said, *rng.sample(about, rng.randint(1, 4))]
    rng.shuffle(lines)
    return lines


def _reviews(rng: random.Random) -> Sequence[Review]:
    count = rng.choice((0, 0, 1, 2, 3))
    scores = rng.choices(list(words()["reviews"]), weights=(4, 3, 2, 1), k=count)
    return [Review(title=rng.choice(words()["reviews"][score]), score=score) for score in scores]
