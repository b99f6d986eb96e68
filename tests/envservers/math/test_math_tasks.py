"""Which problems there are: how many, how hard, told how, and that no split knows another's."""

import json
import re
from collections import Counter
from fractions import Fraction
from math import prod

import pytest

from agentenv.protocol import digest_of
from envservers.math.make_tasks import TABLE, lines
from envservers.math.numbers import numbers_in
from envservers.math.spec import SPEC
from envservers.math.tasks import COUNTS, facts, table
from envservers.math.world.generate import make_problem
from envservers.math.world.language import HELD_OUT, asides, templates, words

GOLDEN = {
    "train": "b33a87f242c24cf5",
    "dev": "031f334bd6f88418",
    "test": "2ffa5ba8efbea989",
    "test_ood": "04c50621c8fbbc31",
}
"""Of all tasks of a split. They change with the generator, and its VERSION with them."""


@pytest.fixture(scope="module")
def tasks():
    found = SPEC.task_set()
    return {split: [found.get(split, index) for index in range(found.count(split))] for split in found.splits()}


def test_the_splits_have_their_sizes():
    found = SPEC.task_set()
    assert {s: found.count(s) for s in found.splits()} == {"train": 7_000, "dev": 500, "test": 1_000, "test_ood": 500}
    assert {split: len(rows) for split, rows in table().items()} == dict(COUNTS)


def test_the_tasks_are_byte_for_byte_the_ones_of_this_version(tasks):
    assert {split: digest_of([t.digest for t in some])[:16] for split, some in tasks.items()} == GOLDEN


def test_no_problem_comes_twice_in_any_split(tasks):
    seen = Counter(task.payload["canonical"] for some in tasks.values() for task in some)
    assert len(seen) == sum(COUNTS.values())


def test_the_table_is_what_its_program_writes():
    assert TABLE.read_text(encoding="utf-8") == "".join(f"{line}\n" for line in lines())


def test_a_problem_takes_two_to_eight_operations_and_grades_go_by_their_number(tasks):
    for some in tasks.values():
        for task in some:
            count = len(task.payload["steps"])
            assert 2 <= count <= 8
            assert task.difficulty == min(count - 1, 5)


@pytest.mark.parametrize("split", COUNTS)
def test_there_are_five_grades_and_none_has_over_forty_percent(tasks, split):
    grades = Counter(task.difficulty for task in tasks[split])
    assert set(grades) == {1, 2, 3, 4, 5}
    assert max(grades.values()) <= 0.4 * len(tasks[split])


@pytest.mark.parametrize("split", COUNTS)
def test_near_a_third_of_a_split_mentions_a_number_that_does_not_matter(tasks, split):
    share = sum(task.payload["aside"] for task in tasks[split]) / len(tasks[split])
    assert 0.3 <= share <= 0.35
    for task in tasks[split]:
        slots = Counter(Fraction(slot) for slot in slots_of(task))
        others = Counter(numbers_in(task.payload["question"]))
        others.subtract(slots)
        assert bool(+others) >= task.payload["aside"], task.id


def slots_of(task):
    return task.payload["canonical"].partition("(")[2].rstrip(")").split(", ")


def test_the_numbers_of_a_problem_are_in_its_text_and_the_answer_is_not(tasks):
    for some in tasks.values():
        for task in some:
            found = numbers_in(task.payload["question"])
            assert {Fraction(slot) for slot in slots_of(task)} <= set(found), task.id
            assert Fraction(task.payload["answer"]) not in found, task.id


def test_neither_the_sum_nor_the_product_of_all_numbers_is_the_answer(tasks):
    for task in tasks["test"] + tasks["test_ood"]:
        found, answer = numbers_in(task.payload["question"]), Fraction(task.payload["answer"])
        assert answer not in (sum(found), prod(found)), task.id


def test_every_step_is_worked_out_right_and_leads_to_the_answer(tasks):
    for some in tasks.values():
        for task in some:
            for step, value in task.payload["steps"]:
                left, sign, right = step.split(" ")
                one, other = Fraction(left), Fraction(right)
                made = {"+": one + other, "-": one - other, "*": one * other, "/": one / other}[sign]
                assert made == Fraction(value)
                assert made > 0
            assert task.payload["steps"][-1][1] == task.payload["answer"]


def test_answers_are_spread(tasks):
    for split in COUNTS:
        assert Counter(t.payload["answer"] for t in tasks[split]).most_common(1)[0][1] <= 0.02 * len(tasks[split])


def test_a_fifth_of_the_templates_is_seen_in_test_ood_alone(tasks):
    held_out = {t.name for t in templates().values() if t.held_out}
    assert len(templates()) >= 25
    assert len(held_out) >= 0.2 * len(templates())
    for split in COUNTS:
        used = {task.template for task in tasks[split]}
        assert used == set(templates()) if split == "test_ood" else used == set(templates()) - held_out
    assert sum(t.template in held_out for t in tasks["test_ood"]) == 250


def test_every_template_has_five_phrasings_and_two_of_them_are_held_out(tasks):
    """A phrasing is known by its text between the slots, so that each one can be found in the questions."""
    for template in templates().values():
        assert len(set(template.texts)) == 5
        assert all(set(re.findall(r"{(\w+)", t)) >= set(template.slots) for t in template.texts), template.name
        if template.held_out:
            continue
        patterns = [pattern_of(text) for text in template.texts]
        for split in COUNTS:
            mine = [t for t in tasks[split] if t.template == template.name and not t.payload["aside"]][:40]
            told = {n for t in mine for n, p in enumerate(patterns) if p.fullmatch(t.payload["question"])}
            assert told <= (set(range(5 - HELD_OUT, 5)) if split == "test_ood" else set(range(5 - HELD_OUT)))
            assert told, (template.name, split)


def pattern_of(text):
    parts = re.split(r"{\w+(?::\w)?}", text)
    return re.compile(".+?".join(re.escape(part) for part in parts), re.IGNORECASE)


def test_people_things_and_asides_of_test_ood_are_seen_nowhere_else(tasks):
    def names(held_out):
        pool = words(held_out=held_out)
        return {name for name, _ in pool.people} | {t for things in pool.things.values() for t in things}

    assert not names(True) & names(False)
    found = {split: set(re.findall(r"\w+", " ".join(t.payload["question"] for t in tasks[split]))) for split in COUNTS}
    assert not found["test_ood"] & (names(False) - {"rolls"})  # of silver
    assert not (found["train"] | found["dev"] | found["test"]) & names(True)
    for template in templates().values():
        assert not set(asides(template.category, held_out=True)) & set(asides(template.category, held_out=False))


def test_any_stretch_of_a_split_is_a_mix_of_templates():
    for split in COUNTS:
        assert len({row.template for row in table()[split][:20]}) == 20


def test_questions_are_one_line_of_plain_sentences(tasks):
    for some in tasks.values():
        for task in some:
            question = task.payload["question"]
            assert re.fullmatch(r"[A-Z0-9$][ -~]+\?", question), (task.id, question)
            assert not re.search(r"[{}]|  |:m|:w", question), (task.id, question)


def test_a_problem_that_cannot_be_made_names_its_template():
    from dataclasses import replace

    with pytest.raises(ValueError, match="'change', seed 0"):
        make_problem(replace(templates()["change"], slots={"a": [100], "p": [100], "bill": [100]}), 0, held_out=False)


def test_facts_are_json_and_count_the_templates():
    assert json.loads(json.dumps(facts()))["templates"] == len(templates())


def test_an_opening_is_never_higher_than_the_wall_that_it_is_in():
    slots = templates()["bricks"].slots
    assert max(slots["b"]) <= min(*slots["h"], *slots["j"])
    assert max(slots["a"]) <= min(*slots["l"], *slots["u"])
