"""`program_html`: what must be on which pages. Pages are looked at through `PageLike`, so none needs a browser."""

from __future__ import annotations

import asyncio
import html
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from envservers.webarena.evaluators.original_functions import ShopApi, locate, resolve
from envservers.webarena.evaluators.original_result import Found, PageFailed, ScriptFailed, Status
from envservers.webarena.evaluators.original_spec import BadTask, Target
from envservers.webarena.evaluators.original_strings import is_exactly

LAST = "last"
SCRIPT_S = 10.0
"""For one script."""
LONGEST = 2_000_000
"""Characters of a page or of a script's value that are looked at."""
_SCRIPTS = ("document.", "[...document.")


class PageLike(Protocol):
    """A page of the agent's browser."""

    @property
    def url(self) -> str:
        """Where it is now."""

    async def content(self) -> str:
        """The live document, serialised; PageFailed."""

    async def evaluate(self, script: str) -> object:
        """The JSON value of a JavaScript function of no arguments; ScriptFailed when it throws, PageFailed."""

    async def open(self, url: str) -> PageLike:
        """Another page of the same context, loaded; PageFailed. The agent's own page stays where it is."""

    async def close(self) -> None:
        """Close a page that `open` gave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRules:
    """Where rules may differ."""

    includes: Callable[[str, str], bool]
    """Reference, text."""
    null: str
    """The text of a script's value `null`."""


async def check_pages(
    targets: tuple[Target, ...], page: PageLike, api: ShopApi | None, rules: PageRules
) -> list[Found]:
    """One result a target, in their order. Those on the agent's last page come first, before anything is opened.

    The original opened the others in the agent's own page, so that a later `last` meant a page of the evaluator's.
    """
    found: dict[int, Found] = {}
    last_url = page.url
    for place, target in enumerate(targets):
        if target.url == LAST:
            found[place] = await _guarded(_check(target, page, api, rules), place)
    for place, target in enumerate(targets):
        if target.url != LAST:
            found[place] = await _guarded(_elsewhere(target, page, last_url, api, rules), place)
    return [found[place] for place in range(len(targets))]


async def _guarded(check: Awaitable[str], place: int) -> Found:
    """`check` gives what is wrong, if anything is."""
    name = f"program_html[{place}]"
    try:
        wrong = await check
    except (PageFailed, BadTask, TimeoutError) as exc:
        words = " ".join(str(exc).split())[:300] or "it did not answer in time"
        return Found(check=name, passed=None, reason=f"the page could not be looked at: {words}", failed=Status.ERROR)
    return Found(check=name, passed=not wrong, reason=wrong or "the page has what it must have")


async def _elsewhere(target: Target, page: PageLike, last_url: str, api: ShopApi | None, rules: PageRules) -> str:
    url = await resolve(target.url, last_url, api)
    try:
        other = await page.open(url)
    except PageFailed:
        other = await page.open(url)
    try:
        return await _check(target, other, api, rules)
    finally:
        await other.close()


async def _check(target: Target, page: PageLike, api: ShopApi | None, rules: PageRules) -> str:
    text = html.unescape((await _selected(target, page, api, rules))[:LONGEST])
    if target.exact is not None:
        return "" if is_exactly(target.exact, text) else "the part of the page has another text"
    missing = sum(not any(rules.includes(part, text) for part in item.split(" |OR| ")) for item in target.includes)
    return f"{missing} of {len(target.includes)} texts are not on the page" if missing else ""


async def _selected(target: Target, page: PageLike, api: ShopApi | None, rules: PageRules) -> str:
    """The part of the page that a target names, as text; empty when a script throws."""
    locator = target.locator
    if not locator.strip():
        return await page.content()
    if locator.startswith("func:"):
        return await locate(locator, lambda script: _run(page, script), api)
    if not locator.startswith(_SCRIPTS):
        raise BadTask(f"locator {locator[:80]!r} is neither JavaScript on the document nor func:")
    try:
        for step in target.prepare:
            await _run(page, step)
    except ScriptFailed:
        pass
    try:
        value = await _run(page, locator)
    except ScriptFailed:
        return ""
    return rules.null if value is None else str(value)


async def _run(page: PageLike, script: str) -> object:
    async with asyncio.timeout(SCRIPT_S):
        return await page.evaluate(f"() => {script}")
