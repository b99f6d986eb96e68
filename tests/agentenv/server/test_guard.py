"""Who may call: tokens, hosts and origins, for requests and sockets alike."""

import asyncio
from typing import Any

import aiohttp
import pytest
from serving import running
from tables import door, run
from toy_envs import SPECS

from agentenv.server.guard import Guard, is_loopback
from agentenv.server.sessions import Sessions

TOY = SPECS["toy_inline"]


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("testserver", True),
        ("testserver:8000", True),
        ("TestServer:8000", True),
        ("localhost", True),
        ("LOCALHOST:1", True),
        ("127.0.0.1:8000", True),
        ("[::1]", True),
        ("[::1]:8000", True),
        ("big.example", True),
        ("[2001:db8::5]:80", True),
        ("evil.example", False),
        ("evil.example:8000", False),
        ("localhost.evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("localhost:80@evil.example", False),
        ("localhost:[", False),
        ("[::1", False),
        ("[::1]x", False),
        ("::1", False),
        (":8000", False),
        ("", False),
    ],
)
def test_a_host_header_is_the_servers_own_or_421(host: str, own: bool):
    async def play() -> None:
        async with door([TOY], hosts=("testserver", "Big.Example", "2001:db8::5")) as http:
            for path in ("/v1", "/healthz", "/nothing"):
                got = await http.get(path, headers={"host": host})
                assert (got.status_code == 421) is not own
                if not own:
                    assert got.json()["code"] == "foreign_host"
                    assert "localhost" in got.json()["detail"]

    run(play)


@pytest.mark.parametrize(
    ("origin", "own"),
    [
        ("http://testserver", True),
        ("http://localhost:3000", True),
        ("https://[::1]:1", True),
        ("http://LOCALHOST", True),
        ("https://evil.example", False),
        ("http://localhost.evil.example", False),
        ("null", False),
        ("", False),
        ("http://[bad", False),
        ("localhost", False),
    ],
)
def test_a_page_of_another_origin_gets_403(origin: str, own: bool):
    async def play() -> None:
        async with door([TOY]) as http:
            got = await http.get("/v1", headers={"origin": origin})
            assert got.status_code == (200 if own else 403)
            if not own:
                assert got.json()["code"] == "foreign_origin"

    run(play)


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (None, 401),
        ("", 401),
        ("Bearer", 401),
        ("Bearer wrong", 401),
        ("Bearer s3cret2", 401),
        ("s3cret", 401),
        ("Basic s3cret", 401),
        ("Bearer s3cret", 200),
        ("bearer s3cret", 200),
    ],
)
def test_a_token_opens_every_path_and_none_opens_health_alone(sent: str | None, status: int):
    async def play() -> None:
        async with door([TOY], token="s3cret") as http:
            headers = {} if sent is None else {"authorization": sent}
            for path in ("/v1", "/v1/envs", "/v1/sessions", "/openapi.json"):
                got = await http.get(path, headers=headers)
                assert got.status_code == status
                if status == 401:
                    assert got.json()["code"] == "unauthorized"
                    assert got.headers["www-authenticate"] == "Bearer"
                    assert "s3cret" not in got.text
            assert (await http.get("/healthz")).status_code == 200
            assert (await http.get("/readyz")).status_code == 200

    run(play)


@pytest.mark.parametrize(
    ("headers", "opens"),
    [
        ({"Authorization": "Bearer s3cret"}, True),
        ({}, False),
        ({"Authorization": "Bearer wrong"}, False),
        ({"Authorization": "Bearer s3cret", "Origin": "https://evil.example"}, False),
        ({"Authorization": "Bearer s3cret", "Host": "evil.example"}, False),
        ({"Authorization": "Bearer s3cret", "Origin": "http://localhost"}, True),
    ],
)
def test_a_socket_is_refused_before_it_opens_for_the_same_reasons(headers: dict[str, str], opens: bool):
    async def play(url: str) -> None:
        async with aiohttp.ClientSession() as session:
            if opens:
                async with session.ws_connect(f"{url}/v1/ws", headers=headers) as socket:
                    await socket.send_json({"id": 1, "op": "get", "session": "x"})
                    assert (await socket.receive_json())["status"] == 404
                return
            with pytest.raises(aiohttp.WSServerHandshakeError) as caught:
                await session.ws_connect(f"{url}/v1/ws", headers=headers)
            assert caught.value.status == 403

    with running(Sessions([TOY]), token="s3cret") as url:
        asyncio.run(play(url))


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("localhost", True),
        ("::1", True),
        ("0:0:0:0:0:0:0:1", True),
        ("0.0.0.0", False),
        ("::", False),
        ("", False),
        ("10.0.0.1", False),
        ("127.evil.example", False),
        ("localhost.evil.example", False),
    ],
)
def test_only_addresses_of_this_machine_alone_are_loopback(host: str, loopback: bool):
    assert is_loopback(host) is loopback


def test_the_lifespan_passes_the_guard():
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["type"])

    async def nothing(*_: Any) -> Any:
        raise AssertionError("not called")

    asyncio.run(Guard(app, hosts=(), token="t")({"type": "lifespan"}, nothing, nothing))
    assert seen == ["lifespan"]
