"""What buying the first hit is worth in a split, and how far the wish itself leads as a query.

python -m envservers.shop.webshop.calibrate [SPLIT]...
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from statistics import fmean
from typing import Any

from envservers.shop.webshop.products import Goal, Product
from envservers.shop.webshop.reward import Score, score
from envservers.shop.webshop.sources import store_of
from envservers.shop.webshop.store import PER_PAGE
from envservers.shop.webshop.tasks import world_tasks

BOUNDS = {"first_success": (0.03, 0.15), "first_reward": (0.30, 0.60), "named_success": (0.0, 0.30), "hard": (0.3, 1.0)}
"""What the generator is tuned to. first: the first hit of a search for the wish, no option chosen; named: with every
option chosen that the wish names; hard: no product of the first page fits."""


def calibration(size: str, split: str) -> dict[str, float]:
    """The figures of `BOUNDS` for a split."""
    tasks, store = world_tasks(size), store_of(size=size)
    bare: list[Score] = []
    named: list[Score] = []
    hard: list[bool] = []
    for index in range(tasks.count(split)):
        payload = tasks.get(split, index).payload
        goal = Goal.from_json(payload)
        shown = [store.product(number) for number in store.search(payload["instruction"], PER_PAGE)]
        bare.append(score(shown[0], {}, goal))
        with_options = [score(product, _wanted(product, payload), goal) for product in shown]
        named.append(with_options[0])
        hard.append(not any(found.success for found in with_options))
    return {
        "first_success": fmean(found.success for found in bare),
        "first_reward": fmean(found.reward for found in bare),
        "named_success": fmean(found.success for found in named),
        "named_reward": fmean(found.reward for found in named),
        "hard": fmean(hard),
    }


def calibrated(report: Mapping[str, float]) -> bool:
    """Whether every figure is in its bounds."""
    return all(low <= report[name] <= high for name, (low, high) in BOUNDS.items())


def _wanted(product: Product, payload: Mapping[str, Any]) -> dict[str, str]:
    """The options of the goal that the product sells."""
    return {
        name: value
        for name, value in payload["options"].items()
        if value in product.options.get(name, ()) and value not in product.sold_out
    }


def main(splits: list[str]) -> None:
    """Print the figures of each split."""
    for split in splits or ["dev", "test", "test_ood"]:
        report = calibration("full", split)
        figures = ", ".join(f"{name} {value:.3f}" for name, value in report.items())
        print(f"{split}: {figures}; {'in bounds' if calibrated(report) else 'OUT OF BOUNDS'}")


if __name__ == "__main__":
    main(sys.argv[1:])
