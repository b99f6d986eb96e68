"""The tasks of TextCraft: our table's, a recipe folder's, or one that the options fix. Imports no engine.

A task's payload is `{"goal"}` and one of `{"world"}` (a number: our table), `{"pack"}` (digest of the recipes in the
folder of the option `recipes`) and `{"commands"}` (recipes as text). `world_of` makes the world
again from options and payload.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from agentenv.errors import UnknownOption
from agentenv.protocol import Task, digest_of
from agentenv.registry import TableTasks, TaskSet
from envservers.games.textcraft import table
from envservers.games.textcraft.pack import read_pack
from envservers.games.textcraft.recipes import MAX_COUNT, Recipe, parse_craft, plain_name
from envservers.games.textcraft.spec import ENV_ID, GENERATOR
from envservers.games.textcraft.world import MAX_STEPS, Graph, World

MAX_COMMANDS = 100
"""Lines that the option `commands` may have."""
MAX_COMMANDS_CHARS = 10_000


def step_limit(plan_steps: int) -> int:
    """A task's own limit: twice what the planned solution takes, and four more."""
    return 2 * plan_steps + 4


@functools.cache
def table_graph() -> Graph:
    """The graph of our table; all its worlds share it."""
    return Graph(table.recipes())


@functools.cache
def table_world(number: int) -> World:
    """World `number` of our table."""
    return World(table_graph(), table.varied(number))


@functools.lru_cache(maxsize=8)
def pack_world(folder: str) -> World:
    """The world of a recipe folder, read once in a process."""
    recipes = read_pack(folder)
    return World(Graph(recipes), recipes)


@functools.lru_cache(maxsize=8)
def pack_digest(folder: str) -> str:
    """Names the recipes of a folder, wherever it lies."""
    return digest_of([[recipe.kind, str(recipe)] for recipe in read_pack(folder)])[:16]


@functools.lru_cache(maxsize=64)
def fixed_world(commands: tuple[str, ...]) -> World:
    """A world of the given recipes alone; their results are of the kinds that our table gives them."""
    kinds = {recipe.result: recipe.kind for recipe in table.recipes()}
    recipes = []
    for line in commands:
        recipe = parse_craft(plain_name(line).removeprefix("craft "))
        if recipe is None or not recipe.count or recipe.result in {slot.name for slot in recipe.slots}:
            raise UnknownOption(f"option commands: cannot read {line[:80]!r}; write `craft 4 stick using 2 planks`")
        text = str(recipe).removeprefix("craft ")
        recipes.append(Recipe(recipe.count, recipe.result, recipe.slots, kind=kinds.get(recipe.result, ""), shape=text))
    return World(Graph(recipes), recipes)


def world_of(recipes: str | None, payload: Mapping[str, Any]) -> World:
    """The world that a task's payload names; `recipes` is the option."""
    if "commands" in payload:
        return fixed_world(tuple(payload["commands"]))
    if "pack" in payload:
        if recipes is None or pack_digest(recipes) != payload["pack"]:
            raise UnknownOption(f"the task is of a recipe folder, and option recipes={recipes!r} holds other recipes")
        return pack_world(recipes)
    return table_world(payload["world"])


def make_tasks(options: Mapping[str, Any]) -> TaskSet:
    """The task set under these options: splits train, dev and test; `test` alone for a folder; `fixed` for a goal."""
    recipes, commands, goal = (options.get(name) for name in ("recipes", "commands", "goal"))
    if goal or commands:
        tables = {"fixed": [_fixed_task(recipes, commands or "", goal or "")]}
    elif recipes:
        tables = {"test": _pack_tasks(recipes)}
    else:
        tables = _table_tasks()
    return TableTasks(tables=tables, version=f"{GENERATOR}:{table.digest()}", options={"commands": commands})


def _table_tasks() -> dict[str, list[Task]]:
    world = table_world(0)
    tables: dict[str, list[Task]] = {}
    for split, index, number, steps, goal in table.rows("tasks.tsv"):
        tasks = tables.setdefault(split, [])
        if int(index) != len(tasks):
            raise ValueError(f"tasks.tsv: {split} {index} is out of order")
        tasks.append(_task(split, len(tasks), world, {"goal": goal, "world": int(number)}, int(steps)))
    return tables


def _pack_tasks(folder: str) -> list[Task]:
    """Every goal of the folder with a plan that fits, by depth and name."""
    world = pack_world(folder)
    goals = sorted(world.graph.makes, key=lambda goal: (world.graph.depth[goal], goal))
    payloads = [{"goal": goal, "pack": pack_digest(folder)} for goal in goals]
    plans = [(payload, world.plan(payload["goal"], seed_of(payload))) for payload in payloads]
    fitting = [(payload, plan.steps) for payload, plan in plans if plan.fits]
    return [_task("test", index, world, payload, steps) for index, (payload, steps) in enumerate(fitting)]


def _fixed_task(recipes: str | None, commands: str, goal: str) -> Task:
    lines = [line.strip() for line in commands.splitlines() if line.strip()]
    if len(lines) > MAX_COMMANDS or len(commands) > MAX_COMMANDS_CHARS:
        raise UnknownOption(f"option commands: at most {MAX_COMMANDS} lines and {MAX_COMMANDS_CHARS} characters")
    payload: dict[str, Any] = {"goal": plain_name(goal)}
    payload |= {"commands": lines} if lines else {"pack": pack_digest(recipes)} if recipes else {"world": 0}
    world = world_of(recipes, payload)
    if payload["goal"] not in world.graph.makes:
        raise UnknownOption(f"option goal={goal[:80]!r}: no recipe of this world makes it")
    plan = world.plan(payload["goal"], seed_of(payload))
    if not plan.fits:
        raise UnknownOption(
            f"option goal={goal[:80]!r}: it takes more than {MAX_STEPS} steps or {MAX_COUNT} of an item"
        )
    return _task("fixed", 0, world, payload, plan.steps)


def _task(split: str, index: int, world: World, payload: Mapping[str, Any], steps: int) -> Task:
    goal = payload["goal"]
    recipe = world.makers(goal)[0]
    return Task(
        id=f"{ENV_ID}/{split}/{index}",
        env=ENV_ID,
        split=split,
        index=index,
        category=recipe.section,
        difficulty=world.graph.depth[goal],
        template=recipe.template,
        seed=seed_of(payload),
        payload=payload,
        max_steps=step_limit(steps),
    )


def seed_of(payload: Mapping[str, Any]) -> int:
    """The seed of a task's distractors and of their order, from what the task is."""
    return int(digest_of(dict(payload))[:12], 16)


def canonical(world: World, goal: str, seed: int) -> tuple[str, ...]:
    """A task with its variant left open: the goal, and each needed recipe with its counts.

    Two tasks of one canonical form are the same puzzle in other colours or woods.
    """
    choice = world.choose(goal, seed)
    lines = []
    for place in choice.recipes.values():
        recipe = world.recipes[place]
        lines.append(f"{recipe.shape}: {recipe.count} from {[slot.count for slot in recipe.slots]}")
    return (world.makers(goal)[0].template, *sorted(lines))


def facts(options: Mapping[str, Any] | None = None) -> dict[str, object]:
    """Figures of the world under `options`: items, recipes, shapes, tags with members, goals and tasks by depth."""
    options = options or {}
    tasks = make_tasks(options)
    first = tasks.get(tasks.splits()[0], 0)
    world = world_of(options.get("recipes"), first.payload)
    graph = world.graph
    kept = [world.recipes[place] for places in graph.makes.values() for place in places]
    return {
        "items": len(graph.makes) + len(graph.raw),
        "recipes": len(kept),
        "shapes": len({recipe.shape for recipe in kept}),
        "tags": sorted(graph.members),
        "goals": len(graph.makes),
        "goals_by_depth": _counted([graph.depth[goal] for goal in graph.makes]),
        "tasks_by_depth": {
            split: _counted([tasks.get(split, i).difficulty for i in range(tasks.count(split))])
            for split in tasks.splits()
        },
    }


def _counted(depths: Sequence[int]) -> dict[str, int]:
    return {str(depth): count for depth, count in sorted(Counter(depths).items())}
