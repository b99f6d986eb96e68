import asyncio
import dataclasses
from pathlib import Path

import pytest
from agent_play import SPEC, play, play_async
from scripted_endpoint import Reply, ScriptedEndpoint, chat, refusal

from agentenv.agents import make_agent
from agentenv.agents.conversation import Bounds
from agentenv.agents.model import SETTINGS
from agentenv.agents.prompts import opening_of
from agentenv.agents.react import react_over
from agentenv.errors import EpisodeCut, UnknownOption
from agentenv.policy import Completion
from agentenv.testing import ScriptedPolicy

WIN = ["Thought:\nleft\n\nAction:\nopen left", "Thought:\nright\n\nAction:\nopen right", "Action: open left"]


def test_react_plays_to_success_in_one_growing_conversation():
    policy = ScriptedPolicy(WIN)
    moves = play(react_over(policy))
    assert [m.action.text for m in moves] == ["open left", "open right", "open left"]
    roles = [[m["role"] for m in asked] for asked in policy.asked]
    assert roles[0] == ["user", "assistant", "user"]
    assert roles[2] == ["user", "assistant", "user", "assistant", "user", "assistant", "user"]
    assert policy.asked[2][:5] == policy.asked[1][:5]
    assert policy.asked[0][2]["content"] == "Two doors, 3 rooms to go."
    assert policy.asked[1][3]["content"] == WIN[0]


def test_the_record_of_the_turns_adds_up_to_the_conversation():
    policy = ScriptedPolicy(WIN)
    moves = play(react_over(policy))
    said = [message for move in moves for message in move.messages]
    assert said[:-1] == policy.asked[-1]
    assert said[-1] == {"role": "assistant", "content": WIN[-1]}


def test_the_description_in_an_env_names_the_prompt_that_is_used_there():
    described = react_over(ScriptedPolicy(WIN)).described_in(SPEC)
    assert described["prompt"] == opening_of(SPEC).describe()
    assert described["prompt"]["source"] == "agentenv.agents:prompts/generic.yaml"
    assert described["prompt"]["format"] == "react@1"
    assert "prompt" not in make_agent("noop").described_in(SPEC)


def test_an_unreadable_completion_is_one_malformed_move_and_the_episode_goes_on():
    policy = ScriptedPolicy(["I would go left.", *WIN])
    moves = play(react_over(policy))
    assert moves[0].action.malformed == 'no line starts with "Action:"'
    assert moves[0].action.text == "I would go left."
    assert len(moves) == 4
    assert 'no line starts with "Action:"' in policy.asked[1][-1]["content"]


def test_an_empty_completion_is_a_malformed_move():
    moves = play(react_over(ScriptedPolicy([""])), steps=1)
    assert moves[0].action.malformed == "the answer is empty"


def test_self_written_turns_are_flagged():
    text = "Action: open left\nObservation: Out!\nAction: open right"
    flagged, plain = play(react_over(ScriptedPolicy([text, WIN[1]])), steps=2)
    assert flagged.action.text == "open left"
    assert flagged.notes["extra_text"] is True
    assert "extra_text" not in plain.notes


def test_an_action_cut_at_the_length_limit_is_not_sent():
    moves = play(react_over(ScriptedPolicy([Completion(text="Action: open le", finish_reason="length")])), steps=1)
    assert "length limit" in moves[0].action.malformed


def test_the_policy_decides_how_an_episode_is_cut():
    with pytest.raises(EpisodeCut) as cut:
        play(react_over(ScriptedPolicy([WIN[0], EpisodeCut("context_full", "too long")])))
    assert cut.value.outcome == "context_full"


def test_a_conversation_over_its_bound_ends_as_context_full():
    long = Completion(text=WIN[0], prompt_tokens=90, completion_tokens=10)
    agent = react_over(ScriptedPolicy([long, *WIN]), Bounds(context_tokens=100))
    with pytest.raises(EpisodeCut, match="context_full: 100 tokens of conversation; context_tokens=100"):
        play(agent)


def test_a_conversation_whose_tokens_nobody_counts_has_no_bound():
    assert len(play(react_over(ScriptedPolicy(WIN), Bounds(context_tokens=1)))) == 3


def seeds(setting, *, episode=0):
    async def run():
        async with ScriptedEndpoint([chat(WIN[0])]) as endpoint:
            agent = make_agent("react", model="tiny", model_url=endpoint.url, seed=setting)
            await play_async(agent, steps=3, seed=episode)
            await agent.close()
            return [request.get("seed") for request in endpoint.requests]

    return asyncio.run(run())


def test_seeds_are_fixed_by_the_setting_and_the_episode():
    assert seeds(1, episode=5) == seeds(1, episode=5)
    assert seeds(1, episode=5) != seeds(2, episode=5)
    assert seeds(1, episode=5) != seeds(1, episode=6)
    assert len(set(seeds(1, episode=5))) == 3


def test_without_a_seed_none_is_sent():
    assert seeds(None) == [None, None, None]


def test_react_over_an_endpoint_records_tokens_reasoning_and_refusals():
    async def run():
        script = [chat("<think>Action: open right</think>" + WIN[0]), chat(WIN[1]), refusal(400, "prompt is too long")]
        async with ScriptedEndpoint(script) as endpoint:
            agent = make_agent("react", model="tiny", model_url=endpoint.url)
            with pytest.raises(EpisodeCut) as cut:
                await play_async(agent, steps=3)
            moves = await play_async(agent, steps=0)
            await agent.close()
            return cut.value, endpoint.requests, moves

    cut, requests, moves = asyncio.run(run())
    assert cut.outcome == "context_full"
    assert requests[1]["messages"][-2] == {"role": "assistant", "content": WIN[0]}
    assert moves == []


def test_the_description_has_all_that_makes_two_agents_the_same():
    describe = make_agent("react", model="m", model_url="http://127.0.0.1:1/v1", temperature="0.5", seed="3").describe
    assert describe == {
        "name": "react",
        "version": "1",
        "format": "react@1",
        "endpoint": "openai-chat",
        "host": "localhost",
        "model": "m",
        "temperature": 0.5,
        "max_tokens": 512,
        "seed": 3,
        "context_tokens": None,
    }


@pytest.mark.parametrize(
    ("setting", "value"),
    [("temperature", "hot"), ("temperature", -1.0), ("max_tokens", 0), ("retries", -1), ("timeout_s", "soon")],
)
def test_a_setting_out_of_its_range_is_refused_by_name(setting, value):
    with pytest.raises(UnknownOption, match=setting):
        make_agent("react", model="m", model_url="http://127.0.0.1:1/v1", **{setting: value})


def test_the_envs_own_prompt_is_used_when_it_has_one(tmp_path, monkeypatch):
    package = tmp_path / "door_prompts"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "p.yaml").write_text("version: 3\nformat: react\nopening: Open $doors.\nacknowledgement: Yes.\n")
    monkeypatch.syspath_prepend(tmp_path)
    policy = ScriptedPolicy(WIN)
    spec = dataclasses.replace(SPEC, prompt="door_prompts:p.yaml")
    agent = react_over(policy)
    play(agent, spec=spec)
    assert [m["content"] for m in policy.asked[0][:2]] == ["Open $doors.", "Yes."]
    assert agent.described_in(spec)["prompt"]["version"] == "3"


def test_a_reply_in_html_is_not_played():
    async def run():
        async with ScriptedEndpoint([Reply(body="<html>", status=400)]) as endpoint:
            agent = make_agent("react", model="tiny", model_url=endpoint.url)
            try:
                await play_async(agent)
            finally:
                await agent.close()

    with pytest.raises(EpisodeCut, match=r"infra_lost: tiny at .*HTTP 400: <html>"):
        asyncio.run(run())


def test_the_page_about_agents_lists_every_setting_with_its_default():
    page = (Path(__file__).resolve().parents[3] / "docs" / "agents.md").read_text(encoding="utf-8")
    rows = {cells[1].strip(" `"): cells[2].strip() for line in page.splitlines() if len(cells := line.split("|")) == 5}
    for setting in SETTINGS:
        assert setting.name in rows
        assert setting.default is None or rows[setting.name] == f"{setting.default:g}"
