"""A folder of this machine as an agent, with the engine found by its entry point."""

import asyncio

import pytest

from agentenv.agents import make_agent
from agentenv.agents.local import digest_of_folder, options_of
from agentenv.errors import BadAgent
from agentenv.pool import EnvPool
from agentenv.protocol import Outcome
from agentenv.rollout import rollout

pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    from tiny_models import tiny_model

    place = tmp_path_factory.mktemp("model") / "tiny"
    place.mkdir()
    return tiny_model(place, context=4096)


def played(agent):
    async def run():
        async with EnvPool("maze", size=2, max_steps=2) as pool:
            try:
                return await rollout(pool, await pool.task_refs("test", 2), agent)
            finally:
                await agent.close()

    return asyncio.run(run())


@pytest.mark.parametrize("name", ["react", "function_calling"])
def test_a_model_in_a_folder_plays_and_its_record_has_tokens(folder, name):
    settings = {"max_tokens": 4, "seed": 3, "engine": "hf", "engine_options": "threads=1,lockstep=true"}
    episodes, again = (played(make_agent(name, model_path=str(folder), **settings)) for _ in range(2))
    assert [e.outcome for e in episodes] == [Outcome.STEP_LIMIT] * 2
    turn = episodes[0].turns[0]
    assert len(turn.token_ids) == len(turn.logprobs) == 4
    assert turn.fresh
    assert [[t.token_ids for t in e.turns] for e in episodes] == [[t.token_ids for t in e.turns] for e in again]
    described = episodes[0].agent
    assert (described["name"], described["model"], described["engine"]) == (name, "tiny", "hf")
    assert described["weights"] == digest_of_folder(folder)


def test_the_preflight_reads_the_tokenizer_and_loads_no_weights(folder):
    agent = make_agent("react", model_path=str(folder))
    assert "tiny on the engine hf" in asyncio.run(agent.preflight())


def test_another_file_in_the_folder_is_another_model(folder):
    before = digest_of_folder(folder)
    (folder / "note.txt").write_text("x")
    assert digest_of_folder(folder) != before
    (folder / "note.txt").unlink()
    assert digest_of_folder(folder) == before


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"model_path": "/no/such"}, "no folder with a config.json"),
        ({"engine": "hff"}, "engine=hff: did you mean 'hf'"),
        ({"engine_options": "threads"}, "write key=value"),
        ({"retries": 3}, "'retries' is for a model behind an endpoint"),
        ({"model_url": "http://h/v1"}, "'model_url' is for a model behind an endpoint"),
    ],
)
def test_what_does_not_fit_a_folder_is_refused(folder, settings, words):
    with pytest.raises(BadAgent, match=words):
        make_agent("react", **{"model_path": str(folder), **settings})


def test_what_is_for_a_folder_is_refused_for_an_endpoint():
    with pytest.raises(BadAgent, match="'engine' is for a model in a folder"):
        make_agent("react", model="m", model_url="http://h/v1", engine="hf")


def test_options_of_the_engine_have_types():
    assert options_of("threads=2,lockstep=true,dtype=float32") == {"threads": 2, "lockstep": True, "dtype": "float32"}
