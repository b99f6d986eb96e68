"""The table of tasks: its size, its splits, and that every task is solvable and none by chance."""

import hashlib
import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from craft_play import STICK_WORLD, env_with, fixed, seen, solved

from agentenv.errors import UnknownOption
from agentenv.protocol import Action, Task, digest_of
from envservers.games.textcraft import make_tasks, table
from envservers.games.textcraft.env import TextCraft
from envservers.games.textcraft.spec import SPEC
from envservers.games.textcraft.tasks import canonical, facts, step_limit, table_graph, table_world, world_of
from envservers.games.textcraft.world import DISTRACTORS, MAX_STEPS

SPLITS = ("train", "dev", "test")


def all_tasks(*splits: str) -> list[Task]:
    tasks = SPEC.task_set()
    return [tasks.get(split, index) for split in splits or SPLITS for index in range(tasks.count(split))]


def test_the_stored_table_is_what_the_generator_writes():
    stored = table.files(table.__package__).joinpath("tasks.tsv").read_text(encoding="utf-8")
    assert stored == make_tasks.render(make_tasks.make_rows())


def test_tasks_and_first_observations_have_not_changed():
    """A change here makes other tasks under old ids: raise GENERATOR and the spec's version with it."""
    env = SPEC.make()
    digest = hashlib.sha256()
    for task in all_tasks():
        digest.update(f"{task.id} {task.digest} {env.reset(task).observation}".encode())
    assert digest.hexdigest() == "492b636e4597c9bb4d9ef6a4f3dfc15d0a1b1b094310a81d1061d7a2e7b17d7d"


def test_the_world_is_as_large_as_promised():
    figures = facts()
    assert figures["items"] >= 300
    assert figures["shapes"] >= 40
    assert "planks" in figures["tags"]
    templates = Counter()
    for template, depth in {
        (table_world(0).makers(g)[0].template, table_graph().depth[g]) for g in table_graph().makes
    }:
        assert templates[template] == 0, f"{template} has variants of different depth"
        templates[template] = depth
    by_depth = Counter(templates.values())
    assert by_depth[4] >= 20
    assert by_depth[5] >= 20, "goals that differ in more than colour or wood"


def test_the_table_closes_no_cycle_so_every_recipe_of_it_counts():
    assert sum(map(len, table_graph().makes.values())) == len(table.recipes())


def test_each_split_holds_enough_tasks_of_every_depth():
    counts = {split: Counter(min(task.difficulty, 5) for task in all_tasks(split)) for split in SPLITS}
    assert counts == {split: Counter(quota) for split, quota in make_tasks.QUOTAS.items()}
    assert sum(counts["train"].values()) >= 500
    assert sum(counts["dev"].values()) >= 100
    assert sum(counts["test"].values()) >= 100


def test_no_two_tasks_are_the_same_puzzle_and_no_goal_is_in_two_splits_in_any_colour_or_wood():
    forms = Counter(canonical(world_of(None, t.payload), t.payload["goal"], t.seed) for t in all_tasks())
    assert max(forms.values()) == 1
    templates = {split: {task.template for task in all_tasks(split)} for split in SPLITS}
    assert not templates["train"] & templates["dev"]
    assert not templates["train"] & templates["test"]
    assert not templates["dev"] & templates["test"]


def test_every_task_is_solved_by_its_plan_with_the_shown_recipes_alone():
    env = SPEC.make()
    assert isinstance(env, TextCraft)
    for task in all_tasks():
        results = solved(env, task)
        assert [result.reward for result in results] == [0.0] * (len(results) - 1) + [1.0], task.id
        assert task.max_steps == step_limit(len(results)) <= SPEC.max_steps
        assert not [result for result in results if result.observation.startswith("Could not")]
        env.reset(task)
        offered = env.available_actions() or []
        names = {text.split(" ", 2)[2] for text in offered if text.startswith("get ")}
        for action in env.solve(task):
            assert action.text in offered or action.text.split(" ", 2)[2] in names, (
                f"{task.id}: {action.text} not shown"
            )


def test_what_is_shown_is_needed_or_one_of_at_most_ten_others():
    for task in all_tasks("test"):
        world = world_of(None, task.payload)
        goal = task.payload["goal"]
        shown = list(map(str, world.shown(goal, task.seed)))
        needed = {str(world.recipes[place]) for place in world.choose(goal, task.seed).recipes.values()}
        assert needed <= set(shown)
        assert len(set(shown)) == len(shown) == len(needed) + DISTRACTORS


def test_the_order_of_what_is_shown_says_nothing_about_the_plan():
    """The goal's own recipe stands anywhere in the list: its mean place is the middle."""
    places = []
    for task in all_tasks():
        shown = world_of(None, task.payload).shown(task.payload["goal"], task.seed)
        place = next(i for i, recipe in enumerate(shown) if recipe.result == task.payload["goal"])
        places.append(place / (len(shown) - 1))
    assert 0.45 < sum(places) / len(places) < 0.55
    assert min(places) == 0.0
    assert max(places) == 1.0


def test_random_play_succeeds_in_at_most_one_episode_of_a_hundred():
    env = SPEC.make()
    hits = 0
    tasks = all_tasks("test")
    for attempt in range(3):
        for task in tasks:
            env.reset(task)
            actions, rng = env.available_actions(), random.Random(f"{attempt}:{task.id}")
            hits += any(env.step(Action(text=rng.choice(actions))).terminated for _ in until_end(env, task))
    assert hits <= 0.01 * 3 * len(tasks)


def until_end(env, task):
    """One item for each step that is left."""
    for _ in range(task.max_steps):
        if env.snapshot().over:
            return
        yield


def test_doing_nothing_never_succeeds():
    env = SPEC.make()
    for task in all_tasks("test"):
        env.reset(task)
        assert not any(env.step(Action(text="inventory")).reward for _ in range(task.max_steps))


DUMP = """
import hashlib
from envservers.games.textcraft.spec import SPEC
tasks, env, digest = SPEC.task_set(), SPEC.make(), hashlib.sha256()
for split in ("dev", "test"):
    for index in range(tasks.count(split)):
        task = tasks.get(split, index)
        digest.update(repr([task, env.reset(task), env.available_actions(), list(env.solve(task))]).encode())
print(tasks.digest, digest.hexdigest())
"""


def test_another_process_with_another_hash_seed_makes_the_same_bytes():
    outputs = {
        subprocess.run(
            [sys.executable, "-c", DUMP],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("0", "12345")
    }
    assert len(outputs) == 1
    assert SPEC.task_set().digest in outputs.pop()


def test_the_specs_module_imports_neither_engine_nor_data():
    code = (
        "import sys, envservers.games.textcraft.spec\n"
        "print([m for m in sys.modules if m.startswith('envservers.games.textcraft.')])"
    )
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert out.strip() == "['envservers.games.textcraft.spec']"


def test_tasks_are_json_and_name_their_place():
    for task in all_tasks("dev"):
        assert json.loads(json.dumps(dict(task.payload))) == task.payload
        assert task.id == f"textcraft/dev/{task.index}"
        assert task.category


def test_the_card_limit_covers_the_longest_plan_that_makes_a_task():
    assert SPEC.max_steps == step_limit(MAX_STEPS)


def test_a_goal_alone_is_played_in_the_table_as_it_stands():
    env = fixed("oak door")
    assert "craft 3 oak door using 6 oak planks" in env.last.observation
    assert seen(env, "get 2 oak logs") == ["Got 2 oak logs"]


def test_options_that_fix_a_world_leave_the_one_split_fixed():
    tasks = SPEC.task_set({"commands": STICK_WORLD, "goal": "stick"})
    assert tasks.splits() == ("fixed",)
    assert tasks.count("fixed") == 1
    task = tasks.get("fixed", 0)
    assert solved(env_with(task), task)[-1].success
    assert tasks.digest != SPEC.task_set({"commands": STICK_WORLD, "goal": "oak planks"}).digest


CHAIN = "\n".join(f"craft 1 item {chr(97 + i)} using 9999 item {chr(98 + i)}" for i in range(20))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"commands": STICK_WORLD}, "no recipe of this world makes it"),
        ({"goal": "oak logs"}, "no recipe of this world makes it"),
        ({"goal": "stick", "commands": "craft stick"}, "cannot read 'craft stick'"),
        ({"goal": "stick", "commands": "craft stick using 1 oak planks"}, "cannot read"),
        ({"goal": "stick", "commands": "craft 2 stick using 1 stick"}, "cannot read"),
        ({"goal": "item a", "commands": CHAIN}, "takes more than"),
        ({"goal": "stick", "commands": STICK_WORLD * 200}, "at most"),
    ],
)
def test_a_world_that_cannot_be_played_is_refused_by_name(options, says):
    with pytest.raises(UnknownOption, match=says):
        SPEC.task_set(options)


def test_worlds_differ_in_counts_but_not_in_what_is_made_from_what():
    base = table.varied(0)
    for number in range(1, table.WORLDS):
        world = table.varied(number)
        assert [r.result for r in world] == [r.result for r in base]
        assert [[s.name for s in r.slots] for r in world] == [[s.name for s in r.slots] for r in base]
        assert sum(str(a) != str(b) for a, b in zip(world, base, strict=True)) > len(base) / 2
        by_shape: dict[str, set[str]] = {}
        for recipe in world:
            by_shape.setdefault(recipe.shape, set()).add(f"{recipe.count} {[slot.count for slot in recipe.slots]}")
        assert max(map(len, by_shape.values())) == 1, "variants of a shape vary alike"
    assert len({digest_of([str(r) for r in table.varied(n)]) for n in range(table.WORLDS)}) == table.WORLDS


def test_the_page_quotes_the_figures_as_they_are():
    page = (Path(__file__).parents[4] / "docs" / "envs" / "textcraft.md").read_text(encoding="utf-8")
    figures = facts()
    by_depth = " / ".join(map(str, figures["goals_by_depth"].values()))
    kinds = ", ".join(figures["tags"])
    counted = " | ".join(str(figures[name]) for name in ("items", "recipes", "shapes", "goals"))
    assert f"| {counted} | {by_depth} | {kinds} |" in page
    for split, depths in figures["tasks_by_depth"].items():
        counts = " / ".join(str(depths.get(str(depth), 0)) for depth in range(1, 8))
        assert f"| {split} | {sum(depths.values())} | {counts} |" in page
