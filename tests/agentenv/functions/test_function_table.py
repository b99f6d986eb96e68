import dataclasses

import pytest
from agent_play import SPEC
from hypothesis import given
from hypothesis import strategies as st

from agentenv.errors import BadCall
from agentenv.functions import Call, FunctionTable, Refused, check_functions, function


def entry(name="search", text="search[{query}]", required=("query",), /, **properties):
    properties = properties or {"query": {"type": "string"}}
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return {"name": name, "description": "d", "text": text, "parameters": parameters}


GET = entry(
    "get", "get {count} {item}", ("count", "item"), count={"type": "integer", "minimum": 1}, item={"type": "string"}
)
TOOL = entry("add", "add with {arguments}", ("name",), name={"type": "string"}, tags={"type": "array"})


def test_a_call_becomes_the_text_of_its_action():
    table = FunctionTable.of([GET, entry(), TOOL])
    assert table.action(Call(name="get", arguments={"item": "oak logs", "count": 2})) == "get 2 oak logs"
    assert table.action(Call(name="search", arguments={"query": "size [large]"})) == "search[size [large]]"
    assert table.action(Call(name="add", arguments={"name": "é", "tags": [1]})) == 'add with {"name": "é", "tags": [1]}'


@pytest.mark.parametrize("text", ["get 2 oak logs", "search[size [large]]", 'add with {"name": "x"}', "search[]"])
def test_an_action_is_read_back_as_the_call_that_makes_it(text):
    table = FunctionTable.of([GET, entry(), TOOL])
    assert table.action(table.read(text)) == text


@pytest.mark.parametrize("text", ["get two oak logs", "get 0 oak logs", "find[x]", "", "add with {}", "add with {"])
def test_an_action_that_no_call_makes_is_read_as_none(text):
    assert FunctionTable.of([GET, entry(), TOOL]).read(text) is None


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("git", {}, r'no function "git"; did you mean get\?'),
        ("get", {"count": 2}, "get: `item` is missing"),
        ("get", {"count": "2", "item": "x"}, '`count` must be a whole number, not "2"'),
        ("get", {"count": 0, "item": "x"}, "`count` must be at least 1, not 0"),
        ("get", {"count": True, "item": "x"}, "`count` must be a whole number, not true"),
    ],
)
def test_a_call_that_does_not_fit_is_refused_with_the_argument(name, arguments, reason):
    with pytest.raises(Refused, match=reason):
        FunctionTable.of([GET]).action(Call(name=name, arguments=arguments))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"text": "search[{topic}]"}, r"text has \{topic\}, which is no required property"),
        ({"text": "search"}, r"leaves out 'query'"),
        ({"text": "search[{query.real}]"}, "only plain fields"),
        ({"text": "search[{query!r}]"}, "only plain fields"),
        ({"text": "search[{query:>9}]"}, "only plain fields"),
        ({"text": "search[{}]"}, "only plain fields"),
        ({"text": "search[{query]"}, "expected '}'"),
        ({"name": "class"}, "its name must be"),
        ({"name": "two words"}, "its name must be"),
        ({"extra": 1}, "must have the keys name, description, parameters, text"),
        ({"parameters": {"type": "array"}}, "must be of the type object"),
        ({"parameters": {"type": "object", "$ref": "http://x"}}, r"has \$ref, which is not checked here"),
        ({"parameters": {"type": "object", "properties": {"query": {"type": "text"}}}}, "has the type 'text'"),
        ({"parameters": {"type": "object", "properties": {"query": {"pattern": "("}}}}, "pattern that cannot be read"),
    ],
)
def test_a_table_that_is_not_well_formed_is_refused_at_registration(wrong, words):
    with pytest.raises(BadCall, match=words):
        check_functions([{**entry(), **wrong}])
    with pytest.raises(BadCall, match=words):
        dataclasses.replace(SPEC, functions=({**entry(), **wrong},))


def test_an_optional_argument_cannot_stand_in_the_text_alone():
    with pytest.raises(BadCall, match="no required property"):
        check_functions([entry("search", "search[{query}]", ())])


def test_a_name_that_stands_twice_is_refused():
    with pytest.raises(BadCall, match="listed twice"):
        check_functions([entry(), entry()])


def test_a_card_of_a_server_with_another_kind_of_functions_can_still_be_read():
    card = {**SPEC.card(), "functions": [{"name": "f", "parameters": {"$ref": "x"}}]}
    assert type(SPEC).from_card(card).functions


def test_the_words_for_a_prompt_name_types_ranges_and_what_may_be_left_out():
    words = FunctionTable.of([GET, TOOL]).words()
    assert "- get(count: int, item: str): d\n    count: at least 1" in words
    assert "add(name: str, tags: list = ...)" in words


@given(
    st.dictionaries(st.sampled_from(["count", "item"]), st.integers() | st.text(max_size=5) | st.none() | st.floats())
)
def test_any_arguments_make_an_action_or_are_refused(arguments):
    try:
        action = FunctionTable.of([GET]).action(Call(name="get", arguments=arguments))
    except Refused:
        return
    assert action.startswith("get ")


def test_a_function_is_written_short_and_all_its_arguments_are_required():
    put = function("put", "Put it.", "put {count} {name}", count={"type": "integer"}, name="what it is called")
    check_functions([put])
    assert put["parameters"]["required"] == ["count", "name"]
    assert put["parameters"]["properties"]["name"] == {"type": "string", "description": "what it is called"}
    call = Call(name="put", arguments={"count": 2, "name": "oak"})
    assert FunctionTable.of([put]).action(call) == "put 2 oak"
