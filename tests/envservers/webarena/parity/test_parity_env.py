"""The environment in both engines: the same episode by the html dialect, and what a record says of how it was made."""

from __future__ import annotations

import asyncio
import re

import pytest
from web_tasks import split
from web_worlds import lend_world

from agentenv.protocol import Action, StepResult
from envservers.webarena.env import WebArenaEnv

ENGINES = ("chromium", "lite")


def shop_task():
    return next(task for task in split("smoke") if task.payload["start"] == ["http://shop.test/"])


async def played(env, task, texts):
    """Observations and infos of an episode; a text may be made from the observation before it."""
    results = []
    env.steps, env.last = 0, StepResult(observation="")
    env.last = await env.reset(task)
    results.append(env.last)
    for text in texts:
        env.last = await env.step(Action(text=text if isinstance(text, str) else text(env.last.observation)))
        env.steps += 1
        results.append(env.last)
    return results


def number_of(observation, part):
    """The number of the first line that holds this."""
    found = re.search(rf"\[(\d+)\] [^\n]*{re.escape(part)}", observation)
    assert found, observation
    return int(found.group(1))


def search(observation):
    number = number_of(observation, 'type="search"')
    return f"type [{number}] [lamp] [1]"


def follow(observation):
    number = number_of(observation, 'href="/c/')
    return f"click [{number}]"


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("view", ["full", "viewport"])
def test_clicks_and_texts_work_by_the_numbers_of_the_html(engine, view):
    lend_world(split("smoke")[0].payload["world"])

    async def play():
        env = WebArenaEnv(engine=engine, view=view, dialect="html", size="small")
        try:
            return await played(env, shop_task(), [follow, search])
        finally:
            await env.close()

    first, category, found = asyncio.run(play())
    assert "<A " in first.observation
    assert found.info["error"] == category.info["error"] == ""
    assert "q=lamp" in found.info["url"]
    assert 'value="lamp"' in found.observation
    assert "/c/" in category.info["url"]
