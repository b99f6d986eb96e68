"""Positions over plain HTTP, as somebody with curl meets them.

1. The same call at the same position gets the same bytes, errors too, and is done once.
2. Without a position a call acts on the current one.
3. Another body is request_mismatch, another position step_conflict with the current one.
4. Calls of one session are done in order of arrival, by whatever door they come.
"""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest
from rough_envs import SPECS as ROUGH
from rough_envs import Gate
from tables import door, problem, run, table
from toy_envs import REAL_STEPS, SPECS

from agentenv.client.local import LocalTransport
from agentenv.server.batch import run_batch
from agentenv.server.sessions import Sessions
from agentenv.wire import DeleteCall, GetCall, Reply, ResetBody, ResetCall, StepBody, StepCall

TOYS = (SPECS["toy_inline"], SPECS["toy_thread"], SPECS["toy_odd"])


@pytest.fixture
def gate(tmp_path: Path):
    gate = Gate(tmp_path / "gate")
    yield gate
    gate.open()


async def opened(http: httpx.AsyncClient, env: str, index: int = 0, **body: Any) -> str:
    made = await http.post("/v1/sessions", json={"env": env, "task": f"{env}/train/{index}", **body})
    assert made.status_code == 201, made.text
    return f"/v1/sessions/{made.json()['session']}"


async def post(http: httpx.AsyncClient, path: str, **body: Any) -> httpx.Response:
    return await http.post(path, json=body)


@pytest.mark.parametrize("env", ["toy_inline", "toy_thread"])
def test_the_same_step_sent_twice_gets_the_same_bytes_and_is_done_once(env: str):
    async def play() -> None:
        async with door(TOYS) as http:
            REAL_STEPS[31] = 0
            session = await opened(http, env, 31)
            first = await post(http, f"{session}/step", action="go", episode=0, step=0)
            again = await post(http, f"{session}/step", action="go", episode=0, step=0)
            assert (first.status_code, first.content) == (again.status_code, again.content)
            assert first.json()["step"] == 1
            assert REAL_STEPS[31] == 1

    run(play)


def test_a_text_and_an_object_with_that_text_are_the_same_action():
    async def play() -> None:
        async with door(TOYS) as http:
            session = await opened(http, "toy_inline")
            first = await post(http, f"{session}/step", action="go", episode=0, step=0)
            again = await post(http, f"{session}/step", action={"text": "go"}, episode=0, step=0)
            assert first.content == again.content

    run(play)


def test_without_a_position_every_call_acts():
    async def play() -> None:
        async with door(TOYS) as http:
            session = await opened(http, "toy_inline")
            steps = [(await post(http, f"{session}/step", action="go")).json()["step"] for _ in range(3)]
            assert steps == [1, 2, 3]
            assert (await post(http, f"{session}/reset", task="toy_inline/train/1")).json()["episode"] == 1
            assert (await post(http, f"{session}/reset", task="toy_inline/train/1")).json()["episode"] == 2

    run(play)


def test_the_last_step_of_an_episode_is_told_again_and_any_other_is_episode_over():
    async def play() -> None:
        async with door(TOYS) as http:
            session = await opened(http, "toy_inline", options={"goal": 1})
            won = await post(http, f"{session}/step", action="go", episode=0, step=0)
            assert won.json()["outcome"] == "success"
            assert (await post(http, f"{session}/step", action="go", episode=0, step=0)).content == won.content
            for position in ({}, {"episode": 0, "step": 1}):
                over = await post(http, f"{session}/step", action="go", **position)
                assert (over.status_code, over.json()["code"]) == (409, "episode_over")
                assert over.json()["outcome"] == "success"

    run(play)


@pytest.mark.parametrize(
    ("episode", "step", "action", "code"),
    [
        (0, 1, "other", "request_mismatch"),
        (0, 0, "go", "step_conflict"),  # before the last one: its reply is kept no more
        (0, 3, "go", "step_conflict"),
        (1, 2, "go", "step_conflict"),
        (-1, 2, "go", "step_conflict"),
    ],
)
def test_a_call_that_fits_neither_the_last_nor_the_current_position_is_refused(
    episode: int, step: int, action: str, code: str
):
    async def play() -> None:
        async with door(TOYS) as http:
            REAL_STEPS[32] = 0
            session = await opened(http, "toy_inline", 32)
            for n in range(2):
                await post(http, f"{session}/step", action="go", episode=0, step=n)
            refused = await post(http, f"{session}/step", action=action, episode=episode, step=step)
            assert refused.headers["content-type"] == "application/problem+json"
            told = refused.json()
            assert (refused.status_code, told["code"], told["retryable"]) == (409, code, False)
            assert (told["episode"], told["step"]) == (0, 2)
            assert REAL_STEPS[32] == 2
            assert (await post(http, f"{session}/step", action="go", episode=0, step=2)).json()["step"] == 3

    run(play)


def test_a_reset_has_the_position_of_its_episode_alone():
    async def play() -> None:
        async with door(TOYS) as http:
            session = await opened(http, "toy_inline")
            await post(http, f"{session}/step", action="go", episode=0, step=0)
            first = await post(http, f"{session}/reset", task="toy_inline/train/5", episode=0)
            again = await post(http, f"{session}/reset", task="toy_inline/train/5", episode=0)
            assert first.content == again.content
            assert (first.json()["episode"], first.json()["step"]) == (1, 0)
            other = await post(http, f"{session}/reset", task="toy_inline/train/6", episode=0)
            assert other.json()["code"] == "request_mismatch"
            late = await post(http, f"{session}/step", action="go", episode=0, step=0)
            assert (late.json()["code"], late.json()["episode"], late.json()["step"]) == ("step_conflict", 1, 0)
            ahead = await post(http, f"{session}/reset", task="toy_inline/train/6", episode=2)
            assert (ahead.json()["code"], ahead.json()["episode"]) == ("step_conflict", 1)

    run(play)


def test_a_reset_to_an_unknown_task_changes_nothing():
    async def play() -> None:
        async with door(TOYS) as http:
            session = await opened(http, "toy_inline")
            await post(http, f"{session}/step", action="go")
            refused = await post(http, f"{session}/reset", task="toy_inline/train/5000", episode=0)
            assert (refused.status_code, refused.json()["code"]) == (404, "unknown_task")
            state = (await http.get(session)).json()
            assert (state["episode"], state["step"], state["outcome"]) == (0, 1, None)

    run(play)


def test_an_env_error_is_kept_like_any_other_reply():
    async def play() -> None:
        async with door(TOYS) as http:
            REAL_STEPS[33] = 0
            session = await opened(http, "toy_thread", 33)
            broken = await post(http, f"{session}/step", action="raise", episode=0, step=0)
            again = await post(http, f"{session}/step", action="raise", episode=0, step=0)
            assert (broken.status_code, broken.content) == (500, again.content)
            assert (broken.json()["code"], broken.json()["outcome"]) == ("env_failed", "env_error")
            assert (broken.json()["episode"], broken.json()["step"]) == (0, 1)
            assert REAL_STEPS[33] == 1

    run(play)


@pytest.mark.parametrize("env", ["rough_thread", "rough_process", "rough_async"])
def test_a_resend_waits_for_the_call_that_still_runs(env: str, gate: Gate):
    async def play() -> None:
        async with table([ROUGH[env]]) as t:
            session = await t.open(env)
            first = asyncio.create_task(t.step(session, gate.hold, 0, 0))
            await gate.entered()
            again = asyncio.create_task(t.step(session, gate.hold, 0, 0))
            other = asyncio.create_task(t.step(session, "other", 0, 0))
            await asyncio.sleep(0.02)
            assert not first.done()
            assert not again.done()
            gate.open()
            assert (await again) is (await first)
            assert problem(await other).code == "request_mismatch"

    run(play)


class Ways:
    """The ways to bring several calls to a table at one moment."""

    @staticmethod
    async def batch(sessions: Sessions, calls: list[Any]) -> list[Reply]:
        return [reply for _, reply in await run_batch(sessions, [(n, call) for n, call in enumerate(calls)])]

    @staticmethod
    async def local(sessions: Sessions, calls: list[Any]) -> list[Reply]:
        return await LocalTransport(sessions).exchange(calls, 10.0)

    @staticmethod
    async def one_by_one(sessions: Sessions, calls: list[Any]) -> list[Reply]:
        return await asyncio.gather(*(sessions.handle(call) for call in calls))


@pytest.mark.parametrize("env", ["toy_inline", "toy_thread", "toy_async"])
@pytest.mark.parametrize("way", [Ways.batch, Ways.local, Ways.one_by_one])
def test_calls_of_one_session_are_done_in_order_of_arrival(env: str, way: Any):
    async def play() -> None:
        async with table([SPECS[env]]) as t:
            session = await t.open(env, 1)
            calls = [
                StepCall(session, StepBody("a")),
                GetCall(session),
                StepCall(session, StepBody("b")),
                ResetCall(session, ResetBody(f"{env}/train/2")),
                StepCall(session, StepBody("c")),
                GetCall(session),
                DeleteCall(session),
                StepCall(session, StepBody("d")),
            ]
            replies = await way(t.sessions, calls)
            seen = [getattr(r.body, "observation", None) for r in replies]
            assert seen[:6] == [
                "seed 1 count 1 got a",
                "seed 1 count 1 got a",
                "seed 1 count 2 got b",
                "seed 2 count 0",
                "seed 2 count 1 got c",
                "seed 2 count 1 got c",
            ]
            assert (replies[6].body.outcome, replies[6].body.step) == ("cancelled", 1)
            assert problem(replies[7]).extra == {"reason": "closed"}

    run(play)


def test_a_kept_reply_holds_no_more_of_a_huge_action_than_its_digest():
    async def play() -> None:
        async with table([SPECS["toy_inline"]]) as t:
            session = await t.open("toy_inline")
            huge = "x" * 5_000_000
            first = await t.step(session, huge, 0, 0)
            assert await t.step(session, huge, 0, 0) == first
            assert problem(await t.step(session, huge + "x", 0, 0)).code == "request_mismatch"
            kept = t.sessions._sessions[session]._last
            assert kept is not None
            assert len(kept.body) == 64

    run(play)


def test_one_table_serves_many_sessions_that_do_not_see_each_other():
    async def play() -> None:
        async with table([SPECS["toy_inline"]]) as t:
            ids = [await t.open("toy_inline", i) for i in range(50)]
            for n in range(3):
                for i, session in enumerate(ids):
                    body = (await t.step(session, f"go {i}", 0, n)).body
                    assert body.observation == f"seed {i} count {n + 1} got go {i}"
            assert len(set(ids)) == 50

    run(play)
