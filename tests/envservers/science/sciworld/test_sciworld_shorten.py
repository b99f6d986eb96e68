import pytest

from envservers.science.sciworld.shorten import WAIT, shortened

LOOK = "look at inclined plane with a lead surface"


def moments(actions) -> int:
    return sum(WAIT if action == "wait" else 1 for action in actions)


@pytest.mark.parametrize("count", [1, 2, 11, 12, 23, 24, 707])
def test_as_much_time_passes_and_the_last_look_stays(count):
    long = ["open door", *[LOOK] * count, "focus on it"]
    short = shortened(long)
    assert (short[0], short[-2], short[-1]) == ("open door", LOOK, "focus on it")
    assert moments(short) == moments(long)
    assert len(short) <= count // WAIT + WAIT + 2


def test_other_actions_and_looks_that_take_turns_stay():
    actions = (*["wait1"] * 30, *["examine pot", "use thermometer on pot"] * 30)
    assert shortened(actions) == actions


@pytest.mark.slow
def test_a_long_solution_still_succeeds_by_fewer_steps(pool):
    kind, variation = "inclined-plane-friction-named-surfaces", 1133
    actions = pool.solution(kind, variation, "")
    assert len(actions) < 150
    world = pool.load(kind, variation, "")
    assert [world.step(action) for action in ("look around", *actions)][-1].score == 100
