"""Chromium's accessibility tree as our nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from envservers.webarena.nodes import Node

UNADDRESSABLE = frozenset({"MenuListPopup", "InlineTextBox"})


def build_tree(found: Sequence[Mapping[str, Any]]) -> Node:
    """The tree from the nodes of `Accessibility.getFullAXTree`; the first one is the root."""
    nodes = {raw["nodeId"]: _node(raw) for raw in found}
    for raw in found:
        nodes[raw["nodeId"]].children = [nodes[child] for child in raw.get("childIds", ()) if child in nodes]
    return nodes[found[0]["nodeId"]]


def _node(raw: Mapping[str, Any]) -> Node:
    role = raw.get("role", {}).get("value", "")
    backend = raw.get("backendDOMNodeId")
    return Node(
        key="" if backend is None else str(backend),
        role=role,
        name=raw.get("name", {}).get("value", ""),
        # A property without a value only points at other nodes.
        properties=tuple((p["name"], p["value"]["value"]) for p in raw.get("properties", ()) if "value" in p["value"]),
        ignored=raw["ignored"],
        addressable=backend is not None and role not in UNADDRESSABLE,
    )
