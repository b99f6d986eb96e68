"""Automatic tags: each for what it says and for nothing else."""

import pytest
from made_pages import WAYS, model_turn, turns_of

from agentenv.trajectory import Turn
from evals.store.records import turn_values
from evals.web.tags import EARLY, INVALID, PARSE, REPEATED, of_row, of_turns, refusal, repeats


def rows(turns: list[Turn]) -> list[dict]:
    return [turn_values(turn)[0] for turn in turns]


@pytest.mark.parametrize(
    ("way", "tags"), [("solves", set()), ("repeats", {REPEATED}), ("chatters", set()), ("refused", {INVALID})]
)
def test_turns_are_tagged_from_their_rows(way: str, tags: set[str]):
    assert way in WAYS
    assert of_turns(rows(turns_of(way))) == tags


@pytest.mark.parametrize(
    ("actions", "found"), [("aab", False), ("aaa", True), ("abaaa", True), ("aabaa", False), ("", False)]
)
def test_the_same_action_three_times_is_three_in_a_row(actions: str, found: bool):
    assert repeats(actions) is found


def test_an_action_is_invalid_where_the_env_says_so_or_did_not_offer_it():
    assert refusal({"refused": "no such verb"}, "fly", None) == "no such verb"
    assert refusal({"refused": True}, "fly", None) == "refused"
    assert refusal({"error": "timeout"}, "fly", None) == "timeout"
    assert refusal({"error": "", "refused": False}, "fly", None) is None
    assert refusal({}, "fly", ["go"]) == "not among the offered actions"
    assert refusal({}, "go", ["go"]) is None


def test_a_refusal_that_only_a_model_speaks_of_is_none():
    turn = Turn(
        observation='{"refused": "yes"}', action='{"error": 1}', reward=0.0,
        messages=[{"role": "assistant", "content": '"refused": "x"'}],
    )  # fmt: skip
    assert of_turns(rows([turn, model_turn(1, action="go")])) == set()


def test_a_parse_failure_is_not_an_invalid_action_too():
    assert of_turns(rows([model_turn(0, action="x", malformed="no", refused="no action")])) == set()


@pytest.mark.parametrize(
    ("changes", "early"),
    [
        ({}, True),
        ({"success": True, "outcome": "success"}, False),
        ({"steps": 5}, False),
        ({"steps": 4}, True),
        ({"outcome": "step_limit"}, False),
        ({"outcome": "time_limit"}, False),
        ({"outcome": "agent_error"}, True),
        ({"outcome": "env_error", "valid": False}, False),
        ({"max_steps": 0}, False),
    ],
)
def test_stopped_early_is_without_success_before_half_of_the_steps(changes: dict, early: bool):
    facts = {"outcome": "failure", "valid": True, "success": False, "steps": 3, "malformed": 0, "max_steps": 10}
    assert (EARLY in of_row(**{**facts, **changes})) is early
    assert PARSE in of_row(**{**facts, "malformed": 1})
