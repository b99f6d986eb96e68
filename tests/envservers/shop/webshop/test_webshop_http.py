"""A purchase over HTTP, in process, and what an agent is told on the way."""

import httpx
import pytest
from http_play import replies
from shop_play import every_task

from envservers.shop.webshop.spec import SPEC


def play(task, *actions: str) -> list[httpx.Response]:
    """The replies to create and to each action."""
    return replies(SPEC, task.id, actions, served={"size": "small"})


@pytest.fixture
def task(world):
    """A wish with options, on the first page of a search for itself."""
    return next(
        t
        for t in every_task(world, "test")
        if t.payload["options"] and t.difficulty < 3 and t.payload["search"] == t.payload["instruction"]
    )


def test_a_purchase_pays_once_and_the_next_is_refused(task):
    clicks = [f"click[{text}]" for text in (task.payload["asin"], *task.payload["clicks"], "Buy Now", "Buy Now")]
    *paid, refused = play(task, f"search[{task.payload['search']}]", *clicks)
    assert [reply.status_code for reply in paid] == [201] + [200] * (len(paid) - 1)
    steps = [reply.json() for reply in paid[1:]]
    assert [step["reward"] for step in steps] == [0.0] * (len(steps) - 1) + [1.0]
    assert (steps[-1]["terminated"], steps[-1]["success"], steps[-1]["score"]) == (True, True, 1.0)
    assert (refused.status_code, refused.json()["code"]) == (409, "episode_over")


def test_no_reply_before_the_results_tells_the_meant_product(task):
    created, missed, odd = play(task, "click[Buy Now]", f"click[{task.payload['query']}]")
    for reply in (created, missed, odd):
        assert task.payload["asin"] not in reply.text
        assert task.payload["name"] not in reply.text


def test_bought_too_early_the_episode_ends_with_a_part_of_the_reward(task):
    *_, last = play(
        task, f"search[{task.payload['search']}]", f"click[{task.payload['asin'].lower()}]", "Click [BUY NOW]"
    )
    assert 0 < last.json()["reward"] < 1
    assert (last.json()["terminated"], last.json()["success"], last.json()["outcome"]) == (True, False, "failure")
