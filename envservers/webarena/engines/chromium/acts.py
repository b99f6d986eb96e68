"""The acts of an agent on one tab: each returns the line that the agent reads, empty when it was done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envservers.webarena.engines import refusals
from envservers.webarena.engines.chromium import scripts
from envservers.webarena.engines.chromium.keys import read_keys
from envservers.webarena.engines.chromium.tabs import Gone, Tab

_PLAIN = {
    "gone": refusals.GONE,
    "disabled": refusals.DISABLED,
    "no_box": refusals.NO_BOX,
    "no_text": refusals.NO_TEXT,
    "read_only": refusals.READ_ONLY,
    "no_options": refusals.NO_OPTIONS,
}


async def click(tab: Tab, key: str) -> str:
    """One click on the middle of what is seen of the element, after it was scrolled into view."""
    found = await _ask(tab, key, scripts.POINT, True)
    if found.get("option"):
        return _refusal(await _ask(tab, key, scripts.SELECT, None))
    if "x" in found:
        await tab.do(tab.page.mouse.click(found["x"], found["y"]))
    return _refusal(found)


async def hover(tab: Tab, key: str) -> str:
    """The mouse onto the element."""
    found = await _ask(tab, key, scripts.POINT, False)
    if "x" in found:
        await tab.do(tab.page.mouse.move(found["x"], found["y"]))
    return _refusal(found)


async def type_text(tab: Tab, key: str, text: str, *, enter: bool, rule: str = "replace") -> str:
    """The text into a field by the rule of `type_rule`, then Enter if wanted."""
    found = await _ask(tab, key, scripts.TYPE, rule)
    if "error" in found:
        return _refusal(found)
    if rule == "point":
        pointed = await _ask(tab, key, scripts.POINT, True)
        if "x" not in pointed:
            return _refusal(pointed)
        await tab.do(tab.page.mouse.click(pointed["x"], pointed["y"]))
    if text:
        await tab.call("Input.insertText", text=text)
    elif found["filled"] and rule == "replace":
        await tab.do(tab.page.keyboard.press("Backspace"))
    if enter:
        await tab.do(tab.page.keyboard.press("Enter"))
    return ""


async def select(tab: Tab, key: str, option: str) -> str:
    """The option of that name in a list."""
    return _refusal(await _ask(tab, key, scripts.SELECT, option), option)


async def press(tab: Tab, text: str) -> str:
    """Keys, to whatever has the focus."""
    keys = read_keys(text)
    if keys is None:
        return refusals.unknown_keys(text)
    await tab.do(tab.page.keyboard.press(keys))
    return ""


async def scroll(tab: Tab, *, down: bool) -> str:
    """The page by the height of the window."""
    await tab.evaluate(scripts.SCROLL.format(sign="" if down else "-"))
    return ""


async def _ask(tab: Tab, key: str, function: str, *arguments: Any) -> Mapping[str, Any]:
    try:
        return await tab.ask(key, function, *arguments)
    except Gone:
        return {"error": "gone"}


def _refusal(found: Mapping[str, Any], option: str = "") -> str:
    match found.get("error"):
        case None:
            return ""
        case "covered":
            return refusals.covered(found["by"])
        case "no_option":
            return refusals.no_option(option, found["options"])
        case error:
            return _PLAIN[error]
