"""The document of `DOMSnapshot.captureSnapshot` as nodes for the html dialect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envservers.webarena.engines.dom import CLOSED, element_node, text_node
from envservers.webarena.nodes import Node

_ELEMENT, _TEXT = 1, 3


def build_dom(snapshot: Mapping[str, Any]) -> Node:
    """The root element with all below it."""
    document = snapshot["documents"][0]
    nodes, strings = document["nodes"], snapshot["strings"]

    def string(at: int) -> str:
        return strings[at] if at >= 0 else ""

    held = {
        index: string(at)
        for control in (nodes["inputValue"], nodes["textValue"])
        for index, at in zip(control["index"], control["value"], strict=True)
    }
    chosen = {*nodes["inputChecked"]["index"], *nodes["optionSelected"]["index"]}
    made_up = set(nodes["pseudoType"]["index"])
    drawn = set(document["layout"]["nodeIndex"])
    found: dict[int, Node] = {}
    for index, (parent, kind) in enumerate(zip(nodes["parentIndex"], nodes["nodeType"], strict=True)):
        above = found.get(parent)
        if index in made_up or kind not in (_ELEMENT, _TEXT) or (above is None and found):
            continue
        if above is not None and above.role in CLOSED:
            continue
        key = str(nodes["backendNodeId"][index])
        if kind == _TEXT:
            node = text_node(key, string(nodes["nodeValue"][index]), drawn=_listed(above, above) or index in drawn)
        else:
            words = [string(at) for at in nodes["attributes"][index]]
            attributes = dict(zip(words[::2], words[1::2], strict=True))
            node = element_node(
                key,
                string(nodes["nodeName"][index]).lower(),
                attributes,
                text=held.get(index, ""),
                chosen=index in chosen or "open" in attributes,
                drawn=index in drawn,
            )
            node.ignored = node.ignored and not _listed(node, above)
        if above is not None:
            above.children.append(node)
        found[index] = node
    return next(iter(found.values()))


def _listed(node: Node | None, above: Node | None) -> bool:
    """Whether it belongs to a list that is drawn: options themselves have no place on the page."""
    if node is None or above is None or node.role not in ("option", "optgroup"):
        return False
    return above.role in ("select", "optgroup", "option") and not above.ignored
