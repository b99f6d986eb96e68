"""`VectorEnvClient`: one exchange a step, slots that fail alone, and gymnasium's ways to make and wrap it."""

import pickle
from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from serve_toys import toy_process
from serving import running
from toy_envs import PNG, SPECS

import agentenv
from agentenv.client import VectorEnvClient
from agentenv.client.core import Connection, Patience
from agentenv.client.transport import Transport
from agentenv.errors import BadCall, ClientClosed, ServerUnreachable, UnknownTask
from agentenv.server.limits import ServerLimits
from agentenv.server.sessions import Sessions
from agentenv.wire import Call, Reply

MODES = list(AutoresetMode)


@pytest.fixture(params=["local", "websocket", "http"])
def place(request: pytest.FixtureRequest, toys: None, toy_url: str) -> dict[str, Any]:
    return {} if request.param == "local" else {"base_url": toy_url, "transport": request.param}


class Counting:
    """Counts the exchanges of a transport."""

    def __init__(self, inner: Transport) -> None:
        self.inner, self.address = inner, inner.address
        self.sizes: list[int] = []

    async def exchange(self, calls: Sequence[Call], timeout_s: float) -> list[Reply]:
        self.sizes.append(len(calls))
        return await self.inner.exchange(calls, timeout_s)

    async def get_json(self, path: str) -> bytes:
        return await self.inner.get_json(path)

    async def close(self) -> None:
        await self.inner.close()


def counted(env: VectorEnvClient) -> Counting:
    env._connection.transport = counting = Counting(env._connection.transport)
    return counting


# Shapes and exchanges.


def test_arrays_have_gymnasiums_types_and_shapes(place: dict[str, Any]) -> None:
    env = VectorEnvClient("toy_inline", 3, **place)
    seen, infos = env.reset(seed=0)
    assert type(seen) is tuple
    assert all(type(text) is str for text in seen)
    assert infos["episode"].tolist() == [0, 0, 0]
    seen, rewards, terminated, truncated, infos = env.step(["go"] * 3)
    assert seen in env.observation_space
    assert (rewards.dtype, rewards.shape) == (np.float64, (3,))
    assert (terminated.dtype, truncated.dtype) == (np.bool_, np.bool_)
    assert infos["valid"].tolist() == infos["_valid"].tolist() == [True] * 3
    assert env.action_space.sample() in env.action_space
    env.close()


@pytest.mark.parametrize("mode", MODES)
def test_a_step_is_one_exchange_and_a_reset_is_one(mode: AutoresetMode, place: dict[str, Any]) -> None:
    env = VectorEnvClient("toy_inline", 8, autoreset_mode=mode, goal=3, **place)
    counting = counted(env)
    env.reset(seed=0)
    for _ in range(2):
        env.step(["go"] * 8)
    assert counting.sizes == [8, 8, 8]
    env.step(["go"] * 8)
    ends = [8, 8] if mode is AutoresetMode.SAME_STEP else [8]  # the autoreset of that mode is an exchange of its own
    assert counting.sizes[3:] == ends
    env.close()


def test_close_ends_every_session_at_once_and_twice_is_fine(toys: None, toy_url: str, toy_sessions: Sessions) -> None:
    before = len(toy_sessions._sessions)
    env = VectorEnvClient("toy_inline", 5, base_url=toy_url)
    env.reset()
    assert len(toy_sessions._sessions) == before + 5
    env.close()
    env.close()
    assert len(toy_sessions._sessions) == before
    for call in (env.reset, env.available_actions, lambda: env.step(["go"] * 5)):
        with pytest.raises(ClientClosed, match="make a new one"):
            call()


def test_available_actions_are_of_every_slot(place: dict[str, Any]) -> None:
    env = VectorEnvClient("toy_inline", 2, goal=1, autoreset_mode="Disabled", **place)
    env.reset()
    assert env.available_actions() == [["go", "wait"]] * 2
    env.step(["go", "go"])
    assert env.available_actions() == [None, None]
    env.close()


def test_images_come_as_gymnasium_batches_a_dict(place: dict[str, Any]) -> None:
    env = VectorEnvClient("toy_fragile", 2, task=0, images=True, **place)
    seen, _ = env.reset()
    assert seen == {"text": ("task 0", "task 0"), "image": (PNG, PNG)}
    assert seen in env.observation_space
    env.close()


# Misuse.


def test_misuse_is_told_before_anything_is_sent(toys: None) -> None:
    with pytest.raises(BadCall, match="num_envs is 0"):
        VectorEnvClient("toy_inline", 0)
    env = VectorEnvClient("toy_inline", 2)
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\)"):
        env.step(["go", "go"])
    counting = counted(env)
    env.reset(seed=0)
    for actions in (["go"], ["go"] * 3):
        with pytest.raises(BadCall, match=f"{len(actions)} actions for 2"):
            env.step(actions)
    with pytest.raises(BadCall, match="give text or an Action"):
        env.step(["go", 3])  # type: ignore[list-item]
    with pytest.raises(BadCall, match="3 tasks for 2"):
        env.reset(options={"task": [0, 1, 2]})
    assert counting.sizes == [2]
    env.close()


def test_an_unknown_task_of_one_slot_is_told_and_the_others_go_on(place: dict[str, Any]) -> None:
    env = VectorEnvClient("toy_inline", 3, **place)
    env.reset(options={"task": 0})
    for _ in range(2):
        with pytest.raises(UnknownTask, match="toy_inline/train/5000"):
            env.reset(options={"task": [1, 5000, 2]})
    assert env.reset(options={"task": [3, 4, 5]})[0] == tuple(f"seed {n} count 0" for n in (3, 4, 5))
    assert env.step(["go"] * 3)[4]["valid"].all()
    env.close()


# Slots that fail.


def test_a_slot_that_breaks_ends_alone_and_comes_back_in_the_next_step(place: dict[str, Any]) -> None:
    env = VectorEnvClient("toy_fragile", 3, task=0, **place)
    env.reset()
    seen, rewards, terminated, truncated, infos = env.step(["look", "break", "win"])
    assert (seen[0], seen[2]) == ("did look", "won")
    assert rewards.tolist() == [0.0, 0.0, 1.0]
    assert terminated.tolist() == [False, False, True]
    assert truncated.tolist() == [False, True, False]
    assert infos["valid"].tolist() == [True, False, True]
    assert infos["outcome"].tolist() == [None, "env_error", "success"]
    assert infos["error"][1].startswith("env_failed: ")
    assert infos["_error"].tolist() == [False, True, False]
    seen, _, terminated, truncated, infos = env.step(["look"] * 3)
    assert seen == ("did look", "task 0", "task 0")
    assert not (terminated | truncated).any()
    assert infos["valid"].all()
    assert env.step(["win"] * 3)[1].tolist() == [1.0, 1.0, 1.0]
    env.close()


def test_a_slot_that_breaks_comes_back_in_the_same_step(place: dict[str, Any]) -> None:
    env = VectorEnvClient("toy_fragile", 2, task=0, autoreset_mode="SameStep", **place)
    env.reset()
    seen, _, terminated, truncated, infos = env.step(["look", "break"])
    assert seen == ("did look", "task 0")
    assert (terminated.tolist(), truncated.tolist()) == ([False, False], [False, True])
    assert infos["final_info"]["valid"].tolist() == [False, False]  # the mask tells that slot 0 has none
    assert infos["final_info"]["_valid"].tolist() == [False, True]
    assert infos["valid"].tolist() == [True, True]
    env.close()


def test_a_slot_that_breaks_comes_back_by_the_mask_where_autoreset_is_disabled(place: dict[str, Any]) -> None:
    env = VectorEnvClient("toy_fragile", 2, task=0, autoreset_mode="Disabled", **place)
    env.reset()
    env.step(["look", "break"])
    with pytest.raises(gymnasium.error.ResetNeeded, match="environment 1 has ended"):
        env.step(["look", "look"])
    assert env.reset(options={"reset_mask": np.array([False, True])})[0] == ("did look", "task 0")
    assert env.step(["look", "look"])[0] == ("did look", "did look")
    env.close()


def test_a_slot_whose_first_reset_breaks_does_not_stop_the_others(place: dict[str, Any]) -> None:
    env = VectorEnvClient("toy_fragile", 3, task=0, **place)
    seen, infos = env.reset(seed=1, options={"task": [0, 13, 0]})
    assert seen == ("task 0", "", "task 0")
    assert infos["valid"].tolist() == [True, False, True]
    seen, _, _, truncated, infos = env.step(["look"] * 3)
    assert seen == ("did look", "task 0", "did look")
    assert infos["valid"].all()
    assert not truncated.any()
    env.close()


def test_infos_of_several_types_keep_every_value(place: dict[str, Any]) -> None:
    env = VectorEnvClient("toy_fragile", 4, task=0, **place)
    env.reset()
    infos = env.step(["note 1", "note 0.5", 'note "text"', 'note {"a":[1]}'])[4]
    assert infos["note"].tolist() == [1, 0.5, "text", {"a": [1]}]
    infos = env.step(["note 1", "note 0.5", "note null", "look"])[4]
    assert infos["note"].tolist() == [1, 0.5, None, None]
    assert infos["_note"].tolist() == [True, True, True, False]
    env.close()


def test_slots_over_a_full_server_are_invalid_and_the_others_play(toys: None) -> None:
    with running(Sessions(SPECS.values(), limits=ServerLimits(max_sessions=2))) as url:
        env = VectorEnvClient("toy_inline", 3, base_url=url)
        env._connection.patience = Patience(total_s=0.1)
        infos = env.reset()[1]
        assert infos["valid"].tolist() == [True, True, False]
        assert infos["error"][2].startswith("no_capacity: ")
        _, _, _, truncated, infos = env.step(["go"] * 3)
        assert infos["valid"].tolist() == [True, True, False]
        assert truncated.tolist() == [False, False, True]
        env.close()


def test_a_server_that_dies_gives_invalid_slots_and_one_that_comes_back_is_played_on(toys: None) -> None:
    with toy_process() as (url, process):
        env = VectorEnvClient("toy_inline", 3, base_url=url, task=0)
        env._connection.patience = Patience(total_s=0.2)
        env.reset()
        env.step(["go"] * 3)
        process.kill()
        process.wait(10)
        _, rewards, terminated, truncated, infos = env.step(["go"] * 3)
    assert rewards.tolist() == [0.0] * 3
    assert (terminated.tolist(), truncated.tolist()) == ([False] * 3, [True] * 3)
    assert infos["valid"].tolist() == [False] * 3
    assert infos["outcome"].tolist() == ["infra_lost"] * 3
    assert not env.step(["go"] * 3)[4]["valid"].any()  # the autoreset finds nobody either
    with running(Sessions(SPECS.values()), port=int(url.rpartition(":")[2])):
        seen, *_, infos = env.step(["go"] * 3)
        assert seen == ("seed 0 count 0",) * 3
        assert infos["valid"].all()
        env.close()


def test_a_server_that_was_never_there_is_an_error(toys: None) -> None:
    with running(Sessions(SPECS.values())) as url:
        pass
    with pytest.raises(ServerUnreachable, match="agentenv serve"):
        VectorEnvClient("toy_inline", 2, base_url=url)


# Gymnasium.


@pytest.mark.parametrize("mode", MODES)
def test_make_vec_gives_the_vector_client_with_its_mode_and_options(mode: AutoresetMode, toys: None) -> None:
    env = gymnasium.make_vec("agentenv/ToyToyInline-v0", num_envs=4, autoreset_mode=mode, goal=1, split="test")
    assert type(env) is VectorEnvClient
    assert env.num_envs == 4
    assert env.metadata["autoreset_mode"] is mode
    _, infos = env.reset(seed=0)
    assert all(task.startswith("toy_inline/test/") for task in infos["task"])
    assert env.step(["go"] * 4)[2].all()
    env.close()


@pytest.mark.parametrize("vectorization", ["sync", "async"])
def test_gymnasiums_own_vector_envs_take_single_clients(vectorization: str, toys: None) -> None:
    agentenv.make("toy_inline").close()  # the client's thread runs before gymnasium forks
    more = {"shared_memory": False, "context": "fork"} if vectorization == "async" else {}
    env = gymnasium.make_vec(
        "agentenv/ToyToyInline-v0", 2, vectorization_mode=vectorization, vector_kwargs=more, task=3
    )
    assert env.reset()[0] == ("seed 3 count 0",) * 2
    assert env.step(("go", "go"))[0] == ("seed 3 count 1 got go",) * 2
    env.close()


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_episode_statistics_of_gymnasium_count_returns_and_lengths(mode: str, toys: None) -> None:
    """Its key is named here: `episode` is the number of an episode in our infos."""
    env = RecordEpisodeStatistics(VectorEnvClient("toy_numbers", 2, autoreset_mode=mode), stats_key="statistics")
    env.reset(options={"task": [0, 1]})
    for _ in range(12):
        env.step(("go", "go"))
    pairs = set(zip(env.return_queue, env.length_queue, strict=True))
    assert pairs == {(3.0, 2), (6.0, 3)}
    env.close()


def test_a_pickled_vector_keeps_its_options_and_opens_sessions_of_its_own(place: dict[str, Any]) -> None:
    env = VectorEnvClient("toy_inline", 2, autoreset_mode="SameStep", goal=2, task=1, **place)
    env.reset()
    env.step(["go", "go"])
    other = pickle.loads(pickle.dumps(env))
    assert (other.num_envs, other.autoreset_mode, other.source) == (2, AutoresetMode.SAME_STEP, env.source)
    assert other.reset()[0] == ("seed 1 count 0",) * 2
    other.close()
    assert env.step(["go", "go"])[2].tolist() == [True, True]
    env.close()


def test_a_connections_exchange_may_be_wrapped(toys: None) -> None:
    """What the counting tests rest on: every call of a client passes its connection's transport."""
    env = VectorEnvClient("toy_inline", 2)
    assert isinstance(env._connection, Connection)
    counting = counted(env)
    env.reset()
    env.close()
    assert counting.sizes[0] == 2
