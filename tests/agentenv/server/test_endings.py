"""How an episode ends, and who says so.

1. The env ends it (success, failure) or the session cuts it (step limit, time limit), never both: an end at the limit
   is the env's.
2. Only the agent's own time uses the time limit up.
3. An env that breaks its contract ends as env_error: never a reward, never a score.
4. `finish` adds its reward to the cut step and replaces success and score, by the session and by DELETE alike.
5. Malformed and oversized actions are steps that the env never sees.
"""

import asyncio
import json
from dataclasses import replace
from typing import Any

import httpx
import pytest
from rough_envs import SPECS as ROUGH
from tables import door, hasty, problem, run, table
from toy_envs import REAL_STEPS, SPECS, Clock

from agentenv.protocol import Outcome
from agentenv.server.limits import ServerLimits
from agentenv.wire import ActionBody, StepReply

ODD = SPECS["toy_odd"]


@pytest.mark.parametrize(
    ("actions", "outcome", "success"),
    [
        (["win"], Outcome.SUCCESS, True),
        (["lose"], Outcome.FAILURE, False),
        (["wait", "wait", "wait"], Outcome.STEP_LIMIT, False),
        (["wait", "wait", "win"], Outcome.SUCCESS, True),  # at the limit, and the env's own end
        (["wait", "wait", "lose"], Outcome.FAILURE, False),
    ],
)
def test_the_env_ends_an_episode_and_else_the_step_limit_does(actions: list[str], outcome: Outcome, success: bool):
    async def play() -> None:
        async with table([ROUGH["rough_inline"]]) as t:
            session = await t.open("rough_inline", max_steps=3)
            for action in actions[:-1]:
                body = (await t.step(session, action)).body
                assert (body.terminated, body.truncated, body.outcome, body.success) == (False, False, None, None)
            body = (await t.step(session, actions[-1])).body
            assert (body.outcome, body.success) == (outcome, success)
            assert (body.terminated, body.truncated) == (outcome.terminated, outcome.truncated)
            over = problem(await t.step(session, "win"))
            assert (over.code, over.status, over.extra["outcome"]) == ("episode_over", 409, outcome)
            assert over.extra["step"] == len(actions)  # nothing moved
            final = (await t.delete(session)).body
            assert (final.outcome, final.success, final.reward) == (outcome, success, body.reward)

    run(play)


@pytest.mark.parametrize(
    ("task", "asked", "steps"),
    [(0, None, 2), (1, None, 8), (1, 3, 3), (0, 5, 2), (1, 50, 8), (0, 1, 1)],
    ids=["the task's", "the card's", "the one asked for", "the task's again", "never above the card", "one"],
)
def test_the_smallest_step_limit_holds(task: int, asked: int | None, steps: int):
    spec = replace(SPECS["toy_inline"], tasks="rough_envs:limited_tasks")

    async def play() -> None:
        async with table([spec]) as t:
            created = (await t.create(spec.id, task, max_steps=asked, options={"goal": 100})).body
            assert created.limits.max_steps == steps
            ends = [(await t.step(created.session, "go")).body.outcome for _ in range(steps)]
            assert ends == [None] * (steps - 1) + [Outcome.STEP_LIMIT]
            reset = (await t.reset(created.session, f"{spec.id}/train/1")).body
            assert reset.max_steps == min(asked or 8, 8)

    run(play)


def test_only_the_agents_own_time_uses_the_time_limit_up():
    clock = Clock()
    spec = replace(ROUGH["rough_inline"], episode_s=10.0)

    async def play() -> None:
        async with table([spec], clock=clock) as t:
            session = await t.open(spec.id)
            live = t.sessions._sessions[session]
            step, actions = live.runner.host.step, live.runner.host.actions  # type: ignore[attr-defined]

            def slow(method: Any) -> Any:
                def call(argument: Any) -> Any:
                    clock.advance(50.0)
                    return method(argument)

                return call

            live.runner.host.step = slow(step)  # type: ignore[attr-defined]
            live.runner.host.actions = slow(actions)  # type: ignore[attr-defined]
            for _ in range(3):  # 150 s of the env in steps, as many in questions, 9 s of the agent
                clock.advance(3.0)
                assert (await t.step(session, "wait")).body.outcome is None
                await t.get(session, actions=True)
            clock.advance(1.5)
            cut = (await t.step(session, "wait")).body
            assert (cut.outcome, cut.truncated, cut.success) == (Outcome.TIME_LIMIT, True, False)

    run(play)


def test_a_step_that_ends_the_episode_after_the_time_limit_is_the_envs_end():
    clock = Clock()

    async def play() -> None:
        async with table([replace(ROUGH["rough_inline"], episode_s=1.0)], clock=clock) as t:
            session = await t.open("rough_inline")
            clock.advance(5.0)
            assert (await t.step(session, "win")).body.outcome == Outcome.SUCCESS

    run(play)


def test_resends_and_refused_calls_do_not_count_as_the_agents_time():
    clock = Clock()

    async def play() -> None:
        async with table([replace(ROUGH["rough_inline"], episode_s=10.0)], clock=clock) as t:
            session = await t.open("rough_inline")
            first = await t.step(session, "wait", 0, 0)
            for _ in range(5):
                assert (await t.step(session, "wait", 0, 0)).body == first.body
                assert problem(await t.step(session, "wait", 0, 7)).code == "step_conflict"
            clock.advance(9.0)
            assert (await t.step(session, "wait", 0, 1)).body.outcome is None

    run(play)


WRONG = {
    "nan": "reward nan",
    "inf": "reward inf",
    "out of range": "reward 2.0; its card says 0.0 to 1.0",
    "no success": "terminated without saying `success`",
    "info nan": "info with nan",
    "info object": "info with a object",
    "info big": "info of 70008 bytes, over 65536",
    "text": "observation of type int, not str",
    "picture": "image of type str, not bytes",
    "nothing": "NoneType, not a StepResult",
    "info none": "info of type NoneType, not a mapping",
    "score nan": "score nan",
}


def strict(data: bytes) -> Any:
    """Parse JSON that has no NaN and no Infinity."""

    def refuse(token: str) -> None:
        raise AssertionError(f"{token} in {data!r}")

    return json.loads(data, parse_constant=refuse)


async def posted(http: httpx.AsyncClient, path: str, body: Any) -> tuple[int, Any]:
    reply = await http.post(path, json=body)
    return reply.status_code, strict(reply.content)


async def opened(http: httpx.AsyncClient, env: str = "toy_odd", **body: Any) -> str:
    status, made = await posted(http, "/v1/sessions", {"env": env, "task": f"{env}/train/0", **body})
    assert status == 201, made
    return f"/v1/sessions/{made['session']}"


@pytest.mark.parametrize("action", WRONG)
def test_a_result_that_the_card_forbids_is_an_env_error_and_never_a_reward(action: str):
    async def play() -> None:
        async with door([ODD]) as http:
            session = await opened(http)
            status, refused = await posted(http, f"{session}/step", {"action": action, "episode": 0, "step": 0})
            assert (status, refused["code"], refused["outcome"]) == (500, "env_failed", "env_error")
            assert WRONG[action] in refused["detail"]
            again = await posted(http, f"{session}/step", {"action": action, "episode": 0, "step": 0})
            assert again == (status, refused)
            assert (await posted(http, f"{session}/step", {"action": "pay"}))[1]["code"] == "episode_over"
            final = strict((await http.delete(session)).content)
            assert (final["outcome"], final["success"], final["terminated"]) == ("env_error", None, False)

    run(play)


@pytest.mark.parametrize(
    ("action", "field", "value"),
    [
        ("float32", "reward", 0.5),
        ("bool", "terminated", True),
        ("bool", "success", True),
        ("info", "info", {"n": 3, "a": [0, 1]}),
        ("names", "info", {"name": "Ada", "7": True}),
        ("surrogate", "observation", "a�b\x00c"),
        ("surrogate", "info", {"t": "�"}),
        ("score", "score", 0.8),
        ("score", "info", {"score": 0.8}),
        ("pay", "score", None),  # a missing score is null, not 0
    ],
)
def test_numpy_scalars_and_odd_text_arrive_as_plain_values(action: str, field: str, value: Any):
    async def play() -> None:
        async with door([ODD]) as http:
            session = await opened(http)
            status, got = await posted(http, f"{session}/step", {"action": action})
            assert status == 200
            assert got[field] == value
            assert type(got[field]) is type(value)

    run(play)


@pytest.mark.parametrize("env", ["rough_inline", "rough_thread", "rough_process"])
def test_a_session_whose_reset_fails_shows_nothing_of_the_episode_before(env: str):
    spec = replace(ROUGH[env], entry="rough_envs:Sour")

    async def play() -> None:
        async with table([spec]) as t:
            session = await t.open(env, 1)
            assert (await t.step(session, "wait")).body.info == {"n": 1}
            broken = problem(await t.reset(session, f"{env}/train/666", 0))
            assert (broken.code, broken.extra) == ("env_failed", {"outcome": "env_error", "episode": 1, "step": 0})
            assert problem(await t.reset(session, f"{env}/train/666", 0)) == broken
            state = (await t.get(session)).body
            assert (state.observation, state.outcome, state.step) == ("", Outcome.ENV_ERROR, 0)
            assert (await t.reset(session, f"{env}/train/2", 1)).body.observation == "task 2"

    run(play)


def test_finish_adds_its_reward_and_replaces_success_and_score_at_the_sessions_cut():
    async def play() -> None:
        async with door([ODD]) as http:
            session = await opened(http)
            for action in ("pay", "wait"):
                await posted(http, f"{session}/step", {"action": action})
            status, cut = await posted(http, f"{session}/step", {"action": "float32"})
            assert status == 200
            assert (cut["outcome"], cut["truncated"], cut["terminated"]) == ("step_limit", True, False)
            assert (cut["reward"], cut["success"], cut["score"]) == (0.75, True, 7.0)
            assert cut["info"] == {"why": "step_limit"}
            final = strict((await http.delete(session)).content)
            assert (final["reward"], final["success"], final["score"]) == (0.75, True, 7.0)

    run(play)


@pytest.mark.parametrize(
    ("outcome", "steps", "reward", "success", "score", "info"),
    [
        ("context_full", 2, 0.75, True, 7.0, {"why": "context_full"}),
        ("time_limit", 2, 0.75, True, 7.0, {"why": "time_limit"}),
        ("agent_error", 1, 0.5, False, None, {}),  # finish has nothing to say this early
        ("cancelled", 2, 0.5, None, None, {}),  # not part of a measurement: finish is not asked
        ("infra_lost", 2, 0.5, None, None, {}),
        (None, 0, 0.0, None, None, {}),
    ],
)
def test_finish_scores_an_episode_that_the_rollout_cuts(
    outcome: str | None, steps: int, reward: float, success: bool | None, score: float | None, info: dict[str, str]
):
    async def play() -> None:
        async with door([ODD]) as http:
            session = await opened(http)
            for _ in range(steps):
                await posted(http, f"{session}/step", {"action": "float32"})
            query = f"?outcome={outcome}" if outcome else ""
            replies = [await http.delete(session + query), await http.delete(session), await http.delete(session)]
            assert len({(r.status_code, r.content) for r in replies}) == 1  # idempotent
            final = strict(replies[0].content)
            assert (final["outcome"], final["step"]) == (outcome or "cancelled", steps)
            assert (final["reward"], final["success"], final["score"]) == (reward, success, score)
            assert final["info"] == info
            assert final["truncated"] == Outcome(final["outcome"]).truncated

    run(play)


@pytest.mark.parametrize("outcome", ["success", "failure", "step_limit", "env_error", "SUCCESS", "won", ""])
def test_a_rollout_cannot_claim_what_is_not_its_to_say(outcome: str):
    async def play() -> None:
        async with door([ODD]) as http:
            session = await opened(http)
            refused = await http.delete(f"{session}?outcome={outcome}")
            if outcome == "":
                assert refused.json()["outcome"] == "cancelled"
                return
            assert refused.status_code == 422
            assert "context_full" in refused.json()["detail"]
            assert (await http.get(session)).status_code == 200  # still there

    run(play)


def test_an_ended_episode_keeps_its_outcome_whatever_the_delete_says():
    async def play() -> None:
        async with table([ROUGH["rough_inline"]]) as t:
            session = await t.open("rough_inline")
            await t.step(session, "win")
            assert (await t.delete(session, "infra_lost")).body.outcome == Outcome.SUCCESS

    run(play)


def test_a_finish_that_fails_makes_the_episode_an_env_error():
    spec = replace(ROUGH["rough_inline"], entry="rough_envs:BadFinish")

    async def play() -> None:
        async with table([spec]) as t:
            cut, ended = [await t.open(spec.id, i, max_steps=2) for i in range(2)]
            await t.step(cut, "wait")
            assert problem(await t.step(cut, "wait")).extra["outcome"] == Outcome.ENV_ERROR
            final = (await t.delete(ended, "context_full")).body
            assert (final.outcome, final.success) == (Outcome.ENV_ERROR, None)

    run(play)


@pytest.mark.parametrize("env", ["toy_inline", "toy_thread", "toy_process", "toy_async"])
@pytest.mark.parametrize(
    ("action", "reason"),
    [
        (ActionBody("I think", "no line begins with Action:"), "no line begins with Action:"),
        (ActionBody("", ""), ""),
        (ActionBody("x", "odd \ud800"), "odd �"),
        ("x" * 101, "the action is longer than 100 bytes"),
        ("é" * 51, "the action is longer than 100 bytes"),
        (ActionBody("é" * 51, "cut off"), "cut off"),
    ],
    ids=["malformed", "no reason", "surrogate", "long", "long in bytes", "long and malformed"],
)
def test_malformed_and_oversized_actions_are_steps_that_the_env_never_sees(env: str, action: Any, reason: str):
    spec = replace(SPECS[env], malformed_text="Not an action ({reason}).")

    async def play() -> None:
        async with table([spec], limits=ServerLimits(max_action_bytes=100)) as t:
            REAL_STEPS[77] = 0
            session = await t.open(env, 77, max_steps=2)
            body = (await t.step(session, action, 0, 0)).body
            assert isinstance(body, StepReply)
            assert (body.observation, body.reward, body.step) == (f"Not an action ({reason}).", 0.0, 1)
            assert (await t.step(session, action, 0, 0)).body == body
            other = "y" * 101 if isinstance(action, str) else ActionBody("other", "other")
            assert problem(await t.step(session, other, 0, 0)).code == "request_mismatch"
            assert (await t.step(session, action, 0, 1)).body.outcome == Outcome.STEP_LIMIT
            assert REAL_STEPS[77] == 0

    run(play)


def test_an_action_just_inside_the_limit_reaches_the_env():
    async def play() -> None:
        async with table([SPECS["toy_inline"]], limits=ServerLimits(max_action_bytes=100)) as t:
            session = await t.open("toy_inline")
            assert (await t.step(session, "é" * 50)).body.observation.endswith("é" * 50)

    run(play)


def test_an_episode_after_an_env_error_is_played_by_the_same_env():
    async def play() -> None:
        async with table([hasty(SPECS["toy_thread"], 60.0)]) as t:
            session = await t.open("toy_thread")
            runner = t.sessions._sessions[session].runner
            assert problem(await t.step(session, "raise")).code == "env_failed"
            await t.reset(session, "toy_thread/train/1")
            assert t.sessions._sessions[session].runner is runner
            ends = [(await t.step(session, "go")).body.outcome for _ in range(5)]
            assert ends[-1] == Outcome.SUCCESS

    run(play)


def test_an_envs_page_long_exception_is_told_in_short():
    async def play() -> None:
        async with table([ROUGH["rough_thread"], ROUGH["rough_process"]]) as t:
            for env in ("rough_thread", "rough_process"):
                session = await t.open(env)
                detail = problem(await t.step(session, "babble 1000000")).detail
                assert len(detail) < 2100
                assert detail.endswith("more characters]")

    asyncio.run(play())
