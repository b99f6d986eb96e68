"""The rules that templates, pages and stylesheets of sites keep: vocabulary and accessibility."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import pairwise

from lxml import html

from envservers.webarena.sites.common.vocabulary import ATTRIBUTES, DRAWING_TAGS, HEAD_ATTRIBUTES, INPUTS, ROLES, TAGS

HEADINGS = ("h1", "h2", "h3", "h4")
_JINJA = re.compile(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", re.DOTALL)
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")


class _Words(HTMLParser):
    """Collects what lies outside the vocabulary."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[str] = []
        self._drawing = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._judge(tag, attrs)
        self._drawing += tag == "svg"

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._judge(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        self._drawing -= tag == "svg"

    def _judge(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._drawing:
            if tag not in DRAWING_TAGS:
                self.faults.append(f"<{tag}> in a drawing")
            return
        if tag not in TAGS:
            self.faults.append(f"<{tag}> is not in the vocabulary")
        if tag == "svg":
            names = dict(attrs)
            if names.get("aria-hidden") != "true" and names.get("role") != "img" and "role" in names:
                self.faults.append("a drawing is neither hidden nor an image")
            return
        allowed = HEAD_ATTRIBUTES if tag in ("meta", "link") else ATTRIBUTES
        self.faults += [f"{name}= on <{tag}> is not in the vocabulary" for name, _ in attrs if name not in allowed]
        values = dict(attrs)
        if tag == "input" and values.get("type") and values["type"] not in INPUTS:
            self.faults.append(f"<input type={values['type']}>")
        if values.get("role") and values["role"] not in ROLES:
            self.faults.append(f"role={values['role']}")


def faults_of_template(source: str) -> list[str]:
    """Of a template's text, Jinja taken out."""
    words = _Words()
    words.feed(_JINJA.sub("", re.sub(r"(</?h)\{\{ level \}\}", r"\g<1>2", source)))
    return words.faults


def faults_of_styles(css: str) -> list[str]:
    """What would leak into the accessibility tree."""
    found = []
    for selector, body in _RULE.findall(re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)):
        if "text-transform" in body:
            found.append(f"{selector.strip()}: text-transform")
        if re.search(r"(?<![-\w])content\s*:(?!\s*\"\")", body):
            found.append(f"{selector.strip()}: content")
        if re.search(r"display\s*:\s*none", body) and selector.strip() != "[hidden]":
            found.append(f"{selector.strip()}: display: none")
        if re.search(r"visibility\s*:|display\s*:\s*contents", body):
            found.append(f"{selector.strip()}: visibility or display: contents")
        if re.search(r"url\(|@import", body):
            found.append(f"{selector.strip()}: fetches")
    return found


def faults_of_page(text: str) -> list[str]:
    """Of a rendered page."""
    words = _Words()
    words.feed(text)
    page = html.document_fromstring(text)
    return [
        *words.faults,
        *_names(page),
        *_headings(page),
        *_tables(page),
        *_ids(page),
        *_forms(page),
    ]


def _names(page: html.HtmlElement) -> list[str]:
    labels = {label.get("for"): _text(label) for label in page.iter("label")}
    found = []
    if len(list(page.iter("title"))) < 1 or not _text(next(page.iter("title"))):
        found.append("the page has no title")
    for element in page.iter("a"):
        if not element.get("href"):
            found.append(f"link {_text(element)!r} leads nowhere")
        if not _text(element) and not element.get("aria-label"):
            found.append(f"link to {element.get('href')} has no name")
    for element in page.iter("button", "summary", "legend", "caption", "option"):
        if not _text(element):
            found.append(f"<{element.tag}> without a name")
    for element in page.iter("input", "select", "textarea"):
        named = element.get("aria-label") or labels.get(element.get("id"))
        if element.get("type") not in ("hidden", "submit") and not named:
            found.append(f"control {element.get('name')} has no label")
    for element in page.iter("nav"):
        if not element.get("aria-label"):
            found.append("<nav> without a name")
    for element in page.iter("svg"):
        if element.get("aria-hidden") != "true" and not (element.get("role") == "img" and element.get("aria-label")):
            found.append("a drawing is neither hidden nor a named image")
    for element in page.iter("img"):
        if element.get("alt") is None:
            found.append("<img> without alt")
    return found


def _headings(page: html.HtmlElement) -> list[str]:
    levels = [int(element.tag[1]) for element in page.iter(*HEADINGS)]
    found = [] if levels.count(1) == 1 else [f"{levels.count(1)} headings of level 1"]
    main = [int(element.tag[1]) for part in page.iter("main") for element in part.iter(*HEADINGS)]
    if main[:1] != [1]:
        found.append("the main part does not begin with its heading")
    found += [f"a heading of level {b} follows level {a}" for a, b in pairwise(main) if b > a + 1]
    return found


def _tables(page: html.HtmlElement) -> list[str]:
    found = []
    for table in page.iter("table"):
        if not list(table.iter("th")) or not list(table.iter("caption")):
            found.append("a table without th or caption")
        widths = {sum(int(cell.get("colspan", 1)) for cell in row) for row in table.iter("tr")}
        if len(widths) > 1:
            found.append(f"a table's rows have {sorted(widths)} cells")
    return found


def _ids(page: html.HtmlElement) -> list[str]:
    ids = [element.get("id") for element in page.iter() if isinstance(element.tag, str) and element.get("id")]
    found = [f"id {name} twice" for name in sorted(set(ids)) if ids.count(name) > 1]
    for element in page.iter():
        for attribute in ("for", "aria-describedby", "aria-labelledby"):
            if isinstance(element.tag, str) and element.get(attribute) and element.get(attribute) not in ids:
                found.append(f"{attribute}={element.get(attribute)} names nothing")
    return found


def _forms(page: html.HtmlElement) -> list[str]:
    found = []
    for form in page.iter("form"):
        if form.get("method") not in ("get", "post") or not form.get("action"):
            found.append("a form without method or action")
        if not list(form.iter("button")):
            found.append(f"form {form.get('action')} has no button")
        if form.get("method") == "post" and not [i for i in form.iter("input") if i.get("name") == "form_key"]:
            found.append(f"form {form.get('action')} carries no token")
    return found


def _text(element: html.HtmlElement) -> str:
    return " ".join(element.text_content().split())
