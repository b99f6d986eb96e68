"""The levels: minigrid's 96 of BabyAI, two of which can mostly not be done.

In OpenDoorsOrderN2Debug and N4Debug two missions of three name two doors, and the move that opens the first is judged
as a wrong move towards the second. They are in no split of ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """One of minigrid's registered levels."""

    name: str
    category: str
    """What it is about: goto, open, pickup, putnext, unlock or synth (any of these)."""
    use: str
    """all: train, dev and test; held_out: test_ood alone; dropped: no split of ours; train: train alone, because the
    level has fewer than twenty different puzzles, or none beside those that the reference numbers."""
    number: int | None
    """Its place among AgentGym's 40 levels, from 1: AgentGym's task i is level 1 + i % 40 with seed i // 40."""

    @property
    def gym_id(self) -> str:
        """Its id in gymnasium's registry."""
        return f"BabyAI-{self.name}-v{1 if self.name == 'GoToObjS6' else 0}"


def _read() -> Mapping[str, Level]:
    lines = files(__package__).joinpath("levels.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return {
        name: Level(name=name, category=category, use=use, number=None if number == "-" else int(number))
        for name, category, use, number in rows
    }


LEVELS: Mapping[str, Level] = _read()
"""All 96, by name."""

REFERENCE: tuple[Level, ...] = tuple(
    sorted((level for level in LEVELS.values() if level.number), key=lambda level: level.number or 0)
)
"""AgentGym's levels in its order. Its fourth is called GoToObjS6; its minigrid makes GoToObjS4 of that."""
