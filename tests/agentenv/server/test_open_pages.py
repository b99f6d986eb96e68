"""What a token still guards when pages are mounted that everybody may look at."""

from __future__ import annotations

import pytest
from starlette.responses import PlainTextResponse
from starlette.routing import Mount
from starlette.testclient import TestClient
from toy_envs import SPECS

from agentenv.server.app import make_app
from agentenv.server.sessions import Sessions


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/eval", 200),
        ("/eval/", 200),
        ("/eval/deep/down", 200),
        ("/v1", 401),
        ("/v1/envs", 401),
        ("/evaluation", 401),
        ("/eval/../v1/envs", 401),
        ("/eval%2f..%2fv1", 200),
        ("//eval/x", 401),
        ("/healthz", 200),
    ],
)
def test_pages_are_open_and_nothing_else_is(path: str, status: int):
    pages = [Mount("/eval", app=PlainTextResponse("a page"))]
    app = make_app(Sessions(SPECS.values()), hosts=("testserver",), token="secret", pages=pages)
    client = TestClient(app)
    reply = client.get(f"http://testserver{path}")
    assert reply.status_code == status
    if status == 200 and path != "/healthz":
        assert reply.text == "a page"


@pytest.mark.parametrize("headers", [{"host": "evil.example"}, {"origin": "http://evil.example"}])
def test_hosts_and_origins_are_checked_on_pages_too(headers: dict[str, str]):
    pages = [Mount("/eval", app=PlainTextResponse("a page"))]
    client = TestClient(make_app(Sessions([]), hosts=("testserver",), token="secret", pages=pages))
    assert client.get("/eval/", headers=headers).status_code in (403, 421)
