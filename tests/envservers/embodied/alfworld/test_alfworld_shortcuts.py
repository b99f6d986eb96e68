"""The agent that looks only where things mostly lie, and what it knows."""

import asyncio
import random

from agentenv.agents.base import Seat
from agentenv.agents.shortcut import shortcut_of
from agentenv.protocol import Action
from envservers.embodied.alfworld.catalogue import room_types, thing_kinds
from envservers.embodied.alfworld.env import AlfWorld
from envservers.embodied.alfworld.shortcuts import Likeliest, likeliest
from envservers.embodied.alfworld.spec import SPEC


class View:
    """What an agent may ask of an episode: the list of actions alone."""

    def __init__(self, env):
        self.env = env

    async def available_actions(self):
        return self.env.available_actions()

    async def oracle(self):
        raise AssertionError("a shortcut does not ask for the solution")


def played(index):
    """The commands of one episode and whether they did the chore."""

    async def play():
        env, agent, task = AlfWorld(), Likeliest(), SPEC.task_set().get("train", index)
        result, texts = env.reset(task), []
        seat = Seat(spec=SPEC, task=task.ref(), view=View(env), max_steps=50, rng=random.Random(0))
        await agent.start(seat)
        while not result.terminated and len(texts) < 50:
            move = await agent.act(result.observation)
            texts.append(move.action.text)
            result = env.step(Action(text=texts[-1]))
        return task, texts, bool(result.success)

    return asyncio.run(play())


def test_it_succeeds_at_times_on_each_kind_of_chore_but_two_and_looks_nowhere_else():
    done = set()
    for index in range(160):
        task, texts, success = played(index)
        if success:
            done.add(task.category)
        else:
            assert texts[-1] == "look"
        looked_into = [text.split(" ")[-2] for text in texts if text.startswith("take ")]
        assert set(looked_into) <= {likeliest()[task.payload["thing"]]}
    assert len(done) >= 5  # two of a kind are seldom where most are


def test_what_it_knows_is_a_receptacle_for_every_kind():
    kinds = {kind for type_ in room_types().values() for kind in type_.kinds}
    assert likeliest().keys() == thing_kinds().keys()
    assert set(likeliest().values()) <= kinds
    assert all(place in thing_kinds()[kind].fits for kind, place in likeliest().items())


def test_the_ceilings_are_those_of_the_card():
    assert shortcut_of(SPEC, "random").ceiling == 0.02
    assert shortcut_of(SPEC, "likeliest").ceiling == 0.35
