"""What Chromium makes of a page, as plain outlines that the engine lite is compared with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from envservers.webarena.engines.chromium.find import find_chromium, have_playwright
from envservers.webarena.engines.lite.page import Page
from envservers.webarena.engines.lite.styles import read_styles
from envservers.webarena.nodes import Node

URL = "http://shop.test/page"
SHEET_URL = "http://shop.test/site.css"
SHEET = (Path(__file__).parents[2] / "envservers/webarena/sites/static/base.css").read_text()
PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"><rect width="8" height="8"/></svg>'

WRITE = """html => new Promise(done => {
  document.open();
  window.addEventListener('load', () => done());
  document.write(html);
  document.close();
})"""
"""Puts a page in place of the present one, several times faster than a navigation."""

UNPRINTED = frozenset({"InlineTextBox", "ListMarker", "LineBreak"})
POINTERS = frozenset({"url", "labelledby"})
"""Properties that hold addresses or other nodes."""
SILENT = frozenset({"focusable", "editable", "readonly", "level", "settable", "multiline", "invalid"})
"""Properties that no dialect prints."""

have_oracle = have_playwright() and find_chromium() is not None


def outline(node: Node) -> list[str]:
    """A tree line by line; a node is left out where it prints nothing whatever the page is about."""
    return list(_lines(node, 0))


def _lines(node: Node, depth: int) -> Iterator[str]:
    kept = [(name, value) for name, value in node.properties if name not in POINTERS]
    blank = node.role == "generic" and not node.name.strip() and all(name in SILENT for name, _ in kept)
    if node.role in UNPRINTED or (node.role == "StaticText" and not node.name.strip(" \n")):
        return
    if not (node.ignored or blank):
        yield "  " * depth + " ".join([node.role, repr(node.name), *(f"{name}={value!r}" for name, value in kept)])
        depth += 1
    for child in node.children:
        yield from _lines(child, depth)


def page_of(body: str, *, styled: bool = False) -> str:
    """A whole page around a body."""
    link = '<link rel="stylesheet" href="/site.css">' if styled else ""
    return f'<!doctype html><html lang="en"><head><title>Page</title>{link}</head><body>{body}</body></html>'


def lite_outline(body: str, *, styled: bool = False) -> list[str]:
    """The tree that lite builds."""
    page = Page(URL, page_of(body, styled=styled))
    if styled:
        page.styles = read_styles((SHEET,))
    return outline(page.tree())


class Oracle:
    """One page of one Chromium."""

    def __init__(self, browser: Any) -> None:
        context = browser.new_context(viewport={"width": 1280, "height": 720})
        context.route("**/*", self._serve)
        self._page = context.new_page()
        self._page.goto(URL)
        self._cdp = context.new_cdp_session(self._page)

    def outline(self, body: str, *, styled: bool = False) -> list[str]:
        """The tree that Chromium builds."""
        from envservers.webarena.engines.chromium.tree import build_tree

        self._page.evaluate(WRITE, page_of(body, styled=styled))
        return outline(build_tree(self._cdp.send("Accessibility.getFullAXTree")["nodes"]))

    def _serve(self, route: Any) -> None:
        url = route.request.url
        if url == URL:
            route.fulfill(body=page_of(""), content_type="text/html; charset=utf-8")
        elif url == SHEET_URL:
            route.fulfill(body=SHEET, content_type="text/css")
        else:
            route.fulfill(body=PICTURE, content_type="image/svg+xml")


@contextmanager
def chromium_oracle() -> Iterator[Oracle]:
    """A Chromium for the length of a test module."""
    from playwright.sync_api import sync_playwright

    found = find_chromium()
    assert found is not None
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(found.path))
        try:
            yield Oracle(browser)
        finally:
            browser.close()


class Case:
    """A snippet and Chromium's outline of it."""

    def __init__(self, name: str, body: str, lines: Sequence[str], *, styled: bool) -> None:
        self.name = name
        self.body = body
        self.lines = list(lines)
        self.styled = styled


def read_cases(folder: Path) -> Mapping[str, Case]:
    """Every case of the files `*.txt`: `=== name`, the body, `---`, the outline."""
    cases: dict[str, Case] = {}
    for file in sorted(folder.glob("*.txt")):
        for block in file.read_text().split("=== ")[1:]:
            head, _, rest = block.partition("\n")
            body, _, tree = rest.partition("\n---\n")
            name = f"{file.stem}: {head.removesuffix(' (styled)')}"
            assert name not in cases, name
            cases[name] = Case(name, body, tree.rstrip("\n").split("\n"), styled=head.endswith(" (styled)"))
    return cases


def capture(folder: Path) -> None:
    """Write Chromium's outlines into the files anew; cases may be added without any."""
    with chromium_oracle() as oracle:
        for file in sorted(folder.glob("*.txt")):
            written = []
            for block in file.read_text().split("=== ")[1:]:
                head, _, rest = block.partition("\n")
                body = rest.partition("\n---\n")[0].rstrip("\n")
                lines = oracle.outline(body, styled=head.endswith(" (styled)"))
                written.append(f"=== {head}\n{body}\n---\n" + "\n".join(lines) + "\n\n")
            file.write_text("".join(written).rstrip("\n") + "\n")


if __name__ == "__main__":
    import sys

    capture(Path(sys.argv[1]))
