"""The fixed stick world over HTTP, in process: who fills `planks`, and that the goal pays once."""

import httpx
from craft_play import STICK_WORLD
from http_play import replies

from envservers.games.textcraft.spec import SPEC

WON = ["get 1 oak logs", "craft 4 oak planks using 1 oak logs", "craft 4 stick using 2 oak planks"]


def play(*actions: str) -> list[httpx.Response]:
    """The replies to `create` and to each action, in one session with explicit commands and goal."""
    return replies(SPEC, "textcraft/fixed/0", actions, options={"commands": STICK_WORLD, "goal": "stick"})


def test_a_generic_ingredient_is_filled_by_a_member_and_the_goal_is_rewarded_once():
    generic = ["get 2 planks", "get 4 oak logs", WON[1], "craft 4 stick using 2 planks", WON[2]]
    created, *steps = [reply.json() for reply in play(*generic)]
    assert created["observation"] == f"Crafting commands:\n{STICK_WORLD}\n\nGoal: craft stick."
    assert [step["observation"] for step in steps] == [
        "Could not find planks: it is a kind of item, and those of the kind must be crafted.",
        "Got 4 oak logs",
        "Crafted 4 minecraft:oak_planks",
        "Could not find enough items to craft minecraft:stick: you hold 0 of 2 planks, a kind of item; "
        "write the name of one that you hold.",
        "Crafted 4 minecraft:stick",
    ]
    assert [step["reward"] for step in steps] == [0.0, 0.0, 0.0, 0.0, 1.0]
    assert [step["terminated"] for step in steps] == [False] * 4 + [True]
    assert (steps[-1]["outcome"], steps[-1]["success"]) == ("success", True)


def test_the_winning_craft_said_again_is_refused_as_over_and_pays_nothing():
    replies = play(*WON, *[WON[-1]] * 3)[1:]
    assert [reply.status_code for reply in replies] == [200] * 3 + [409] * 3
    assert {reply.json()["code"] for reply in replies[3:]} == {"episode_over"}
    assert sum(reply.json().get("reward", 0.0) for reply in replies) == 1.0


def test_loose_forms_are_read_one_way_and_a_refusal_changes_nothing():
    texts = ["inventory now please", "get 1 oak logs, 1 birch logs", "craft 4 stick  using  2 oak planks", "get 5"]
    replies = [reply.json() for reply in play(*texts, "inventory", "Get 1  oak logs", "INVENTORY")[1:]]
    assert all(reply["observation"].startswith("Could not") for reply in replies[:4])
    assert replies[4]["observation"] == "Inventory: You are not carrying anything."
    assert replies[6]["observation"] == "Inventory: [oak logs] (1) "
    assert not any(reply["reward"] for reply in replies)
