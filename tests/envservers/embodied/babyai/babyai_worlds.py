"""Small worlds for tests, drawn by hand."""

from collections.abc import Mapping

from envservers.embodied.babyai.layout import Clause, Item, Layout, Mission

HEADINGS = {">": 0, "v": 1, "<": 2, "^": 3}


def draw(
    picture: str,
    things: Mapping[str, str],
    *,
    mission: Mission | None = None,
    inside: Mapping[str, str] | None = None,
    carrying: str | None = None,
    max_moves: int = 100,
    pitch: int = 100,
) -> Layout:
    """A layout from a picture: `#` walls, `>v<^` the player, letters as told by `things`, such as `red locked door`.

    `inside` tells what a letter's box holds. Items are numbered in the order of `things`. Without a mission the goal
    cannot be reached: a ball in no place.
    """
    rows = [row.strip() for row in picture.strip().splitlines()]
    places = {mark: (x, y) for y, row in enumerate(rows) for x, mark in enumerate(row)}
    items = []
    for letter, name in things.items():
        color, *state, kind = name.split(" ")
        holds = (inside or {}).get(letter)
        items.append(
            Item(
                kind=kind,
                color=color,
                at=places.get(letter),
                state=state[0] if state else "",
                inside=None if holds is None else list(things).index(holds),
            )
        )
    if mission is None:
        items.append(Item(kind="ball", color="purple"))
        mission = Clause(verb="goto", items=(len(items) - 1,))
    mark = next(mark for mark in HEADINGS if mark in places)
    return Layout(
        rows=tuple("".join("#" if mark == "#" else "." for mark in row) for row in rows),
        items=tuple(items),
        start=places[mark],
        heading=HEADINGS[mark],
        mission=mission,
        goal="do it",
        max_moves=max_moves,
        pitch=pitch,
        carrying=None if carrying is None else list(things).index(carrying),
    )
