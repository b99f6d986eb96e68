"""A purchase over HTTP, in process, and what an agent is told on the way."""

import asyncio

import httpx
import pytest
from shop_play import every_task

from agentenv.server.app import make_app
from agentenv.server.sessions import Sessions
from envservers.shop.webshop.spec import SPEC

SMALL = {"size": "small"}


def play(task, *actions: str) -> list[httpx.Response]:
    """The replies to a listing of the tasks, to create and to each action."""

    async def run() -> list[httpx.Response]:
        sessions = Sessions([SPEC], env_options={"webshop": SMALL})
        transport = httpx.ASGITransport(app=make_app(sessions))
        try:
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                listing = await client.get("/v1/envs/webshop/tasks", params={"split": task.split, "limit": 1000})
                created = await client.post("/v1/sessions", json={"env": "webshop", "task": task.id})
                step = f"/v1/sessions/{created.json()['session']}/step"
                return [listing, created, *[await client.post(step, json={"action": text}) for text in actions]]
        finally:
            await sessions.close()

    return asyncio.run(run())


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
    *replies, refused = play(task, f"search[{task.payload['search']}]", *clicks)
    assert [reply.status_code for reply in replies] == [200, 201] + [200] * (len(replies) - 2)
    steps = [reply.json() for reply in replies[2:]]
    assert [step["reward"] for step in steps] == [0.0] * (len(steps) - 1) + [1.0]
    assert (steps[-1]["terminated"], steps[-1]["success"], steps[-1]["score"]) == (True, True, 1.0)
    assert (refused.status_code, refused.json()["code"]) == (409, "episode_over")


def test_no_reply_before_the_results_tells_the_meant_product(task):
    listing, created, missed, odd = play(task, "click[Buy Now]", f"click[{task.payload['query']}]")
    for reply in (listing, created, missed, odd):
        assert task.payload["asin"] not in reply.text
        assert task.payload["name"] not in reply.text


def test_bought_too_early_the_episode_ends_with_a_part_of_the_reward(task):
    *_, last = play(
        task, f"search[{task.payload['search']}]", f"click[{task.payload['asin'].lower()}]", "Click [BUY NOW]"
    )
    assert 0 < last.json()["reward"] < 1
    assert (last.json()["terminated"], last.json()["success"], last.json()["outcome"]) == (True, False, "failure")
