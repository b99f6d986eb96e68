"""Brands, categories and products with their variants, specifications and prices."""

from __future__ import annotations

import datetime as dt
import json
import re
from dataclasses import dataclass, field

from envservers.webarena.world.calendar import START, at_hour, text
from envservers.webarena.world.draw import Draw, split_evenly, zipf
from envservers.webarena.world.grammar.load import Leaf, departments, words
from envservers.webarena.world.places import COMPANIES
from envservers.webarena.world.sizes import DAYS, Size
from envservers.webarena.world.tables import Row, Tables
from envservers.webarena.world.voices import Voice

PALETTES = 12
ANGLES = (0, 15, 30, 45)
_SIZE_STOCK = {"XS": 0.4, "S": 0.8, "M": 1.3, "L": 1.3, "XL": 0.8, "XXL": 0.4}


@dataclass(slots=True, kw_only=True)
class Kind:
    """What a product is, beside its row: the words about it, its faults, its past price."""

    leaf: Leaf
    department: str
    noun: str
    qualifier: str
    specs: list[tuple[str, str]]
    good: list[str]
    """What its reviewers praise, the first most."""
    bad: list[str]
    """Its small faults."""
    broken: list[str]
    """What goes wrong with some of them."""
    quality: float
    """Mean of the stars."""
    created: dt.datetime
    old_price: int
    """Until `price_since`."""
    price_since: dt.datetime
    variants: list[Row] = field(default_factory=list)

    def price_at(self, price: int, moment: dt.datetime) -> int:
        """What it cost then; `price` is today's."""
        return self.old_price if moment < self.price_since else price


def add_brands(tables: Tables, draw: Draw, size: Size) -> None:
    """The first thirty are the world's companies."""
    names = list(words("names")["brands"].items())[: size.brands]
    companies = draw.shuffled(names[:COMPANIES]) + names[COMPANIES:]
    heads = draw.some(tables["person"], len(companies))
    for number, (name, trades) in enumerate(companies):
        town = draw.pick(tables["town"])
        about = (
            f"{name} is a company from {town['name']}, known in {' and '.join(trades)}. It was founded in "
            f"{draw.between(1889, 2019)}; {heads[number]['name']} leads it and its {draw.between(4, 90) * 5} people."
        )
        tables.add("brand", name=name, slug=slug(name), about=about, town_id=town["id"])


def add_categories(tables: Tables, size: Size) -> dict[int, tuple[str, Leaf]]:
    """The tree in three levels; category ids of the leaves with their department and grammar."""
    leaves: dict[int, tuple[str, Leaf]] = {}
    for position, department in enumerate(departments()[: size.departments]):
        top = _category(tables, None, position, department.name, department.name, department.about)
        for place, group in enumerate(department.groups[: size.groups]):
            path = f"{department.name} {group.name}"
            middle = _category(tables, top, place, group.name, path, group.about)
            for number, leaf in enumerate(group.leaves[: size.leaves]):
                leaf_id = _category(tables, middle, number, leaf.name, f"{path} {leaf.name}", leaf.about)
                leaves[leaf_id] = (department.name, leaf)
    return leaves


def _category(tables: Tables, parent: int | None, position: int, name: str, path: str, about: str) -> int:
    row = tables.add(
        "category",
        parent_id=parent,
        name=name,
        slug=slug(path),
        position=position + 1,
        description=about,
        active=1,
    )
    return int(row["id"])


def add_products(
    tables: Tables, draw: Draw, size: Size, leaves: dict[int, tuple[str, Leaf]], voice: Voice
) -> dict[int, Kind]:
    """Products of every leaf, and what they are by id."""
    makers = _makers(tables)
    filled = {key: value for key, value in leaves.items() if not value[1].empty}
    counts = split_evenly(draw, size.products, [0.6 + draw.random() for _ in filled])
    plan = [key for key, count in zip(filled, counts, strict=True) for _ in range(count)]
    weights = draw.shuffled(zipf(size.products))
    kinds: dict[int, Kind] = {}
    taken: set[str] = set()
    # Ids follow the day on which a product came into the shop, not its category.
    for place, category_id in enumerate(draw.shuffled(plan)):
        department, leaf = leaves[category_id]
        age = 1.0 - place / size.products
        created = START - dt.timedelta(days=int(age * (DAYS + 400)) + draw.below(3) + 2)
        brand = draw.pick(makers[department])
        kind = _kind(draw, leaf, department, created)
        row = _product(tables, draw, kind, brand, category_id, weights[place], taken, voice)
        kinds[row["id"]] = kind
        _details(tables, draw, row, kind, voice)
    return kinds


def _makers(tables: Tables) -> dict[str, list[Row]]:
    """Brands by trade, the first ones more often."""
    trades = words("names")["brands"]
    makers: dict[str, list[Row]] = {}
    for brand in tables["brand"]:
        for number, trade in enumerate(trades[brand["name"]]):
            makers.setdefault(trade, []).extend([brand] * (3 if number == 0 else 1))
    return makers


def _kind(draw: Draw, leaf: Leaf, department: str, created: dt.datetime) -> Kind:
    created = at_hour(draw, created.date(), draw.between(8, 17))
    changed = created + (START - created) * (0.3 + 0.6 * draw.random())
    noun, qualifier = draw.pick(leaf.nouns), draw.pick(leaf.qualifiers)
    return Kind(
        leaf=leaf,
        department=department,
        noun=noun,
        qualifier=qualifier,
        specs=_specs(draw, leaf, noun, qualifier),
        good=draw.some(leaf.good, 4),
        bad=draw.some(leaf.bad, 2),
        broken=draw.some(leaf.broken, 2),
        quality=min(4.8, max(2.2, draw.bell(4.0, 0.55))),
        created=created,
        old_price=0,
        price_since=changed.replace(microsecond=0) if draw.chance(0.35) else created,
    )


def _specs(draw: Draw, leaf: Leaf, noun: str, qualifier: str) -> list[tuple[str, str]]:
    """A value each; what the name says is true, so a Wool Pillow is filled with wool."""
    words_of_name = {word for word in re.findall(r"[a-z]+", f"{qualifier} {noun}".lower()) if len(word) > 3}
    specs = []
    for place, (name, values) in enumerate(leaf.specs):
        fitting = leaf.ranges.get(noun, values) if place == 0 else values
        said = [value for value in fitting if words_of_name & set(re.findall(r"[a-z]+", value.lower()))]
        specs.append((name, draw.pick(said or fitting)))
    return specs


def _product(
    tables: Tables,
    draw: Draw,
    kind: Kind,
    brand: Row,
    category_id: int,
    weight: float,
    taken: set[str],
    voice: Voice,
) -> Row:
    price = _price(draw, kind)
    kind.old_price = _ending(draw, round(price * (0.85 + 0.25 * draw.random()))) if draw.chance(0.9) else price
    number = len(tables["product"]) + 1
    name = _name(draw, kind, brand, tables["product"])
    grams = kind.leaf.weight[0] + round((kind.leaf.weight[1] - kind.leaf.weight[0]) * _grade(kind) ** 1.2)
    special = _ending(draw, round(price * (100 - draw.pick((10, 15, 20, 25, 30, 40))) / 100))
    return tables.add(
        "product",
        sku=f"{_letters(kind.leaf.name)}-{1000 + number * 7 % 9000:04d}-{number:04d}",
        name=name,
        slug=_free_slug(name, taken),
        brand_id=brand["id"],
        category_id=category_id,
        price_cents=price,
        special_cents=special if draw.chance(0.12) and special < price else None,
        stock=_stock(draw),
        status="disabled" if draw.chance(0.03) else "enabled",
        description=voice.description(kind, brand["name"], kind.specs),
        weight_g=max(5, round(grams * (0.9 + 0.2 * draw.random()) / 5) * 5),
        created_at=text(kind.created),
        popularity=weight,
        picture=json.dumps(
            {"silhouette": kind.leaf.picture, "palette": draw.below(PALETTES), "angle": draw.pick(ANGLES)}
        ),
    )


def _grade(kind: Kind) -> float:
    """0..1: where the first specification stands among its values."""
    values = kind.leaf.specs[0][1]
    return values.index(kind.specs[0][1]) / max(1, len(values) - 1)


def _price(draw: Draw, kind: Kind) -> int:
    low, high = kind.leaf.price
    place = min(1.0, 0.55 * _grade(kind) + 0.45 * draw.random() ** 2)
    return _ending(draw, round(100 * (low + (high - low) * place)))


def _ending(draw: Draw, cents: int) -> int:
    """A price as shops write them."""
    units = max(2, cents // 100)
    ending = draw.pick((99, 99, 99, 95, 90, 50, 0, 49))
    return units * 100 + ending if ending else units * 100


def _stock(draw: Draw) -> int:
    place = draw.random()
    if place < 0.04:
        return 0
    if place < 0.11:
        return draw.between(1, 5)
    return 6 + int(draw.random() ** 2 * 240)


def _name(draw: Draw, kind: Kind, brand: Row, before: list[Row]) -> str:
    if before and draw.chance(0.012):  # another maker's product of the same name
        same = [row["name"] for row in before[-400:] if kind.noun in row["name"] and row["brand_id"] != brand["id"]]
        if same:
            return str(draw.pick(same))
    series = draw.pick(words("names")["series"])
    qualifier = kind.qualifier
    if kind.leaf.titles:
        return str(draw.pick(kind.leaf.titles).format(series=series))
    name = draw.pick(
        (f"{series} {qualifier} {kind.noun}", f"{series} {kind.noun}", f"{qualifier} {kind.noun} {series}")
    )
    if draw.chance(0.4) and not kind.leaf.sizes and re.search("[a-zA-Z]", kind.specs[0][1]):
        name = f"{name}, {kind.specs[0][1]}"
    if draw.chance(0.05):  # titles as marketplaces have them
        values = ", ".join(value for _, value in kind.specs[1:4] if value not in ("yes", "no"))
        uses = " and ".join(draw.some(kind.leaf.uses, 2))
        name = f"{brand['name']} {name} - {values} - for {uses}"
    return name


def _details(tables: Tables, draw: Draw, row: Row, kind: Kind, voice: Voice) -> None:
    for position, (name, value) in enumerate(kind.specs):
        tables.add("product_spec", product_id=row["id"], position=position + 1, name=name, value=value)
    for position, feature in enumerate(voice.features(kind.leaf)):
        tables.add("product_feature", product_id=row["id"], position=position + 1, text=feature)
    colors = draw.some(kind.leaf.colors, draw.between(2, 4)) if kind.leaf.colors else [""]
    sizes: tuple[str, ...] | list[str] = kind.leaf.sizes or ("",)
    if len(colors) * len(sizes) == 1 or (not kind.leaf.sizes and draw.chance(0.35)):
        return
    empty = row["stock"] == 0
    for color in colors:
        for size in sizes:
            share = 0 if empty or draw.chance(0.09) else _SIZE_STOCK.get(size, 1.0)
            stock = round(share * (draw.between(1, 4) if draw.chance(0.12) else draw.between(5, 40)))
            code = "-".join(_letters(part) if part == color else part for part in (color, size) if part)
            variant = tables.add(
                "variant", product_id=row["id"], sku=f"{row['sku']}-{code}", color=color, size=size, stock=stock
            )
            kind.variants.append(variant)
    row["stock"] = sum(variant["stock"] for variant in kind.variants)


def add_price_rules(tables: Tables, draw: Draw) -> None:
    """Rules on categories: one in force, one to come, one switched off, the others over."""
    leaves = sorted({row["category_id"] for row in tables["product"]})
    names = ("Spring clearance", "Autumn week", "Winter sale", "Summer deals", "Members' weekend", "Early bird")
    for number, category_id in enumerate(draw.some(leaves, 6)):
        name = f"{names[number]}: {tables.row('category', category_id)['name']}"
        running = number == 0
        day = START.date() + dt.timedelta(days=-12 if running else (30 if number == 1 else -60 * number))
        percent = draw.pick((10, 15, 20, 25))
        tables.add(
            "price_rule",
            name=name,
            category_id=category_id,
            percent=percent,
            starts_on=day.isoformat(),
            ends_on=(day + dt.timedelta(days=21)).isoformat(),
            active=int(number != 3),
        )


def slug(name: str) -> str:
    """Lower-case words with hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower().replace("&", "and").replace("'", "")).strip("-")


def _free_slug(name: str, taken: set[str]) -> str:
    base = slug(name)[:80].strip("-")
    found, number = base, 2
    while found in taken:
        found, number = f"{base}-{number}", number + 1
    taken.add(found)
    return found


def _letters(name: str) -> str:
    """Three capitals of a name."""
    return re.sub(r"[^A-Z]", "", name.upper())[:3].ljust(3, "X")
