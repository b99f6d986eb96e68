"""The functions that task data may name after `func:`: a closed table. Nothing in the data is ever run as Python."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from envservers.webarena.evaluators.original_result import PageFailed, ScriptFailed
from envservers.webarena.evaluators.original_spec import BadTask

Run = Callable[[str], Awaitable[object]]
"""Runs a JavaScript expression in the page."""

_CALL = re.compile(r"func:(?P<name>[a-z_]+)\((?P<arguments>.*)\)\s*", re.DOTALL)
_ARGUMENT = re.compile(r"""\s*(?:'(?P<one>[^'\\\n]*)'|"(?P<two>[^"\\\n]*)"|(?P<page>__page__))\s*(?P<end>,|$)""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """Of a product in the shop."""

    author: str
    percent: str
    """The rating."""


class ShopApi(Protocol):
    """What the shop is asked besides its pages."""

    base_url: str

    async def latest_order(self) -> str:
        """The number of the newest order, zeros in front; PageFailed."""

    async def reviews(self, sku: str) -> Sequence[Review]:
        """Of a product, oldest first; PageFailed."""


@dataclass(frozen=True, slots=True)
class _Call:
    name: str
    arguments: tuple[str, ...]
    """`__page__` stands for the page."""


async def resolve(url: str, last_url: str, api: ShopApi | None) -> str:
    """A target's address; `func:` ones by the table."""
    if not url.startswith("func"):
        return url
    call = read_call(url)
    match call:
        case _Call("reddit_get_post_url", (argument,)):
            return post_url(argument.replace("__last_url__", last_url))
        case _Call("shopping_get_latest_order_url", ()):
            shop = _needed(api, call)
            # The original takes the number of an order for its id in the address.
            return f"{shop.base_url}/sales/order/view/order_id/{int(await shop.latest_order())}/"
    raise BadTask(f"no function {call.name}({len(call.arguments)} arguments) for an address")


async def locate(locator: str, run: Run, api: ShopApi | None) -> str:
    """The text that a `func:` locator names."""
    call = read_call(locator)
    match call:
        case _Call("shopping_get_sku_latest_review_author", (sku,)):
            reviews = await _needed(api, call).reviews(sku)
            return reviews[-1].author if reviews else ""
        case _Call("shopping_get_sku_latest_review_rating", (sku,)):
            reviews = await _needed(api, call).reviews(sku)
            return reviews[-1].percent if reviews else ""
        case _Call("gitlab_get_project_memeber_role", ("__page__", account)):
            return await _member_role(run, account)
    raise BadTask(f"no function {call.name}({len(call.arguments)} arguments) for a part of a page")


def read_call(text: str) -> _Call:
    """A call with quoted arguments; BadTask for everything else."""
    match = _CALL.fullmatch(text)
    if match is None:
        raise BadTask(f"{text[:80]!r} is no call of a function")
    arguments: list[str] = []
    rest, more = match["arguments"], bool(match["arguments"].strip())
    while more:
        part = _ARGUMENT.match(rest)
        if part is None:
            raise BadTask(f"{text[:80]!r}: its arguments must be quoted texts or __page__")
        arguments.append(part["page"] or part["one"] or part["two"] or "")
        rest, more = rest[part.end() :], part["end"] == ","
    if rest.strip():
        raise BadTask(f"{text[:80]!r}: its arguments must be quoted texts or __page__")
    return _Call(match["name"], tuple(arguments))


def post_url(url: str) -> str:
    """The address of a forum's post without what follows its number; another address stays as it is."""
    parts = urlsplit(url)
    segments = parts.path.split("/")
    if len(segments) < 4 or segments[1] != "f":
        return url
    return f"{parts.scheme}://{parts.netloc}/f/{segments[2]}/{segments[3]}/"


async def _member_role(run: Run, account: str) -> str:
    """The role in the members' table, at the place of the account in it; empty when there is none."""
    wanted = json.dumps("@" + account)
    names = """[...document.querySelectorAll("td[data-label='Account'] span.gl-avatar-labeled-sublabel")]"""
    place = f"{names}.findIndex(name => name.outerText === {wanted})"
    try:
        value = await run(f'document.querySelectorAll("td.col-max-role span")[{place}].outerText')
    except ScriptFailed:
        return ""
    return value if isinstance(value, str) else ""


def _needed(api: ShopApi | None, call: _Call) -> ShopApi:
    if api is None:
        raise PageFailed(f"{call.name} needs the shop's API")
    return api
