"""Whatever is sent, the answer is a problem document that says what is wrong, and nothing is lost.

1. Bodies: not JSON, too large, unknown fields, wrong types, wrong content type, deeply nested.
2. Names: unknown env, task, split, option; options that are the server's.
3. Batches: one bad envelope spoils itself alone.
4. Text: lone surrogates become U+FFFD in both directions by every door; NUL passes; long observations are cut.
5. Paths and methods that there are not.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import httpx
import msgspec
import pytest
from rough_envs import SPECS as ROUGH
from serving import running
from tables import door, problem, run, table
from toy_envs import SPECS
from transports import AsgiTransport

from agentenv.client.codec import decode_batch
from agentenv.client.core import Connection
from agentenv.client.http import HttpTransport
from agentenv.client.local import LocalTransport
from agentenv.client.websocket import WebSocketTransport
from agentenv.errors import AgentEnvError, MalformedJson
from agentenv.server.limits import ServerLimits
from agentenv.server.session import CUT_MARKER
from agentenv.server.sessions import Sessions
from agentenv.wire import MAX_DETAIL, Problem, StepBody, StepCall, decode

ENV = "toy_inline"
TASK = f"{ENV}/train/0"
JSON = {"content-type": "application/json"}
LIMITS = ServerLimits(max_body_bytes=100_000, max_batch=4, max_observation_bytes=1000)


def good(**changes: Any) -> bytes:
    return json.dumps({"env": ENV, "task": TASK, **changes}).encode()


def without(name: str) -> bytes:
    return json.dumps({k: v for k, v in {"env": ENV, "task": TASK}.items() if k != name}).encode()


DEEP = b'{"env":"toy_inline","task":"x","options":{"a":' + b"[" * 40_000

CREATES: dict[str, tuple[bytes, int, str, str]] = {
    "no JSON": (b"{not json", 400, "malformed_json", "not JSON"),
    "nothing": (b"", 400, "malformed_json", "not JSON"),
    "cut off": (good()[:-1], 400, "malformed_json", "not JSON"),
    "not UTF-8": (b'{"env": "\xff\xfe"}', 400, "malformed_json", "not JSON"),
    "raw surrogate": (b'{"env": "\xed\xa0\x80"}', 400, "malformed_json", "not JSON"),
    "NaN": (b'{"env": NaN}', 400, "malformed_json", "not JSON"),
    "deep": (DEEP, 400, "malformed_json", "nested too deeply"),
    "a list": (b"[]", 422, "bad_request", "Expected `object`"),
    "unknown field": (good(tsak=1), 422, "bad_request", "unknown field `tsak`"),
    "unknown field of the task": (
        good(task={"split": "train", "idx": 1}),
        422,
        "bad_request",
        "unknown field `idx` - at `$.task`",
    ),
    "no env": (without("env"), 422, "bad_request", "missing required field `env`"),
    "no task": (without("task"), 422, "bad_request", "missing required field `task`"),
    "wrong type": (good(max_steps="3"), 422, "bad_request", "Expected `int | null`, got `str` - at `$.max_steps`"),
    "a float": (good(max_steps=2.5), 422, "bad_request", "`$.max_steps`"),
    "no steps": (good(max_steps=0), 422, "bad_request", "max_steps is 0"),
    "fewer steps": (good(max_steps=-1), 422, "bad_request", "max_steps is -1"),
    "unknown env": (good(env="toy_inlin"), 404, "unknown_env", "did you mean 'toy_inline'"),
    "unknown index": (good(task=f"{ENV}/train/1000"), 404, "unknown_task", "1000 tasks"),
    "negative index": (good(task={"split": "train", "index": -1}), 404, "unknown_task", "from 0"),
    "unknown split": (good(task=f"{ENV}/trian/1"), 404, "unknown_task", "train, test"),
    "no task id": (good(task="seven"), 404, "unknown_task", f"{ENV}/train/0"),
    "another env's task": (good(task="toy_thread/train/0"), 404, "unknown_task", f"{ENV}/train/0"),
    "index and seed": (good(task={"split": "train", "index": 1, "seed": 1}), 404, "unknown_task", "exactly one"),
    "neither": (good(task={"split": "train"}), 404, "unknown_task", "exactly one"),
    "unknown option": (good(options={"gaol": 1}), 422, "unknown_option", "did you mean 'goal'"),
    "option of a wrong type": (good(options={"goal": "many"}), 422, "unknown_option", "must be int"),
    "option out of range": (good(options={"goal": 0}), 422, "unknown_option", "at least 1"),
    "the server's option": (good(options={"pause_s": 1.0}), 422, "unknown_option", "is the server's"),
    "pages of nonsense": (good(task="x" * 90_000), 404, "unknown_task", "no task 'xxx"),
    "pages of a field": (good(**{"y" * 90_000: 1}), 422, "bad_request", "unknown field `yyy"),
}


@pytest.mark.parametrize("name", CREATES)
def test_a_wrong_create_is_told_what_is_wrong_and_makes_nothing(name: str):
    sent, status, code, says = CREATES[name]

    async def play() -> None:
        async with door(SPECS.values(), limits=LIMITS) as http:
            got = await http.post("/v1/sessions", content=sent, headers=JSON)
            assert got.headers["content-type"] == "application/problem+json"
            told = got.json()
            assert (got.status_code, told["status"], told["code"]) == (status, status, code)
            assert says in told["detail"]
            assert len(told["detail"]) < MAX_DETAIL + 100
            assert {"type", "title", "retryable"} <= set(told)
            assert (await http.get("/v1/sessions")).json()["total"] == 0
            assert (await http.post("/v1/sessions", content=good(), headers=JSON)).status_code == 201

    run(play)


STEPS: dict[str, tuple[bytes, int, str]] = {
    "no action": (b"{}", 422, "missing required field `action`"),
    "a number": (b'{"action": 3}', 422, "`$.action`"),
    "null": (b'{"action": null}', 422, "`$.action`"),
    "no text": (b'{"action": {"malformed": "x"}}', 422, "missing required field `text` - at `$.action`"),
    "unknown field": (b'{"action": "go", "id": 1}', 422, "unknown field `id`"),
    "text position": (b'{"action": "go", "step": "0"}', 422, "`$.step`"),
    "no JSON": (b"action=go", 400, "not JSON"),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_wrong_step_is_told_what_is_wrong_and_moves_nothing(name: str):
    sent, status, says = STEPS[name]

    async def play() -> None:
        async with door(SPECS.values()) as http:
            session = (await http.post("/v1/sessions", content=good(), headers=JSON)).json()["session"]
            got = await http.post(f"/v1/sessions/{session}/step", content=sent, headers=JSON)
            assert got.status_code == status
            assert says in got.json()["detail"]
            assert (await http.get(f"/v1/sessions/{session}")).json()["step"] == 0

    run(play)


@pytest.mark.parametrize("declared", [True, False])
def test_a_body_over_the_limit_is_413_whether_its_length_is_told_or_not(declared: bool):
    async def parts() -> AsyncIterator[bytes]:
        for _ in range(30):
            yield b" " * 10_000

    async def play() -> None:
        async with door(SPECS.values(), limits=LIMITS) as http:
            content: Any = b" " * 100_001 if declared else parts()
            got = await http.post("/v1/sessions", content=content, headers=JSON)
            assert (got.status_code, got.json()["code"]) == (413, "body_too_large")
            assert "100000" in got.json()["detail"]
            at_limit = good() + b" " * (100_000 - len(good()))
            assert (await http.post("/v1/sessions", content=at_limit, headers=JSON)).status_code == 201

    run(play)


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""])
def test_another_content_type_is_415(kind: str | None):
    async def play() -> None:
        async with door(SPECS.values()) as http:
            got = await http.post(
                "/v1/sessions", content=good(), headers={} if kind is None else {"content-type": kind}
            )
            assert (got.status_code, got.json()["code"]) == (415, "not_json")

    run(play)


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON; charset=utf-8", "application/json;x=y"])
def test_json_is_json_with_any_parameters(kind: str):
    async def play() -> None:
        async with door(SPECS.values()) as http:
            got = await http.post("/v1/sessions", content=good(), headers={"content-type": kind})
            assert got.status_code == 201

    run(play)


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/", 404, "not_found"),
        ("GET", "/v2", 404, "not_found"),
        ("GET", "/v1/nothing", 404, "not_found"),
        ("POST", "/v1/nothing", 404, "not_found"),
        ("GET", "/v1/envs/nothing", 404, "unknown_env"),
        ("GET", "/v1/envs/a%3Fb%23c%2Fd", 404, "not_found"),
        ("GET", "/v1/envs/toy_inline/secrets", 404, "not_found"),
        ("GET", "/v1/batch", 405, "wrong_method"),
        ("PUT", "/v1/sessions", 405, "wrong_method"),
        ("POST", "/v1/envs", 405, "wrong_method"),
        ("GET", "/v1/sessions/x/step", 405, "wrong_method"),
        ("DELETE", "/v1/sessions/x/step", 405, "wrong_method"),
        ("OPTIONS", "/v1/sessions", 405, "wrong_method"),
        ("POST", "/healthz", 405, "wrong_method"),
        ("GET", "/v1/sessions/x?action=1", 422, "bad_request"),
        ("GET", "/v1/sessions/x?actions=yes", 422, "bad_request"),
        ("DELETE", "/v1/sessions/x?outcom=cancelled", 422, "bad_request"),
        ("GET", "/v1/envs/toy_inline/tasks?spilt=train", 422, "bad_request"),
        ("GET", "/v1/envs?x=", 422, "bad_request"),
    ],
)
def test_paths_and_methods_that_there_are_not_are_problem_documents(method: str, path: str, status: int, code: str):
    async def play() -> None:
        async with door(SPECS.values()) as http:
            got = await http.request(method, path)
            assert (got.status_code, got.json()["code"]) == (status, code)
            assert got.headers["content-type"] == "application/problem+json"
            if status == 405:
                assert got.headers["allow"]

    run(play)


# Batches.


def envelope(id: Any, op: str = "create", **changes: Any) -> dict[str, Any]:
    return {"id": id, "op": op, "body": {"env": ENV, "task": TASK}, **changes}


async def batch(http: httpx.AsyncClient, requests: Any) -> httpx.Response:
    return await http.post("/v1/batch", content=json.dumps({"requests": requests}), headers=JSON)


def test_the_replies_of_a_batch_come_in_the_order_of_its_requests():
    async def play() -> None:
        async with door(SPECS.values()) as http:
            requests = [envelope("slow", body={"env": "toy_thread", "task": "toy_thread/train/1"}), envelope(7)]
            replies = (await batch(http, requests)).json()["replies"]
            assert [(r["id"], r["status"]) for r in replies] == [("slow", 201), (7, 201)]
            ids = [r["body"]["session"] for r in replies]
            calls = [
                {"id": n, "op": "step", "session": s, "body": {"action": "go", "episode": 0, "step": 0}}
                for n, s in enumerate(ids)
            ]
            steps = (await batch(http, calls)).json()
            assert [r["body"]["observation"] for r in steps["replies"]] == [
                "seed 1 count 1 got go",
                "seed 0 count 1 got go",
            ]
            assert (await batch(http, calls)).json() == steps  # the same positions, the same replies

    run(play)


BAD_ENVELOPES: dict[str, tuple[Any, Any, int]] = {
    "unknown op": (envelope(5, op="destroy"), 5, 422),
    "no op": ({"id": 5, "body": {}}, 5, 422),
    "unknown field": (envelope(5, extra=1), 5, 422),
    "unknown field in the body": (envelope(5, body={"env": ENV, "task": TASK, "x": 1}), 5, 422),
    "no session": ({"id": 5, "op": "step", "body": {"action": "go"}}, 5, 422),
    "a strange id": (envelope([1]), 0, 422),
    "no object": (3, 0, 422),
    "null": (None, 0, 422),
    "unknown session": ({"id": 5, "op": "get", "session": "nobody"}, 5, 404),
    "unknown env": (envelope(5, body={"env": "nothing", "task": "x"}), 5, 404),
    "a lone surrogate": ({"id": 5, "op": "step", "session": "\ud800", "body": {"action": "\udfff"}}, 5, 404),
}


@pytest.mark.parametrize("name", BAD_ENVELOPES)
def test_one_bad_envelope_spoils_only_itself(name: str):
    bad, id, status = BAD_ENVELOPES[name]

    async def play() -> None:
        async with door(SPECS.values()) as http:
            replies = (await batch(http, [envelope(1), bad, envelope("last")])).json()["replies"]
            assert [(r["id"], r["status"]) for r in replies] == [(1, 201), (id, status), ("last", 201)]
            assert replies[1]["body"]["status"] == status
            assert replies[1]["body"]["code"]

    run(play)


@pytest.mark.parametrize(
    ("requests", "status", "says"),
    [
        ("no list", 422, "Expected `object`"),
        ({"id": 1}, 422, "op"),
        (envelope(1), 422, "`requests` must be a list"),
        (3, 422, "Expected `object`"),
        (None, 422, "Expected `object`"),
        ([envelope(n) for n in range(5)], 422, "5 calls in one message; at most 4"),
        ([envelope(n) for n in range(4)] + [3], 422, "5 calls in one message; at most 4"),
        ([], 200, ""),
        ([envelope(n) for n in range(4)], 200, ""),
    ],
)
def test_a_batch_is_a_list_of_bounded_length(requests: Any, status: int, says: str):
    async def play() -> None:
        async with door(SPECS.values(), limits=LIMITS) as http:
            got = await batch(http, requests)
            assert got.status_code == status
            if status == 200:
                assert len(got.json()["replies"]) == len(requests)
            else:
                assert says in got.json()["detail"]
                assert (await http.get("/v1/sessions")).json()["total"] == 0

    run(play)


# Text.


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        (rb'"a\ud800b"', "a�b"),
        (rb'"\udc00"', "�"),
        (rb'"\ud83d\ude00"', "😀"),  # a pair is a character
        (rb'"\ud800\ud83d\ude00"', "�😀"),
        (rb'"\udc00\ud800"', "��"),
        (rb'"\\ud800"', "\\ud800"),  # an escaped backslash, and letters after it
        (rb'"\\\ud800\""', '\\�"'),
        (rb'"\u0000\ud800"', "\x00�"),
    ],
)
def test_escapes_of_lone_surrogates_are_read_as_the_replacement_character(sent: bytes, read: str):
    assert decode(sent, msgspec.json.Decoder(str)) == read


def test_what_a_repair_cannot_mend_is_still_not_json():
    for sent in (rb'"\ud800', rb'{"a":"\ud800",}', rb'"\ud8"'):
        with pytest.raises(MalformedJson):
            decode(sent, msgspec.json.Decoder(Any))


DOORS = ("local", "asgi", "http", "websocket")


@pytest.mark.parametrize("env", ["rough_inline", "rough_thread", "rough_process", "rough_async"])
@pytest.mark.parametrize("way", DOORS)
def test_lone_surrogates_and_nul_characters_read_alike_by_every_door(way: str, env: str):
    sessions = Sessions([ROUGH[env]])

    async def play(transport: Any) -> None:
        connection = Connection(transport)
        try:
            session = await connection.create(env, f"{env}/train/0")
            assert (await session.step("say \ud800 \x00")).observation == "did say � \x00"
            odd = await session.step("odd")
            assert (odd.observation, odd.info) == ("a�b\x00c", {"t": ["�"], "�": 1})
            state = await session.get(actions=True)
            assert (state.observation, state.available_actions) == ("a�b\x00c", ["wait", "odd �"])
        finally:
            await connection.close()

    async def inside(make: Any) -> None:
        try:
            await play(make(sessions))
        finally:
            await sessions.close()

    if way == "local":
        asyncio.run(inside(LocalTransport))
    elif way == "asgi":
        asyncio.run(inside(AsgiTransport))
    else:
        with running(sessions) as url:
            asyncio.run(_over(play, HttpTransport if way == "http" else WebSocketTransport, url))


async def _over(play: Any, make: Any, url: str) -> None:
    await play(make(url))


def test_a_batch_with_an_escape_of_a_lone_surrogate_is_read_as_a_whole():
    async def play() -> None:
        async with door(SPECS.values()) as http:
            session = (await http.post("/v1/sessions", content=good(), headers=JSON)).json()["session"]
            call = rb'{"id":%d,"op":"step","session":"%s","body":{"action":"a\ud800"}}'
            sent = b'{"requests":[' + b",".join(call % (n, session.encode()) for n in range(2)) + b"]}"
            got = await http.post("/v1/batch", content=sent, headers=JSON)
            calls: Any = [StepCall(session, StepBody("a\ud800"), n) for n in range(2)]
            assert [r.body.observation for r in decode_batch(calls, got.content)] == [
                f"seed 0 count {n} got a�" for n in (1, 2)
            ]

    run(play)


@pytest.mark.parametrize("limit", [1000, 1001])
def test_a_long_observation_is_cut_at_a_character_with_a_marker(limit: int):
    async def play() -> None:
        async with table([SPECS["toy_odd"]], limits=replace(LIMITS, max_observation_bytes=limit)) as t:
            session = await t.open("toy_odd")
            body = (await t.step(session, "long")).body
            assert body.observation == "é" * 500 + CUT_MARKER
            assert body.info == {"cut": True}
            assert (await t.get(session)).body.observation == body.observation
            assert "cut" not in (await t.step(session, "short")).body.info

    run(play)


def test_an_observation_of_just_the_limit_is_whole():
    async def play() -> None:
        async with table([SPECS["toy_inline"]], limits=replace(LIMITS, max_observation_bytes=60)) as t:
            session = await t.open(ENV)
            start = "seed 0 count 1 got "
            whole = (await t.step(session, "x" * (60 - len(start)))).body
            assert (len(whole.observation), whole.info) == (60, {})
            cut = (await t.step(session, "x" * (61 - len(start)))).body
            assert cut.info == {"cut": True}

    run(play)


def test_malformed_actions_over_the_wire_keep_their_reason():
    async def play() -> None:
        async with door(SPECS.values()) as http:
            session = (await http.post("/v1/sessions", content=good(), headers=JSON)).json()["session"]
            action = {"text": "I would rather not", "malformed": "there is no action in it"}
            got = (await http.post(f"/v1/sessions/{session}/step", json={"action": action})).json()
            assert got["observation"].startswith("Invalid action: there is no action in it.")
            assert (got["reward"], got["step"], got["outcome"]) == (0.0, 1, None)

    run(play)


def test_tasks_that_break_are_the_envs_fault_and_named():
    spec = replace(SPECS[ENV], tasks="rough_envs:no_tasks_at_all")

    async def play() -> None:
        async with table([replace(SPECS[ENV], tasks="rough_envs:broken_set"), replace(spec, id="toy_gone")]) as t:
            broken = problem(await t.create(ENV))
            assert (broken.code, broken.status) == ("env_failed", 500)
            assert "toy_inline: the tasks: KeyError: 'goal_'" in broken.detail
            gone = problem(await t.create("toy_gone"))
            assert (gone.code, gone.status) == ("env_unavailable", 501)

    run(play)


def test_a_problem_document_carries_an_error_there_and_back():
    for error in (AgentEnvError("plain"), MalformedJson("x" * 5000), AgentEnvError("odd \ud800", outcome="env_error")):
        told = Problem.of(error)
        back = told.error()
        assert type(back) is type(error)
        assert back.extra == error.extra
        assert back.message.startswith(error.message[:4])
        assert len(told.detail) <= MAX_DETAIL + 40
