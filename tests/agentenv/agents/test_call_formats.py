"""Completions that are calls: one JSON object, or one call in Python."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentenv.agents.parse import Parsed, parse, written
from agentenv.agents.prompts import load_format
from agentenv.errors import BadCall
from agentenv.functions import FunctionTable
from agentenv.registry import get_spec

JSON, CODE = load_format("function_calling"), load_format("code_as_action")
CRAFT = FunctionTable.of(get_spec("textcraft").functions)
GET = '{"name": "get", "arguments": {"count": 1, "item": "oak logs"}}'
TAKEN = "get 1 oak logs"


def read(text, format):
    return parse(text, format, functions=CRAFT)


@pytest.mark.parametrize(
    "text",
    [
        GET,
        f"I need logs.\n{GET}",
        f"```json\n{GET}\n```",
        f"<tool_call>\n{GET}\n</tool_call>",
        f"[{GET}]",
        f"In {{braces}} and {{}}: {GET}",
        GET.replace("arguments", "parameters"),
        '{"name": "get", "arguments": "{\\"count\\": 1, \\"item\\": \\"oak logs\\"}"}',
        '{"type": "function", "function": ' + GET + "}",
        GET.replace("1", "1.0"),
    ],
)
def test_one_json_object_is_the_call(text):
    assert read(text, JSON).action == TAKEN


@pytest.mark.parametrize("text", ['{"name": "inventory"}', '{"name": "inventory", "arguments": null}'])
def test_a_function_without_arguments_needs_none(text):
    assert read(text, JSON).action == "inventory"


def test_words_behind_the_call_are_flagged():
    assert read(GET + "\nThen I craft.", JSON) == Parsed(action=TAKEN, extra_text=True)
    assert not read(f"```json\n{GET}\n```", JSON).extra_text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("get 1 oak logs", "there is no call; answer with one JSON object"),
        (GET + GET, "there are 2 JSON objects; make exactly one call"),
        (GET.replace("get", "fetch", 1), 'there is no function "fetch"'),
        ('{"name": "get", "arguments": {"count": 1, "item": "oak', "the JSON object cannot be read"),
        ('{"name": "get", "name": "craft"}', "a name stands in it twice"),
        ('{"name": "get", "arguments": {"count": NaN}}', "NaN is no number"),
        ('{"name": "get", "arguments": [1]}', "its arguments must be a JSON object"),
        ('{"name": "get", "arguments": "{"}', "its arguments are not JSON"),
        ('{"action": "get"}', 'has no "name"'),
        (GET.replace("1", "0"), "`count` must be at least 1, not 0"),
        (GET.replace('"item"', '"thing"'), "`item` is missing"),
        ('{"a":' * 5000, "cannot be read"),
        ("", "the answer is empty"),
    ],
)
def test_anything_but_one_json_call_is_malformed_with_its_reason(text, reason):
    found = read(text, JSON)
    assert found.action is None
    assert reason in found.reason


@pytest.mark.parametrize(
    "text",
    [
        '```python\nget(1, "oak logs")\n```',
        'I need logs.\n\n```py\nget(count=1, item="oak logs")  # once\n```',
        "```\nget(1, item='oak ' 'logs')\n```",
        'get(1, "oak logs")',
        '`get(1, "oak logs")`',
        '```python get(1, "oak logs")```',
        'I need logs.\nget(1, "oak logs")',
        'get(\n  count=1,\n  item="oak logs",\n)',
        '```python\nget(1, "oak logs")',
        '```python\r\nget(1, "oak logs")\r\n```',
    ],
)
def test_one_python_call_is_the_call(text):
    assert read(text, CODE).action == TAKEN


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("I need logs.", "there is no call; answer with one Python call"),
        ("```python\n```", "there is no call"),
        ("```python\ninventory()\ninventory()\n```", "there are 2 statements"),
        ("```python\ninventory()\n```\n```python\ninventory()\n```", "there are 2 blocks of code"),
        ("inventory()\ninventory()", "there are 2 calls"),
        ("```python\nx = inventory()\n```", "one call of a function and nothing else"),
        ("```python\nimport os\n```", "one call of a function and nothing else"),
        ("```python\nos.system('ls')\n```", "one call of a function and nothing else"),
        ("```python\nprint(inventory())\n```", 'there is no function "print"'),
        ("```python\nget(1 + 1, 'x')\n```", "`count` must be a plain value"),
        ("```python\nget(1, f'{x}')\n```", "`item` must be a plain value"),
        ("```python\nget(1, open('/etc/passwd').read())\n```", "`item` must be a plain value"),
        ("```python\nget(1, b'x')\n```", "`item` must be a plain value"),
        ("```python\nget(1e999, 'x')\n```", "`count` must be a plain value"),
        ("```python\nget(1, 'x', 2)\n```", "takes at most 2 arguments, not 3"),
        ("```python\nget(1, count=1)\n```", "`count` is given twice"),
        ("```python\nget(**{'count': 1})\n```", "** cannot be used"),
        ("```python\nget(*[1, 2])\n```", "must be a plain value"),
        ("```python\nget(-1, 'x')\n```", "`count` must be at least 1, not -1"),
        ("```python\nget(1, 'x\n```", "the code is not Python"),
        ("```python\nget(1, " + "[" * 50 + "]" * 50 + ")\n```", "nested too deeply"),
        ("```python\nget(" + "(" * 5000 + "\n```", "the code is not Python"),
        ("```python\nget(" + "9" * 5000 + ", 'x')\n```", "the code is not Python"),
        ("```python\nget(1, '" + "x" * 20_000 + "')\n```", "more than 16384 characters"),
        ("```python\nget(1, 'a\0b')\n```", "the code is not Python"),
    ],
)
def test_anything_but_one_python_call_is_malformed_with_its_reason(text, reason):
    found = read(text, CODE)
    assert found.action is None
    assert reason in found.reason


@pytest.mark.parametrize(("format", "text"), [(JSON, GET[:-5]), (CODE, "```python\nget(1, 'oak")])
def test_a_call_that_the_length_limit_cut_says_so(format, text):
    assert "; the answer was cut off at the length limit" in parse(text, format, cut=True, functions=CRAFT).reason


def test_a_whole_call_that_the_length_limit_ended_is_made():
    assert parse(GET, JSON, cut=True, functions=CRAFT).action == TAKEN


def test_an_escape_that_python_warns_of_is_no_warning_here():
    assert read("```python\nget(1, '\\d')\n```", CODE).action == "get 1 \\d"


@pytest.mark.parametrize("format", [JSON, CODE], ids=lambda f: f.name)
@pytest.mark.parametrize("action", [TAKEN, "inventory", "craft 4 stick using 2 oak planks", 'get 2 it\'s "odd"\n\\n'])
def test_an_action_written_as_a_call_is_read_back(format, action):
    assert read(written(action, format, CRAFT), format).action == action


def test_an_action_that_no_function_makes_cannot_be_written():
    with pytest.raises(BadCall, match="no call of get, inventory, craft makes the action 'jump'"):
        written("jump", JSON, CRAFT)


PIECES = st.lists(
    st.sampled_from(
        ['{"', "name", '": ', '"get"', "{", "}", "get(", ")", "1", "```python\n", "```", "\n", ",", "[", "'", "\\"]
    )
    | st.text(max_size=3),
    max_size=12,
).map("".join)


@pytest.mark.parametrize("format", [JSON, CODE], ids=lambda f: f.name)
@given(text=PIECES)
def test_no_text_breaks_the_readers(format, text):
    found = read(text, format)
    assert (found.action is None) != (found.reason is None)


@pytest.mark.parametrize("format", [JSON, CODE], ids=lambda form: form.name)
@pytest.mark.parametrize("before", ["", "```", "```python\n", "{", "get("])
@pytest.mark.parametrize("run", [" ", "\t", "\n", "`", "(", "[", "{", '"', "\\", "*", "get("])
def test_no_text_takes_long_to_read(run, before, format):
    text = before + run * (60_000 // len(run)) + "x"
    start = time.process_time()
    read(text, format)
    assert time.process_time() - start < 2.0
