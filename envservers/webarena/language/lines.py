"""A line of an observation, before it has its number."""

from __future__ import annotations

from dataclasses import dataclass

from envservers.webarena.nodes import Node


@dataclass(frozen=True, slots=True)
class Line:
    """One printed node."""

    node: Node
    depth: int
    """Printed ancestors."""
    text: str
    """Without number and indentation."""
