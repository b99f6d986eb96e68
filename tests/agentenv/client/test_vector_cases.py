"""The vector environment against worked examples: autoreset modes give known transitions, seeds known draws.

Slot A terminates after 2 steps, slot B is truncated after 3. A slot shows 100 * episode + step and pays the step.
"""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from toy_envs import TEXTS

import agentenv
from agentenv.client import VectorEnvClient
from agentenv.errors import ResetNeeded


def numbers(mode: str | AutoresetMode, url: str | None = None) -> VectorEnvClient:
    """Slot A (task 0) and slot B (task 1), reset."""
    env = VectorEnvClient("toy_numbers", 2, autoreset_mode=mode, base_url=url)
    seen, _ = env.reset(seed=0, options={"task": [0, 1]})
    assert seen == ("0", "0")
    return env


@pytest.fixture(params=["local", "websocket", "http"])
def place(request: pytest.FixtureRequest, toys: None, toy_url: str) -> str | None:
    return None if request.param == "local" else toy_url


def five_steps(env: VectorEnvClient) -> list[tuple[Any, ...]]:
    steps = [env.step(("go", "go")) for _ in range(5)]
    env.close()
    return steps


def test_next_step_shows_the_last_observation_and_resets_in_a_step_of_its_own(place: str | None) -> None:
    env = numbers("NextStep", place)
    assert env.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    steps = five_steps(env)
    assert [s[0] for s in steps] == [("1", "1"), ("2", "2"), ("100", "3"), ("101", "100"), ("102", "101")]
    assert [s[1].tolist() for s in steps] == [[1, 1], [2, 2], [0, 3], [1, 0], [2, 1]]
    assert [s[2].tolist() for s in steps] == [[n in (2, 5), False] for n in range(1, 6)]
    assert [s[3].tolist() for s in steps] == [[False, n == 3] for n in range(1, 6)]


def test_same_step_shows_the_next_episode_and_keeps_the_last_observation_in_infos(place: str | None) -> None:
    env = numbers("SameStep", place)
    assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    steps = five_steps(env)
    assert [s[0] for s in steps] == [("1", "1"), ("100", "2"), ("101", "100"), ("200", "101"), ("201", "102")]
    assert [s[1].tolist() for s in steps] == [[1, 1], [2, 2], [1, 3], [2, 1], [1, 2]]
    finals = [None if "final_obs" not in s[4] else s[4]["final_obs"].tolist() for s in steps]
    assert finals == [None, ["2", None], [None, "3"], ["102", None], None]
    infos = [s[4] for s in steps]
    assert infos[1]["_final_obs"].tolist() == [True, False]
    assert infos[1]["_final_info"].tolist() == [True, False]
    assert infos[1]["final_info"]["outcome"].tolist() == ["success", None]
    assert infos[1]["final_info"]["_outcome"].tolist() == [True, False]
    assert infos[2]["final_info"]["outcome"].tolist() == [None, "step_limit"]
    assert infos[1]["outcome"].tolist() == [None, None]
    assert infos[1]["episode"].tolist() == [1, 0]


def test_disabled_refuses_an_ended_slot_and_resets_only_the_masked_ones(place: str | None) -> None:
    env = numbers("Disabled", place)
    for _ in range(2):
        env.step(("go", "go"))
    for kind in (ResetNeeded, gymnasium.error.ResetNeeded):
        with pytest.raises(kind, match="environment 0 has ended"):
            env.step(("go", "go"))
    seen, infos = env.reset(options={"reset_mask": np.array([True, False])})
    assert seen == ("100", "2")
    assert infos["_task"].tolist() == [True, False]
    assert env.step(("go", "go"))[0] == ("101", "3")
    env.close()


@pytest.mark.parametrize("mask", [[True, False], np.array([1, 0]), np.array([True])])
def test_a_mask_of_another_type_or_length_is_refused(mask: Any, toys: None) -> None:
    env = numbers("Disabled")
    if not isinstance(mask, list):
        with pytest.raises(ValueError, match="bool array of length 2"):
            env.reset(options={"reset_mask": mask})
    else:  # a plain list of bools says the same as an array
        assert env.reset(options={"reset_mask": mask})[0] == ("100", "0")
    env.close()


def test_both_modes_give_the_same_transitions_for_every_episode_that_both_completed(toys: None) -> None:
    next_step, same_step = next_step_transitions(), same_step_transitions()
    assert [sum(t[0] == slot for t in next_step) for slot in (0, 1)] == [4, 4]
    assert [sum(t[0] == slot for t in same_step) for slot in (0, 1)] == [5, 5]
    shared = [t for t in same_step if t in next_step]
    assert sorted(shared) == sorted(next_step)


def next_step_transitions() -> list[tuple[Any, ...]]:
    """(slot, observation, reward, next observation, terminated, truncated) without the dead actions."""
    env, found = numbers("NextStep"), []
    before, dead = ("0", "0"), [False, False]
    for seen, rewards, terminated, truncated, _ in five_steps(env):
        for i in range(2):
            if not dead[i]:
                found.append((i, before[i], rewards[i], seen[i], terminated[i], truncated[i]))
        before, dead = seen, (terminated | truncated).tolist()
    return found


def same_step_transitions() -> list[tuple[Any, ...]]:
    env, found = numbers("SameStep"), []
    before = ("0", "0")
    for seen, rewards, terminated, truncated, infos in five_steps(env):
        for i in range(2):
            over = terminated[i] or truncated[i]
            after = infos["final_obs"][i] if over else seen[i]
            found.append((i, before[i], rewards[i], after, terminated[i], truncated[i]))
        before = seen
    return found


# Seeds, spaces, and text that is in no character set.


def test_a_seed_means_seed_plus_slot_and_a_list_is_taken_as_it_is(toys: None) -> None:
    draws = [seeding.np_random(seed)[0].random() for seed in (7, 8, 9)]
    assert draws == pytest.approx([0.6250955, 0.3269723, 0.8702492], abs=1e-7)
    env = VectorEnvClient("toy_inline", 3)
    by_seed = env.reset(seed=7)[1]["task"].tolist()
    assert by_seed == [first_draw(seed) for seed in (7, 8, 9)]
    assert env.reset(seed=[7, 7, 7])[1]["task"].tolist() == [first_draw(7)] * 3
    stream = [env.reset(seed=None)[1]["task"].tolist() for _ in range(2)]
    assert env.reset(seed=7)[1]["task"].tolist() == by_seed
    assert stream[0] != [first_draw(7)] * 3
    assert stream[0] != stream[1]
    rng, _ = seeding.np_random(7)
    rng.integers(1000)
    assert stream[0] == [f"toy_inline/train/{rng.integers(1000)}"] * 3
    env.close()


def first_draw(seed: int) -> str:
    return f"toy_inline/train/{seeding.np_random(seed)[0].integers(1000)}"


def test_a_vector_draws_what_single_clients_draw(toys: None) -> None:
    env = VectorEnvClient("toy_inline", 3)
    together = env.reset(seed=5)[1]["task"].tolist()
    env.close()
    apart = []
    for seed in (5, 6, 7):
        client = agentenv.make("toy_inline")
        apart.append(client.reset(seed=seed)[1]["task"])
        client.close()
    assert together == apart


def test_a_seed_list_with_none_keeps_that_slots_stream(toys: None) -> None:
    env = VectorEnvClient("toy_inline", 2)
    env.reset(seed=[1, 1])
    first, second = env.reset(seed=[1, None])[1]["task"]
    assert first == first_draw(1)
    assert second != first
    with pytest.raises(ValueError, match="3 seeds for 2 environments"):
        env.reset(seed=[1, 2, 3])
    env.close()


@pytest.mark.parametrize("index", range(len(TEXTS)))
def test_odd_texts_are_members_of_the_space(index: int, place: str | None) -> None:
    client = agentenv.make("toy_texts", task=index, base_url=place)
    seen, _ = client.reset()
    assert seen == TEXTS[index]
    assert seen in client.observation_space
    client.close()
    env = VectorEnvClient("toy_texts", 2, task=index, base_url=place)
    both, _ = env.reset()
    assert both == (seen, seen)
    assert both in env.observation_space
    env.close()
