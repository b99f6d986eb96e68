"""What an engine shows of a page: an accessibility tree and the tabs. Dialects print it; no engine is known here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True, kw_only=True, eq=False)
class Node:
    """One node of the accessibility tree, as Chromium's `Accessibility.getFullAXTree` has it."""

    key: str
    """The engine's handle for acts; means nothing to anybody else."""
    role: str
    """Chromium's spelling: `RootWebArea`, `StaticText`, `link`, `textbox`, `combobox`, `MenuListPopup`, ..."""
    name: str = ""
    properties: tuple[tuple[str, Any], ...] = ()
    """In Chromium's order, unfiltered; a dialect leaves out what it does not print."""
    children: list[Node] = field(default_factory=list)
    ignored: bool = False
    visible: bool = True
    """Whether it lies in the viewport by the view's rule; True everywhere in the full view."""
    addressable: bool = True
    """Whether acts may name it."""

    def walk(self) -> Iterator[Node]:
        """This node and all below it, in document order."""
        yield self
        for child in self.children:
            yield from child.walk()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab:
    """An open tab."""

    title: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What the agent looks at now."""

    root: Node
    tabs: tuple[Tab, ...]
    active: int
    dom: Node | None = None
    """The document for the html dialect, where the engine gives it: role is the tag or `#text`, name a text node's
    text, properties the attributes in the document's order."""

    @property
    def url(self) -> str:
        """Of the active tab."""
        return self.tabs[self.active].url
