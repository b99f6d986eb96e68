"""How actions are read, and that calls and texts name the same ones."""

import time

import pytest

from envservers.shop.webshop.actions import Command, Verb, read_action
from envservers.shop.webshop.spec import SPEC


@pytest.mark.parametrize(
    ("text", "verb", "argument"),
    [
        ("click[size [large]]", "click", "size [large]"),
        ("search[red [dress] xl]", "search", "red [dress] xl"),
        ("click [buy now]", "click", "buy now"),
        ("Click[Buy Now]", "click", "Buy Now"),
        ("  search[a\n b ]  ", "search", "a b"),
        ("click[< Prev]", "click", "< Prev"),
        ("search[red shoes].", "search", "red shoes"),
    ],
)
def test_the_outermost_brackets_hold_the_argument(text, verb, argument):
    assert read_action(text) == Command(Verb(verb), argument)


@pytest.mark.parametrize(
    "text", ["", "click[]", "click[ ]", "buy", "search", "click[a", "search[a] click[b]", "click[a]\nclick[b]", "💥"]
)
def test_what_is_no_single_action_is_told_why(text):
    assert isinstance(read_action(text), str)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("search[shoes] and then click[B0A1B2C3D4]", "only one action a turn"),
        ("search[shoes] to see them", "nothing may stand before or behind it"),
        ("I will search[shoes]", "nothing may stand before or behind it"),
        ("search(shoes)", "what it is about stands in square brackets"),
        ("search[shoes", "its bracket is not closed"),
        ("think[of shoes]", "this is neither a search nor a click"),
    ],
)
def test_the_reason_fits_the_mistake(text, reason):
    assert read_action(text) == reason


@pytest.mark.parametrize("argument", ["size [large]", "Buy Now", "a ] b", "{x}", '"q"'])
def test_a_call_and_back_is_the_same_action(argument):
    for function in SPEC.functions:
        [name] = function["parameters"]["properties"]
        text = function["text"].format(**{name: argument})
        assert read_action(text) == Command(Verb(function["name"]), argument)


@pytest.mark.parametrize("before", ["", "search[x]", "click"])
@pytest.mark.parametrize("run", [" ", "\n", "[", "]", "] ", "search[", "click[", "search ", "."])
def test_no_action_takes_long_to_read(run, before):
    text = before + run * (60_000 // len(run)) + "x"
    start = time.process_time()
    read_action(text)
    assert time.process_time() - start < 2.0
