"""Short ways to drive an engine in tests."""

from __future__ import annotations

from typing import Any

from envservers.webarena.act import Act, Verb
from envservers.webarena.engines.engine import Engine
from envservers.webarena.nodes import Node, View


def find(view: View, name: str, role: str = "") -> Node:
    """The first node of that name that acts may be about; of that role, or any but text."""
    for node in view.root.walk():
        wanted = node.role == role if role else node.role != "StaticText"
        if node.name == name and wanted and node.addressable and not node.ignored:
            return node
    raise AssertionError(f"no {role or 'node'} {name!r} among {[(n.role, n.name) for n in view.root.walk()]}")


async def do(engine: Engine, verb: Verb, name: str = "", *, role: str = "", **fields: Any) -> str:
    """One act on the node of that name in the full view; what the agent would read as error."""
    key = find(await engine.view(full=True), name, role).key if name else ""
    return (await engine.act(Act(verb=verb, **fields), key)).error


async def texts(engine: Engine) -> list[str]:
    """The texts of the page, in order."""
    return [node.name for node in (await engine.view(full=True)).root.walk() if node.role == "StaticText"]
