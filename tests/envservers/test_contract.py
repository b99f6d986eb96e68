"""The contract of environments, kept by every one of ours. Among its rules: the scripted episodes have equal bytes in
other processes under other hash seeds, no task stands in two splits, and solutions succeed.
"""

import asyncio

import pytest

from agentenv.agents import make_agent
from agentenv.errors import EnvUnavailable
from agentenv.pool import EnvPool
from agentenv.registry import get_spec, specs
from agentenv.rollout import rollout
from agentenv.testing import check_env

QUICK = (
    "card_is_sound",
    "options_are_validated",
    "splits_are_disjoint",
    "odd_actions_answered",
    "malformed_actions_count",
    "calls_out_of_order",
    "reset_in_mid_episode",
    "same_bytes_elsewhere",
    "sessions_are_apart",
    "solve_succeeds",
    "snapshots_restore",
    "close_twice",
)
PLAYED = {
    "alfworld": [{}, {"grammar": "move"}],
    "babyai": [{}],
    "math": [{"mode": "answer"}, {"mode": "calculator"}],
    "maze": [{}],
    "sciworld": [{"jvms": 1}],
    "search": [{"size": "small"}],
    "sql": [{"mode": "single"}, {"mode": "multi"}],
    "textcraft": [{}],
    "todo": [{}],
    "webarena": [{"engine": "lite", "size": "small"}],
    "webshop": [{"size": "small"}, {"size": "small", "observation": "text_rich"}],
    "wordle": [{}],
}
"""Options of each environment under which it is checked."""
SLOW = ("sciworld", "webarena")
"""Where even the quick rules take long."""


def cases(slow):
    """Each environment with its options, those of `slow` marked."""
    marks = [pytest.mark.slow, pytest.mark.timeout(900)]
    return [
        pytest.param(env, options, id=f"{env}-{n}", marks=marks if env in slow else [])
        for env, some in PLAYED.items()
        for n, options in enumerate(some)
    ]


def problems(env, options, **how):
    """Rules that are broken, with what was found."""
    try:
        report = check_env(get_spec(env), options=options, measured=False, **how)
    except EnvUnavailable as missing:
        pytest.skip(str(missing))
    return {finding.rule: finding.detail for finding in report.findings if finding.rule in report.failed}


def test_every_environment_is_checked():
    ours = {spec.id for spec in specs() if spec.entry.startswith("envservers.")}
    assert ours == set(PLAYED)


@pytest.mark.parametrize(("env", "options"), cases(SLOW))
def test_the_rules_that_matter_most_are_kept(env, options):
    assert not problems(env, options, rules=QUICK, budget_s=1)


@pytest.mark.parametrize(("env", "options"), cases(tuple(PLAYED)))
def test_every_rule_of_the_contract_is_kept(env, options):
    assert not problems(env, options, budget_s=5)


DECIDED = [param for param in cases(SLOW) if get_spec(param.values[0]).last_action_decides]


@pytest.mark.parametrize(("env", "options"), DECIDED)
def test_where_the_last_action_decides_it_gets_the_verdict_alone(env, options):
    async def verdicts():
        async with EnvPool(env, size=1, options=options) as pool:
            refs = (await pool.task_refs("test"))[:6]
            for episode in await rollout(pool, refs, make_agent("oracle")):
                async with pool.session(episode.task.id) as session:
                    reply = await session.step(episode.turns[-1].action)
                    yield reply.terminated, reply.success

    async def gathered():
        return [verdict async for verdict in verdicts()]

    assert asyncio.run(gathered()) == [(True, True)] * 6
