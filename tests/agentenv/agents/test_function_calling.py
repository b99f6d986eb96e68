"""The agent `function_calling` against a scripted endpoint."""

import asyncio
import dataclasses
import json

import pytest
from agent_play import SPEC, play_async
from scripted_endpoint import ScriptedEndpoint, chat, refusal

from agentenv.agents import make_agent
from agentenv.agents.prompts import opening_of
from agentenv.errors import BadAgent, EpisodeCut

SIDE = {"type": "string", "enum": ["left", "right"]}
FUNCTIONS = (
    {
        "name": "open",
        "description": "Open a door.",
        "text": "open {side}",
        "parameters": {"type": "object", "properties": {"side": SIDE}, "required": ["side"]},
    },
)
DOORS = dataclasses.replace(SPEC, functions=FUNCTIONS)
READY = [("ready", "{}")]


def calls(*made, content=None, **fields):
    """An answer with these calls, each a name and the text of its arguments."""
    listed = [
        {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for number, (name, arguments) in enumerate(made)
    ]
    return chat(content, tool_calls=listed, finish_reason="tool_calls", **fields)


def door(side):
    return calls(("open", json.dumps({"side": side})))


def played(script, *, steps=8, name="function_calling", **settings):
    """Moves (or what ended the episode), requests, and the agent."""

    async def run():
        async with ScriptedEndpoint(script) as endpoint:
            agent = make_agent(name, model="tiny", model_url=endpoint.url, retries=0, **settings)
            try:
                moves = await play_async(agent, spec=DOORS, steps=steps)
            except EpisodeCut as cut:
                moves = cut
            finally:
                await agent.close()
            return moves, endpoint.requests, agent

    return asyncio.run(run())


def test_native_calls_play_to_success_and_every_call_is_answered_by_its_observation():
    moves, (probe, first, second, third), _ = played([calls(*READY), door("left"), door("right"), door("left")])
    assert [move.action.text for move in moves] == ["open left", "open right", "open left"]
    assert [move.notes["tools"] for move in moves] == ["native"] * 3
    assert [tool["function"]["name"] for tool in probe["tools"]] == ["ready"]
    assert first["tools"] == [
        {"type": "function", "function": {k: FUNCTIONS[0][k] for k in ("name", "description", "parameters")}}
    ]
    assert first["parallel_tool_calls"] is False
    assert '{"name"' not in first["messages"][0]["content"]
    made, answered = second["messages"][-2:]
    assert made["content"] is None
    assert made["tool_calls"][0]["function"] == {"name": "open", "arguments": '{"side": "left"}'}
    assert answered == {"role": "tool", "tool_call_id": "c0", "content": "Two doors, 2 rooms to go."}
    assert len(third["messages"]) == len(second["messages"]) + 2


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (calls(("open", '{"side": "left"}'), ("open", '{"side": "right"}')), "there are 2 calls; make exactly one"),
        (calls(("close", "{}")), 'there is no function "close"'),
        (calls(("open", '{"side": "up"}')), '`side` must be one of "left", "right", not "up"'),
        (calls(("open", '{"side": ')), "its arguments are not JSON"),
        (calls(("open", "[]")), "its arguments must be a JSON object"),
        (calls(("open", "")), "`side` is missing"),
        (chat("I open the left door."), "there is no call"),
        (chat(""), "the answer is empty"),
    ],
)
def test_anything_but_one_fitting_call_is_malformed_and_the_episode_goes_on(answer, reason):
    moves, requests, _ = played([calls(*READY), answer, door("left")], steps=2)
    assert reason in moves[0].action.malformed
    assert moves[1].action.text == "open left"
    said = requests[2]["messages"]
    made = [call["id"] for call in said[-2].get("tool_calls", [])] or [
        call["id"] for message in said for call in message.get("tool_calls", [])
    ]
    answered = [message["tool_call_id"] for message in said if message["role"] == "tool"]
    assert answered == made
    assert reason in " ".join(str(message["content"]) for message in said)


@pytest.mark.parametrize("arguments", ['{"side": ', "[1]", "", '"left"', "[" * 5000])
def test_a_call_that_nobody_can_read_is_not_sent_back_as_it_was(arguments):
    moves, requests, _ = played([calls(*READY), calls(("open door!", arguments)), door("left")], steps=2)
    [sent] = requests[2]["messages"][-2]["tool_calls"]
    assert sent["function"] == {"name": "open_door_", "arguments": "{}"}
    assert moves[0].action.text.startswith("open door!(")
    assert moves[0].action.malformed


def test_a_native_call_that_the_length_limit_cut_says_so():
    cut = calls(("open", '{"side": "le'))
    cut.body["choices"][0]["finish_reason"] = "length"
    [move], _, _ = played([calls(*READY), cut], steps=1)
    assert "not JSON" in move.action.malformed
    assert "cut off at the length limit" in move.action.malformed


def test_a_call_that_an_endpoint_leaves_in_the_text_is_read_there():
    text = '<tool_call>{"name": "open", "arguments": {"side": "left"}}</tool_call>'
    [move], _, _ = played([calls(*READY), chat(text)], steps=1)
    assert move.action.text == "open left"


@pytest.mark.parametrize(
    "answer",
    [
        chat("ready"),
        refusal(400, "tiny does not support tools"),
        refusal(404, "No endpoints found that support tool use"),
        refusal(500, "tools param requires --jinja flag"),
        refusal(400, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'),
    ],
)
def test_a_model_without_calls_gets_the_functions_in_its_prompt_and_answers_with_json(answer):
    [move], (_, request), _ = played([answer, chat('{"name": "open", "arguments": {"side": "left"}}')], steps=1)
    assert move.action.text == "open left"
    assert move.notes["tools"] == "prompt"
    assert "tools" not in request
    assert 'open(side: "left" | "right"): Open a door.' in request["messages"][0]["content"]


def test_the_endpoint_is_asked_once_for_all_episodes():
    async def run():
        async with ScriptedEndpoint([calls(*READY), door("left")]) as endpoint:
            agent = make_agent("function_calling", model="tiny", model_url=endpoint.url)
            await asyncio.gather(*(play_async(agent, spec=DOORS, steps=1) for _ in range(4)))
            await agent.close()
            return endpoint.requests

    assert [r["tools"][0]["function"]["name"] for r in asyncio.run(run())].count("ready") == 1


def test_an_endpoint_that_is_down_loses_the_episode_and_decides_nothing():
    cut, _, agent = played([refusal(503, "down")])
    assert cut.outcome == "infra_lost"
    assert agent.describe["tools"] == "auto"


@pytest.mark.parametrize(("tools", "first"), [("native", "open"), ("prompt", None)])
def test_the_setting_decides_without_asking(tools, first):
    _, [request], agent = played([door("left")], steps=1, tools=tools)
    assert (request["tools"][0]["function"]["name"] if "tools" in request else None) == first
    assert agent.describe["tools"] == tools


def test_parallel_tool_calls_are_left_out_where_they_are_refused():
    words = refusal(400, "Unrecognized request argument supplied: parallel_tool_calls")
    [move], requests, _ = played([words, calls(*READY), door("left")], steps=1)
    assert ["parallel_tool_calls" in r for r in requests] == [True, False, False]
    assert move.completion.notes["adaptations"] == ["no_parallel_tool_calls"]


def test_the_preflight_says_how_calls_are_made():
    async def run(*script):
        async with ScriptedEndpoint(script) as endpoint:
            return await make_agent("function_calling", model="tiny", model_url=endpoint.url).preflight()

    assert "calls of functions: its own" in asyncio.run(run(chat("ready"), calls(*READY)))
    assert "calls of functions: as JSON in its text" in asyncio.run(run(chat("ready"), chat("no")))


def test_code_as_action_plays_by_the_same_functions():
    script = [chat('```python\nopen("left")\n```'), chat("open(side='right')"), chat("```\nopen('left')\n```")]
    moves, requests, agent = played(script, name="code_as_action")
    assert [move.action.text for move in moves] == ["open left", "open right", "open left"]
    assert "tools" not in requests[0]
    assert agent.describe["format"] == "code_as_action@1"


@pytest.mark.parametrize("name", ["function_calling", "code_as_action"])
def test_an_environment_without_functions_is_refused(name):
    agent = make_agent(name, model="tiny", model_url="http://127.0.0.1:1/v1")
    with pytest.raises(BadAgent, match="doors has no functions to call; play it with --agent react"):
        agent.described_in(SPEC)


def test_rules_of_the_envs_own_prompt_are_part_of_the_words_for_calls():
    from agentenv.registry import get_spec

    spec = get_spec("wordle")
    shown = opening_of(spec, "function_calling").prompt.opening
    assert "g: the letter is in the word, and in this place." in shown
    assert "guess(word: str): Guess the hidden word." in shown
    assert "$" not in shown
    assert "Thought:" not in shown
