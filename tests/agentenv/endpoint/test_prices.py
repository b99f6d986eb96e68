import asyncio

import pytest
from agent_play import play_async
from scripted_endpoint import ScriptedEndpoint, chat

from agentenv.agents import make_agent
from agentenv.endpoint import Price, load_prices
from agentenv.errors import BadAgent, EpisodeCut

ABOUT = {"date": "2026-01-31", "source": "https://example.org/prices", "currency": "EUR"}
LOOK = "Thought: hm\nAction: look"
USAGE = {
    "prompt_tokens": 1000,
    "completion_tokens": 100,
    "prompt_tokens_details": {"cached_tokens": 400},
    "completion_tokens_details": {"reasoning_tokens": 60},
}


@pytest.fixture
def table(tmp_path):
    file = tmp_path / "prices.yaml"
    file.write_text(
        "currency: EUR\nmodels:\n"
        "  tiny: {input: 2, cached: 1, output: 10, reasoning: 20, date: 2026-01-31, source: 'https://example.org'}\n"
        "  partly: {input: 2, output: 10, cached: null, date: '2026-01-31', source: x}\n"
    )
    return str(file)


def test_a_cost_counts_cached_and_reasoning_tokens_apart():
    price = Price(input=2, cached=1, output=10, reasoning=20, **ABOUT)
    assert price.cost(prompt=1000, completion=100, cached=400, reasoning=60) == pytest.approx(
        (600 * 2 + 400 * 1 + 40 * 10 + 60 * 20) / 1e6
    )
    assert price.cost(prompt=1000, completion=100) == pytest.approx((1000 * 2 + 100 * 10) / 1e6)


def test_what_is_unknown_is_none_and_never_zero():
    price = Price(input=2, output=10, **ABOUT)
    assert price.cost(prompt=1000, completion=100, cached=1) is None
    assert price.cost(prompt=1000, completion=100, reasoning=1) is None
    assert price.cost(prompt=None, completion=100) is None
    assert price.cost(prompt=1000, completion=None) is None
    assert price.cost(prompt=1000, completion=0, cached=0) == pytest.approx(0.002)


def test_a_free_model_costs_zero_when_the_table_says_so():
    assert Price(input=0, output=0, **ABOUT).cost(prompt=10, completion=10) == 0.0


def test_a_table_is_read_with_date_source_and_currency(table):
    prices = load_prices(table)
    assert (prices["tiny"].date, prices["tiny"].currency, prices["partly"].cached) == ("2026-01-31", "EUR", None)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("- 1", "must have the keys currency and models"),
        ("models: {}\nextra: 1", "must have the keys currency and models"),
        ("models: {m: {input: 1}}", "needs a date"),
        ("models: {m: {input: 1, date: 2026-01-31}}", "needs a source"),
        ("models: {m: {input: -1, date: 2026-01-31, source: x}}", "input=-1: must be a number of at least 0"),
        ("models: {m: {input: cheap, date: 2026-01-31, source: x}}", "input='cheap'"),
        ("models: {m: {inptu: 1, date: 2026-01-31, source: x}}", "may have the keys"),
        ("models: [", "cannot be read as YAML"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused_with_the_reason(text, words, tmp_path):
    (tmp_path / "p.yaml").write_text(text)
    with pytest.raises(BadAgent, match=words):
        load_prices(tmp_path / "p.yaml")


def played(script, *, steps=6, **settings):
    """Moves, or how the episode was cut; requests; what was spent."""

    async def run():
        async with ScriptedEndpoint(script) as endpoint:
            agent = make_agent("react", model="tiny", model_url=endpoint.url, **settings)
            try:
                result = await play_async(agent, steps=steps)
            except EpisodeCut as cut:
                result = cut
            finally:
                await agent.close()
            return result, endpoint.requests, agent

    return asyncio.run(run())


def test_the_cost_of_a_turn_is_in_its_completion_and_in_the_sums_of_the_run(table):
    moves, _, agent = played([chat(LOOK, usage=USAGE)], steps=2, prices=table)
    cost = (600 * 2 + 400 * 1 + 40 * 10 + 60 * 20) / 1e6
    assert [move.completion.cost for move in moves] == [pytest.approx(cost)] * 2
    spent = agent.spent()
    assert spent.cost == pytest.approx(2 * cost)
    assert (spent.completions, spent.prompt_tokens, spent.completion_tokens) == (2, 2000, 200)
    assert (spent.cached_tokens, spent.reasoning_tokens, spent.untold, spent.unpriced) == (800, 120, 0, 0)


def test_without_a_table_or_counts_the_sums_say_what_they_do_not_know():
    _, _, agent = played([chat(LOOK, usage=None)], steps=2)
    assert (agent.spent().untold, agent.spent().unpriced, agent.spent().cost) == (2, 2, 0.0)


def test_an_episode_that_has_used_its_tokens_ends_as_agent_error():
    cut, requests, _ = played([chat(LOOK, usage=USAGE)], max_episode_tokens=2000)
    assert (cut.outcome, len(requests)) == ("agent_error", 2)
    assert "the episode has used 2200; max_episode_tokens=2000" in cut.detail


def test_an_episode_that_has_cost_its_cap_ends_as_agent_error(table):
    cut, requests, agent = played([chat(LOOK, usage=USAGE)], max_episode_cost=0.005, prices=table)
    assert (cut.outcome, len(requests)) == ("agent_error", 2)
    assert agent.describe["max_episode_cost"] == 0.005


def test_a_cap_that_cannot_be_held_is_nobodys_failure():
    cut, _, _ = played([chat(LOOK, usage=None)], max_episode_tokens=2000)
    assert cut.outcome == "infra_lost"


def test_a_cap_on_cost_needs_a_price(table):
    with pytest.raises(BadAgent, match="max_episode_cost needs a price of 'other'"):
        make_agent("react", model="other", model_url="http://h/v1", max_episode_cost=1, prices=table)


def test_the_preflight_refuses_a_cap_that_cannot_be_held():
    async def run():
        async with ScriptedEndpoint([chat("ready", usage=None)]) as endpoint:
            agent = make_agent("react", model="tiny", model_url=endpoint.url, max_episode_tokens=10)
            await agent.preflight()

    with pytest.raises(BadAgent, match="does not tell token counts, so that max_episode_tokens cannot be held"):
        asyncio.run(run())
