"""One entry for both parsers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from envservers.webarena.act import Act
from envservers.webarena.language.lenient import parse_lenient
from envservers.webarena.language.original import parse_original

PARSERS: Mapping[str, Callable[[str], Act]] = {"lenient": parse_lenient, "original": parse_original}


def parse(text: str, parser: str = "lenient") -> Act:
    """The one action of a text; never raises, whatever the text: what is no action is an act NONE with its reason."""
    return PARSERS[parser](text)
