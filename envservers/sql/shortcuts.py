"""Agents that take a shortcut; what they reach stays under the ceilings of the card."""

from __future__ import annotations

import re

from agentenv.agents.base import Move, Seat
from agentenv.protocol import Action

_TABLE = re.compile(r"^Table (\w+): (.*?)\.", re.MULTILINE)
_WORD = re.compile(r"[a-z]+")
SMALL = 20
"""Numbers below it are answered by `Constant`."""


class _Seated:
    async def start(self, seat: Seat) -> None:
        """Take note of the episode."""
        self.seat = seat


class Constant(_Seated):
    """A small number, drawn."""

    async def act(self, observation: str) -> Move:
        """Answer at once."""
        return _answer(f"SELECT {self.seat.rng.randrange(SMALL)}")


class Empty(_Seated):
    """No rows."""

    async def act(self, observation: str) -> Move:
        """Answer at once."""
        return _answer("SELECT NULL WHERE 0")


class CountRows(_Seated):
    """How many rows some table has."""

    async def act(self, observation: str) -> Move:
        """Answer at once."""
        tables = [name for name, _ in _TABLE.findall(observation)]
        return _answer(f"SELECT COUNT(*) FROM {self.seat.rng.choice(tables)}")


class NamedTable(_Seated):
    """How many rows the table has that the question names."""

    async def act(self, observation: str) -> Move:
        """Answer at once."""
        return _answer(f"SELECT COUNT(*) FROM {_named(observation)[0]}")


class FirstColumn(_Seated):
    """The second column, which is the name as a rule, of the table that the question names."""

    async def act(self, observation: str) -> Move:
        """Answer at once."""
        name, columns = _named(observation)
        return _answer(f"SELECT {columns[1]} FROM {name}")


def _named(observation: str) -> tuple[str, list[str]]:
    """The first table whose name shares its beginning with a word of the question, else the first one; its columns."""
    question = observation.rpartition("Question: ")[2].lower()
    tables = [(name, [c.split(" ")[0] for c in columns.split(", ")]) for name, columns in _TABLE.findall(observation)]
    for word in _WORD.findall(question):
        for table in tables:
            if len(word) > 3 and table[0][: len(word)].rstrip("s") == word.rstrip("s"):
                return table
    return tables[0]


def _answer(sql: str) -> Move:
    return Move(action=Action(text=f"```sql\n{sql}\n```"))
