"""Where answers must not be: in listings, in the objective, on the first screen, in what is said of odd actions."""

import asyncio
import re

from web_tasks import split

from agentenv.protocol import Action, StepResult, Task
from envservers.webarena.env import WebArenaEnv

TELLING = 4
"""Characters from which a text is no chance hit."""


def golds(task: Task) -> list[str]:
    """Right answers of a retrieve task that are long enough to be found by more than chance."""
    values = [value for check in task.payload["checks"] for value in check.get("values", ())]
    return [value for value in values if len(value) >= TELLING]


def plain(text: str) -> str:
    return re.sub(r"[\s,]+", " ", text).casefold()


def asked() -> list[Task]:
    return [task for name in ("dev", "test") for task in split(name) if task.category == "retrieve" and golds(task)]


def test_no_listing_of_tasks_has_an_answer() -> None:
    found = asked()
    assert len(found) > 100
    for task in found:
        listed = plain(repr(task.ref()))
        assert not [value for value in golds(task) if plain(value) in listed], task.id


def test_no_objective_has_its_answer() -> None:
    told = [task.id for task in asked() if all(plain(value) in plain(task.payload["intent"]) for value in golds(task))]
    assert not told


def test_the_first_screen_and_what_is_said_of_odd_actions_rarely_hold_the_answer() -> None:
    found = asked()[::6]

    async def seen(task: Task) -> list[str]:
        env = WebArenaEnv(engine="lite", size="small")
        env.steps, env.last = 0, StepResult(observation="")
        env.last = await env.reset(task)
        texts = [env.last.observation]
        for text in ("fly", "click [99999]", f"goto [http://{task.id}]"):
            env.steps += 1
            env.last = await env.step(Action(text=text))
            texts.append(env.last.observation.partition("PREVIOUS ACTION")[2])
        await env.close()
        return texts

    async def run() -> tuple[list[str], list[str]]:
        first, said = [], []
        for task in found:
            screen, *odd = [plain(text) for text in await seen(task)]
            if all(plain(value) in screen for value in golds(task)):
                first.append(task.id)
            if any(plain(value) in text for value in golds(task) for text in odd):
                said.append(task.id)
        return first, said

    first, said = asyncio.run(run())
    assert not said
    assert len(first) <= 0.05 * len(found), first
