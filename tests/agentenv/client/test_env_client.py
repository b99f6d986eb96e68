"""`EnvClient`: gymnasium's own checker, the info, tasks and seeds, misuse, failures, and recovery from them."""

import asyncio
import copy
import gc
import pickle
import socket
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils import seeding
from gymnasium.utils.env_checker import check_env
from serving import running
from toy_envs import PNG, SPECS, Clock

import agentenv
from agentenv.client import EnvClient
from agentenv.client.local import LocalTransport
from agentenv.client.spaces import FreeText
from agentenv.errors import (
    BadCall,
    ClientClosed,
    EnvFailed,
    EpisodeOver,
    ServerUnreachable,
    SessionGone,
    UnknownEnv,
    UnknownOption,
    UnknownTask,
)
from agentenv.protocol import Action
from agentenv.registry import _installed, specs
from agentenv.server.limits import ServerLimits
from agentenv.server.sessions import Sessions

INSTALLED = sorted(spec.id for spec in _installed().values() if not hasattr(spec, "reason"))
# All but `toy_numbers`, whose texts count the episodes of one object,
# and `toy_fragile`, whose tasks from 13 up break.
TOYS = sorted(set(SPECS) - {"toy_numbers", "toy_fragile"})
PLACES = ("local", "http", "websocket")


@pytest.fixture(scope="module")
def installed_url() -> Iterator[str]:
    with running(Sessions(spec for spec in specs() if spec.id in INSTALLED)) as url:
        yield url


def at(place: str, url: str) -> dict[str, Any]:
    return {} if place == "local" else {"base_url": url, "transport": place}


@pytest.fixture
def env(toys: None) -> Iterator[EnvClient]:
    client = agentenv.make("toy_inline")
    yield client
    client.close()


@pytest.fixture(params=PLACES)
def fragile(request: pytest.FixtureRequest, toys: None, toy_url: str) -> Iterator[EnvClient]:
    client = agentenv.make("toy_fragile", task=0, **at(request.param, toy_url))
    yield client
    client.close()


# Gymnasium's checker.


def test_the_games_are_installed() -> None:
    assert {"maze", "textcraft", "wordle"} <= set(INSTALLED)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("id", INSTALLED)
def test_every_installed_env_passes_gymnasiums_checker_without_a_warning(
    id: str, place: str, installed_url: str
) -> None:
    client = agentenv.make(id, **at(place, installed_url))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(client, skip_render_check=True)
    client.close()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("id", TOYS)
def test_every_toy_passes_gymnasiums_checker_without_a_warning(id: str, place: str, toys: None, toy_url: str) -> None:
    client = agentenv.make(id, **at(place, toy_url))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(client, skip_render_check=True)
    client.close()


def test_the_bare_client_comes_back_from_gymnasium(toys: None) -> None:
    client = gymnasium.make("agentenv/ToyToyInline-v0", split="test", max_steps=2)
    assert type(client) is EnvClient
    assert client.spec is not None
    assert client.spec.id == "agentenv/ToyToyInline-v0"
    client.reset(seed=1)
    assert [client.step("go")[3] for _ in range(2)] == [False, True]
    client.close()


def test_an_env_that_is_registered_later_is_known_to_gymnasium(monkeypatch: pytest.MonkeyPatch, toys: None) -> None:
    from toy_envs import spec

    agentenv.register(spec("toy_late", "toy_envs:Counter", SPECS["toy_inline"].concurrency))
    client = gymnasium.make("agentenv/ToyToyLate-v0")
    client.reset()
    client.close()


# What a step and its info say.


@pytest.mark.parametrize("place", PLACES)
def test_info_tells_task_episode_outcome_success_and_score(place: str, toys: None, toy_url: str) -> None:
    client = agentenv.make("toy_fragile", task=3, **at(place, toy_url))
    _, info = client.reset(seed=0)
    common = {"task": "toy_fragile/train/3", "episode": 0, "outcome": None, "success": None, "score": None}
    assert info == {**common, "n": 3}
    assert client.step("look")[4] == common
    text, reward, terminated, truncated, info = client.step("win")
    assert (text, reward, terminated, truncated) == ("won", 1.0, True, False)
    assert info == {**common, "outcome": "success", "success": True, "score": 3.0}
    assert [client.reset()[1]["episode"], client.reset()[1]["episode"], client.reset(seed=0)[1]["episode"]] == [1, 2, 0]
    client.close()


def test_a_limit_of_steps_truncates_and_the_smaller_one_holds(toys: None) -> None:
    for asked, holds in ((2, 2), (100, 8)):
        client = agentenv.make("toy_inline", max_steps=asked, goal=50)
        client.reset(seed=0)
        flags = [client.step("go")[2:4] for _ in range(holds)]
        assert flags == [(False, False)] * (holds - 1) + [(False, True)]
        with pytest.raises(EpisodeOver):
            client.step("go")
        client.close()


def test_a_malformed_action_is_a_step_with_the_envs_own_text(env: EnvClient) -> None:
    env.reset(seed=0, options={"task": 1})
    text, reward, *_ = env.step(Action(text="blah", malformed="two actions"))
    assert "two actions" in text
    assert reward == 0.0
    assert env.step("go")[0] == "seed 1 count 1 got go"


def test_observation_and_available_actions_change_nothing(env: EnvClient) -> None:
    env.reset(options={"task": 5})
    assert env.observation() == "seed 5 count 0"
    assert env.available_actions() == ["go", "wait"]
    assert env.step("go")[0] == env.observation() == "seed 5 count 1 got go"


@pytest.mark.parametrize("place", PLACES)
def test_lone_surrogates_become_replacement_characters_on_every_transport(place: str, toys: None, toy_url: str) -> None:
    client = agentenv.make("toy_texts", task=2, **at(place, toy_url))
    assert client.reset()[0] == ""
    assert client.step("a\ud800b\udfff")[0] == "a\ufffdb\ufffd"
    assert client.step("\U0001f642 stays")[0] == "\U0001f642 stays"
    assert client.step(np.str_("a numpy text"))[0] == "a numpy text"
    client.close()


@pytest.mark.parametrize("place", PLACES)
def test_images_are_asked_for_and_come_beside_the_text(place: str, toys: None, toy_url: str) -> None:
    client = agentenv.make("toy_fragile", task=0, images=True, **at(place, toy_url))
    assert isinstance(client.observation_space, gymnasium.spaces.Dict)
    seen, _ = client.reset()
    assert seen == {"text": "task 0", "image": PNG}
    assert client.step("look")[0] == {"text": "did look", "image": PNG}
    last = client.step("win")[0]
    assert last == {"text": "won", "image": b""}
    assert seen in client.observation_space
    assert last in client.observation_space
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(client, skip_render_check=True)
    client.close()


# Which task.


@pytest.mark.parametrize(
    ("wanted", "id"),
    [
        ("toy_inline/test/3", "toy_inline/test/3"),
        (4, "toy_inline/train/4"),
        (np.int64(5), "toy_inline/train/5"),
        ({"index": 6}, "toy_inline/train/6"),
        ({"split": "test", "index": 7}, "toy_inline/test/7"),
    ],
)
@pytest.mark.parametrize("place", PLACES)
def test_a_task_is_named_by_id_index_or_place(
    place: str, wanted: Any, id: str, toys: None, toy_url: str, env: EnvClient
) -> None:
    client = agentenv.make("toy_inline", **at(place, toy_url))
    assert client.reset(options={"task": wanted})[1]["task"] == id
    client.close()
    client = agentenv.make("toy_inline", task=wanted, **at(place, toy_url))
    assert client.reset()[1]["task"] == client.reset()[1]["task"] == id
    assert client.reset(options={"task": 0})[1]["task"] == "toy_inline/train/0"
    client.close()


def test_a_seed_names_the_same_task_everywhere(toys: None, toy_url: str) -> None:
    wanted = {"split": "test", "seed": 99}
    ids = set()
    for place in PLACES:
        client = agentenv.make("toy_inline", **at(place, toy_url))
        ids.add(client.reset(options={"task": wanted})[1]["task"])
        client.close()
    assert len(ids) == 1


@pytest.mark.parametrize("place", PLACES)
def test_without_a_task_one_is_drawn_from_the_seeded_generator(place: str, toys: None, toy_url: str) -> None:
    client = agentenv.make("toy_inline", **at(place, toy_url))
    drawn = [client.reset(seed=7)[1]["task"], client.reset()[1]["task"], client.reset(seed=7)[1]["task"]]
    rng, _ = seeding.np_random(7)
    first, second = (f"toy_inline/train/{rng.integers(1000)}" for _ in range(2))
    assert drawn == [first, second, first]
    client.close()


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("nonsense", "ids look like toy_inline/train/0"),
        (1000, "has 1000 tasks"),
        (-1, "has 1000 tasks"),
        ({"split": "nope", "index": 0}, "it has train, test"),
        ({"index": 1, "seed": 2}, "exactly one"),
        ({"colour": 1}, "give an id, an index, or"),
        (True, "give an id, an index, or"),
        (1.5, "give an id, an index, or"),
    ],
)
@pytest.mark.parametrize("place", PLACES)
def test_a_task_that_is_not_there_is_told_and_costs_nothing(
    place: str, wanted: Any, message: str, toys: None, toy_url: str
) -> None:
    client = agentenv.make("toy_inline", **at(place, toy_url))
    with pytest.raises(BadCall, match=message):
        client.reset(options={"task": wanted})
    assert client.reset(options={"task": 0})[0] == "seed 0 count 0"
    with pytest.raises(BadCall, match=message):
        client.reset(options={"task": wanted})
    assert client.step("go")[0] == "seed 0 count 1 got go"
    client.close()


def test_a_split_that_is_not_there_is_told_at_the_reset(toys: None) -> None:
    client = agentenv.make("toy_inline", split="dev")
    with pytest.raises(UnknownTask, match="no split 'dev'; it has train, test"):
        client.reset()
    client.close()


# Misuse.


@pytest.mark.parametrize("place", PLACES)
def test_options_reach_the_env_and_wrong_ones_are_told(place: str, toys: None, toy_url: str) -> None:
    client = agentenv.make("toy_inline", goal=1, **at(place, toy_url))
    client.reset(options={"task": 0})
    assert client.step("go")[2]
    client.close()
    with pytest.raises(UnknownOption, match="did you mean 'goal'"):
        agentenv.make("toy_inline", gaol=1, **at(place, toy_url)).reset()
    with pytest.raises(UnknownOption, match="must be at least 1"):
        agentenv.make("toy_inline", goal=0, **at(place, toy_url)).reset()


@pytest.mark.parametrize("transport", ["http", "websocket"])
def test_an_option_that_json_cannot_carry_is_told_at_once(transport: str, toy_url: str) -> None:
    with pytest.raises(BadCall, match="cannot be sent as JSON"):
        EnvClient("toy_inline", base_url=toy_url, transport=transport, goal=object())


@pytest.mark.parametrize("place", PLACES)
def test_tasks_are_drawn_from_those_of_the_clients_options(place: str, installed_url: str) -> None:
    """With a goal and its recipes, TextCraft has one task, in a split that it does not have otherwise."""
    own = {"commands": "craft 1 stick using 1 log", "goal": "stick", "split": "fixed"}
    client = agentenv.make("textcraft", **own, **at(place, installed_url))
    assert client.reset(seed=3)[1]["task"] == "textcraft/fixed/0"
    client.close()


def test_an_unknown_env_says_what_was_meant(toys: None, toy_url: str) -> None:
    with pytest.raises(UnknownEnv, match="did you mean 'textcraft'"):
        agentenv.make("textcarft")
    with pytest.raises(UnknownEnv, match="toy_inline"):
        agentenv.make("textcarft", base_url=toy_url)


@pytest.mark.parametrize("max_steps", [0, -1])
def test_a_limit_under_one_step_is_refused(toys: None, max_steps: int) -> None:
    with pytest.raises(BadCall, match="must be at least 1"):
        agentenv.make("toy_inline", max_steps=max_steps)


def test_step_before_reset_says_what_to_do(env: EnvClient) -> None:
    for call in (lambda: env.step("go"), env.observation, env.available_actions):
        with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\)"):
            call()


@pytest.mark.parametrize("action", [3, None, b"go", ["go"]])
def test_an_action_of_another_type_is_a_wrong_call_and_no_step(env: EnvClient, action: Any) -> None:
    env.reset(options={"task": 0})
    with pytest.raises(BadCall, match="give text or an Action"):
        env.step(action)
    assert env.step("go")[0] == "seed 0 count 1 got go"


def test_use_after_close_is_told_and_a_second_close_is_fine(toys: None) -> None:
    client = agentenv.make("toy_inline")
    client.reset()
    client.close()
    client.close()
    for call in (client.reset, lambda: client.step("go"), client.observation, client.available_actions):
        with pytest.raises(ClientClosed, match="is closed; make a new one"):
            call()
    client.close()


def test_close_frees_the_session_on_the_server(toys: None, toy_url: str, toy_sessions: Sessions) -> None:
    before = len(toy_sessions._sessions)
    client = agentenv.make("toy_inline", base_url=toy_url)
    client.reset()
    assert len(toy_sessions._sessions) == before + 1
    client.close()
    assert len(toy_sessions._sessions) == before


@pytest.mark.parametrize("place", PLACES)
def test_a_forgotten_client_frees_its_session(place: str, toys: None, toy_url: str, toy_sessions: Sessions) -> None:
    client = agentenv.make("toy_inline", **at(place, toy_url))
    client.reset()
    transport = client._connection.transport
    table = transport.sessions if isinstance(transport, LocalTransport) else toy_sessions
    before = len(table._sessions)
    del client, transport
    gc.collect()
    until(lambda: len(table._sessions) == before - 1)


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10.0
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("transport", ["http", "websocket"])
def test_no_server_there_names_the_command_that_starts_one(transport: str) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        with pytest.raises(ServerUnreachable, match=f"start one with `agentenv serve ENV --port {port}`"):
            agentenv.make("textcraft", base_url=f"http://127.0.0.1:{port}", transport=transport)


# Failures, and what comes after them.


def test_a_broken_env_is_env_failed_and_a_reset_goes_on(fragile: EnvClient) -> None:
    fragile.reset()
    with pytest.raises(EnvFailed, match="it broke"):
        fragile.step("break")
    with pytest.raises(EpisodeOver, match="env_error"):
        fragile.step("look")
    assert fragile.reset()[0] == "task 0"
    assert fragile.step("win")[2]


def test_a_reset_that_breaks_is_env_failed_and_the_next_one_goes_on(fragile: EnvClient) -> None:
    for _ in range(2):
        with pytest.raises(EnvFailed, match="no world"):
            fragile.reset(options={"task": 13})
        assert fragile.reset()[0] == "task 0"
        assert fragile.step("look")[0] == "did look"


@pytest.mark.parametrize("place", ["http", "websocket"])
def test_an_expired_session_is_session_gone_and_a_reset_opens_another(place: str, toys: None) -> None:
    clock = Clock()
    sessions = Sessions(SPECS.values(), limits=ServerLimits(lease_s=100.0), clock=clock)
    with running(sessions) as url:
        client = agentenv.make("toy_inline", task=1, **at(place, url))
        client.reset()
        client.step("go")
        clock.advance(101.0)
        for _ in range(2):
            with pytest.raises(SessionGone) as caught:
                client.step("go")
            assert caught.value.extra["reason"] == "expired"
        assert client.reset()[0] == "seed 1 count 0"
        assert client.step("go")[0] == "seed 1 count 1 got go"
        clock.advance(101.0)
        assert client.reset()[0] == "seed 1 count 0"
        clock.advance(101.0)
        client.close()


@pytest.mark.parametrize("place", PLACES)
def test_an_interrupted_reset_does_not_spoil_the_next_one(place: str, toys: None, toy_url: str) -> None:
    client = agentenv.make("toy_inline", **at(place, toy_url))
    client.reset(options={"task": 0})
    session = client._held.session
    assert session is not None
    # The interrupt came when the server had begun the episode and the client had not heard of it.
    client._portal.run(session.connection.send([session.reset_call("toy_inline/train/1")], 5.0))
    assert client.reset(options={"task": 2})[0] == "seed 2 count 0"
    assert client.step("go")[0] == "seed 2 count 1 got go"
    client.close()


# Where a client may live.


@pytest.mark.parametrize("place", PLACES)
def test_a_pickled_client_keeps_its_options_and_opens_a_session_of_its_own(
    place: str, toys: None, toy_url: str
) -> None:
    client = agentenv.make("toy_inline", split="test", task=2, max_steps=3, goal=2, **at(place, toy_url))
    client.reset()
    client.step("go")
    for other in (pickle.loads(pickle.dumps(client)), copy.deepcopy(client)):
        assert other.source == client.source
        with pytest.raises(gymnasium.error.ResetNeeded):
            other.step("go")
        assert other.reset()[0] == "seed 100002 count 0"
        other.close()
    assert client.step("go")[:3] == ("seed 100002 count 2 got go", 1.0, True)
    client.close()


def test_a_token_does_not_show_in_a_clients_text(toys: None, toy_url: str) -> None:
    client = agentenv.make("toy_inline", base_url=toy_url, token="secret-token")
    assert "secret-token" not in repr(client) + repr(client.source)
    client.close()


def test_a_client_works_inside_a_running_event_loop(env: EnvClient) -> None:
    async def cell() -> str:
        env.reset(options={"task": 0})
        return str(env.step("go")[0])

    assert asyncio.run(cell()) == "seed 0 count 1 got go"


def test_spaces_of_a_client_are_free_text(env: EnvClient) -> None:
    assert env.observation_space == env.action_space == FreeText()
    assert env.metadata == {"render_modes": []}
