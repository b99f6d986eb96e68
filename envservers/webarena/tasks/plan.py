"""A solution in words of the page: what a person would be told to click. `oracle.solve` carries it out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from envservers.webarena.tasks.observed import Line

Memory = Mapping[str, str]
"""What was read so far, by name."""
Reader = Callable[[Sequence[Line]], str | None]
"""Takes the lines of a page, as far as it was seen; None when what it looks for is not among them."""
Text = str | Callable[[Memory], str]
"""A text, or one made from what was read."""


@dataclass(frozen=True, slots=True)
class Within:
    """The part of a page to look in: a node of this role that has the text in it."""

    role: str
    text: Text


@dataclass(frozen=True, slots=True)
class Click:
    """Click the first node of a role and name; scrolls to it."""

    role: str
    name: Text
    within: Within | None = None
    starts: bool = False
    """Whether the name only has to start so."""
    new_page: bool = True
    """Whether what was seen of the page is forgotten."""


@dataclass(frozen=True, slots=True)
class Fill:
    """Type into the field of a name, without Enter unless asked."""

    name: str
    text: Text
    enter: bool = False
    within: Within | None = None


@dataclass(frozen=True, slots=True)
class Choose:
    """Choose an option of the list of a name."""

    name: str
    option: Text
    within: Within | None = None
    starts: bool = False
    """Whether the option only has to start so."""


@dataclass(frozen=True, slots=True)
class Page:
    """Click `next` until a node of the role and name is on the page."""

    role: str
    name: Text
    next: str = "Next"
    starts: bool = False


@dataclass(frozen=True, slots=True)
class Read:
    """Remember what the reader finds on a screen of this page, as `into`; scrolls on until it finds it."""

    into: str
    reader: Reader


@dataclass(frozen=True, slots=True)
class Gather:
    """Remember what the reader finds on each screen of this page and of those that follow, every result once."""

    into: str
    reader: Callable[[Sequence[Line]], Sequence[str]]
    next: str = "Next"


@dataclass(frozen=True, slots=True)
class Go:
    """`goto` an address. Plans go by links; this is for the start of another site."""

    url: str


@dataclass(frozen=True, slots=True)
class Back:
    """`go_back`."""


@dataclass(frozen=True, slots=True)
class Stop:
    """`stop` with an answer."""

    answer: Text = ""


Step = Click | Fill | Choose | Page | Read | Gather | Go | Back | Stop
Plan = Sequence[Step]

READS = (Read, Gather)
"""Steps that may take no action of their own."""


def acts(plan: Plan) -> int:
    """Steps that are an action at least; scrolls and further pages are not counted."""
    return sum(not isinstance(step, READS) for step in plan)


HARDEST = 4


def level(plan: Plan) -> int:
    """Difficulty: 1 up to 4 actions, 2 up to 8, 3 up to 15, 4 above."""
    count = acts(plan)
    return 1 + (count > 4) + (count > 8) + (count > 15)
