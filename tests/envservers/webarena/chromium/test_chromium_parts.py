"""The parts that need no browser: finding one, keys, trees and what lies in view."""

from __future__ import annotations

import pytest

from agentenv.errors import EnvUnavailable
from envservers.webarena.engines.chromium import find
from envservers.webarena.engines.chromium.find import find_chromium, need_chromium
from envservers.webarena.engines.chromium.keys import read_keys
from envservers.webarena.engines.chromium.tree import build_tree
from envservers.webarena.engines.chromium.visible import Box, ViewportRule, in_viewport, mark_visible
from envservers.webarena.nodes import Node


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """Puts programs that say their name and version onto an empty PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(find.VARIABLE, raising=False)

    def add(name, says="Chromium 150.0.1.2 built on Debian"):
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\necho '{says}'\n")
        path.chmod(0o755)
        return path

    return add


def test_the_headless_shell_comes_before_the_browser(programs):
    programs("chromium")
    assert find_chromium().path.name == "chromium"
    programs("chromium-headless-shell", says="Chromium 156.0.8078.114")
    found = find_chromium()
    assert (found.path.name, found.version) == ("chromium-headless-shell", "156.0.8078.114")


def test_the_variable_comes_first(programs, monkeypatch, tmp_path):
    programs("chromium-headless-shell")
    (tmp_path / "own").mkdir()
    monkeypatch.setenv(find.VARIABLE, str(programs("mine", says="Chromium 99.1")))
    found = find_chromium()
    assert (found.path.name, found.version) == ("mine", "99.1")


def test_a_variable_that_names_nothing_is_an_error(programs, monkeypatch):
    programs("chromium")
    monkeypatch.setenv(find.VARIABLE, "/nowhere/chromium")
    with pytest.raises(EnvUnavailable, match="AGENTENV_CHROMIUM=/nowhere/chromium is no program"):
        find_chromium()


def test_a_program_without_version_is_an_error(programs):
    programs("chromium", says="hello")
    with pytest.raises(EnvUnavailable, match="said 'hello', no version"):
        find_chromium()


def test_without_any_the_error_names_the_command(programs):
    assert find_chromium() is None
    with pytest.raises(EnvUnavailable, match="apt-get install chromium-headless-shell"):
        need_chromium()


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("Enter", "Enter"),
        ("enter", "Enter"),
        ("Ctrl+a", "Control+a"),
        ("Meta+A", "Control+A"),
        ("shift+Tab", "Shift+Tab"),
        ("arrowdown", "ArrowDown"),
        ("PAGEDOWN", "PageDown"),
        ("f5", "F5"),
        ("+", "+"),
        ("Control++", "Control++"),
        ("x", "x"),
        ("", None),
        ("Hyper+q", None),
        ("ab", None),
        ("Control+", None),
        ("é", None),
    ],
)
def test_keys_are_read_as_agents_write_them(text, keys):
    assert read_keys(text) == keys


@pytest.mark.parametrize(
    ("box", "original", "meant"),
    [
        (Box(0, 0, 100, 20), True, True),
        (Box(0, 715, 100, 20), True, False),  # five rows of pixels of twenty
        (Box(0, 720, 100, 20), False, False),
        (Box(0, -19.5, 100, 20), True, False),
        (Box(0, -30, 100, 20), False, False),
        (Box(1240, 0, 100, 1), False, False),  # 40 of 100 columns, one row
        (Box(1240, 0, 100, 2), True, False),
        (Box(-5, 0, 10, 10), True, False),
        (Box(0, 0, 0, 20), False, False),
        (Box(0, 0, 20, 0), False, False),
        (Box(0, 0, 100, 5000), True, False),
    ],
)
def test_a_box_is_in_view_by_the_originals_number_or_by_its_area(box, original, meant):
    assert in_viewport(box, 1280, 720, ViewportRule.WEBARENA) is original
    assert in_viewport(box, 1280, 720, ViewportRule.AREA) is meant


def raw(number, role, *children, name="", ignored=False, backend=True, properties=()):
    found = {
        "nodeId": str(number),
        "ignored": ignored,
        "role": {"type": "role", "value": role},
        "name": {"type": "computedString", "value": name},
        "properties": [{"name": n, "value": v} for n, v in properties],
        "childIds": [str(child) for child in children],
    }
    return found | ({"backendDOMNodeId": number} if backend else {})


def test_nodes_become_a_tree_with_what_chromium_says_of_them():
    focused = ("focused", {"type": "booleanOrUndefined", "value": True})
    labelled = ("labelledby", {"type": "nodeList", "relatedNodes": []})
    root = build_tree(
        [
            raw(1, "RootWebArea", 2, 3, name="Shop", properties=[focused]),
            raw(2, "none", 4, ignored=True),
            raw(3, "combobox", -7, properties=[labelled]),
            raw(4, "StaticText", -8, name="Hello"),
            raw(-7, "MenuListPopup", 5, backend=False),
            raw(5, "option", name="One"),
            raw(-8, "InlineTextBox", name="Hello", backend=False),
        ]
    )
    assert [(n.key, n.role, n.ignored, n.addressable) for n in root.walk()] == [
        ("1", "RootWebArea", False, True),
        ("2", "none", True, True),
        ("4", "StaticText", False, True),
        ("", "InlineTextBox", False, False),
        ("3", "combobox", False, True),
        ("", "MenuListPopup", False, False),
        ("5", "option", False, True),
    ]
    assert root.properties == (("focused", True),)
    assert root.children[1].properties == ()


def test_what_is_inside_a_control_is_seen_with_it_and_options_with_their_list():
    def tree():
        inner = Node(key="9", role="StaticText", name="typed")
        options = [Node(key="6", role="option", name="One")]
        popup = Node(key="5", role="MenuListPopup", children=options)
        return Node(
            key="1",
            role="RootWebArea",
            children=[
                Node(key="2", role="textbox", children=[inner]),
                Node(key="3", role="combobox", children=[popup]),
                Node(key="4", role="link", children=[Node(key="8", role="StaticText", name="unseen")]),
            ],
        )

    def snapshot(y):
        ids = [1, 2, 3, 4, 6, 8]
        return {
            "documents": [
                {
                    "nodes": {"backendNodeId": ids},
                    "scrollOffsetX": 0,
                    "scrollOffsetY": 1000,
                    "layout": {
                        "nodeIndex": [0, 1, 2, 3, 3],
                        "bounds": [
                            [0, 1000, 1280, 720],
                            [0, y, 50, 20],
                            [0, y, 50, 20],
                            [0, y, 0, 0],
                            [0, y, 9, 9],
                        ],
                    },
                }
            ]
        }

    shown = tree()
    mark_visible(shown, snapshot(1100), width=1280, height=720, rule=ViewportRule.AREA)
    assert {n.key: n.visible for n in shown.walk()} == {
        **dict.fromkeys("1293564", True),
        "8": False,  # in the document and not laid out
    }
    away = tree()
    mark_visible(away, snapshot(100), width=1280, height=720, rule=ViewportRule.AREA)
    assert {n.key for n in away.walk() if n.visible} == {"1"}
