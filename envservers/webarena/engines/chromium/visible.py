"""What lies in the viewport: boxes of the layout against the window, by one of two rules."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from envservers.webarena.nodes import Node

LEAST_SHARE = 0.6
"""Of a node's area that must be in the viewport."""


class Box(NamedTuple):
    """CSS pixels from the upper left corner of the viewport."""

    x: float
    y: float
    width: float
    height: float


class ViewportRule(StrEnum):
    """WEBARENA: as the original computes it, where a row of pixels is nearly always enough. AREA: as it was meant."""

    WEBARENA = "webarena"
    AREA = "area"


def in_viewport(box: Box, width: float, height: float, rule: ViewportRule) -> bool:
    """Whether a node with that box is shown."""
    if box.width <= 0 or box.height <= 0:
        return False
    across = min(box.x + box.width, width) - max(box.x, 0)
    down = min(box.y + box.height, height) - max(box.y, 0)
    if across <= 0 or down <= 0:
        return False
    if rule is ViewportRule.WEBARENA:
        # Multiplied by the height where it should be divided: agents were tuned on what it lets through.
        return across * down / box.width * box.height >= LEAST_SHARE
    return across * down >= LEAST_SHARE * box.width * box.height


def layout_boxes(snapshot: Mapping[str, Any]) -> tuple[dict[int, Box], set[int]]:
    """Boxes by backend node id from `DOMSnapshot.captureSnapshot`, and every id of the document.

    Several boxes of one node are united. Trees inside form controls are in neither.
    """
    document = snapshot["documents"][0]
    ids = document["nodes"]["backendNodeId"]
    left, top = document.get("scrollOffsetX", 0), document.get("scrollOffsetY", 0)
    boxes: dict[int, Box] = {}
    layout = document["layout"]
    for index, (x, y, width, height) in zip(layout["nodeIndex"], layout["bounds"], strict=True):
        box, key = Box(x - left, y - top, width, height), ids[index]
        boxes[key] = _united(boxes[key], box) if key in boxes else box
    return boxes, set(ids)


def mark_visible(root: Node, snapshot: Mapping[str, Any], *, width: int, height: int, rule: ViewportRule) -> None:
    """Set `visible` of every node. The root is always visible; what is inside a form control is as its control is."""
    boxes, known = layout_boxes(snapshot)
    pending = [(child, True) for child in root.children]
    while pending:
        node, above = pending.pop()
        key = int(node.key) if node.key else 0
        if key in boxes:
            node.visible = in_viewport(boxes[key], width, height, rule)
        elif key in known:
            # Options have no box and are printed with their combobox; the rest is not rendered.
            node.visible = above and node.role in ("option", "group")
        else:
            node.visible = above
        pending.extend((child, node.visible) for child in node.children)


def _united(one: Box, other: Box) -> Box:
    if not one.width and not one.height:
        return other
    if not other.width and not other.height:
        return one
    x, y = min(one.x, other.x), min(one.y, other.y)
    right, bottom = max(one.x + one.width, other.x + other.width), max(one.y + one.height, other.y + other.height)
    return Box(x, y, right - x, bottom - y)
