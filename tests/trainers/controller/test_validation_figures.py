"""The figures of a validation, and which checkpoint they make the best."""

import pytest
from rollout_records import coin_refs, coin_room, phase, played

from agentenv.intervals import wilson
from trainers.validate import figures, validation_places


def test_rates_are_over_valid_episodes_with_their_interval():
    found = figures(
        [coin_room()],
        phase(
            played(0), played(1), played(2, outcome="failure", rewards=(0.0,)), played(3, outcome="context_full"),
            played(4, outcome="env_error"), cancelled=1,
        ),
        places=6,
    )  # fmt: skip
    assert (found["validation/episodes"], found["validation/invalid"]) == (4.0, 2.0)
    assert found["validation/success"] == 0.5
    interval = wilson(2, 4)
    assert (found["validation/success_low"], found["validation/success_high"]) == (interval.low, interval.high)
    assert found["validation/reward"] == pytest.approx(0.75)


def test_several_environments_count_alike_whatever_their_size():
    rooms = [coin_room(), coin_room("coin_2")]
    found = figures(rooms, phase(played(0), played(1), played(2), played(3, outcome="failure", env=1)), places=4)
    assert found["validation/success"] == 0.5
    assert found["validation/coin_2/success"] == 0.0
    assert "validation/success_low" not in found, "a mean of means has no such interval"


def test_without_a_valid_episode_of_every_environment_there_is_no_mean():
    rooms = [coin_room(), coin_room("coin_2")]
    found = figures(rooms, phase(played(0), played(1, outcome="infra_lost", env=1)), places=2)
    assert "validation/success" not in found
    assert found["validation/coin/success"] == 1.0
    assert figures([coin_room()], phase(), places=3) == {"validation/episodes": 0.0, "validation/invalid": 3.0}


def test_each_held_out_task_is_played_once():
    rooms = [coin_room(), coin_room("coin_2")]
    rooms[0].validation, rooms[1].validation = coin_refs()[:3], coin_refs()[3:5]
    places = validation_places(rooms)
    assert [(p.slot.env, p.slot.task.index, p.slot.group, p.member) for p in places] == [
        (0, 0, 0, 0), (0, 1, 1, 0), (0, 2, 2, 0), (1, 3, 3, 0), (1, 4, 4, 0),
    ]  # fmt: skip
