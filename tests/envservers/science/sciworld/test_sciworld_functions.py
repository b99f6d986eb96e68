import pytest

from envservers.science.sciworld.functions import FUNCTIONS, LONGEST_TEXT, NAMES, spoken


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("look_around", "look around"),
        ("pick_up thermometer", "pick up thermometer"),
        ("go_to kitchen", "go to kitchen"),
        ("focus_on substance in metal pot", "focus on substance in metal pot"),
        ("connect battery anode to red wire terminal 1", "connect battery anode to red wire terminal 1"),
        ("choose 2", "2"),
        ("wait1", "wait1"),
        ("reset_task", "reset task"),
        ("Look_Around", "Look Around"),
    ],
)
def test_a_functions_name_and_argument_become_the_simulators_text(call, text):
    assert spoken(call) == text


@pytest.mark.parametrize("text", ["look around", "0", "", "choose the cup", "no_such_function x", "wait", "GO kitchen"])
def test_any_other_text_stays_as_it_is(text):
    assert spoken(text) == text


def test_blanks_become_one_marks_around_go_and_a_long_text_is_cut():
    for text in ("look around.", '"look around"', "`look around`", "“look around”!"):
        assert spoken(text) == "look around"
    assert spoken("  open \n\t door  to kitchen ") == "open door to kitchen"
    assert len(spoken("look around " + "x" * 60_000)) == LONGEST_TEXT


def test_every_function_has_at_most_one_argument_which_is_required():
    assert {f["name"] for f in FUNCTIONS} == NAMES
    for function in FUNCTIONS:
        parameters = function["parameters"]
        assert list(parameters["properties"]) == parameters["required"]
        assert len(parameters["required"]) <= 1
