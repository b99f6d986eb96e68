"""The reference's ids lead to tasks of ours."""

import pytest

from agentenv.errors import UnknownTask
from envservers.embodied.alfworld.reference import place_of
from envservers.embodied.alfworld.tasks import table


@pytest.mark.parametrize(
    ("item", "place"),
    [(0, ("train", 0)), (2_419, ("train", 2_419)), ("alfworld_2420", ("test", 0)), ("2619", ("test", 199))],
)
def test_numbers_go_on_from_train_to_test(item, place):
    assert place_of(item) == place


def test_every_game_of_ours_is_found_by_its_name_with_slash_or_underscore():
    for split, rows in table().items():
        for index in range(0, len(rows), 97):
            assert place_of(rows[index].game) == (split, index)
            assert place_of(rows[index].game.replace("/", "_")) == (split, index)


def test_a_game_of_the_original_stands_for_a_task_of_its_template():
    split, index = place_of("look_at_obj_in_light-AlarmClock-None-DeskLamp-301_trial_T20190907_174127_043461")
    assert str(table()[split][index].template) == "look_at_obj_in_light-AlarmClock-None-DeskLamp"


@pytest.mark.parametrize(
    "item", [2_620, -1, "", "alfworld", "alfworld_", "9" * 40, "pick_up-Mug-None-Moon-1/trial_1", "x" * 9_999]
)
def test_other_ids_are_refused_by_name(item):
    with pytest.raises(UnknownTask, match="ids are 0 to 2619"):
        place_of(item)
