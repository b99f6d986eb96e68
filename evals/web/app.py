"""The application: `agentenv leaderboard --web` runs it, and `agentenv serve` mounts it. Looking only: every route is a
GET, and the connections of its store cannot write. With a room, people can play too: the routes under `/play` are the
room's, whose store is its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from agentenv.errors import AgentEnvError
from evals.web import board_page, compare_page, episode_page, run_page, runs_page, shots
from evals.web.database import ReadOnlyStore
from evals.web.headers import Headers
from evals.web.site import HERE, Site

if TYPE_CHECKING:
    from starlette.requests import Request

    from agentenv.server.mounts import Served
    from evals.web.play.room import Room

Page = Callable[[Site, "Request"], Response]

PAGES: dict[str, Page] = {
    "/": board_page.page,
    "/leaderboard.csv": board_page.as_csv,
    "/runs": runs_page.page,
    "/run/{run:path}": run_page.page,
    "/live/{run:path}": run_page.live,
    "/episodes.csv/{run:path}": run_page.as_csv,
    "/episode/{id:int}": episode_page.page,
    "/episode/{id:int}.jsonl": episode_page.as_json,
    "/picture/{sha256}.png": shots.page,
    "/compare": compare_page.page,
    "/compare/task": compare_page.task_page,
}


def make_app(store: ReadOnlyStore | None = None, *, room: Room | None = None) -> Headers:
    """The pages over a store, else over the configured one; with a room, the page to play on."""
    site = Site(store or ReadOnlyStore.open(), playing=room is not None)
    routes = [Route(path, _endpoint(site, page), methods=["GET"]) for path, page in PAGES.items()]
    static = Mount("/static", StaticFiles(directory=HERE / "static"))
    app = Starlette(
        routes=[*routes, static, *_play(site, room)],
        exception_handlers={
            HTTPException: lambda request, exc: _refused(site, request, exc),
            AgentEnvError: lambda request, exc: _refused(site, request, exc),
        },
    )
    return Headers(app)  # around everything, also around what an unforeseen error answers


def mounted(served: Served) -> Headers:
    """The pages as a server of environments has them: on its sessions people can play."""
    from evals.web.play.room import Room

    return make_app(room=Room(served.sessions, token=served.token))


def _play(site: Site, room: Room | None) -> list[Route | Mount]:
    if room is None:
        return []
    from evals.web.play import routes

    return routes.routes(room, lambda request, values: site.render(request, "play.html", **values))


def _endpoint(site: Site, page: Page) -> Callable[[Request], Response]:
    """A plain function, so that Starlette runs it in a thread: it waits for the database."""

    def endpoint(request: Request) -> Response:
        return page(site, request)

    return endpoint


def _refused(site: Site, request: Request, exc: Exception) -> Response:
    """What is not there, or cannot be shown, as a page."""
    if isinstance(exc, AgentEnvError):
        return site.render(request, "refused.html", status=exc.status, title=exc.code, reason=exc.message)
    assert isinstance(exc, HTTPException)
    return site.render(request, "refused.html", status=exc.status_code, title=str(exc.status_code), reason=exc.detail)
