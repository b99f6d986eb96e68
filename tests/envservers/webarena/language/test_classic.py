import ast
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from envservers.webarena.act import Act, Verb
from envservers.webarena.language import printed, target_of
from envservers.webarena.nodes import Node, Tab, View


def node(role, name="", *children, key=None, visible=True, ignored=False, addressable=True, **properties):
    return Node(
        key=key or f"{role}:{name}",
        role=role,
        name=name,
        properties=tuple(properties.items()),
        children=list(children),
        visible=visible,
        ignored=ignored,
        addressable=addressable,
    )


def view(*children, title="Shop", tabs=None, active=0):
    root = node("RootWebArea", title, *children, focused=True, url="http://shop.test/")
    return View(root=root, tabs=tuple(tabs or [Tab(title=title, url="http://shop.test/")]), active=active)


def tree(*children):
    return printed(view(*children)).text.split("\n")[3:]


def test_a_page_is_printed_line_by_line():
    page = view(
        node("navigation", "Main", node("link", "Home", url="http://shop.test/", focusable=True)),
        node("textbox", "Search", required=True, settable=True, multiline=False),
        node("combobox", "Sort by", hasPopup="menu", expanded=False, focusable=True),
        tabs=[Tab(title="Shop", url="http://shop.test/"), Tab(title="Other  title\n", url="http://home.test/")],
    )
    assert printed(page).text == (
        "Tab 0 (current): Shop | Tab 1: Other title\n"
        "\n"
        "[1] RootWebArea 'Shop' focused: True\n"
        "\t[2] navigation 'Main'\n"
        "\t\t[3] link 'Home'\n"
        "\t[4] textbox 'Search' required: True\n"
        "\t[5] combobox 'Sort by' hasPopup: menu expanded: False"
    )


def test_the_tab_that_is_looked_at_is_marked():
    tabs = [Tab(title="A", url="u"), Tab(title="B", url="u")]
    assert printed(view(tabs=tabs, active=1)).text.startswith("Tab 0: A | Tab 1 (current): B\n\n")


def test_names_are_quoted_as_python_does():
    lines = tree(
        node("heading", "it's"), node("heading", 'say "hi"'), node("heading", "a\nb\u2028c"), node("heading", "日")
    )
    assert lines == [
        """\t[2] heading "it's\"""",
        """\t[3] heading 'say "hi"'""",
        r"""	[4] heading 'a\nb\u2028c'""",
        """\t[5] heading '日'""",
    ]


@pytest.mark.parametrize(
    "role",
    [
        "generic",
        "image",
        "list",
        "strong",
        "paragraph",
        "banner",
        "navigation",
        "Section",
        "LabelText",
        "Legend",
        "listitem",
    ],
)
def test_a_blank_container_is_left_out_and_its_children_move_up(role):
    assert tree(node(role, " ", node("link", "a"))) == ["\t[2] link 'a'"]


@pytest.mark.parametrize("role", ["main", "row", "table", "form", "button", "region", "contentinfo"])
def test_other_blank_nodes_are_printed(role):
    assert tree(node(role, "", node("link", "a"))) == [f"\t[2] {role} ''", "\t\t[3] link 'a'"]


def test_a_property_keeps_a_blank_container_but_not_a_list_item():
    assert tree(node("generic", "", busy=True)) == ["\t[2] generic '' busy: True"]
    assert tree(node("listitem", "", busy=True)) == []
    assert tree(node("listitem", "x", level=1)) == ["\t[2] listitem 'x'"]


def test_ignored_nodes_and_nodes_of_the_layout_are_left_out():
    page = [
        node("none", "", node("link", "a"), ignored=True),
        node("StaticText", "text", node("InlineTextBox", "text")),
        node("listitem", "one", node("ListMarker", "•", node("StaticText", "•"))),
        node("LineBreak", "\n"),
    ]
    assert tree(*page) == ["\t[2] link 'a'", "\t[3] StaticText 'text'", "\t[4] listitem 'one'"]


def test_what_chromium_has_added_since_is_taken_back():
    page = [
        node("image", "logo", url="http://shop.test/logo.svg"),
        node("columnheader", "Price", required=False),
        node("columnheader", "Name", required=True),
        node("cell", "3"),
        node("button", "Buy", labelledby=None, describedby=[1], disabled=True),
    ]
    assert tree(*page) == [
        "\t[2] img 'logo'",
        "\t[3] columnheader 'Price'",
        "\t[4] columnheader 'Name' required: True",
        "\t[5] cell '3'",
        "\t[6] button 'Buy' disabled: True",
    ]


def test_a_text_that_one_of_the_three_lines_before_contains_is_left_out():
    link = node("link", "Blue kettle", node("StaticText", "Blue kettle"))
    assert tree(link) == ["\t[2] link 'Blue kettle'"]
    between = [node("button", str(n)) for n in "abc"]
    assert tree(node("link", "kettle"), *between[:2], node("StaticText", "kettle"))[-1] == "\t[4] button 'b'"
    assert tree(node("link", "kettle"), *between, node("StaticText", "kettle"))[-1] == "\t[6] StaticText 'kettle'"
    assert tree(node("StaticText", ""), node("StaticText", " ")) == []


def test_only_texts_are_left_out_whatever_a_name_says():
    assert tree(node("link", "StaticText"), node("link", "StaticText")) == [
        "\t[2] link 'StaticText'",
        "\t[3] link 'StaticText'",
    ]


def test_a_number_in_front_of_a_line_hides_no_text():
    assert tree(node("button", "Add"), node("StaticText", "2"))[-1] == "\t[3] StaticText '2'"


def test_what_is_outside_of_the_viewport_is_left_out_and_its_children_move_up():
    page = [
        node("main", "", node("link", "in view"), node("link", "below", visible=False), visible=False),
        node("link", "far", visible=False),
    ]
    assert tree(*page) == ["\t[2] link 'in view'"]


def test_the_root_stays_whatever_is_said_of_it():
    page = view(node("link", "a", visible=False))
    page.root.visible = False
    assert printed(page).text.split("\n")[2:] == ["[1] RootWebArea 'Shop' focused: True"]


@pytest.mark.parametrize("options_visible", [True, False])
@pytest.mark.parametrize("list_visible", [True, False])
def test_options_go_with_their_list(list_visible, options_visible):
    group = node("group", "More", node("option", "Oak", visible=options_visible), visible=options_visible)
    popup = node("MenuListPopup", "", node("option", "Ash", visible=options_visible, selected=True), group)
    popup.addressable, popup.visible = False, options_visible
    lines = tree(node("combobox", "Wood", popup, visible=list_visible), node("link", "a"))
    inside = [
        "\t[2] combobox 'Wood'",
        "\t\tMenuListPopup ''",
        "\t\t\t[3] option 'Ash' selected: True",
        "\t\t\t[4] group 'More'",
        "\t\t\t\t[5] option 'Oak'",
        "\t[6] link 'a'",
    ]
    assert lines == (inside if list_visible else ["\t[2] link 'a'"])


def test_a_value_that_would_break_its_line_is_quoted():
    assert tree(node("button", "b", roledescription="a\n[1] link 'x'")) == [
        "\t[2] button 'b' roledescription: \"a\\n[1] link 'x'\""
    ]


def test_a_number_leads_to_its_node_and_others_to_an_error():
    popup = node("MenuListPopup", "", node("option", "Ash", key="o"), key="p", addressable=False)
    seen = printed(view(node("combobox", "Wood", popup, key="c"), node("link", "a", key="l")))
    found = [target_of(Act(verb=Verb.CLICK, element=n), seen)[0] for n in range(1, 5)]
    assert found == ["RootWebArea:Shop", "c", "o", "l"]
    for number in (0, 5, 10**9):
        key, error = target_of(Act(verb=Verb.TYPE, element=number), seen)
        assert key == ""
        assert "1 to 4" in error
    assert target_of(Act(verb=Verb.SCROLL), seen) == ("", "")


def test_html_lines_show_tags_attributes_and_texts():
    dom = node(
        "html",
        "",
        node("head", "", node("title", "", node("#text", "Shop"))),
        node(
            "body",
            "",
            node(
                "div", "", node("p", "", node("#text", " Blue\n kettle "), node("#text", " "), node("#comment", "no"))
            ),
            node("a", "", node("#text", "Home"), href='/?q="x"', id="h"),
            node("script", "", node("#text", "no")),
            node("img", "", alt="far", visible=False),
        ),
    )
    page = View(root=node("RootWebArea", "Shop"), tabs=(Tab(title="Shop", url="u"),), active=0, dom=dom)
    assert printed(page, "html").text.split("\n")[2:] == [
        "[1] <#text> Blue kettle",
        '[2] <A href="/?q=&quot;x&quot;" id="h">',
        "\t[3] <#text> Home",
    ]


def test_the_html_dialect_needs_the_document():
    with pytest.raises(ValueError, match="needs a view with its dom"):
        printed(view(), "html")


ROLES = ["generic", "link", "StaticText", "listitem", "image", "combobox", "MenuListPopup", "option", "none"]


@st.composite
def trees(draw):
    leaves = st.builds(
        node,
        st.sampled_from(ROLES),
        st.text(max_size=6),
        key=st.uuids().map(str),
        visible=st.booleans(),
        ignored=st.booleans(),
        addressable=st.booleans(),
        focused=st.one_of(st.booleans(), st.none(), st.text(max_size=5)),
    )

    def grown(inner):
        return st.builds(node, st.sampled_from(ROLES), st.text(max_size=4), inner, inner, key=st.uuids().map(str))

    return draw(st.lists(st.recursive(leaves, grown, max_leaves=8), max_size=5))


@given(children=trees())
@settings(max_examples=200, deadline=None)
def test_numbers_run_from_one_and_each_leads_to_another_node_of_the_page(children):
    page = view(*children)
    seen = printed(page)
    lines = seen.text.split("\n")[2:]
    numbers = [int(found[1]) for line in lines if (found := re.match(r"\t*\[(\d+)\] ", line))]
    assert numbers == list(range(1, len(seen.keys) + 1))
    assert len(set(seen.keys)) == len(seen.keys)
    known = {n.key for n in page.root.walk() if n.addressable}
    assert set(seen.keys) <= known
    assert seen.text.count("\n") == len(lines) + 1 == len(seen.text.splitlines()) - 1


@given(name=st.text(max_size=20))
def test_a_name_is_read_back_from_its_line(name):
    line = tree(node("heading", name))[0]
    assert ast.literal_eval(line.removeprefix("\t[2] heading ")) == name
