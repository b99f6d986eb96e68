"""Nothing is minted: every count held was got, or made by a recipe that was paid for in full."""

from collections import Counter

import pytest
from craft_play import env_with
from hypothesis import given, settings
from hypothesis import strategies as st

from agentenv.protocol import Action
from envservers.games.textcraft.recipes import parse_craft
from envservers.games.textcraft.spec import SPEC
from envservers.games.textcraft.tasks import world_of


@settings(max_examples=60, deadline=None)
@given(index=st.integers(0, 119), data=st.data())
def test_the_inventory_is_always_what_was_got_plus_made_minus_spent(index, data):
    task = SPEC.task_set().get("test", index)
    env = env_with(task)
    world = world_of(None, task.payload)
    plan = [action.text for action in env.solve(task)]
    choices = st.sampled_from([*plan, *(env.available_actions() or [])])
    ledger: Counter[str] = Counter()
    for text in data.draw(st.lists(st.one_of(choices, choices, st.text(max_size=30)), max_size=40)):
        result = env.step(Action(text=text))
        if result.observation.startswith("Got "):
            _, count, name = text.split(" ", 2)
            assert name in world.graph.raw
            ledger[name] += int(count)
        elif result.observation.startswith("Crafted "):
            wanted = parse_craft(text.removeprefix("craft "))
            assert wanted is not None
            assert any(
                recipe.count == wanted.count and [s.count for s in recipe.slots] == [s.count for s in wanted.slots]
                for recipe in world.makers(wanted.result)
            )
            ledger.subtract({slot.name: slot.count for slot in wanted.slots})
            ledger[wanted.result] += wanted.count
        assert dict(env.snapshot().held) == {name: count for name, count in ledger.items() if count}
        assert min(ledger.values(), default=0) >= 0
        assert result.reward == float(result.terminated) == float(bool(result.success))
        if result.terminated:
            assert ledger[task.payload["goal"]] > 0
            break


@settings(max_examples=100, deadline=None)
@given(texts=st.lists(st.text(max_size=80), max_size=8))
@pytest.mark.parametrize("prefix", ["", "get ", "craft ", "get 1 ", "craft 1 stick using "])
def test_no_text_raises_or_ends_the_episode(prefix, texts):
    env = env_with(SPEC.task_set().get("dev", 3))
    for text in texts:
        assert not env.step(Action(text=prefix + text)).terminated
