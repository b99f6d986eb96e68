"""Templates and stylesheets keep to the vocabulary, and the lint itself finds what it is there to find."""

from __future__ import annotations

from pathlib import Path

import pytest
from web_lint import faults_of_page, faults_of_styles, faults_of_template

from envservers.webarena.sites.common.page_site import SITES

TEMPLATES = sorted(SITES.rglob("templates/*.html"))
STYLES = sorted(SITES.rglob("*.css"))

GOOD = (
    "<!doctype html><html lang=en><head><title>A page</title></head><body><main><h1>One</h1><h2>Two</h2>"
    "<form method=post action=/a><input type=hidden name=form_key value=1>"
    "<label for=x>Name</label><input id=x name=x type=text><button type=submit>Send</button></form>"
    "<table><caption>Things</caption><tr><th>A</th><td>b</td></tr></table><a href=/>Home</a></main></body></html>"
)


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: f"{path.parts[-3]}/{path.name}")
def test_a_template_keeps_to_the_vocabulary(path: Path) -> None:
    assert faults_of_template(path.read_text("utf-8")) == []


@pytest.mark.parametrize("path", STYLES, ids=lambda path: f"{path.parts[-2]}/{path.name}")
def test_a_stylesheet_leaves_the_accessibility_tree_alone(path: Path) -> None:
    assert faults_of_styles(path.read_text("utf-8").replace("src: asset(", "src: file(")) == []


def test_there_are_templates_and_styles_to_read() -> None:
    assert len(TEMPLATES) > 40
    assert {"base.css", "theme.css"} <= {path.name for path in STYLES}


@pytest.mark.parametrize(
    "markup",
    ["<i>x</i>", "<p onclick=x>y</p>", "<input type=date>", "<div role=tab>x</div>", "<svg><image/></svg>", "<b>x</b>"],
)
def test_what_lies_outside_the_vocabulary_is_found(markup: str) -> None:
    assert faults_of_template(markup)


@pytest.mark.parametrize(
    "rule",
    [
        "a { text-transform: uppercase }",
        'a::after { content: "x" }',
        "a { display: none }",
        "a { visibility: hidden }",
        "a { background: url(http://x.test/y.png) }",
    ],
)
def test_a_leaking_rule_is_found(rule: str) -> None:
    assert faults_of_styles(rule)


@pytest.mark.parametrize(
    "rule", ["[hidden] { display: none }", 'a::after { content: "" }', "a { justify-content: end }"]
)
def test_a_harmless_rule_passes(rule: str) -> None:
    assert faults_of_styles(rule) == []


def test_a_good_page_has_no_faults() -> None:
    assert faults_of_page(GOOD) == []


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("<label for=x>Name</label>", ""),
        ("<a href=/>Home</a>", "<a>Home</a>"),
        ("<a href=/>Home</a>", "<a href=/></a>"),
        ("<h2>Two</h2>", "<h3>Two</h3>"),
        ("<h1>One</h1>", ""),
        ("<th>A</th>", "<td>A</td>"),
        ("<caption>Things</caption>", ""),
        ("<button type=submit>Send</button>", "<button type=submit></button>"),
        ("<button type=submit>Send</button>", ""),
        ("<input type=hidden name=form_key value=1>", ""),
        ("<h1>One</h1>", "<h1 id=x>One</h1>"),
        ("<title>A page</title>", "<title></title>"),
        ("<h2>Two</h2>", "<svg><path/></svg>"),
        ("<h2>Two</h2>", "<nav><a href=/>x</a></nav>"),
    ],
)
def test_a_page_that_breaks_a_rule_is_found(good: str, bad: str) -> None:
    assert good in GOOD
    assert faults_of_page(GOOD.replace(good, bad, 1))
