import json
import os
import subprocess
import sys
from collections import Counter
from itertools import pairwise

import pytest

from envservers.games.wordle.spec import SPEC
from envservers.games.wordle.words import answers

TASKS = SPEC.task_set()

REPORT = """
import json
from agentenv.protocol import Action
from envservers.games.wordle.spec import SPEC
tasks, env, log = SPEC.task_set(), SPEC.make(), []
for index in range(5):
    task = tasks.get("test", index)
    env.last = env.reset(task)
    solution = env.solve(task)
    action = next(solution)
    while not (result := env.step(action)).terminated:
        log.append([action.text, result.observation])
        action = solution.send(result)
print(json.dumps([tasks.digest, log, env.available_actions()]))
"""


def words(split: str) -> list[str]:
    return [TASKS.get(split, i).payload["word"] for i in range(TASKS.count(split))]


def test_splits_are_large_enough_and_share_no_word():
    assert {split: TASKS.count(split) for split in TASKS.splits()} == {"train": 1537, "dev": 200, "test": 300}
    everything = [word for split in TASKS.splits() for word in words(split)]
    assert sorted(everything) == list(answers())


@pytest.mark.parametrize("split", TASKS.splits())
def test_an_index_says_nothing_about_the_place_in_the_dictionary(split):
    listed = words(split)
    rising = sum(a < b for a, b in pairwise(listed)) / (len(listed) - 1)
    assert 0.4 < rising < 0.6


@pytest.mark.parametrize("split", TASKS.splits())
def test_every_split_has_both_categories_and_four_difficulties(split):
    tasks = [TASKS.get(split, i) for i in range(TASKS.count(split))]
    assert set(Counter(t.category for t in tasks)) == {"distinct", "repeated"}
    levels = Counter(t.difficulty for t in tasks)
    assert set(levels) == {1, 2, 3, 4}
    assert max(levels.values()) <= 0.4 * len(tasks)


def test_difficulty_counts_the_answers_that_differ_in_one_letter():
    for task in (TASKS.get("test", i) for i in range(40)):
        word = task.payload["word"]
        near = sum(sum(a != b for a, b in zip(word, other, strict=True)) == 1 for other in answers())
        assert task.difficulty == (1 if near == 0 else 2 if near <= 2 else 3 if near <= 4 else 4)
        assert task.category == ("repeated" if len(set(word)) < 5 else "distinct")


def test_what_travels_of_a_task_does_not_hold_the_word():
    task = TASKS.get("test", 0)
    ref = task.ref()
    told = " ".join(str(getattr(ref, name)) for name in ref.__dataclass_fields__)
    assert task.payload["word"] not in told


def test_a_fixed_word_is_the_only_task_of_each_split():
    fixed = SPEC.task_set({"word": "THOSE"})
    assert [(s, fixed.count(s), fixed.get(s, 0).payload["word"]) for s in fixed.splits()] == [
        ("train", 1, "those"),
        ("dev", 1, "those"),
        ("test", 1, "those"),
    ]
    assert fixed.digest != TASKS.digest


def test_equal_tasks_give_equal_bytes_in_every_process_and_under_every_hash_seed():
    reports = []
    for seed in ("0", "1", "random"):
        environ = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", REPORT], capture_output=True, env=environ, check=True, timeout=60)
        reports.append(done.stdout)
    assert len(set(reports)) == 1
    assert json.loads(reports[0])[0] == TASKS.digest


def test_tasks_are_the_ones_that_were_published():
    assert TASKS.digest == "4df111ff4d10dc0b3570de242eb07fd72da8d5322649bef2b0875304fb108306"
    assert TASKS.get("test", 0).digest == "a2bf924ef231bca3daa59d44b974f36a2fcb856203793039fe000e3b3eebe560"


def test_the_spec_imports_neither_the_engine_nor_the_lists():
    code = (
        "import sys, envservers.games.wordle.spec; "
        "print([m for m in sys.modules if m.startswith('envservers.games.wordle.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "['envservers.games.wordle.spec']"


def test_the_card_is_json_and_names_the_own_world():
    card = json.loads(json.dumps(SPEC.card()))
    assert card["world"] == "agentenv-wordle-v1"
    assert card["max_steps"] == 8
