"""Equal actions give equal bytes in Chromium, whatever else the machine does and whoever else browses."""

from __future__ import annotations

import asyncio
import random
import subprocess
import sys
from contextlib import contextmanager

import pytest
from web_tasks import by_oracle, play, small
from web_worlds import lend_world

from agentenv.protocol import Action, StepResult
from envservers.webarena.env import WebArenaEnv

REPLAYS = 3
NEIGHBOURS = (1, 4, 3)
"""Episodes at once, by replay; each has an order of its own."""
BUSY = "while True: sum(range(10**6))"


@contextmanager
def other_work(processes):
    """Processes that take all the time of the processor that they get."""
    busy = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def spread(split, count):
    """So many tasks from all over a split."""
    size = small().count(split)
    return [small().get(split, number * size // count) for number in range(count)]


async def solved(task):
    """The scripted solution's actions."""
    env = WebArenaEnv(engine="lite", size="small")
    try:
        played = await play(env, task, by_oracle(task))
        assert played.solved, f"{task.id}: {played.last.info}"
        return played.sent
    finally:
        await env.close()


async def again(task, actions):
    """Every answer of Chromium to the actions, as bytes."""
    env = WebArenaEnv(engine="chromium", size="small")
    try:
        env.steps, env.last = 0, StepResult(observation="")
        env.last = await env.reset(task)
        answers = [env.last]
        for text in actions:
            env.last = await env.step(Action(text=text))
            env.steps += 1
            answers.append(env.last)
        return [(a.observation.encode(), a.reward, a.terminated, a.success, repr(a.info)) for a in answers]
    finally:
        await env.close()


async def at_once(most, jobs):
    """The results of these, in their order, so many at a time."""
    places = asyncio.Semaphore(most)

    async def placed(job):
        async with places:
            return await job()

    return await asyncio.gather(*(placed(job) for job in jobs))


async def replayed(task_list, actions, most, seed):
    """All episodes once more, begun in an order drawn from the seed."""
    order = list(range(len(task_list)))
    random.Random(seed).shuffle(order)
    found = await at_once(most, [lambda n=n: again(task_list[n], actions[n]) for n in order])
    return dict(zip(order, found, strict=True))


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("split", "count", "busy"),
    [
        ("mini", 10, 1),
        pytest.param("mini", 20, 2, marks=pytest.mark.slow),
        pytest.param("test", 150, 2, marks=pytest.mark.slow),
    ],
)
def test_episodes_replayed_three_times_under_load_do_not_diverge(split, count, busy):
    task_list = spread(split, count)
    for world in {task.payload["world"] for task in task_list}:
        lend_world(world)

    async def run():
        actions = [await solved(task) for task in task_list]
        quiet = await replayed(task_list, actions, 1, "quiet")
        with other_work(busy):
            loaded = [await replayed(task_list, actions, most, n) for n, most in enumerate(NEIGHBOURS)]
        return quiet, loaded

    quiet, loaded = asyncio.run(run())
    assert len(loaded) == REPLAYS
    diverged = [
        f"{task_list[n].id}, replay {number}, step {step}:\n{was}\n{now}"
        for number, replay in enumerate(loaded)
        for n, answers in replay.items()
        for step, (was, now) in enumerate(zip(quiet[n], answers, strict=True))
        if was != now
    ]
    assert not diverged, f"{len(diverged)} answers differ\n" + "\n\n".join(diverged[:5])
