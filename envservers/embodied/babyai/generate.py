"""Worlds from minigrid: a level and a seed become a `Layout`, and minigrid is not needed any more."""

from __future__ import annotations

import functools
import importlib
import os
from typing import Any

os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # minigrid brings pygame; nothing here opens a window

import gymnasium
import minigrid  # noqa: F401  # registers the levels
from minigrid.envs.babyai.core import roomgrid_level, verifier

from envservers.embodied.babyai.layout import Both, Clause, Item, Layout, Mission, Ordered
from envservers.embodied.babyai.levels import LEVELS

KEPT = 256
"""Layouts that stay in memory: the attempts at one task share one."""

# minigrid prints every draw that it rejects. Standard output belongs to whoever runs the environment.
vars(roomgrid_level)["print"] = lambda *_: None


def make_env(level: str, seed: int) -> Any:
    """minigrid's own environment, after its reset."""
    spec = gymnasium.spec(LEVELS[level].gym_id)
    module, _, name = str(spec.entry_point).partition(":")
    env = getattr(importlib.import_module(module), name)(**spec.kwargs)
    env.reset(seed=seed)
    return env


@functools.lru_cache(maxsize=KEPT)
def make_layout(level: str, seed: int) -> Layout:
    """The world of a level and a seed, some milliseconds' work."""
    return read_layout(make_env(level, seed))


def read_layout(env: Any) -> Layout:
    """The present state of minigrid's environment as plain values; the mission as of its start."""
    grid = env.grid
    objects: list[Any] = [cell for cell in grid.grid if cell is not None and cell.type != "wall"]
    objects += [cell.contains for cell in objects if cell.contains is not None]
    if env.carrying is not None:
        objects.append(env.carrying)
    numbers = {id(thing): number for number, thing in enumerate(objects)}
    places = {id(cell): (i % grid.width, i // grid.width) for i, cell in enumerate(grid.grid) if cell is not None}
    items = tuple(
        Item(
            kind=thing.type,
            color=str(thing.color),
            at=places.get(id(thing)),
            state=_state(thing),
            inside=None if thing.contains is None else numbers[id(thing.contains)],
        )
        for thing in objects
    )
    walls = ["#" if cell is not None and cell.type == "wall" else "." for cell in grid.grid]
    return Layout(
        rows=tuple("".join(walls[start : start + grid.width]) for start in range(0, len(walls), grid.width)),
        items=items,
        start=(int(env.agent_pos[0]), int(env.agent_pos[1])),
        heading=int(env.agent_dir),
        mission=_mission(env.instrs, numbers),
        goal=env.mission,
        max_moves=int(env.max_steps),
        pitch=env.room_size - 1,
        carrying=None if env.carrying is None else numbers[id(env.carrying)],
    )


def _state(thing: Any) -> str:
    if thing.type != "door":
        return ""
    return "open" if thing.is_open else "locked" if thing.is_locked else "closed"


def _mission(instr: Any, numbers: dict[int, int]) -> Mission:
    if isinstance(instr, verifier.BeforeInstr):
        return Ordered(first=_clauses(instr.instr_a, numbers), then=_clauses(instr.instr_b, numbers))
    if isinstance(instr, verifier.AfterInstr):
        return Ordered(first=_clauses(instr.instr_b, numbers), then=_clauses(instr.instr_a, numbers))
    return _clauses(instr, numbers)


def _clauses(instr: Any, numbers: dict[int, int]) -> Clause | Both:
    if isinstance(instr, verifier.AndInstr):
        return Both(one=_clause(instr.instr_a, numbers), other=_clause(instr.instr_b, numbers))
    return _clause(instr, numbers)


def _clause(instr: Any, numbers: dict[int, int]) -> Clause:
    if isinstance(instr, verifier.PutNextInstr):
        items, beside = _items(instr.desc_move, numbers), _items(instr.desc_fixed, numbers)
        return Clause(verb="putnext", items=items, beside=beside)
    verbs: dict[Any, str] = {verifier.GoToInstr: "goto", verifier.OpenInstr: "open", verifier.PickupInstr: "pickup"}
    return Clause(verb=verbs[type(instr)], items=_items(instr.desc, numbers), strict=getattr(instr, "strict", False))


def _items(desc: Any, numbers: dict[int, int]) -> tuple[int, ...]:
    """Walls are no items, though `object` in a mission may stand for one by minigrid's reading."""
    return tuple(numbers[id(thing)] for thing in desc.obj_set if id(thing) in numbers)
