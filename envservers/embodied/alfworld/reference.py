"""The reference's ids of tasks, for clients that know no others.

The reference counts 2,420 games of train and 200 of test, or calls them by name. Its games are not here: a number
stands for the task of that number in our train and test, a name for our task of that name, or else for one of the same
template.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

from agentenv.errors import UnknownTask
from envservers.embodied.alfworld.tasks import table

TRAIN, TEST = 2_420, 200
_NAME = re.compile(r"(?P<template>\w+-\w+-\w+-\w+)-(?P<room>\d+)[/_](?P<trial>trial_\w+)")
_NUMBER = re.compile(r"(?:alfworld_)?(\d{1,9})")


def place_of(item: int | str) -> tuple[str, int]:
    """Split and index of a number, of `alfworld_7`, or of `look_at_obj_in_light-Book-None-DeskLamp-301_trial_T1`."""
    text = str(item)
    if number := _NUMBER.fullmatch(text):
        index = int(number[1])
        if index < TRAIN + TEST:
            return ("train", index) if index < TRAIN else ("test", index - TRAIN)
    elif name := _NAME.fullmatch(text):
        found = _games().get(f"{name['template']}-{name['room']}/{name['trial']}") or _games().get(name["template"])
        if found:
            return found
    raise UnknownTask(f"no game {text[:200]!r} of the reference; ids are 0 to {TRAIN + TEST - 1}, or names of tasks")


@functools.cache
def _games() -> Mapping[str, tuple[str, int]]:
    """The place of each task by its name, and of the first one of each template by the template's."""
    places: dict[str, tuple[str, int]] = {}
    for split, rows in table().items():
        for index, row in enumerate(rows):
            places[row.game] = (split, index)
            places.setdefault(str(row.template), (split, index))
    return places
