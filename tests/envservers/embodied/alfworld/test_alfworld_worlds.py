"""What makes the households worth searching."""

import re
from collections import Counter

import pytest

from envservers.embodied.alfworld.catalogue import TREATED_AT, chores, thing_kinds
from envservers.embodied.alfworld.generate import canonical_digest, make_house
from envservers.embodied.alfworld.house import satisfied
from envservers.embodied.alfworld.solution import solution
from envservers.embodied.alfworld.words import PUT


def test_no_kind_of_thing_is_in_its_likeliest_receptacle_more_than_35_percent_of_the_time(homes):
    for splits in (["train"], ["dev", "test", "test_unseen", "test_ood"]):
        counts = {}
        for split in splits:
            for _, home in homes[split]:
                for kind, place in zip(home.thing_kinds, home.start.where, strict=True):
                    counts.setdefault(kind, Counter())[home.place_kinds[place]] += 1
        shares = {kind: max(found.values()) / found.total() for kind, found in counts.items()}
        assert shares.keys() == thing_kinds().keys()
        assert {kind: share for kind, share in shares.items() if share > 0.35} == {}


def test_in_a_fifth_of_the_tasks_another_one_lies_in_the_goal_s_place_and_does_not_count(homes):
    for split, pairs in homes.items():
        decoys = 0
        for row, home in pairs:
            assert not satisfied(home, home.start)
            lying = zip(home.thing_kinds, home.start.where, strict=True)
            decoys += any(
                kind == row.template.thing and home.place_kinds[place] == row.template.place for kind, place in lying
            )
        assert decoys >= 0.2 * len(pairs), split


def test_households_are_what_the_table_says(homes):
    for pairs in homes.values():
        for row, home in pairs[:: max(1, len(pairs) // 100)]:
            assert canonical_digest(home) == row.digest
            assert len(solution(home, home.start, put=PUT["put"])) == row.steps


def test_the_numbers_of_things_tell_nothing_of_their_places():
    counts = Counter()
    for seed in range(400):
        home = make_house_of("pick_clean_then_place_in_recep", "mug", "cabinet", 8, seed)
        for name, place in zip(home.things, home.start.where, strict=True):
            if name in ("mug 1", "mug 2"):
                counts[name, home.place_kinds[place] == "cabinet"] += 1
    ones, twos = counts["mug 1", True] / 400, counts["mug 2", True] / (counts["mug 2", True] + counts["mug 2", False])
    assert counts["mug 1", True] > 50
    assert abs(ones * 400 / (counts["mug 1", True] + counts["mug 1", False]) - twos) < 0.15


def make_house_of(chore, thing, place, room, seed):
    from envservers.embodied.alfworld.catalogue import Template

    return make_house(Template(chore=chore, thing=thing, place=place), room, seed)


def test_every_chore_is_told_in_six_ways_of_which_two_are_held_out(homes):
    for name, chore in chores().items():
        assert (len(chore.said), len(chore.held_out)) == (4, 2), name
        assert len(set(chore.said + chore.held_out)) == 6
    for split, pairs in homes.items():
        for row, home in pairs:
            about = chores()[row.template.chore]
            said = about.held_out if split == "test_ood" else about.said
            filled = [words.format(thing=row.template.thing, place=row.template.place) for words in said]
            assert home.goal in filled
    told = Counter(home.goal.split(" ")[0] for _, home in homes["train"])
    assert len(told) > 10


TREATED_WORDS = {
    "clean": {"clean", "wash", "cleaning", "rinsed", "washed"},
    "heat": {"hot", "heat", "warm", "heating", "steaming"},
    "cool": {"cool", "chill", "cooling", "chilled", "cold"},
}


def test_the_goal_s_words_and_its_test_agree(homes):
    for pairs in homes.values():
        for row, home in pairs:
            words = set(re.findall(r"\w+", home.goal))
            assert {row.template.thing, row.template.place} <= words
            spoken = {verb for verb, some in TREATED_WORDS.items() if words & some}
            assert spoken == ({row.template.treatment} - {""}), home.goal
            two = bool(words & {"two", "pair"}) or ("one" in words and "another" in words)
            assert two == (row.template.chore == "pick_two_obj_and_place"), home.goal


def test_the_two_first_phrasings_are_the_reference_s():
    first = {name: chore.said[:2] for name, chore in chores().items()}
    assert first["pick_clean_then_place_in_recep"] == (
        "put a clean {thing} in {place}.",
        "clean some {thing} and put it in {place}.",
    )
    assert first["look_at_obj_in_light"] == (
        "look at {thing} under the {place}.",
        "examine the {thing} with the {place}.",
    )


@pytest.mark.parametrize("verb", TREATED_AT)
def test_what_is_asked_for_can_be_done(homes, verb):
    for pairs in homes.values():
        for row, home in pairs:
            if row.template.treatment == verb:
                assert verb in thing_kinds()[row.template.thing].can
                assert TREATED_AT[verb] in home.place_kinds
