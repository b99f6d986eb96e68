"""Whether a mission can be accomplished at all, as far as locks and strict clauses decide that."""

from __future__ import annotations

from collections.abc import Collection

from envservers.embodied.babyai.layout import Both, Clause, Layout, Mission, Ordered, Place


def is_possible(layout: Layout) -> bool:
    """False only where it is proved that no moves help; whatever else bars a way is taken to be movable."""
    return not _contradicts_itself(layout.mission) and _is_within_reach(layout)


def _contradicts_itself(mission: Mission) -> bool:
    """The move that opens the first door is judged for the second too, where it is a wrong one."""
    if not isinstance(mission, Ordered) or not isinstance(mission.then, Clause):
        return False
    last_of_first = mission.first if isinstance(mission.first, Clause) else None
    return (
        last_of_first is not None
        and last_of_first.verb == mission.then.verb == "open"
        and mission.then.strict
        and not set(last_of_first.items) & set(mission.then.items)
    )


def _is_within_reach(layout: Layout) -> bool:
    """Whether each clause has an item that can be got to, picking up every key on the way."""
    reached: set[int] = set()
    keys: set[str] = set()
    while True:
        found = _reached(layout, keys)
        colors = {layout.items[number].color for number in found if layout.items[number].kind == "key"}
        if found == reached and colors == keys:
            break
        reached, keys = found, colors
    return all(
        reached.intersection(clause.items)
        and (not clause.beside or reached.intersection(clause.beside))
        and (
            clause.verb != "open" or any(_opens(layout, number, keys) for number in reached.intersection(clause.items))
        )
        for clause in _clauses(layout.mission)
    )


def _reached(layout: Layout, keys: Collection[str]) -> set[int]:
    """Numbers of the items that stand in, or next to, cells that can be walked to with these keys."""
    at: dict[Place, int] = {item.at: number for number, item in enumerate(layout.items) if item.at is not None}
    found = set() if layout.carrying is None else {layout.carrying}
    seen, stack = {layout.start}, [layout.start]
    while stack:
        x, y = stack.pop()
        for place in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
            if place in seen or layout.rows[place[1]][place[0]] == "#":
                continue
            seen.add(place)
            number = at.get(place)
            if number is not None:
                found.add(number)
                inside = layout.items[number].inside
                if inside is not None:
                    found.add(inside)
                if not _opens(layout, number, keys):
                    continue
            stack.append(place)
    return found


def _opens(layout: Layout, number: int, keys: Collection[str]) -> bool:
    item = layout.items[number]
    return item.state != "locked" or item.color in keys


def _clauses(mission: Mission) -> list[Clause]:
    if isinstance(mission, Ordered):
        return [*_clauses(mission.first), *_clauses(mission.then)]
    return [mission.one, mission.other] if isinstance(mission, Both) else [mission]
