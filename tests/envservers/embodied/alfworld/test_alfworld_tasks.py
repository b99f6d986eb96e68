"""The table of tasks: how many, of what, and what no split knows of another."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from agentenv.protocol import digest_of
from envservers.embodied.alfworld.catalogue import Template, chores, is_unseen, room_types, templates
from envservers.embodied.alfworld.generate import places_of
from envservers.embodied.alfworld.make_tasks import COUNTS, draw
from envservers.embodied.alfworld.spec import SPEC
from envservers.embodied.alfworld.tasks import difficulty, facts, make_tasks, table

GOLDEN = {
    "train": "3d11eee16e31d72a",
    "dev": "00a04dc8cec3fab4",
    "test": "37a05f81bac359e3",
    "test_unseen": "9a8fe79979d21917",
    "test_ood": "87fa5ed804f82fc9",
}
"""Over the digests of all tasks of a split."""


def digests(split):
    tasks = make_tasks({})
    return digest_of([tasks.get(split, index).digest for index in range(tasks.count(split))])[:16]


@pytest.mark.parametrize("split", COUNTS)
def test_the_tasks_are_the_ones_that_are_known(split):
    assert digests(split) == GOLDEN[split]


def test_the_splits_have_their_sizes():
    tasks = make_tasks({})
    assert {split: tasks.count(split) for split in tasks.splits()} == COUNTS
    assert tasks.splits()[0] == "train"


def test_the_table_is_what_the_generator_draws():
    drawn = draw("train", 60, set())
    assert list(drawn) == list(table()["train"][:60])


def test_no_puzzle_comes_twice_whatever_its_split_and_numbers():
    counts = Counter(row.digest for rows in table().values() for row in rows)
    assert [digest for digest, count in counts.items() if count > 1] == []


def test_rooms_of_test_unseen_and_test_ood_are_seen_nowhere_else():
    for split, rows in table().items():
        assert {is_unseen(row.room) for row in rows} == {split in ("test_unseen", "test_ood")}
    assert sum(is_unseen(room) for type_ in room_types().values() for room in range(type_.first, type_.last + 1)) == 24


def test_rooms_of_one_type_are_laid_out_differently():
    for type_ in room_types().values():
        layouts = [places_of(room) for room in range(type_.first, type_.last + 1)]
        assert len(set(layouts)) >= 0.9 * len(layouts)


def test_a_fifth_of_the_templates_is_in_test_ood_alone():
    used = {split: {row.template for row in rows} for split, rows in table().items()}
    others = set().union(*(used[split] for split in used if split != "test_ood"))
    assert not used["test_ood"] & others
    assert len(used["test_ood"]) >= 0.2 * len(used["test_ood"] | others)


def test_pairs_of_test_ood_are_held_out_whatever_the_chore():
    pairs = {split: {(row.template.thing, row.template.place) for row in rows} for split, rows in table().items()}
    for split in ("train", "dev", "test", "test_unseen"):
        assert not pairs["test_ood"] & pairs[split]


def test_chores_take_turns():
    for rows in table().values():
        assert {row.template.chore for row in rows[:6]} == set(chores())
        counts = Counter(row.template.chore for row in rows).values()
        assert max(counts) - min(counts) <= 1


def test_the_difficulties_are_spread():
    for split, rows in table().items():
        grades = Counter(difficulty(row.steps) for row in rows)
        assert len(grades) == 5
        assert max(grades.values()) <= 0.4 * len(rows), (split, grades)


@pytest.mark.parametrize(("steps", "grade"), [(3, 1), (6, 1), (7, 2), (9, 2), (10, 3), (13, 3), (18, 4), (19, 5)])
def test_the_difficulty_is_the_length_of_the_solution(steps, grade):
    assert difficulty(steps) == grade


def test_templates_are_named_as_the_reference_names_them():
    template = Template(chore="pick_clean_then_place_in_recep", thing="mug", place="coffeemachine")
    assert str(template) == "pick_clean_then_place_in_recep-Mug-None-CoffeeMachine"
    for chore, about in chores().items():
        for room in about.rooms:
            assert all(Template.read(str(template)) == template for template in templates(chore, room))


def test_no_chore_is_done_by_treating_a_thing_in_its_goal():
    for chore, place in (("heat", "microwave"), ("cool", "fridge"), ("clean", "sinkbasin")):
        found = templates(f"pick_{chore}_then_place_in_recep", "kitchen")
        assert found
        assert place not in {template.place for template in found}


def test_the_card_tells_rooms_and_their_types():
    told = facts()
    assert told["rooms"] == {"train": 96, "dev": 73, "test": 74, "test_unseen": 23, "test_ood": 24}
    assert {split: sum(types.values()) for split, types in told["tasks_by_room_type"].items()} == {
        split: len(rows) for split, rows in table().items()
    }


def test_tasks_are_light():
    code = (
        "import sys\n"
        "from envservers.embodied.alfworld.spec import SPEC\n"
        "SPEC.task_set().get('train', 0)\n"
        "print(sorted({'envservers.embodied.alfworld.env', 'minigrid', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=False)
    assert done.stdout == "[]\n", done.stderr
    assert SPEC.extra == ""


def test_the_page_tells_the_table_s_figures():
    page = Path(__file__).parents[4] / "docs" / "envs" / "alfworld.md"
    lines = page.read_text(encoding="utf-8").splitlines()
    told = facts()
    for split, rows in table().items():
        grades = Counter(difficulty(row.steps) for row in rows)
        assert f"| {split} | {' | '.join(f'{grades[grade]:,}' for grade in range(1, 6))} |" in lines
        start = f"| {split} | {len(rows):,} | {told['rooms'][split]} "
        assert [line for line in lines if line.startswith(start) and f"| {len({row.template for row in rows})}" in line]
