"""A record's actions, played again."""

import asyncio
from dataclasses import replace

from agentenv.agents.recorded import recorded
from agentenv.agents.scripted import oracle
from agentenv.pool import EnvPool
from agentenv.protocol import Outcome
from agentenv.rollout import play


def test_a_record_played_again_is_the_same_episode():
    async def twice():
        async with EnvPool("maze", options={"size": 4}) as pool:
            [task] = await pool.task_refs("train", 1)
            first = await play(pool, task, oracle())
            return first, await play(pool, task, recorded(first))

    first, second = asyncio.run(twice())
    assert first.success
    assert [replace(turn, info={}) for turn in second.turns] == [replace(turn, info={}) for turn in first.turns]
    assert (second.outcome, second.reward) == (first.outcome, first.reward)


def test_where_a_record_stops_the_episode_is_cut_as_it_was():
    async def cut():
        async with EnvPool("maze", options={"size": 4}) as pool:
            [task] = await pool.task_refs("train", 1)
            first = await play(pool, task, oracle())
            half = replace(first, turns=first.turns[:2], outcome=Outcome.CONTEXT_FULL)
            return await play(pool, task, recorded(half))

    episode = asyncio.run(cut())
    assert (episode.outcome, episode.success, len(episode.turns)) == (Outcome.CONTEXT_FULL, False, 2)
    assert episode.error == "as recorded"
