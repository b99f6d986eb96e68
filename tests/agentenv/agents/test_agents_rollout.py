"""Agents through the whole stack: pool, session, rollout, record."""

import asyncio

import pytest
from scripted_endpoint import ScriptedEndpoint, chat, refusal

from agentenv.agents import make_agent
from agentenv.pool import EnvPool
from agentenv.protocol import Outcome
from agentenv.rollout import rollout
from agentenv.trajectory import Trajectory

GAMES = ("textcraft", "wordle", "maze")
LOOK = "Thought:\nWhat do I have?\n\nAction:\ninventory"


def played(env, agent, *, limit=3, max_steps=None):
    async def run():
        async with EnvPool(env, size=4, max_steps=max_steps) as pool:
            return await rollout(pool, await pool.task_refs("test", limit), agent)

    return asyncio.run(run())


def react_played(script, *, max_steps=4, name="react", **settings):
    async def run():
        async with ScriptedEndpoint(script) as endpoint, EnvPool("textcraft", size=1, max_steps=max_steps) as pool:
            agent = make_agent(name, model="tiny", model_url=endpoint.url, **settings)
            try:
                [episode] = await rollout(pool, await pool.task_refs("test", 1), agent)
            finally:
                await agent.close()
            return episode

    return asyncio.run(run())


@pytest.mark.parametrize("env", GAMES)
def test_the_oracle_solves_every_game(env):
    assert all(episode.success for episode in played(env, make_agent("oracle")))


@pytest.mark.parametrize("env", GAMES)
def test_noop_solves_no_game_and_its_text_is_no_action_there(env):
    episodes = played(env, make_agent("noop"), max_steps=8)
    assert not any(episode.success for episode in episodes)
    assert not any(turn.reward for episode in episodes for turn in episode.turns)


@pytest.mark.parametrize("env", GAMES)
def test_random_plays_an_equal_game_twice(env):
    once, again = (played(env, make_agent("random"), max_steps=6) for _ in range(2))
    assert [[t.action for t in e.turns] for e in once] == [[t.action for t in e.turns] for e in again]


def test_the_record_of_react_has_tokens_messages_prompt_and_flags_and_survives_json():
    script = [
        chat("<think>hm</think>" + LOOK),
        chat("just do it"),
        chat(LOOK + "\nObservation: x"),
        chat(LOOK, usage=None),
    ]
    episode = react_played(script)
    assert episode.outcome is Outcome.STEP_LIMIT
    assert Trajectory.from_json(episode.to_json()) == episode
    assert episode.agent["prompt"]["source"] == "envservers.games.textcraft:prompt.yaml"
    first, failed, flagged, last = episode.turns
    assert (first.info["agent"]["prompt_tokens"], first.info["agent"]["completion_tokens"]) == (11, 5)
    assert first.info["agent"]["raw"].startswith("<think>hm</think>")
    assert [m["role"] for m in first.messages] == ["user", "assistant", "user", "assistant"]
    assert failed.malformed == 'no line starts with "Action:"'
    assert failed.reward == 0.0
    assert flagged.info["agent"]["extra_text"] is True
    assert flagged.action == "inventory"
    assert "prompt_tokens" not in last.info["agent"]


def test_calls_of_functions_are_recorded_beside_the_action_that_they_make():
    made = [{"id": "c1", "type": "function", "function": {"name": "inventory", "arguments": "{}"}}]
    episode = react_played([chat(None, tool_calls=made)], name="function_calling")
    assert Trajectory.from_json(episode.to_json()) == episode
    assert [turn.action for turn in episode.turns] == ["inventory"] * 4
    assert episode.turns[0].messages[-1] == {"role": "assistant", "content": "", "tool_calls": made}
    assert episode.turns[1].messages[0]["role"] == "tool"
    assert episode.turns[0].info["agent"]["tools"] == "native"
    assert (episode.agent["format"], episode.agent["tools"]) == ("function_calling@1", "auto")


def test_one_python_call_plays_through_the_whole_stack():
    episode = react_played([chat("inventory()"), chat("get(1)")], name="code_as_action")
    assert [turn.malformed for turn in episode.turns] == [None, *["get: `item` is missing"] * 3]
    assert "get: `item` is missing" in episode.final_observation


@pytest.mark.parametrize(
    ("reply", "outcome", "valid"),
    [
        (refusal(400, "x", code="context_length_exceeded"), Outcome.CONTEXT_FULL, True),
        (refusal(400, "x", code="content_filter"), Outcome.AGENT_ERROR, True),
        (refusal(401, "bad key"), Outcome.INFRA_LOST, False),
        (refusal(503, "down"), Outcome.INFRA_LOST, False),
    ],
)
def test_what_the_endpoint_does_decides_how_the_episode_ends(reply, outcome, valid):
    episode = react_played([chat(LOOK), reply], retries=0)
    assert (episode.outcome, episode.outcome.valid, episode.steps) == (outcome, valid, 1)
    assert "tiny at http://127.0.0.1" in episode.error
