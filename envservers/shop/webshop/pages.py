"""What an agent sees, in the order in which WebShop's pages show it, as parts with what each of them is."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from envservers.shop.webshop.products import Product

SEARCH, BACK, NEXT, PREV, BUY = "Search", "Back to Search", "Next >", "< Prev", "Buy Now"
TABS = ("Description", "Features", "Reviews")
SEPARATOR = " [SEP] "
SOLD_OUT = " (sold out)"


class Is(StrEnum):
    """What a part of a page is."""

    TEXT = "text"
    BUTTON = "button"
    PRODUCT = "product"
    OPTION = "option"


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of text on a page."""

    text: str
    kind: Is = Is.TEXT
    marked: bool = False
    """A value that was chosen, or a product that was looked at."""

    @property
    def clickable(self) -> bool:
        """Whether it can be clicked."""
        return self.kind is not Is.TEXT


def start_page(instruction: str) -> list[Part]:
    """The search bar."""
    return [Part("WebShop"), *_head(instruction), Part(SEARCH, Is.BUTTON)]


def results_page(
    instruction: str, products: Sequence[Product], *, page: int, total: int, last: bool, looked_at: Collection[str]
) -> list[Part]:
    """One page of results; `total` is of all pages."""
    parts = [*_head(instruction), Part(BACK, Is.BUTTON), Part(f"Page {page} (Total results: {total})")]
    if page > 1:
        parts.append(Part(PREV, Is.BUTTON))
    if not last:
        parts.append(Part(NEXT, Is.BUTTON))
    for product in products:
        link = Part(product.asin, Is.PRODUCT, product.asin in looked_at)
        parts += [link, Part(product.title), Part(product.price_tag)]
    return parts if products else [*parts, Part("No products found")]


def item_page(instruction: str, product: Product, chosen: Mapping[str, str]) -> list[Part]:
    """A product with its options."""
    parts = [*_head(instruction), Part(BACK, Is.BUTTON), Part(PREV, Is.BUTTON)]
    for name, values in product.options.items():
        parts.append(Part(name))
        for value in values:
            if value in product.sold_out:
                parts.append(Part(value + SOLD_OUT))
            else:
                parts.append(Part(value, Is.OPTION, chosen.get(name) == value))
    parts += [Part(product.title), Part(f"Price: {product.price_tag}"), Part(f"Rating: {product.rating}")]
    return [*parts, *(Part(tab, Is.BUTTON) for tab in TABS), Part(BUY, Is.BUTTON)]


def tab_page(instruction: str, product: Product, tab: str) -> list[Part]:
    """What is behind one of a product's tabs."""
    return [*_head(instruction), Part(BACK, Is.BUTTON), Part(PREV, Is.BUTTON), *map(Part, _behind(product, tab))]


def done_page(product: Product, chosen: Mapping[str, str], reward: float) -> list[Part]:
    """After the purchase."""
    thanks = ("Thank you for shopping with us!", "Purchased", "asin", product.asin, "options")
    bought = json.dumps(dict(chosen), ensure_ascii=False)
    return [Part(text) for text in (*thanks, bought, "Your score (min 0.0, max 1.0)", str(round(reward, 4)))]


def plain(parts: Sequence[Part]) -> str:
    """The observation `text`. Values that are chosen are told first: WebShop does so in its rich text alone."""
    return SEPARATOR.join([*_clicked(parts), *(part.text for part in parts)])


def rich(parts: Sequence[Part]) -> str:
    """The observation `text_rich`: a line each, buttons between marks."""
    return "\n".join([*_clicked(parts), *map(_marked, parts)])


def _clicked(parts: Sequence[Part]) -> list[str]:
    return [f"You have clicked {part.text}." for part in parts if part.kind is Is.OPTION and part.marked]


def _marked(part: Part) -> str:
    if not part.clickable:
        return part.text
    name = "clicked button" if part.marked else "button"
    indent = {Is.BUTTON: "", Is.PRODUCT: "\n", Is.OPTION: "  "}[part.kind]
    return f"{indent}[{name}] {part.text} [{name}_]"


def _head(instruction: str) -> list[Part]:
    return [Part("Instruction:"), Part(instruction)]


def _behind(product: Product, tab: str) -> Iterator[str]:
    if tab == "Description":
        yield product.description or "No description"
    elif tab == "Features":
        yield from product.features or ("No features",)
    elif not product.reviews:
        yield "No reviews found"
    else:
        for review in product.reviews:
            yield from filter(None, (f'"{review.title}"', str(review.score), review.body))
