"""How hard the encyclopedia is: what a search for the raw question finds, and what the splits hold.

`python -m envservers.search.calibrate [SPLIT...]` prints it as JSON.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping
from statistics import fmean
from typing import Any

from envservers.search.sources import retriever_of
from envservers.search.tasks import world_tasks

TOP = 3
SINGLE = (0.50, 0.85)
"""Share of single-hop questions whose passage the raw question finds."""
MULTI = 0.20
"""Share of multi-hop questions all of whose passages it finds, at most."""


def calibration(size: str, split: str) -> dict[str, Any]:
    """Share of questions whose gold passages are all in the top 3 for the raw question, and the split's make-up."""
    tasks = world_tasks(size)
    retriever = retriever_of(size=size)
    found: dict[str, list[bool]] = {}
    levels, answers, comparisons = Counter[int](), Counter[str](), Counter[str]()
    for index in range(tasks.count(split)):
        task = tasks.get(split, index)
        levels[task.difficulty] += 1
        answers[task.payload["answers"][0]] += 1
        if task.category == "comparison":
            comparisons[_side(task.payload)] += 1
        [hits] = retriever.search([task.payload["question"]], TOP)
        shown = {hit.id for hit in hits}
        found.setdefault(task.category, []).append(all(s["passage"] in shown for s in task.payload["steps"]))
    return {
        "split": split,
        "tasks": tasks.count(split),
        "gold_found": {category: round(fmean(some), 3) for category, some in sorted(found.items())},
        "categories": {category: len(some) for category, some in sorted(found.items())},
        "levels": dict(sorted(levels.items())),
        "comparison_answers": dict(sorted(comparisons.items())),
        "commonest_answer": answers.most_common(3),
    }


def calibrated(report: Mapping[str, Any]) -> bool:
    """Whether a search for the raw question finds neither too much nor too little."""
    found = report["gold_found"]
    return bool(SINGLE[0] <= found["single-hop"] <= SINGLE[1] and found["multi-hop"] <= MULTI)


def _side(payload: Mapping[str, Any]) -> str:
    answer = payload["answers"][0]
    if answer in ("yes", "no"):
        return str(answer)
    if payload["kind"] != "earlier":
        return "bridged"
    names = [step["find"] for step in payload["steps"]]
    return "first" if names[0] in payload["answers"] else "second"


def main() -> None:
    """Print the calibration of the splits named, by default of those that are scored."""
    for split in sys.argv[1:] or ("dev", "test", "test_ood"):
        print(json.dumps(calibration("full", split), ensure_ascii=False))


if __name__ == "__main__":
    main()
