"""Three transports, one behaviour: equal results, time-outs, restarts, and servers that are something else."""

import asyncio
import gzip
import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from aiohttp import web
from foreign_server import ForeignServer, always, silent
from serving import running
from toy_envs import MODELS, SPECS
from transports import AsgiTransport

from agentenv.client import codec
from agentenv.client.connect import remote
from agentenv.client.core import AT_ONCE, Connection, Patience, create_call
from agentenv.client.http import HttpTransport
from agentenv.client.local import LocalTransport
from agentenv.client.transport import Transport
from agentenv.client.url import base_url_of
from agentenv.client.websocket import WebSocketTransport
from agentenv.errors import (
    AgentEnvError,
    BadCall,
    EnvFailed,
    InfraError,
    ServerUnreachable,
    SessionGone,
    TransportLost,
    Unauthorized,
    UnknownEnv,
    UnknownSession,
)
from agentenv.protocol import Action
from agentenv.server.sessions import Sessions
from agentenv.wire import StepBody, StepCall

WIRED: tuple[Callable[..., Transport], ...] = (HttpTransport, WebSocketTransport)
SHORT = Patience(total_s=0.2, first_s=0.01, longest_s=0.02)


# Equal results.


@pytest.mark.parametrize("env", [*MODELS, "toy_numbers", "toy_texts", "toy_fragile", "toy_odd"])
def test_every_transport_tells_the_same_episode(env: str, toy_url: str) -> None:
    async def both() -> list[Any]:
        sessions = Sessions(SPECS.values(), oracle=True)
        ways: list[Transport] = [
            LocalTransport(sessions, owned=True),
            AsgiTransport(sessions),
            HttpTransport(toy_url),
            WebSocketTransport(toy_url),
        ]
        told = [await episode(Connection(way), env) for way in ways]
        for way in reversed(ways):
            await way.close()
        return told

    first, *others = asyncio.run(both())
    assert len(first) > 10
    assert others == [first] * 3


async def episode(connection: Connection, env: str) -> list[Any]:
    """Everything that a client is told in two episodes and at their ends."""
    session = await connection.create(env, f"{env}/train/1", max_steps=3)
    told: list[Any] = [session.task, session.max_steps, session.observation, session.info, session.limits]
    for text in ("go", Action(text="x", malformed="no action"), "ü\n\x00🙂\ud800"):
        told.append(msgspec.structs.asdict(await session.step(text)))
    state = msgspec.structs.asdict(await session.get(actions=True))
    told.append({k: v for k, v in state.items() if k not in ("session", "lease_left_s")})
    for wrong in (session.step("more"), session.reset("nonsense")):
        with pytest.raises(AgentEnvError) as caught:
            await wrong
        told.append((type(caught.value), caught.value.message, caught.value.extra))
    told.append(msgspec.structs.asdict(await session.reset(f"{env}/test/2")))
    final = await session.close()
    told.append(msgspec.structs.asdict(final) if final else None)
    return told


# Many calls.


@pytest.mark.parametrize("transport", WIRED)
def test_calls_in_many_messages_come_back_in_their_order(
    transport: Callable[..., Transport], toy_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(codec, "CHUNK_BYTES", 2000)
    monkeypatch.setattr(codec, "CHUNK_CALLS", 7)

    async def work() -> None:
        connection = Connection(transport(toy_url))
        calls = [create_call("toy_texts", f"toy_texts/train/{i}") for i in range(30)]
        made = [connection.created("toy_texts", reply) for reply in await connection.send(calls, 20.0)]
        texts = [f"{i} " + "é" * (i * 100) for i in range(30)]
        steps = [session.step_call(text) for session, text in zip(made, texts, strict=True)]
        replies = await connection.send(steps, 20.0)
        assert [session.took_step(reply).observation for session, reply in zip(made, replies, strict=True)] == texts
        await asyncio.gather(*(session.close() for session in made))
        await connection.close()

    asyncio.run(work())


def test_envelopes_are_cut_into_messages_by_size_and_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codec, "CHUNK_BYTES", 10)
    monkeypatch.setattr(codec, "CHUNK_CALLS", 3)
    parts = [b"1" * n for n in (4, 4, 4, 30, 1, 1, 1, 1)]
    chunks = [[len(p) for p in chunk] for chunk in codec.in_chunks(parts)]
    assert chunks == [[4, 4], [4], [30], [1, 1, 1], [1]]
    assert list(codec.in_chunks([])) == []


@pytest.mark.parametrize("transport", WIRED)
def test_many_calls_share_a_transport_and_slow_ones_hold_up_nobody(
    transport: Callable[..., Transport], toy_url: str
) -> None:
    async def work() -> list[str]:
        connection = Connection(transport(toy_url))
        ended: list[str] = []

        async def play(name: str, words: list[str]) -> None:
            session = await connection.create("toy_thread", f"toy_thread/train/{name}")
            for word in words:
                await session.step(word)
            ended.append(name)
            await session.close()

        await asyncio.gather(play("0", ["sleep 0.6"]), *(play(str(i), ["go", "go"]) for i in range(1, 41)))
        await connection.close()
        return ended

    ended = asyncio.run(work())
    assert len(ended) == 41
    assert ended[-1] == "0"


@pytest.mark.parametrize("transport", WIRED)
def test_a_call_that_is_cancelled_disturbs_no_other(transport: Callable[..., Transport], toy_url: str) -> None:
    async def work() -> None:
        connection = Connection(transport(toy_url))
        slow, fast = [await connection.create("toy_thread", f"toy_thread/train/{i}") for i in (50, 51)]
        waiting = asyncio.create_task(slow.step("sleep 0.2"))
        await asyncio.sleep(0.05)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert (await fast.step("go")).step == 1
        # The step belongs to its session: it was done, and asking for it again gives its reply.
        assert (await slow.step("sleep 0.2")).observation == "seed 50 count 1 got sleep 0.2"
        await connection.close()

    asyncio.run(work())


# Lost servers.


@pytest.mark.parametrize("transport", WIRED)
def test_after_a_restart_on_the_same_port_a_lost_session_is_typed_and_a_new_one_works(
    transport: Callable[..., Transport],
) -> None:
    async def work(connection: Connection, step: str) -> Any:
        if step == "open":
            session = await connection.create("toy_inline", "toy_inline/train/1")
            await session.step("go")
            return session
        with pytest.raises(UnknownSession):
            await opened.step("go")
        with pytest.raises(UnknownSession):  # and it stays so, without asking again
            await opened.step("go")
        assert await opened.close() is None
        again = await connection.create("toy_inline", "toy_inline/train/1")
        assert (await again.step("go")).step == 1
        await connection.close()

    with asyncio.Runner() as runner:
        with running(Sessions(SPECS.values())) as url:
            connection = runner.run(new_connection(transport, url))
            opened = runner.run(work(connection, "open"))
        with running(Sessions(SPECS.values()), port=int(url.rpartition(":")[2])):
            runner.run(work(connection, "again"))


async def new_connection(transport: Callable[..., Transport], url: str) -> Connection:
    return Connection(transport(url), patience=Patience(total_s=5.0))


@pytest.mark.parametrize("transport", WIRED)
def test_a_server_that_stops_in_mid_episode_is_an_infra_error_after_patience(
    transport: Callable[..., Transport],
) -> None:
    async def begin() -> Any:
        connection = Connection(transport(url), patience=SHORT)
        return connection, await connection.create("toy_inline", "toy_inline/train/1")

    async def lost() -> None:
        for _ in range(2):
            with pytest.raises((ServerUnreachable, TransportLost)):
                await session.step("go")
        assert await session.close() is None
        await connection.close()

    with asyncio.Runner() as runner:
        with running(Sessions(SPECS.values())) as url:
            connection, session = runner.run(begin())
        runner.run(lost())


@pytest.mark.parametrize("transport", WIRED)
def test_no_answer_in_time_is_a_lost_transport(transport: Callable[..., Transport]) -> None:
    async def work() -> None:
        async with ForeignServer(silent) as server:
            way = transport(server.url)
            call = StepCall("x", StepBody("go", 0, 0))
            with pytest.raises(TransportLost, match=r"no reply from http://127.0.0.1:\d+ within 0.1 s"):
                await way.exchange([call], 0.1)
            await way.close()

    asyncio.run(work())


@pytest.mark.parametrize("transport", WIRED)
def test_a_late_reply_is_told_apart_from_the_next_one(transport: Callable[..., Transport], toy_url: str) -> None:
    async def work() -> None:
        way = transport(toy_url)
        connection = Connection(way)
        session = await connection.create("toy_thread", "toy_thread/train/60")
        with pytest.raises(TransportLost):
            await way.exchange([session.step_call("sleep 0.3")], 0.1)
        assert (await session.step("sleep 0.3")).observation == "seed 60 count 1 got sleep 0.3"
        assert (await session.step("go")).observation == "seed 60 count 2 got go"
        await session.close()
        await connection.close()

    asyncio.run(work())


def test_a_local_call_that_overruns_is_lost_and_goes_on() -> None:
    async def work() -> None:
        way = LocalTransport(Sessions(SPECS.values()), owned=True)
        session = await Connection(way).create("toy_thread", "toy_thread/train/61")
        with pytest.raises(TransportLost, match="the call goes on"):
            await way.exchange([session.step_call("sleep 0.3")], 0.05)
        assert (await session.step("sleep 0.3")).step == 1
        await way.close()

    asyncio.run(work())


# Something else answers.


@pytest.mark.parametrize("transport", WIRED)
@pytest.mark.parametrize(
    ("handler", "error", "message"),
    [
        (always(200, "<html>hello</html>"), AgentEnvError, "is no agentenv server"),
        (always(200, '{"hello": 1}', "application/json"), AgentEnvError, "not an environment's card"),
        (always(404, "<html>not here</html>"), AgentEnvError, "status 404 from something that is no agentenv server"),
        (always(404, '{"detail": "Not Found"}', "application/json"), AgentEnvError, "no agentenv server"),
        (always(301, "", Location="/elsewhere"), AgentEnvError, "status 301"),
        (always(502, "<html>bad gateway</html>"), InfraError, "status 502 from something"),
        (always(500, "oops"), InfraError, "status 500 from something"),
    ],
)
def test_a_foreign_server_is_named_for_what_it_is(
    transport: Callable[..., Transport], handler: Any, error: type[AgentEnvError], message: str
) -> None:
    from agentenv.client.source import card_of

    async def work() -> None:
        async with ForeignServer(handler) as server:
            connection = Connection(transport(server.url), patience=SHORT)
            with pytest.raises(AgentEnvError, match=message) as caught:
                card_of(await connection.get_json("/v1/envs/textcraft"))
            assert isinstance(caught.value, InfraError) is (error is InfraError)
            await connection.close()

    asyncio.run(work())


@pytest.mark.parametrize("transport", WIRED)
@pytest.mark.parametrize(
    ("status", "tried_again"), [(200, False), (404, False), (400, False), (502, True), (503, True), (504, True)]
)
def test_a_create_at_a_foreign_server_fails_clearly_and_only_a_gateways_trouble_is_tried_again(
    transport: Callable[..., Transport], status: int, tried_again: bool
) -> None:
    async def work() -> int:
        async with ForeignServer(always(status, "<html>?</html>")) as server:
            connection = Connection(transport(server.url), patience=SHORT)
            with pytest.raises(AgentEnvError, match=str(status)) as caught:
                await connection.create("textcraft", "textcraft/train/0")
            assert isinstance(caught.value, InfraError) is tried_again
            await connection.close()
            return len(server.requests)

    assert (asyncio.run(work()) > 1) is tried_again


def test_a_batch_that_a_gateway_refused_is_tried_again_and_done(toy_url: str) -> None:
    """The first two answers come from something between us and the server."""
    answers = [always(503, "busy", **{"Retry-After": "0"}), always(502, "<html>"), None]

    async def work() -> None:
        inner = HttpTransport(toy_url)

        async def handler(request: web.Request) -> web.StreamResponse:
            if (answer := answers.pop(0)) is not None:
                return await answer(request)
            status, data, _ = await inner._request(request.method, request.path, await request.read(), 10.0)
            return web.Response(status=status, body=data, content_type="application/json")

        async with ForeignServer(handler) as server:
            connection = Connection(HttpTransport(server.url), patience=Patience(total_s=5.0, first_s=0.01))
            calls = [create_call("toy_inline", f"toy_inline/train/{i}") for i in range(3)]
            replies = await connection.send(calls, 10.0)
            assert [r.status for r in replies] == [201] * 3
            assert server.requests == ["/v1/batch"] * 3
            await connection.close()
        await inner.close()

    asyncio.run(work())


@pytest.mark.parametrize("kind", ["declared", "chunked", "gzip"])
def test_a_reply_over_the_limit_is_refused(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentenv.client.http.MAX_REPLY_BYTES", 100_000)
    big = json.dumps({"x": "y" * 300_000}).encode()

    async def handler(request: web.Request) -> web.StreamResponse:
        if kind == "declared":
            return web.Response(body=big)
        response = web.StreamResponse(headers={"Content-Encoding": "gzip"} if kind == "gzip" else {})
        data = gzip.compress(big) if kind == "gzip" else big
        if kind == "gzip":
            response.content_length = len(data)
        await response.prepare(request)
        await response.write(data)
        return response

    async def work() -> None:
        async with ForeignServer(handler) as server:
            way = HttpTransport(server.url)
            with pytest.raises(AgentEnvError, match="bytes") as caught:
                await way.get_json("/v1")
            assert not isinstance(caught.value, InfraError)  # the same request would get the same reply
            await way.close()

    asyncio.run(work())


@pytest.mark.parametrize("garbage", [b"not json", b"[]", b'{"id":"other","status":200,"body":{}}', b"\xff\xfe", b"[3]"])
def test_garbage_on_a_socket_loses_the_calls_and_hangs_nobody(garbage: bytes) -> None:
    async def handler(request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.receive()
        await socket.send_bytes(garbage)
        await socket.close()
        return socket

    async def work() -> None:
        async with ForeignServer(handler) as server:
            way = WebSocketTransport(server.url)
            with pytest.raises(TransportLost, match="lost the socket"):
                await way.exchange([StepCall("x", StepBody("go", 0, 0))], 5.0)
            await way.close()

    asyncio.run(work())


# Tokens and addresses.


@pytest.mark.parametrize("transport", ["http", "websocket"])
def test_the_token_comes_from_the_environment_unless_one_is_given(
    transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def create(url: str, token: str | None) -> None:
        connection = Connection(remote(url, token=token, transport=transport), patience=AT_ONCE)
        try:
            await (await connection.create("toy_inline", "toy_inline/train/0")).close()
        finally:
            await connection.close()

    with running(Sessions(SPECS.values()), token="right") as url:
        for token in (None, "wrong"):
            with pytest.raises(Unauthorized, match="token"):
                asyncio.run(create(url, token))
        asyncio.run(create(url, "right"))
        monkeypatch.setenv("AGENTENV_TOKEN", "right")
        asyncio.run(create(url, None))
        with pytest.raises(Unauthorized):
            asyncio.run(create(url, "wrong"))


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("127.0.0.1:8000", "looks like http://127.0.0.1:8000"),
        ("localhost:8000", "looks like"),
        ("ftp://host/", "looks like"),
        ("http://", "looks like"),
        ("", "looks like"),
        ("http://me:secret@host", "must not carry a password"),
        ("http://host/?token=x", "no query"),
        ("http://host/#x", "no query and no fragment"),
        ("http://host:99999", "Port out of range"),
        ("http://host:port", "port"),
        ("http://[host", "not a server's address"),
    ],
)
def test_a_wrong_address_is_told_before_anything_is_sent(url: str, message: str) -> None:
    with pytest.raises(BadCall, match=message) as caught:
        base_url_of(url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("http://h:1/", "http://h:1"),
        ("https://h/prefix/", "https://h/prefix"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_an_address_loses_only_its_last_slash(url: str, base: str) -> None:
    assert base_url_of(url) == base


def test_an_unknown_transport_is_told() -> None:
    with pytest.raises(BadCall, match="choose from websocket, http"):
        remote("http://127.0.0.1:1", transport="pigeon")


# Errors keep their type on the way.


@pytest.mark.parametrize("transport", WIRED)
def test_problems_come_back_as_their_own_classes(transport: Callable[..., Transport], toy_url: str) -> None:
    async def work() -> None:
        connection = Connection(transport(toy_url))
        with pytest.raises(UnknownEnv):
            await connection.create("nope", "nope/train/0")
        session = await connection.create("toy_fragile", "toy_fragile/train/0")
        with pytest.raises(EnvFailed) as caught:
            await session.step("break")
        assert caught.value.extra == {"outcome": "env_error", "episode": 0, "step": 1}
        final = await session.close()
        assert final is not None
        assert final.outcome == "env_error"
        other = await connection.create("toy_inline", "toy_inline/train/0")
        call = other.step_call("go")
        await other.close()
        [gone] = await connection.send([call], 5.0)
        with pytest.raises(SessionGone):
            other.took_step(gone)
        await connection.close()

    asyncio.run(work())
