"""The table of tasks: how many, of what, and that no split knows another's puzzles."""

import subprocess
import sys
from collections import Counter
from dataclasses import replace

import pytest

from agentenv.errors import EnvUnavailable
from agentenv.protocol import UNPROVEN
from envservers.embodied.babyai.canonical import canonical_digest
from envservers.embodied.babyai.layout import Layout
from envservers.embodied.babyai.levels import LEVELS, REFERENCE
from envservers.embodied.babyai.tasks import (
    difficulty,
    facts,
    make_tasks,
    step_limit,
    table,
)

OURS = {"train": 10_000, "dev": 400, "test": 400, "test_ood": 400}


def levels(use):
    return {level.name for level in LEVELS.values() if level.use == use}


def test_the_splits_have_their_sizes():
    tasks = pytest.importorskip("minigrid") and make_tasks({})
    assert {split: tasks.count(split) for split in tasks.splits()} == {**OURS, "agentgym": 4_000}


def test_there_are_more_than_forty_levels_in_every_split_that_learns_or_tests():
    assert len(LEVELS) == 96
    for split in ("dev", "test"):
        assert {row.level for row in table()[split]} == levels("all")
    learned = {row.level for row in table()["train"]}
    assert levels("all") < learned <= levels("all") | levels("train")
    assert {row.level for row in table()["test_ood"]} == levels("held_out")
    assert len(levels("held_out")) >= 0.2 * (len(levels("all")) + len(levels("held_out")))


def test_levels_have_equal_shares_as_far_as_their_puzzles_go():
    for split in ("dev", "test", "test_ood"):
        counts = Counter(row.level for row in table()[split]).values()
        assert max(counts) - min(counts) <= 1, split
    counts = Counter(row.level for row in table()["train"])
    most = max(counts.values())
    assert sum(count >= most - 1 for count in counts.values()) >= 0.9 * len(counts)


def test_any_stretch_of_a_split_is_a_mix_of_levels():
    for split in OURS:
        first = [row.level for row in table()[split][:20]]
        assert len(set(first)) == 20


def test_no_puzzle_comes_twice_whatever_its_split_level_and_colors():
    counts = Counter(row.digest for split in OURS for row in table()[split])
    assert [digest for digest, count in counts.items() if count > 1] == []
    assert not counts.keys() & {row.digest for row in table()["agentgym"]}


def test_every_task_of_ours_has_a_solution_and_the_difficulties_are_spread():
    for split in OURS:
        rows = table()[split]
        assert all(row.steps > 0 for row in rows)
        grades = Counter(difficulty(row.steps) for row in rows)
        assert len(grades) >= 4
        assert max(grades.values()) <= 0.4 * len(rows), (split, grades)


def test_ids_of_the_reference_are_level_and_seed():
    tasks = pytest.importorskip("minigrid") and make_tasks({})
    assert len(REFERENCE) == 40
    for i in (0, 1, 39, 40, 45, 3_999):
        task = tasks.get("agentgym", i)
        assert (task.template, task.seed) == (REFERENCE[i % 40].name, i // 40)
    names = [level.name for level in REFERENCE]
    assert (names[0], names[3], names[39]) == ("GoToRedBallGrey", "GoToObjS4", "BossLevelNoUnlock")


def test_only_the_reference_keeps_tasks_without_a_solution_and_flags_them():
    tasks = pytest.importorskip("minigrid") and make_tasks({})
    flagged = [t for t in (tasks.get("agentgym", i) for i in range(4_000)) if t.category == UNPROVEN]
    assert flagged
    assert {task.difficulty for task in flagged} == {0}
    assert facts()["unproven"] == {**dict.fromkeys(OURS, 0), "agentgym": len(flagged)}


@pytest.mark.parametrize(("steps", "grade"), [(0, 0), (1, 1), (2, 2), (4, 2), (5, 3), (21, 5)])
def test_the_difficulty_is_the_length_of_the_solution(steps, grade):
    assert difficulty(steps) == grade


def test_a_task_allows_twice_its_solution_and_four_more_and_the_reference_its_twenty_rounds():
    assert (step_limit("test", 1), step_limit("train", 30)) == (6, 64)
    assert (step_limit("agentgym", 0), step_limit("agentgym", 1), step_limit("agentgym", 30)) == (20, 20, 64)


def test_tasks_are_light():
    code = (
        "import sys\n"
        "from envservers.embodied.specs import SPECS\n"
        "tasks = SPECS[0].task_set()\n"
        "tasks.get('train', 0)\n"
        "print(sorted({'minigrid', 'numpy', 'pygame'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "[]\n", done.stderr


def test_without_minigrid_the_command_that_installs_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "minigrid", None)
    with pytest.raises(EnvUnavailable, match=r"pip install 'agentenv-gym\[embodied\]'"):
        make_tasks({})


class TestWorlds:
    """The table against minigrid."""

    @pytest.fixture(autouse=True)
    def _needs_minigrid(self):
        pytest.importorskip("minigrid")

    @pytest.mark.parametrize("split", [*OURS, "agentgym"])
    def test_rows_are_what_the_generator_makes(self, split):
        from envservers.embodied.babyai.make_tasks import make_row

        rows = table()[split]
        for row in rows[:: len(rows) // 12]:
            assert make_row(row.level, row.seed) == row

    def test_what_has_no_solution_is_proved_to_have_none(self):
        from envservers.embodied.babyai.generate import make_layout
        from envservers.embodied.babyai.possible import is_possible

        unsolved = [row for row in table()["agentgym"] if row.steps == 0]
        assert [row for row in unsolved[::5] if is_possible(make_layout(row.level, row.seed))] == []

    def test_the_canonical_form_sees_through_turns_mirrors_and_colors(self):
        from envservers.embodied.babyai.generate import make_layout

        layout = make_layout("PickupLoc", 2)
        assert canonical_digest(turned(layout)) == canonical_digest(layout)
        assert canonical_digest(mirrored(layout)) == canonical_digest(layout)
        assert canonical_digest(recolored(layout)) == canonical_digest(layout)
        others = {canonical_digest(make_layout("PickupLoc", seed)) for seed in range(20)}
        assert len(others) == 20


def turned(layout: Layout) -> Layout:
    """The same world, seen with another side up."""
    height = len(layout.rows)

    def turn(place):
        return None if place is None else (height - 1 - place[1], place[0])

    return replace(
        layout,
        rows=tuple("".join(column) for column in zip(*layout.rows[::-1], strict=True)),
        items=tuple(replace(item, at=turn(item.at)) for item in layout.items),
        start=turn(layout.start),
        heading=(layout.heading + 1) % 4,
    )


def mirrored(layout: Layout) -> Layout:
    """Left and right exchanged."""
    width = len(layout.rows[0])

    def mirror(place):
        return None if place is None else (width - 1 - place[0], place[1])

    swapped = layout.goal.replace("left", "RIGHT").replace("right", "left").replace("RIGHT", "right")
    return replace(
        layout,
        rows=tuple(row[::-1] for row in layout.rows),
        items=tuple(replace(item, at=mirror(item.at)) for item in layout.items),
        start=mirror(layout.start),
        heading=(2 - layout.heading) % 4,
        goal=swapped,
    )


def recolored(layout: Layout) -> Layout:
    """Every color another one."""
    names = ["blue", "green", "grey", "purple", "red", "yellow"]
    other = dict(zip(names, names[1:] + names[:1], strict=True))
    words = [other.get(word, word) for word in layout.goal.split(" ")]
    return replace(layout, items=tuple(replace(i, color=other[i.color]) for i in layout.items), goal=" ".join(words))
