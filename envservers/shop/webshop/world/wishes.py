"""A wish as it is kept: what was drawn, and no more than that; and the task that it makes of a product."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envservers.shop.webshop.world.catalogue import Made
from envservers.shop.webshop.world.language import phrasings, several

LEVELS = (4, 6, 8)
"""Steps of the solution up to which a goal has difficulty 1, 2, 3; above, 4."""
FIELDS = ("split", "noun", "attributes", "options", "limit", "phrasing", "asin", "by_short", "page")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What somebody wants to buy, and where it is found."""

    split: str
    noun: str
    attributes: tuple[str, ...]
    options: Mapping[str, str]
    limit: float | None
    """In dollars."""
    phrasing: int
    asin: str = ""
    """Of the product that the solution buys."""
    by_short: bool = False
    """Whether it is sooner found by the bare words of the wish than by the wish as it stands."""
    page: int = 0
    """Of the results that show it, from 1."""

    @property
    def text(self) -> str:
        """The wish in words."""
        style = phrasings(held_out=self.split == "test_ood")[self.phrasing]
        return style.text(several()[self.noun], self.attributes, self.options, self.limit)

    @property
    def short(self) -> str:
        """The bare words."""
        return " ".join((*self.attributes, self.noun, *self.options.values()))

    @property
    def canonical(self) -> str:
        """Equal for two wishes for the same, whatever the price, the words and their order."""
        return "; ".join((self.noun, *sorted(self.attributes), *sorted(self.options.values())))

    @property
    def template(self) -> str:
        """How much is wished for."""
        price = "any price" if self.limit is None else "a price"
        return f"{len(self.attributes)} attributes, {len(self.options)} options, {price}"

    def goal(self, made: Made) -> dict[str, Any]:
        """The task, with the product of `asin`."""
        told = {made.told[name] for name in self.attributes}
        tabs = [tab for tab in ("Features", "Description") if tab in told]
        steps = self.page + 2 + 2 * len(tabs) + len(self.options)
        return {
            "instruction": self.text,
            "asin": self.asin,
            "name": made.product.title,
            "query": self.noun,
            "category": made.product.category,
            "attributes": list(self.attributes),
            "options": dict(self.options),
            "price_upper": self.limit,
            "search": self.short if self.by_short else self.text,
            "tabs": tabs,
            "clicks": list(self.options.values()),
            "canonical": self.canonical,
            "group": made.kind.path[0],
            "template": self.template,
            "difficulty": 1 + sum(steps > level for level in LEVELS),
        }


def write_wishes(path: Path, wishes: Iterable[Wish]) -> None:
    """A table, one wish a line."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, delimiter="\t", lineterminator="\n")
        table.writerow(FIELDS)
        for wish in wishes:
            options = "|".join(f"{name}={value}" for name, value in wish.options.items())
            limit = "" if wish.limit is None else f"{wish.limit:.2f}"
            listed = "|".join(wish.attributes)
            table.writerow(
                (wish.split, wish.noun, listed, options, limit, wish.phrasing, wish.asin, int(wish.by_short), wish.page)
            )


def read_wishes(path: Path) -> Iterator[Wish]:
    """What `write_wishes` wrote."""
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            options = dict(pair.split("=", 1) for pair in row["options"].split("|") if pair)
            yield Wish(
                split=row["split"],
                noun=row["noun"],
                attributes=tuple(row["attributes"].split("|")),
                options=options,
                limit=float(row["limit"]) if row["limit"] else None,
                phrasing=int(row["phrasing"]),
                asin=row["asin"],
                by_short=row["by_short"] == "1",
                page=int(row["page"]),
            )
