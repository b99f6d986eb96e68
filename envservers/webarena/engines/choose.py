"""Which engine a session gets. Chromium's module is imported when it is chosen."""

from __future__ import annotations

from agentenv.errors import UnknownOption
from envservers.webarena.engines.engine import Engine
from envservers.webarena.engines.lite.engine import LiteEngine

REPLACE = "replace"
"""The rule for typing that both engines have."""
LITE_NOTICE = "engine=auto: no Chromium was found, so the engine lite reads the pages; its scores are its own"


def resolve(wanted: str) -> tuple[str, str]:
    """`chromium` or `lite`, and a notice where `auto` had to do without a browser."""
    if wanted != "auto":
        return wanted, ""
    from envservers.webarena.engines.chromium.find import find_chromium, have_playwright

    if have_playwright() and find_chromium() is not None:
        return "chromium", ""
    return "lite", LITE_NOTICE


def make_engine(wanted: str, *, type_rule: str = REPLACE) -> tuple[Engine, str]:
    """A fresh engine, and the notice of `resolve`; UnknownOption when it cannot type by that rule."""
    name, notice = resolve(wanted)
    if name == "chromium":
        from envservers.webarena.engines.chromium.engine import ChromiumEngine

        return ChromiumEngine(type_rule=type_rule), notice
    if type_rule != REPLACE:
        raise UnknownOption(f"option type_rule={type_rule!r}: engine lite has {REPLACE!r} alone; set engine=chromium")
    return LiteEngine(), notice
