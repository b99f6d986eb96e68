"""What plans of the shop have in common."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence

from envservers.webarena.tasks import facts
from envservers.webarena.tasks.facts import Product
from envservers.webarena.tasks.observed import Line
from envservers.webarena.tasks.plan import Choose, Click, Fill, Memory, Page, Step
from envservers.webarena.tasks.template import Params
from envservers.webarena.world.world import World

SEARCH = "Search entire store"
HOST = "shop.test"


def search_for(name: str) -> tuple[Step, ...]:
    """To the page of a product by its name."""
    return Fill(SEARCH, name, enter=True), Page("link", name), Click("link", name)


def walk_down(path: Sequence[str]) -> tuple[Step, ...]:
    """To a category's page, from the department down."""
    return tuple(Click("link", name) for name in path)


def sort_by(order: str) -> tuple[Step, ...]:
    """A list of products in another order."""
    return Choose("Sort by", order), Click("button", "Apply")


def to_account(page: str) -> tuple[Step, ...]:
    """To a page of the customer's account by its menu."""
    return Click("link", "My account"), Click("link", page)


def said(name: str) -> Callable[[Memory], str]:
    """The answer is what was read under this name."""
    return lambda memory: memory[name]


def listed(name: str) -> Callable[[Memory], str]:
    """The answer is the list that was gathered under this name."""
    return lambda memory: "; ".join(memory[name].splitlines())


def first_card(lines: Sequence[Line]) -> str | None:
    """The name of the first product of a list: a heading that is a link."""
    for heading, link in itertools.pairwise(lines):
        if (heading.role, link.role) == ("heading", "link") and heading.name == link.name:
            return heading.name
    return None


def some_product(world: World, rng: random.Random) -> Product:
    """Any product that a task may name."""
    return rng.choice(facts.products(world))


def by_name(world: World, params: Params) -> Product:
    """The product that the slot `product` names."""
    return next(p for p in facts.products(world) if p.name == params["product"])
