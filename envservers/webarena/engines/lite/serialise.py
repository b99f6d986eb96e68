"""A document as HTML text."""

from __future__ import annotations

from envservers.webarena.engines.lite.document import Document, Element, Text
from envservers.webarena.engines.lite.vocabulary import VOID


def html_of(document: Document) -> str:
    """The document as a browser serialises it; typed values are no part of it, opened details are."""
    parts: list[str] = []
    _write(document.root, parts)
    return "<!DOCTYPE html>\n" + "".join(parts)


def _write(element: Element, parts: list[str]) -> None:
    attrs = dict(element.attrs)
    if element.tag == "details":
        attrs.pop("open", None)
        if element.opened:
            attrs["open"] = ""
    written = "".join(f' {name}="{_attribute(value)}"' for name, value in attrs.items())
    parts.append(f"<{element.tag}{written}>")
    if element.tag in VOID:
        return
    for kid in element.kids:
        if isinstance(kid, Text):
            parts.append(_text(kid.data))
        else:
            _write(kid, parts)
    parts.append(f"</{element.tag}>")


def _text(data: str) -> str:
    return data.replace("&", "&amp;").replace("\xa0", "&nbsp;").replace("<", "&lt;").replace(">", "&gt;")


def _attribute(value: str) -> str:
    return value.replace("&", "&amp;").replace("\xa0", "&nbsp;").replace('"', "&quot;")
