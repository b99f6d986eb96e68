"""What two runs must have in common to be compared."""

import pytest
from made_rows import run_rows

from evals.statistics.claims import differences

ONCE = [(1, 1), (0, 1)]


def run(**changes):
    return run_rows("a", ONCE, **changes)[0][0]


def test_runs_that_measured_the_same_differ_in_nothing():
    assert differences(run(), run(id="other")) == []


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"version": "2"}, "coin version: 1 and 2"),
        ({"tasks_digest": "e"}, "coin tasks_digest: d and e"),
        ({"options": {"engine": "lite"}}, "coin options: {} and {'engine': 'lite'}"),
        ({"max_steps": 5}, "coin max_steps: 9 and 5"),
        ({"split": "dev"}, "coin split: test and dev"),
        ({"changes": {"suite_hash": "6" * 64}}, "suite s (55555555) and s (66666666)"),
        ({"changes": {"suite_data": {"metric": "mean_score"}}}, "metric success and mean_score"),
    ],
)
def test_whatever_makes_it_another_measurement_is_named(change, text):
    assert differences(run(), run(**change)) == [text]


def test_envs_of_one_side_alone_are_named():
    both = run_rows("b", {"coin": ONCE, "dice": ONCE})[0][0]
    assert differences(both, run()) == ["dice: only A played it"]
    assert differences(run(), both) == ["dice: only B played it"]
