"""docs/benchmarks.md: one section for each script, written by it alone."""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
HEAD = """# Benchmarks

Each section was written by the program that it names, which anyone can run again; nothing here is copied by hand.
"""
ORDER = (
    "steps",
    "fleet",
    "replay",
    "rollouts",
    "learner",
    "engine",
    "phases",
    "webarena",
    "sciworld",
    "webshop",
    "store",
    "pages",
)


def put(name: str, text: str, page: Path = PAGE) -> None:
    """Write the section `name`; the others stay as they are."""
    found = sections(page.read_text(encoding="utf-8")) if page.exists() else {}
    found[name] = text.strip()
    marked = [f"<!-- section: {n} -->\n\n{found[n]}\n\n<!-- end of section -->\n" for n in ORDER if n in found]
    page.write_text("\n".join([HEAD, *marked]), encoding="utf-8")


def sections(text: str) -> dict[str, str]:
    """What the page has, by name."""
    found = re.findall(r"<!-- section: (\w+) -->\n(.*?)\n<!-- end of section -->", text, re.DOTALL)
    return {name: body.strip() for name, body in found}
