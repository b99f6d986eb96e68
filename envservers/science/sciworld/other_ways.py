"""Solutions where the simulator's own fails: other ways to the goal, found by trying, kept as data and proven like all.

Its own at times concludes the wrong thing from a crossing, looks for a fruit before it is there, and leaves things in
the furnace until they burn.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

SOLUTIONS = Path(__file__).with_name("solutions.jsonl")
"""A line each: task, variation, actions."""
LONGEST_HEAT = 8
"""Moments that a thing is left in the furnace, at most."""
Way = tuple[str, ...]


@functools.cache
def kept() -> dict[tuple[str, int], Way]:
    """Those that were found: (task, variation) -> actions."""
    rows = [json.loads(line) for line in SOLUTIONS.read_text(encoding="utf-8").splitlines()]
    return {(row["task"], row["variation"]): tuple(row["actions"]) for row in rows}


def keep(task: str, variation: int, actions: Way) -> None:
    """Add one to the file."""
    with SOLUTIONS.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"task": task, "variation": variation, "actions": actions}) + "\n")


def other_ways(goal: str, actions: Sequence[str]) -> Iterator[Way]:
    """What to try in place of a solution that failed."""
    yield from _other_boxes(goal, actions)
    yield from _grown(goal, actions)
    yield from _less_heat(actions)


def _other_boxes(goal: str, actions: Sequence[str]) -> Iterator[Way]:
    """The other answer, which is a box to focus on or to put the thing in."""
    boxes = re.findall(r"\b(?:on|in) the (\w+ box)", goal)
    for at, taken in ((at, box) for at, action in enumerate(actions) for box in boxes if action.endswith(f" {box}")):
        yield from ((*actions[:at], actions[at].replace(taken, box)) for box in boxes if box != taken)


def _grown(goal: str, actions: Sequence[str]) -> Iterator[Way]:
    """The fruit by its bare name, once it is there; the first one where there are several."""
    for fruit in re.findall(r"focus on the grown ([\w ]+)", goal):
        yield (*actions, f"focus on {fruit}", "0")


def _less_heat(actions: Sequence[str]) -> Iterator[Way]:
    """Out of the furnace after so many moments, without measuring how hot it is."""
    hot = "activate blast furnace"
    if hot not in actions:
        return
    start = actions.index(hot) + 1
    out = next((at for at in range(start, len(actions)) if actions[at].startswith("pick up ")), None)
    for moments in range(LONGEST_HEAT if out is not None else 0):
        way = [*actions[:start], *["wait1"] * moments, *actions[out:]]
        yield tuple(action for action in way if not action.startswith("use thermometer"))
