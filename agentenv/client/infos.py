"""Infos of many slots as gymnasium's dict of arrays: under `name` the values, under `_name` who has one.

Gymnasium's own helper takes an array's type from the first slot's value, so that a later None or fraction would be
changed in silence, and text beside a number would raise for everybody.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

ONE_PER_SLOT = frozenset({"final_obs"})
"""Dicts under these names stay whole, also where their slots show dicts."""


def batched(infos: Mapping[int, Mapping[str, Any]], count: int) -> dict[str, Any]:
    """The infos of the slots that have one (by number, of `count`). Nested dicts become nested dicts of arrays."""
    names = dict.fromkeys(name for info in infos.values() for name in info)
    together: dict[str, Any] = {}
    for name in names:
        values = {i: info[name] for i, info in infos.items() if name in info}
        nested = name not in ONE_PER_SLOT and all(isinstance(v, dict) for v in values.values())
        together[name] = batched(values, count) if nested else _array(values, count)
        together[f"_{name}"] = _mask(values, count)
    return together


def _array(values: Mapping[int, Any], count: int) -> np.ndarray[Any, np.dtype[Any]]:
    """One kind of number in every slot makes an array of that kind; anything else one of objects."""
    kinds = {type(v) for v in values.values()}
    kind: Any = object
    if kinds == {bool}:
        kind = np.bool_
    elif kinds == {int} and all(abs(v) < 2**63 for v in values.values()):
        kind = np.int64
    elif kinds in ({float}, {int, float}):
        kind = np.float64
    array = np.full(count, None, dtype=object) if kind is object else np.zeros(count, dtype=kind)
    for i, value in values.items():
        array[i] = value
    return array


def _mask(values: Mapping[int, Any], count: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    mask = np.zeros(count, dtype=np.bool_)
    mask[list(values)] = True
    return mask
