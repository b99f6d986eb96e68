"""The test doubles do what real clocks, policies and agents do, as far as a caller can see."""

import asyncio
import random

import pytest

from agentenv.agents.base import Seat
from agentenv.errors import EpisodeCut, ServerUnreachable
from agentenv.policy import Completion
from agentenv.protocol import Action, Outcome, TaskRef
from agentenv.testing import FakeClock, ScriptedAgent, ScriptedPolicy


def test_a_fake_clock_moves_only_when_it_is_moved():
    clock = FakeClock(5.0)
    assert (clock(), clock()) == (5.0, 5.0)
    clock.advance(2.5)
    asyncio.run(clock.sleep(1.0))
    assert clock() == 8.5
    with pytest.raises(ValueError, match="cannot go back 1 s"):
        clock.advance(-1)


def test_a_scripted_policy_answers_in_order_and_keeps_what_it_was_asked():
    policy = ScriptedPolicy(["a", Completion(text="b", finish_reason="length"), ServerUnreachable("gone")])

    async def ask(content: str) -> Completion:
        return await policy.complete([{"role": "user", "content": content}])

    assert asyncio.run(ask("1")).text == "a"
    assert asyncio.run(ask("2")).finish_reason == "length"
    with pytest.raises(ServerUnreachable):
        asyncio.run(ask("3"))
    with pytest.raises(EpisodeCut) as cut:
        asyncio.run(ask("4"))
    assert cut.value.outcome == Outcome.AGENT_ERROR
    assert [messages[0]["content"] for messages in policy.asked] == ["1", "2", "3", "4"]


def test_a_scripted_agent_plays_its_actions_in_every_episode_and_then_stops():
    kind = ScriptedAgent.spec(["up", Action(text="", malformed="no action")])

    async def play() -> list[Action]:
        agent = kind.make()
        await agent.start(seat())
        moves = [(await agent.act(f"seen {i}")).action for i in range(2)]
        with pytest.raises(EpisodeCut, match="agent_error: the script has 2 actions"):
            await agent.act("seen 2")
        return moves

    expected = [Action(text="up"), Action(text="", malformed="no action")]
    assert [asyncio.run(play()), asyncio.run(play())] == [expected, expected]


def seat() -> Seat:
    from broken_envs import GOOD

    task = TaskRef(id="count/test/0", env="count", split="test", index=0)
    return Seat(spec=GOOD, task=task, view=None, max_steps=5, rng=random.Random(0))
