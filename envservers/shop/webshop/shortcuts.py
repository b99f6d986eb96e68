"""Agents that take a shortcut; what they reach stays under the ceilings of the card."""

from __future__ import annotations

import re

from agentenv.agents.base import Move, Seat
from agentenv.protocol import Action
from envservers.shop.webshop.pages import BACK, BUY, PREV, SEPARATOR, TABS

_ASIN = re.compile(r"B0[A-Z0-9]{8}")
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")


class FirstHit:
    """Searches the instruction as it stands, opens the first hit and buys it."""

    named = False
    """Whether it clicks the options that the instruction names."""

    async def start(self, seat: Seat) -> None:
        """See Agent."""
        self._seat = seat
        self._wish = ""
        self._todo: list[str] = []

    async def act(self, observation: str) -> Move:
        """The next click."""
        parts = observation.split(SEPARATOR)
        if not self._wish:
            self._wish = parts[parts.index("Instruction:") + 1]
            return _move(f"search[{self._wish}]")
        if BUY not in parts:
            found = next((part for part in parts if _ASIN.fullmatch(part)), BACK)
            return _move(f"click[{found}]")
        if self.named and not self._todo:
            self._todo = [*await self._named(), f"click[{BUY}]"]
        return _move(self._todo.pop(0) if self._todo else f"click[{BUY}]")

    async def _named(self) -> list[str]:
        said = _spelled(self._wish)
        buttons = [f"click[{text}]" for text in (BACK, PREV, BUY, *TABS)]  # a wish may well speak of features
        clicks = await self._seat.view.available_actions() or []
        return [c for c in clicks if c not in buttons and _spelled(c[len("click[") : -1]) in said]


class NamedOptions(FirstHit):
    """The same, and before it buys it clicks every value that the instruction names."""

    named = True


def _spelled(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.lower()))} "


def _move(text: str) -> Move:
    return Move(action=Action(text=text))
