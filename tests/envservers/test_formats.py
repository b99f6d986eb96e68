"""A model that does what the scripted solution does succeeds in every environment, whichever format it answers in."""

import asyncio

import pytest
from scripted_endpoint import ScriptedEndpoint, chat

from agentenv.agents import make_agent
from agentenv.agents.parse import written
from agentenv.agents.prompts import opening_of
from agentenv.errors import EnvUnavailable
from agentenv.functions import FunctionTable
from agentenv.pool import EnvPool
from agentenv.registry import specs
from agentenv.rollout import rollout

SPECS = [spec for spec in specs() if spec.entry.startswith("envservers.")]
AGENTS = {"react": {}, "function_calling": {"tools": "prompt"}, "code_as_action": {}}
"""Agents and their settings."""
OPTIONS = {
    "math": {"mode": "calculator"},
    "search": {"size": "small"},
    "sql": {"mode": "multi"},
    "webarena": {"engine": "lite", "size": "small"},
    "webshop": {"size": "small"},
}
SLOW = ("sciworld", "search", "webarena", "webshop")
"""A world is built or a simulator started."""


async def played(spec, name):
    """The solution of a task, and what became of an agent whose model wrote the same actions."""
    table, format = FunctionTable.of(spec.functions), opening_of(spec, None if name == "react" else name).format
    async with EnvPool(spec.id, size=1, options=OPTIONS.get(spec.id, {})) as pool:
        refs = await pool.task_refs("test", 1)
        [solved] = await rollout(pool, refs, make_agent("oracle"))
        actions = [turn.action.splitlines()[-1] if spec.id == "math" else turn.action for turn in solved.turns]
        async with ScriptedEndpoint([chat(written(action, format, table)) for action in actions]) as endpoint:
            agent = make_agent(name, model="tiny", model_url=endpoint.url, **AGENTS[name])
            try:
                [episode] = await rollout(pool, refs, agent)
            finally:
                await agent.close()
    return actions, episode, endpoint.requests


@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize(
    "spec", [pytest.param(spec, id=spec.id, marks=[pytest.mark.slow] if spec.id in SLOW else []) for spec in SPECS]
)
def test_the_actions_of_the_solution_succeed_in_every_format(spec, name):
    try:
        actions, episode, requests = asyncio.run(played(spec, name))
    except EnvUnavailable as missing:
        pytest.skip(str(missing))
    assert episode.success, (episode.outcome, [turn.malformed for turn in episode.turns])
    assert [turn.action for turn in episode.turns] == actions
    assert not any(turn.malformed for turn in episode.turns)
    told = str(requests[0]["messages"])
    if name != "react":
        assert all(function["name"] in told for function in spec.functions)
