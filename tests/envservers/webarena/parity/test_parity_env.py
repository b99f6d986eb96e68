"""The environment in both engines: the same episode by the html dialect, and what a record says of how it was made."""

from __future__ import annotations

import asyncio
import re

import pytest
from web_tasks import split
from web_worlds import lend_world

from agentenv.protocol import Action, StepResult
from envservers.webarena.env import WebArenaEnv


@pytest.fixture(autouse=True)
def _the_small_world():
    lend_world(split("smoke")[0].payload["world"])


@pytest.fixture(params=["chromium", "lite"])
def engine(request):
    return request.param


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
    return fill(observation).replace("[0]", "[1]")


def fill(observation):
    number = number_of(observation, 'type="search"')
    return f"type [{number}] [lamp] [0]"


def follow(observation):
    number = number_of(observation, 'href="/c/')
    return f"click [{number}]"


@pytest.mark.parametrize("view", ["full", "viewport"])
def test_clicks_and_texts_work_by_the_numbers_of_the_html(engine, view):
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


def test_every_info_says_what_read_the_page(engine):
    async def play():
        env = WebArenaEnv(engine=engine, parser="original", size="small")
        try:
            return await played(env, shop_task(), ["scroll [down]", "stop [nothing]"]), env._engine.version
        finally:
            await env.close()

    results, version = asyncio.run(play())
    made_by = {"engine": engine, "engine_version": version, "view": "viewport", "dialect": "classic"}
    for result in results:
        assert {**result.info, **made_by, "parser": "original"} == result.info
    assert version.count(".") == (3 if engine == "chromium" else 0)


@pytest.mark.parametrize("images", [True, False])
def test_a_picture_comes_only_to_who_asked_and_only_from_a_browser(engine, images):
    import agentenv

    client = agentenv.make("webarena", task=shop_task().id, engine=engine, size="small", images=images)
    try:
        seen, info = client.reset()
        later = client.step("scroll [down]")[0]
    finally:
        client.close()
    if not images:
        assert isinstance(seen, str)
        assert isinstance(later, str)
        return
    drawn = engine == "chromium"
    assert [shown["image"][:8] == b"\x89PNG\r\n\x1a\n" for shown in (seen, later)] == [drawn] * 2
    assert (seen["image"] != later["image"]) == drawn
    assert ("draws nothing" in info.get("notice", "")) == (not drawn)


def test_an_env_that_was_not_asked_draws_nothing(monkeypatch):
    """A picture costs as much as a step, so none is made to be thrown away."""
    from envservers.webarena.engines.chromium.engine import ChromiumEngine

    async def drawn(engine):
        raise AssertionError("nobody asked")

    monkeypatch.setattr(ChromiumEngine, "screenshot", drawn)

    async def play():
        env = WebArenaEnv(engine="chromium", size="small")
        try:
            return await played(env, shop_task(), ["scroll [down]"])
        finally:
            await env.close()

    assert [result.image for result in asyncio.run(play())] == [None, None]


def test_a_picture_is_the_same_whenever_it_is_taken():
    """With a field in focus too: its caret does not blink."""

    async def play():
        env = WebArenaEnv(engine="chromium", view="full", dialect="html", size="small")
        env.images = True
        try:
            await played(env, shop_task(), [fill])
            shots = []
            for _ in range(5):
                shots.append(await env._image())
                await asyncio.sleep(0.3)
            return shots
        finally:
            await env.close()

    assert len(set(asyncio.run(play()))) == 1
