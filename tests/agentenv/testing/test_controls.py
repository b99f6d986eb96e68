import asyncio
import json

import pytest

from agentenv.agents import make_agent
from agentenv.agents.shortcut import shortcut_of
from agentenv.errors import BadAgent
from agentenv.registry import EnvSpec, Shortcut, get_spec
from agentenv.testing.controls import controls, episodes_of

SHORT = {"size": 4, "path": "short"}


def test_noop_and_the_shortcuts_of_the_card_play_every_task_three_times():
    spec = get_spec("maze")
    found = asyncio.run(controls(spec, options={"size": 4}, limit=5))
    assert [c.name for c in found] == ["noop", "random"]
    assert all(c.tasks == 5 and c.episodes == 15 and c.invalid == 0 for c in found)
    assert found[0].success == 0.0
    assert found[0].ok
    assert episodes_of(spec, {"size": 4}, (), 5, 3) == 30


def test_a_shortcut_over_its_ceiling_is_not_ok_and_its_rate_has_an_interval():
    (random,) = asyncio.run(controls(get_spec("maze"), options=SHORT, names=["random"], limit=20))
    assert random.success > 0.01
    assert not random.ok
    assert random.low < random.success < random.high
    assert sum(random.by_category.values()) > 0


def test_the_same_controls_reach_the_same_twice():
    runs = [asyncio.run(controls(get_spec("maze"), options=SHORT, limit=10)) for _ in range(2)]
    assert runs[0] == runs[1]


def test_an_unknown_shortcut_is_refused_with_those_that_the_env_has():
    with pytest.raises(BadAgent, match="it has: random"):
        shortcut_of(get_spec("maze"), "peeking")
    with pytest.raises(BadAgent, match="did you mean 'random'"):
        shortcut_of(get_spec("maze"), "randon")
    assert make_agent("shortcut:random").describe == {"name": "shortcut:random", "version": "1"}


def test_a_card_shows_shortcuts_and_ceilings_without_their_code():
    card = json.loads(json.dumps(get_spec("maze").card()))
    assert card["shortcuts"] == [
        {"name": "random", "ceiling": 0.01, "about": "draws from the available actions", "split": "test"}
    ]
    assert EnvSpec.from_card(card).shortcuts == ()
    assert Shortcut(name="a", entry="b:c", ceiling=0.5, about="d").split == "test"
