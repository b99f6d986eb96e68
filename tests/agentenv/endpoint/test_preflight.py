import asyncio
import socket

import pytest
from scripted_endpoint import ScriptedEndpoint, chat, refusal

from agentenv.agents import make_agent
from agentenv.endpoint import EndpointSettings, OpenAIPolicy
from agentenv.errors import BadAgent, BadCall, InfraError
from agentenv.testing import FakeClock

MODELS = {"object": "list", "data": [{"id": "tiny", "max_model_len": 2048}, {"id": "large", "meta": {"n_ctx": 8192}}]}


def preflight(script, *, models=MODELS, model="tiny", url=None, **settings):
    async def run():
        async with ScriptedEndpoint(script, models=models) as endpoint:
            policy = OpenAIPolicy(
                EndpointSettings(model=model, url=url or endpoint.url, **settings), sleep=FakeClock().sleep
            )
            return await policy.preflight()

    return asyncio.run(run())


def test_a_preflight_shows_the_reply_the_model_and_its_context():
    found = preflight([chat("ready")])
    assert (found.reply, found.model, found.context_tokens, found.adaptations) == ("ready", "tiny", 2048, ())
    assert "tiny answered 'ready'" in str(found)
    assert "2048 tokens of context" in str(found)


def test_a_preflight_learns_what_the_endpoint_needs():
    found = preflight([refusal(400, "temperature is not supported"), chat("ready")], temperature=0.1)
    assert found.adaptations == ("no_temperature",)
    assert "adapted: no_temperature" in str(found)


@pytest.mark.parametrize(
    "models", [None, {"data": "none"}, {"data": [{"id": 7}, "x", {"id": "tiny", "max_model_len": "big"}]}]
)
def test_an_endpoint_that_lists_no_models_tells_no_context(models):
    found = preflight([chat("ready")], models=models)
    assert found.context_tokens is None
    assert "context length not told" in str(found)


def test_the_only_model_of_an_endpoint_is_the_one_whatever_it_is_called():
    found = preflight([chat("ready")], model="mine", models={"data": [{"id": "/m/x.gguf", "meta": {"n_ctx": 4096}}]})
    assert found.context_tokens == 4096


@pytest.mark.parametrize(
    ("reply", "error", "words"),
    [
        (refusal(401, "bad key"), BadCall, r"refuses the key in OPENAI_API_KEY .*HTTP 401: bad key.*export"),
        (refusal(404, "no route"), BadCall, r"does not serve 'tiny' .*HTTP 404.*correct --model, or"),
        (refusal(503, "loading"), InfraError, r"tiny at http://.*HTTP 503: loading.*try again later"),
        (refusal(400, "maximum context length is 64"), BadCall, r"cannot fit max_tokens=512 .*a smaller"),
        (refusal(400, "no"), BadCall, r"refuses a plain request \(HTTP 400: no\); check --model"),
    ],
)  # fmt: skip
def test_a_failed_preflight_names_url_model_status_and_the_next_thing_to_do(reply, error, words, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(error, match=words):
        preflight([reply])


def test_a_wrong_key_is_told_from_a_missing_one(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    with pytest.raises(BadCall, match="is it the right one"):
        preflight([refusal(401, "bad key")])


def test_a_wrong_model_is_refused_with_the_nearest_name():
    with pytest.raises(BadCall, match=r"has no model 'larg' .*did you mean --model large\?"):
        preflight([refusal(404, "no such model")], model="larg")


def test_a_wrong_model_without_a_near_name_is_refused_with_the_list():
    with pytest.raises(BadCall, match=r"has no model 'gpt' .*it has: large, tiny"):
        preflight([refusal(404, "no such model")], model="gpt")


def test_limits_that_do_not_fit_the_context_are_refused_before_a_run():
    with pytest.raises(BadCall, match=r"max_tokens=2048 leaves no room in the 2048 tokens of context of tiny"):
        preflight([chat("ready")], max_tokens=2048)


def test_an_endpoint_that_is_not_there_is_named():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        with pytest.raises(InfraError, match=rf"no model endpoint answers at {url} .*start it, or correct --model-url"):
            preflight([chat("x")], url=url)


def test_the_agent_react_offers_the_preflight_of_its_policy_and_works_on_in_another_event_loop():
    async def check(agent):
        return await agent.preflight()

    async def run():
        async with ScriptedEndpoint([chat("ready")], models=MODELS) as endpoint:
            agent = make_agent("react", model="tiny", model_url=endpoint.url)
            first = await asyncio.to_thread(asyncio.run, check(agent))
            second = await agent.preflight()
            await agent.close()
            return first, second

    first, second = asyncio.run(run())
    assert "tiny answered 'ready'" in first
    assert "tiny answered 'ready'" in second


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("localhost:8080", r"must look like http://host:port/v1"),
        ("ftp://localhost/v1", r"must look like http://host:port/v1"),
        ("http://", r"must look like http://host:port/v1"),
        ("http://me:secret@host/v1", r"keys come from OPENAI_API_KEY alone"),
        ("http://host/v1?key=x", r"without \? or #"),
    ],
)
def test_an_url_that_cannot_be_one_is_refused(url, words):
    with pytest.raises(BadAgent, match=words) as error:
        EndpointSettings(model="m", url=url)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("url", ["http://h:1/v1", "http://h:1/v1/", "http://h:1/v1/chat/completions"])
def test_the_base_url_may_be_given_with_its_route(url):
    assert EndpointSettings(model="m", url=url).base == "http://h:1/v1"


def test_two_ports_of_a_local_server_are_the_same_model():
    one, two = (EndpointSettings(model="m", url=f"http://{h}/v1").describe() for h in ("127.0.0.1:1", "localhost:2"))
    assert one == two
    assert one["host"] == "localhost"
    assert EndpointSettings(model="m", url="https://api.example.org/v1").describe()["host"] == "api.example.org"
