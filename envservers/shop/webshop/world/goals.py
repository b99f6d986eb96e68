"""The wishes: some attributes and options of a product, at a price between it and its next dearer rival."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from envservers.shop.webshop.products import Product
from envservers.shop.webshop.reward import attribute_hit
from envservers.shop.webshop.store import PER_PAGE
from envservers.shop.webshop.world.catalogue import Made
from envservers.shop.webshop.world.language import Kind, phrasings
from envservers.shop.webshop.world.wishes import Wish

Search = Callable[[str], list[int]]
"""Query to numbers of products, best first; the first product's number is 1."""
Found = tuple[Wish, list[str]]

NEAR_MISSES = 5
"""Products of the kind, at least, that fail exactly one of the wishes."""
NEAR_PRICE = 1.25
"""The next rival costs at most this many times the limit."""
MOST = {
    "titled": 0.46,  # the title tells every attribute
    "shown": 0.55,  # a search for the wish itself shows what fits on its first page; those of "given" apart
    "first": 0.2,  # and even as its first hit
    "given": 0.1,  # and there is no option to choose
    "level": 0.38,
}
"""Shares that these sorts of goals have in a split at most."""
GIVEN = 0.05
"""Share of the given ones at least."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How much is wished for."""

    attributes: int
    options: int
    priced: bool
    weight: int

    @property
    def name(self) -> str:
        """The template of a task."""
        return f"{self.attributes} attributes, {self.options} options, {'a price' if self.priced else 'any price'}"


SHAPES = (
    Shape(1, 0, True, 6),
    Shape(2, 0, True, 9),
    Shape(3, 0, True, 5),
    Shape(1, 1, True, 14),
    Shape(2, 1, True, 20),
    Shape(3, 1, True, 9),
    Shape(1, 2, True, 16),
    Shape(2, 2, True, 20),
    Shape(3, 2, False, 4),
)
HELD_SHAPES = (Shape(4, 1, True, 2), Shape(4, 2, True, 3), Shape(1, 3, True, 2), Shape(2, 3, True, 3))
"""Of test_ood alone, in about half of its tasks."""
RIVALS = (12, 5, 4, 4)
"""Products that fit a goal, at most, by the number of its options."""
ORDER = ("test", "dev", "test_ood", "train")
"""In which splits are drawn."""
SPLIT_OF = ("dev", "test", "test_ood")
"""Of every ten products of a kind, the first three are meant in these; the others in train."""


class Goals:
    """Draws the wishes of every split; none comes twice, whatever its price."""

    def __init__(self, made: Sequence[Made], search: Search) -> None:
        self._made, self._search = made, search
        self._numbers: dict[Kind, list[int]] = defaultdict(list)
        self._having: dict[tuple[Kind, str, str], set[int]] = defaultdict(set)
        for number, one in enumerate(made, start=1):
            self._numbers[one.kind].append(number)
            for name in one.kind.attributes:
                if attribute_hit(one.product, name):
                    self._having[one.kind, "", name].add(number)
            for name, values in one.product.options.items():
                for value in set(values) - one.product.sold_out:
                    self._having[one.kind, name, value].add(number)
        self._prices = {
            kind: sorted((made[n - 1].product.price, n) for n in numbers) for kind, numbers in self._numbers.items()
        }
        self._seen: set[str] = set()

    def know(self, wishes: Iterable[Wish]) -> None:
        """Never draw these."""
        self._seen.update(wish.canonical for wish in wishes)

    def draw(self, seed: int, split: str, count: int) -> list[Wish]:
        """`count` wishes of a split, in an order that says nothing of them."""
        rng = random.Random(f"webshop goals {seed} {split}")
        ood = split == "test_ood"
        kinds = [kind for kind in self._numbers if ood or not kind.held]
        held = [kind for kind in kinds if kind.held]
        bare = [shape for shape in SHAPES if not shape.options]
        counts: Counter[str] = Counter()
        drawn: list[Wish] = []
        while len(drawn) < count:
            lacking = counts["given"] < GIVEN * count  # drawn first: later no other share leaves room for them
            kind = rng.choice(held if ood and rng.random() < 0.5 else kinds)
            shapes = bare if lacking else HELD_SHAPES if ood and rng.random() < 0.5 else SHAPES
            shape = rng.choices(shapes, weights=[s.weight for s in shapes])[0]
            found = self._wish(rng, split, kind, shape)
            if found is None or any(counts[tag] >= MOST[tag.partition(":")[0]] * count for tag in found[1]):
                continue
            wish, tags = found
            if "given" in tags or not lacking:
                counts.update(tags)
                self._seen.add(wish.canonical)
                drawn.append(wish)
        rng.shuffle(drawn)
        return drawn

    def _wish(self, rng: random.Random, split: str, kind: Kind, shape: Shape) -> Found | None:
        """A wish and what it is to be counted as."""
        product = self._made[rng.choice(self._pool(split, kind)) - 1].product
        if len(product.attributes) < shape.attributes or len(product.options) < shape.options:
            return None
        attributes = tuple(rng.sample(product.attributes, shape.attributes))
        options = _options(rng, product, shape.options)
        style = rng.randrange(len(phrasings(held_out=split == "test_ood")))
        wanted = [self._having[kind, "", name] for name in attributes]
        wanted += [self._having[kind, name, value] for name, value in options.items()]
        rivals = sorted((self._made[n - 1].product.price, n) for n in set.intersection(*wanted))
        limit = _limit(product, [price for price, _ in rivals]) if shape.priced else None
        fits = {n for price, n in rivals if limit is None or price <= limit}
        if (shape.priced and limit is None) or len(fits) > RIVALS[shape.options]:
            return None
        if limit is not None:
            prices = self._prices[kind]
            wanted.append({number for _, number in prices[: bisect_right(prices, (limit, len(self._made)))]})
        if near_misses(wanted, set(self._numbers[kind])) < NEAR_MISSES:
            return None
        wish = Wish(
            split=split,
            noun=kind.noun,
            attributes=attributes,
            options=options,
            limit=limit,
            phrasing=style,
        )
        return None if wish.canonical in self._seen else self._found(wish, fits)

    def _found(self, wish: Wish, fits: set[int]) -> Found | None:
        """The wish with the search that shows a product that fits soonest, its own words where those do as well."""
        hits = self._search(wish.text)
        best = _place(hits, fits)
        short = False
        if best is None or best >= PER_PAGE:
            others = self._search(wish.short)
            place = _place(others, fits)
            if place is not None and (best is None or place // PER_PAGE < best // PER_PAGE):
                hits, best, short = others, place, True
        if best is None:
            return None
        meant = self._made[hits[best] - 1]
        found = replace(wish, asin=meant.product.asin, by_short=short, page=best // PER_PAGE + 1)
        at_first = best == 0 and not short
        given = at_first and not wish.options
        goal = found.goal(meant)
        tags = {
            "titled": not goal["tabs"],
            "given": given,
            "shown": best < PER_PAGE and not short and not given,
            "first": at_first,
            f"level:{goal['difficulty']}": True,
        }
        return found, [tag for tag, holds in tags.items() if holds]

    def _pool(self, split: str, kind: Kind) -> list[int]:
        numbers = self._numbers[kind]
        if kind.held:
            return numbers
        if split in SPLIT_OF:
            return numbers[SPLIT_OF.index(split) :: 10]
        return [number for place, number in enumerate(numbers) if place % 10 >= len(SPLIT_OF)]


def near_misses(wanted: Sequence[set[int]], every: set[int]) -> int:
    """How many of all products fail exactly one of several conditions, each given by the products that keep it."""
    found = 0
    for place, some in enumerate(wanted):
        others = every.intersection(*wanted[:place], *wanted[place + 1 :])
        found += len(others - some)
    return found


def _place(hits: Sequence[int], fits: set[int]) -> int | None:
    return next((place for place, number in enumerate(hits) if number in fits), None)


def _options(rng: random.Random, product: Product, count: int) -> dict[str, str]:
    """Some options with a value each that can be bought."""
    names = sorted(rng.sample(sorted(product.options), count))
    return {n: rng.choice([v for v in product.options[n] if v not in product.sold_out]) for n in names}


def _limit(meant: Product, rivals: Sequence[float]) -> float | None:
    """A price that the meant product keeps and the next dearer rival does not; None where that one is not near."""
    dearer = next((price for price in rivals if price > meant.price), None)
    if dearer is None:
        return None
    whole = int(dearer - 0.01)  # a round sum where there is one between the two
    limit = float(whole) if whole >= meant.price else round((meant.price + dearer) / 2 - 0.005, 2)
    return limit if meant.price <= limit < dearer <= NEAR_PRICE * limit else None
