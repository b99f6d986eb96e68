"""Which engine a session gets. An engine's module is imported when it is chosen."""

from __future__ import annotations

from envservers.webarena.engines.engine import Engine

LITE_NOTICE = "engine=auto: no Chromium was found, so the engine lite reads the pages; its scores are its own"


def resolve(wanted: str) -> tuple[str, str]:
    """`chromium` or `lite`, and a notice where `auto` had to do without a browser."""
    if wanted != "auto":
        return wanted, ""
    from envservers.webarena.engines.chromium.find import find_chromium, have_playwright

    if have_playwright() and find_chromium() is not None:
        return "chromium", ""
    return "lite", LITE_NOTICE


def make_engine(wanted: str) -> tuple[Engine, str]:
    """A fresh engine, and the notice of `resolve`."""
    name, notice = resolve(wanted)
    if name == "chromium":
        from envservers.webarena.engines.chromium.engine import ChromiumEngine

        return ChromiumEngine(), notice
    from envservers.webarena.engines.lite.engine import LiteEngine

    return LiteEngine(), notice
