"""The table of tasks: counts, what is held out, levels, and that no split asks what another one asks."""

from collections import Counter

import pytest

from agentenv.protocol import canonical_json, digest_of
from envservers.tools.todo.cases import HELD_OUT_PHRASINGS, case, phrasings
from envservers.tools.todo.make_tasks import rows
from envservers.tools.todo.script import TEMPLATES
from envservers.tools.todo.spec import SPEC
from envservers.tools.todo.state import State
from envservers.tools.todo.tasks import canonical_task, table
from envservers.tools.todo.world import names, world
from envservers.tools.toolkit.table import action_of

TASKS = SPEC.task_set()
SPLITS = ("train", "dev", "test", "test_ood")
GOLDEN = {
    "train": "d0bd966b5d86a8f9",
    "dev": "65175b196fe4c74c",
    "test": "7fdd0a2f607fd5d5",
    "test_ood": "cf13db4fc6da9bf1",
}


def all_of(split):
    return [TASKS.get(split, index) for index in range(TASKS.count(split))]


def test_counts():
    assert {split: TASKS.count(split) for split in TASKS.splits()} == {
        "train": 300,
        "dev": 50,
        "test": 50,
        "test_ood": 50,
    }


AMBIGUOUS = ("(s)", "most of the open tasks", "due date back", "has to do today", "owes today")


def test_no_goal_has_words_of_two_meanings():
    """Most of some things are the most of all or over a half; what is to be done today may be overdue."""
    goals = [case(task.payload).goal for split in SPLITS for task in all_of(split)]
    assert not [(words, goal) for goal in goals for words in AMBIGUOUS if words in goal]


def test_one_day_is_no_days():
    goals = [case(task.payload).goal for split in SPLITS for task in all_of(split) if task.template == "postpone_today"]
    assert goals
    assert not [goal for goal in goals if " 1 days" in goal or " day" not in goal]


def test_no_two_tasks_of_any_splits_ask_the_same():
    found = [canonical_json(canonical_task(task)) for split in SPLITS for task in all_of(split)]
    assert len(set(found)) == len(found)


def test_held_out_templates_phrasings_and_names_are_in_test_ood_alone():
    held_out = {name for name, template in TEMPLATES.items() if template.held_out}
    assert len(TEMPLATES) >= 30
    assert len(held_out) >= 0.2 * len(TEMPLATES)
    for split in SPLITS:
        for row in table()[split]:
            strange = row.phrasing >= len(phrasings()[TEMPLATES[row.template].phrasings]) - HELD_OUT_PHRASINGS
            assert (row.pool == "held_out") == strange == (split == "test_ood"), row
            assert split == "test_ood" or row.template not in held_out, row
    assert held_out <= {row.template for row in table()["test_ood"]}
    main, strange = (pool_words(pool) for pool in ("main", "held_out"))
    assert main & strange == set()


def pool_words(pool):
    found = names()[pool]
    themes = [name for theme in found["themes"] for name in (*theme["projects"], *theme["sections"], *theme["tasks"])]
    return {*found["cities"], *found["people"]["first"], *found["people"]["last"], *found["labels"], *themes}


def test_every_template_has_five_phrasings_of_the_same_slots():
    assert set(phrasings()) == {template.phrasings for template in TEMPLATES.values()}
    for name, words in phrasings().items():
        assert len(set(words)) == len(words) >= 5, name
        slots = [sorted({part.split("}")[0] for part in text.split("{")[1:]}) for text in words]
        assert all(one == slots[0] for one in slots), name


@pytest.mark.parametrize("split", SPLITS)
def test_four_levels_of_difficulty_none_with_more_than_two_fifths(split):
    counts = Counter(task.difficulty for task in all_of(split))
    assert set(counts) == {1, 2, 3, 4}
    assert max(counts.values()) <= 0.4 * TASKS.count(split)


@pytest.mark.parametrize("split", SPLITS)
def test_a_tenth_at_most_is_impossible_and_most_tasks_change_something(split):
    counts = Counter(TEMPLATES[task.template].category for task in all_of(split))
    assert 1 <= counts["impossible"] <= 0.1 * TASKS.count(split)
    assert counts["change"] + counts["many"] + counts["conditional"] >= 0.5 * TASKS.count(split)


def test_an_impossible_task_has_the_words_of_possible_ones():
    for template in TEMPLATES.values():
        if template.category == "impossible":
            assert TEMPLATES[template.phrasings].category != "impossible"
    assert "impossible" not in {task.category for split in SPLITS for task in all_of(split)}


@pytest.mark.parametrize("split", SPLITS)
def test_goals_worlds_and_solutions_are_the_same_bytes_as_ever(split):
    found = []
    for task in all_of(split):
        made = case(task.payload)
        found.append([task.id, task.digest, made.goal, made.answer, [*map(action_of, made.calls)], plain(made.start)])
    assert digest_of(found)[:16] == GOLDEN[split]


def plain(state: State):
    import msgspec

    return msgspec.to_builtins(state)


def test_worlds_have_near_namesakes_overdue_tasks_and_subtasks():
    for number in range(20):
        state = world(str(number), "main")
        project_names = [project.name for project in state.projects.values()]
        assert len(project_names) == len(set(project_names)) == 6
        contents = Counter(task.content for task in state.tasks.values())
        assert max(contents.values()) > 1
        assert any(task.parent_id for task in state.tasks.values())
        assert any(task.due_date and task.due_date < state.today for task in state.tasks.values())
        for project in state.projects:
            inside = [task.content for task in state.tasks.values() if task.project_id == project]
            assert len(inside) == len(set(inside))


@pytest.mark.slow
def test_the_table_is_the_one_that_its_program_writes():
    assert list(rows()) == [row for split in SPLITS for row in table()[split]]
