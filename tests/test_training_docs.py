"""The pages about training say what the code has: their tables, the names of figures, the reasons of outcomes."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FIGURE = re.compile(r"\"([a-z_]+/[a-z_{}./]+)\"")
NO_FIGURES = {"runs/default", "runs/sft", "s/step"}
ADDED_UP = ("env_tokens/", "env_loss/", "tokens/value")
"""Sums on their way to a figure."""


@pytest.fixture(scope="module")
def tables():
    spec = importlib.util.spec_from_file_location("doc_tables", ROOT / "scripts" / "doc_tables.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_of_the_pages_are_those_of_the_code(tables):
    for name in tables.PAGES:
        text = (tables.DOCS / name).read_text(encoding="utf-8")
        assert text == tables.with_tables(text), f"docs/{name} is stale; run python scripts/doc_tables.py"


def test_every_table_stands_on_a_page(tables):
    pages = "".join((tables.DOCS / name).read_text(encoding="utf-8") for name in tables.PAGES)
    assert set(re.findall(r"<!-- table: ([\w-]+) -->", pages)) == set(tables.TABLES)


@pytest.mark.parametrize("table", ["settings", "sft", "hf", "vllm"])
def test_every_setting_says_what_it_means(tables, table):
    rows = [line for line in tables.TABLES[table]().splitlines() if line.startswith("| `")]
    silent = [row for row in rows if re.search(r"\| +(One of [^|]*|At least [^|]*|From [^|]*)?\|$", row)]
    assert rows
    assert not silent


def test_every_figure_has_a_line_on_the_page():
    page = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")
    section = page[page.index("## Figures") : page.index("## What never ran")]
    told = {_general(name) for name in re.findall(r"`([^`]+/[^`]+)`", section)}
    sources = "\n".join(file.read_text(encoding="utf-8") for file in sorted((ROOT / "trainers").rglob("*.py")))
    written = {_general(name) for name in FIGURE.findall(sources) if not name.startswith(ADDED_UP)} - NO_FIGURES
    named_by_parts = {"validation/{}", "validation/{}/{}", "rounds/limit/{}", "groups/{}"}
    assert "train/success" in written
    assert not written - told - named_by_parts


def _general(name: str) -> str:
    """With every part that a run fills in as `{}`."""
    return re.sub(r"\{[^}]*\}", "{}", name)
