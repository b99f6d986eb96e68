import json
import os
import subprocess
import sys
from collections import Counter

import pytest

from envservers.games.maze.layout import canonical, distances
from envservers.games.maze.spec import SPEC

REPORT = """
import json
from agentenv.protocol import Action
from envservers.games.maze.spec import SPEC
log = []
for options in ({}, {"size": 4, "observation": "relative"}):
    tasks, env = SPEC.task_set(options), SPEC.make(options)
    log.append(tasks.digest)
    for split in tasks.splits():
        task = tasks.get(split, 3)
        env.last = env.reset(task)
        log.append(env.last.observation)
        for action in env.solve(task):
            log.append([action.text, env.step(action).observation])
print(json.dumps(log))
"""
GENERATED = ("train", "dev", "test")


def tasks_of(split: str, size: int = 5):
    tasks = SPEC.task_set({"size": size})
    return [tasks.get(split, index) for index in range(tasks.count(split))]


def test_splits_have_their_counts_at_every_size():
    for size in (4, 5, 6):
        tasks = SPEC.task_set({"size": size})
        assert {s: tasks.count(s) for s in tasks.splits()} == {"train": 1000, "dev": 100, "test": 300, "double_t": 25}
    assert SPEC.task_set().splits()[0] == "train"


@pytest.mark.parametrize("size", [4, 5, 7])
def test_no_layout_occurs_twice_not_even_turned_or_mirrored(size):
    forms = [canonical(tuple(task.payload["rows"])) for split in GENERATED for task in tasks_of(split, size)]
    assert len(forms) == len(set(forms)) == 1400


@pytest.mark.parametrize("size", [4, 5, 10])
def test_shortest_paths_are_twice_the_size_or_longer_and_limits_twice_the_path(size):
    for task in tasks_of("test", size):
        rows, goal = task.payload["rows"], task.payload["goal"]
        assert [len(row) for row in rows] == [size] * size
        shortest = distances(rows, tuple(goal))[tuple(task.payload["start"])]
        assert shortest >= 2 * size
        assert task.max_steps == 2 * shortest <= SPEC.max_steps


def test_short_paths_take_two_to_size_moves_of_twice_as_many():
    tasks = SPEC.task_set({"size": 4, "path": "short"})
    found = Counter()
    for task in (tasks.get("test", index) for index in range(tasks.count("test"))):
        moves = distances(task.payload["rows"], tuple(task.payload["goal"]))[tuple(task.payload["start"])]
        assert task.max_steps == 8
        found[moves] += 1
    assert sorted(found) == [2, 3, 4]


@pytest.mark.parametrize("split", GENERATED)
def test_every_split_has_three_categories_in_equal_parts_and_four_difficulties(split):
    tasks = tasks_of(split)
    categories = Counter(task.category for task in tasks)
    assert set(categories) == {"corridors", "branches", "loops"}
    assert max(categories.values()) - min(categories.values()) <= 1
    levels = Counter(task.difficulty for task in tasks)
    assert set(levels) == {1, 2, 3, 4}
    assert max(levels.values()) <= 0.4 * len(tasks)


def test_a_longer_path_is_never_less_difficult():
    for split in (*GENERATED, "double_t"):
        tasks = tasks_of(split)
        length = {
            t.id: distances(t.payload["rows"], tuple(t.payload["goal"]))[tuple(t.payload["start"])] for t in tasks
        }
        levels = [t.difficulty for t in sorted(tasks, key=lambda t: length[t.id])]
        assert levels == sorted(levels)


def test_equal_tasks_give_equal_bytes_in_every_process_and_under_every_hash_seed():
    reports = []
    for seed in ("0", "random"):
        environ = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run([sys.executable, "-c", REPORT], capture_output=True, env=environ, check=True, timeout=60)
        reports.append(done.stdout)
    assert len(set(reports)) == 1
    assert json.loads(reports[0])[0] == SPEC.task_set().digest


@pytest.mark.parametrize(
    ("size", "digest"),
    [
        (4, "a7a402071a1543b9643bb779f4167c4e8172ebb2ca03fb33874887284f109244"),
        (5, "d0e90ee6067cd4d5e94147d6df40795113016de9dad4faf92991dc453f78c40b"),
    ],
)
def test_tasks_are_the_ones_that_were_published(size, digest):
    assert SPEC.task_set({"size": size}).digest == digest


def test_the_double_t_tasks_do_not_depend_on_the_size():
    assert tasks_of("double_t", 4) == tasks_of("double_t", 5)


def test_the_spec_imports_no_engine():
    code = (
        "import sys, envservers.games.maze.spec; "
        "print([m for m in sys.modules if m.startswith('envservers.games.maze.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "['envservers.games.maze.spec']"


def test_the_card_is_json_and_names_the_own_world():
    card = json.loads(json.dumps(SPEC.card()))
    assert card["world"] == "agentenv-maze-v1"
    assert [o["name"] for o in card["options"]] == ["size", "path", "observation"]
