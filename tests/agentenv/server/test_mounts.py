"""Pages of other packages under the server: made when they are asked for, behind its guard, and no harm when broken."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from importlib.metadata import EntryPoint, distribution

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route
from starlette.testclient import TestClient

from agentenv.errors import BadCall
from agentenv.server.guard import Guard
from agentenv.server.mounts import Mounted, Served, mounts
from agentenv.server.sessions import Sessions

DIST = distribution("agentenv-gym")


@pytest.fixture
def pages() -> Iterator[types.ModuleType]:
    """A module with factories, which count how often they are asked."""
    module = types.ModuleType("pages_of_a_package")
    module.made = 0  # type: ignore[attr-defined]

    def make(served: Served) -> Starlette:
        module.made += 1  # type: ignore[attr-defined]
        return Starlette(routes=[Route("/", lambda request: PlainTextResponse(f"at {request.scope['root_path']}"))])

    def refuse(served: Served) -> Starlette:
        raise BadCall("the database is another program's")

    module.make, module.refuse, module.breaks = make, refuse, lambda served: 1 / 0  # type: ignore[attr-defined]
    sys.modules[module.__name__] = module
    yield module
    del sys.modules[module.__name__]


def served() -> Served:
    return Served(sessions=Sessions([]), token=None)


def client(factory: str) -> TestClient:
    point = EntryPoint("pages", f"pages_of_a_package:{factory}", "agentenv.web")
    routes = [Mount("/pages", app=Mounted("pages", point, DIST, served()))]
    return TestClient(Starlette(routes=routes, middleware=[Middleware(Guard, hosts=("testserver",), token=None)]))


def test_an_application_is_made_once_and_not_before_it_is_asked_for(pages):
    http = client("make")
    assert pages.made == 0
    assert http.get("/pages").text == http.get("/pages/").text == "at /pages"
    assert pages.made == 1


def test_the_guard_stands_before_it(pages):
    http = client("make")
    assert http.get("/pages/", headers={"host": "evil.example"}).status_code == 421
    assert http.get("/pages/", headers={"origin": "http://evil.example"}).status_code == 403
    assert pages.made == 0


@pytest.mark.parametrize(
    ("factory", "status", "words"),
    [
        ("refuse", 422, "another program's"),
        ("breaks", 501, "/pages cannot be shown: ZeroDivisionError"),
        ("missing", 501, "AttributeError"),
    ],
)
def test_one_that_cannot_be_made_says_why_and_the_next_request_tries_again(pages, factory, status, words):
    http = client(factory)
    for _ in range(2):
        reply = http.get("/pages/")
        assert reply.status_code == status
        assert words in reply.json()["detail"]


def test_the_pages_of_the_evaluation_are_offered():
    assert "/eval" in [mount.path for mount in mounts(served())]
