"""An env knows whether its session asked for images, wherever it runs, so that it draws none in vain."""

from __future__ import annotations

import asyncio

import pytest
from toy_envs import PNG, spec, tasks_of

from agentenv.protocol import Action
from agentenv.registry import Concurrency
from agentenv.server.runners import Runners


@pytest.mark.parametrize("concurrency", list(Concurrency))
@pytest.mark.parametrize("images", [True, False])
def test_the_env_is_told_whether_images_are_wanted(concurrency: Concurrency, images: bool) -> None:
    painter = "AsyncPainter" if concurrency is Concurrency.ASYNC else "Painter"
    runners = Runners()

    async def drawn() -> list[bytes | None]:
        runner = runners.make(spec("toy_painter", f"toy_envs:{painter}", concurrency, images=True), {}, images=images)
        try:
            first = await runner.run("reset", tasks_of("toy_inline").get("train", 0), 30)
            return [first.image, (await runner.run("step", Action(text="more"), 30)).image]
        finally:
            await runner.close()

    try:
        assert asyncio.run(drawn()) == ([PNG, PNG] if images else [None, None])
    finally:
        runners.close()
