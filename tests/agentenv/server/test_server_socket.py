"""The WebSocket door, by a client that knows nothing of ours.

1. One call or a list a message, as text or bytes; replies carry the calls' ids and come as they complete.
2. A lost socket loses no session and no reply.
3. Over max_inflight calls the socket is not read; who does not read replies is not read either.
4. Garbage gets a problem and the socket stays usable.
"""

import asyncio
import gc
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from rough_envs import SPECS as ROUGH
from rough_envs import Gate
from serving import running
from toy_envs import REAL_STEPS, SPECS

from agentenv.server.limits import ServerLimits
from agentenv.server.sessions import Sessions

Socket = aiohttp.ClientWebSocketResponse
ALL = [*SPECS.values(), *ROUGH.values()]


@pytest.fixture
def gate(tmp_path: Path):
    gate = Gate(tmp_path / "gate")
    yield gate
    gate.open()


def with_sockets(
    play: Callable[[Callable[[], Coroutine[Any, Any, Socket]]], Coroutine[Any, Any, None]],
    limits: ServerLimits | None = None,
) -> None:
    """Run `play(connect)` against a server."""

    async def client(url: str) -> None:
        async with aiohttp.ClientSession() as session:
            await asyncio.wait_for(play(lambda: session.ws_connect(f"{url}/v1/ws", max_msg_size=0)), 60)

    with running(Sessions(ALL, limits=limits)) as url:
        asyncio.run(client(url))


def create(id: Any, env: str = "toy_inline", index: int = 0, **body: Any) -> dict[str, Any]:
    return {"id": id, "op": "create", "body": {"env": env, "task": f"{env}/train/{index}", **body}}


def step(id: Any, session: str, action: str, **position: int) -> dict[str, Any]:
    return {"id": id, "op": "step", "session": session, "body": {"action": action, **position}}


async def ask(socket: Socket, call: Any) -> Any:
    await socket.send_json(call)
    return await socket.receive_json()


async def opened(socket: Socket, env: str = "toy_inline", index: int = 0) -> str:
    reply = await ask(socket, create(0, env, index))
    assert reply["status"] == 201, reply
    return str(reply["body"]["session"])


def test_single_calls_and_lists_get_their_replies_by_id():
    async def play(connect: Any) -> None:
        async with await connect() as socket:
            session = await opened(socket)
            got = await ask(socket, step("my id", session, "go"))
            assert (got["id"], got["status"], got["body"]["step"]) == ("my id", 200, 1)
            got = await ask(socket, [step(8, session, "go"), step(9, session, "go"), {"id": 10, "op": "destroy"}])
            assert [(r["id"], r["status"]) for r in got] == [(8, 200), (9, 200), (10, 422)]
            assert [r["body"]["step"] for r in got[:2]] == [2, 3]
            await socket.send_json([])  # asks nothing, gets nothing
            got = await ask(socket, {"id": 11, "op": "delete", "session": session})
            assert (got["id"], got["body"]["outcome"]) == (11, "cancelled")

    with_sockets(play)


@pytest.mark.parametrize("binary", [True, False])
def test_replies_come_in_the_kind_of_frame_that_the_call_had(binary: bool):
    async def play(connect: Any) -> None:
        async with await connect() as socket:
            for env in ("toy_inline", "toy_thread"):
                data = json.dumps(create(1, env))
                await (socket.send_bytes(data.encode()) if binary else socket.send_str(data))
                message = await socket.receive()
                assert message.type == (aiohttp.WSMsgType.BINARY if binary else aiohttp.WSMsgType.TEXT)
                assert json.loads(message.data)["status"] == 201

    with_sockets(play)


@pytest.mark.parametrize("env", ["rough_thread", "rough_async", "rough_process"])
def test_a_slow_session_does_not_delay_a_fast_one_on_the_same_socket(env: str, gate: Gate):
    async def play(connect: Any) -> None:
        async with await connect() as socket:
            slow, fast, inline = await opened(socket, env), await opened(socket, env), await opened(socket)
            await socket.send_json([step("slow", slow, gate.hold), step("fast", fast, "wait")])
            assert (await socket.receive_json())["id"] == "fast"
            assert (await ask(socket, step("inline", inline, "go")))["id"] == "inline"
            await gate.entered()
            gate.open()
            assert (await socket.receive_json())["id"] == "slow"

    with_sockets(play)


def test_a_lost_socket_loses_no_session_and_no_reply(gate: Gate):
    async def play(connect: Any) -> None:
        socket = await connect()
        session = await opened(socket, "rough_thread")
        await socket.send_json(step(1, session, gate.hold, episode=0, step=0))
        await gate.entered()
        await socket.close()
        gate.open()
        async with await connect() as second:
            got = await ask(second, step(2, session, gate.hold, episode=0, step=0))
            assert (got["id"], got["status"], got["body"]["step"]) == (2, 200, 1)
            assert (await ask(second, step(3, session, "win", episode=0, step=1)))["body"]["outcome"] == "success"

    with_sockets(play)


def test_a_socket_that_is_cut_in_the_middle_of_many_calls_troubles_no_other(caplog: pytest.LogCaptureFixture):
    async def play(connect: Any) -> None:
        async with await connect() as other:
            session = await opened(other)
            for _ in range(3):
                socket = await connect()
                ids = [await opened(socket, "toy_thread", n) for n in range(8)]
                await socket.send_json([step(n, id, "sleep 0.01") for n, id in enumerate(ids)])
                transport = socket._conn.transport if socket._conn else None
                assert transport is not None
                transport.abort()
                await socket.close()
            assert (await ask(other, step(1, session, "go")))["status"] == 200

    with_sockets(play)
    gc.collect()  # a task's exception that nobody took is told then
    assert not [r.getMessage() for r in caplog.records if r.levelname == "ERROR"]


def test_over_max_inflight_the_socket_is_not_read(gate: Gate):
    limits = ServerLimits(max_inflight=3)

    async def play(connect: Any) -> None:
        async with await connect() as socket:
            ids = [await opened(socket, "rough_thread", n) for n in range(3)]
            REAL_STEPS[50] = 0
            inline = await opened(socket, "toy_inline", 50)
            for n, id in enumerate(ids):
                await socket.send_json(step(n, id, gate.hold))
            await socket.send_json(step("late", inline, "go"))
            await gate.entered()
            async with await connect() as other:  # it is this socket alone that waits
                assert (await ask(other, {"id": 1, "op": "get", "session": inline}))["body"]["step"] == 0
            assert REAL_STEPS[50] == 0
            gate.open()
            got = [await socket.receive_json() for _ in range(2)]
            flat = [r for message in got for r in (message if isinstance(message, list) else [message])]
            while len(flat) < 4:
                message = await socket.receive_json()
                flat += message if isinstance(message, list) else [message]
            assert {r["id"] for r in flat} == {0, 1, 2, "late"}
            assert REAL_STEPS[50] == 1

    with_sockets(play, limits)


def test_a_client_that_reads_no_replies_is_not_read_in_the_end():
    """Its replies would pile up in the server's memory otherwise."""
    limits = ServerLimits(max_inflight=4, max_observation_bytes=10_000_000, max_action_bytes=10_000_000)

    async def play(connect: Any) -> None:
        async with await connect() as other:
            greedy = await connect()
            session = await opened(greedy, "rough_thread")
            big = "x" * 2_000_000
            # Far more than what fits into the buffers on the way: the server stops before it has done them all.
            sending = asyncio.create_task(_send_all(greedy, [step(n, session, big) for n in range(60)]))
            done = -1
            while True:
                await asyncio.sleep(0.5)
                now = (await ask(other, {"id": 1, "op": "get", "session": session}))["body"]["step"]
                if now == done:
                    break
                done = now
            assert done < 60
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
            greedy._conn.transport.abort()  # type: ignore[union-attr]
            await greedy.close()

    with_sockets(play, limits)


async def _send_all(socket: Socket, calls: list[Any]) -> None:
    for call in calls:
        await socket.send_json(call)


GARBAGE: dict[str, tuple[str | bytes, int, str]] = {
    "no JSON": ("{nope", 400, "malformed_json"),
    "nothing": ("", 400, "malformed_json"),
    "bytes": (b"\xff\xfe\x00", 400, "malformed_json"),
    "a number": ("7", 422, "bad_request"),
    "null": ("null", 422, "bad_request"),
    "deep": (
        '{"id":3,"op":"create","body":{"env":"x","task":"y","options":{"a":' + "[" * 50_000,
        400,
        "malformed_json",
    ),
    "deep list": ("[" * 100_000, 422, "bad_request"),
    "no op": ('{"id": 3}', 422, "bad_request"),
    "too many": ("[" + ",".join(['{"id":1,"op":"get","session":"x"}'] * 1025) + "]", 422, "bad_request"),
    "too many, one of them bad": (
        "[" + ",".join(['{"id":1,"op":"get","session":"x"}'] * 1024) + ",3]",
        422,
        "bad_request",
    ),
}


@pytest.mark.parametrize("name", GARBAGE)
def test_garbage_gets_a_problem_and_the_socket_stays_usable(name: str):
    sent, status, code = GARBAGE[name]

    async def play(connect: Any) -> None:
        async with await connect() as socket:
            await (socket.send_bytes(sent) if isinstance(sent, bytes) else socket.send_str(sent))
            got = json.loads((await socket.receive()).data)
            assert (got["status"], got["body"]["code"]) == (status, code)
            assert (await ask(socket, create("next")))["status"] == 201

    with_sockets(play)


def test_a_list_with_one_bad_call_and_a_lone_surrogate_is_read_call_by_call():
    async def play(connect: Any) -> None:
        async with await connect() as socket:
            session = await opened(socket)
            sent = json.dumps([step(1, session, "a\ud800"), {"id": 2, "op": "x", "t": "\udfff"}, step(3, session, "b")])
            await socket.send_str(sent)
            got = await socket.receive_json()
            assert [(r["id"], r["status"]) for r in got] == [(1, 200), (2, 422), (3, 200)]
            assert got[0]["body"]["observation"] == "seed 0 count 1 got a�"

    with_sockets(play)


def test_a_message_over_the_limit_closes_the_socket_and_no_session():
    async def play(connect: Any) -> None:
        socket = await connect()
        session = await opened(socket)
        await socket.send_str(json.dumps(step(1, session, "x" * 200_000)))
        message = await socket.receive()
        assert message.type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED)
        assert socket.close_code == 1009
        await socket.close()
        async with await connect() as second:
            assert (await ask(second, step(1, session, "go")))["body"]["step"] == 1

    with_sockets(play, ServerLimits(max_body_bytes=100_000))


def test_keys_and_capacity_hold_over_a_socket_too():
    async def play(connect: Any) -> None:
        async with await connect() as socket:
            first, again = await ask(socket, create(1, key="k")), await ask(socket, create(2, key="k"))
            assert first["body"] == again["body"]
            full = await ask(socket, create(3, key="other"))
            assert (full["status"], full["body"]["code"], full["retry_after_s"]) == (503, "no_capacity", 1.0)

    with_sockets(play, ServerLimits(max_sessions=1))
