"""The routes of the page: one document, one script, and JSON in between.

What changes something is a POST of JSON from this page alone: the cookie is SameSite=Strict and HttpOnly, and a foreign
origin is refused. Viewing is open; coming in takes the server's token, where it has one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from agentenv.errors import AgentEnvError, BodyTooLarge, ForeignOrigin, NotFound, NotJson, Unauthorized
from agentenv.wire import Problem, decode, encode_problem
from evals.web.play.game import Game
from evals.web.play.room import Person, Room
from evals.web.play.shown import brief_json, game_json

HERE = Path(__file__).parent
MAX_BODY = 1024 * 1024
JSON = "application/json"

Page = Callable[..., Response]
Handler = Callable[[Room, Request], Awaitable[Response]]


class ComeIn(msgspec.Struct, forbid_unknown_fields=True):
    """POST /play/enter."""

    name: str
    token: str = ""


class Start(msgspec.Struct, forbid_unknown_fields=True):
    """POST /play/start."""

    env: str
    source: str
    task: str = ""


class Step(msgspec.Struct, forbid_unknown_fields=True):
    """POST /play/step."""

    game: str
    step: int
    action: str


class Whole(msgspec.Struct, forbid_unknown_fields=True):
    """POST /play/hints and /play/give-up."""

    game: str


def routes(room: Room, page: Callable[[Request, dict[str, Any]], Response]) -> list[Route | Mount]:
    """The routes; `page` renders `play.html` with the values that it is given."""

    async def document(room: Room, request: Request) -> Response:
        return page(request, {"envs": room.specs(), "needs_token": room.needs_token})

    found: list[Route | Mount] = [
        _route(room, "/play", document, "GET"),
        _route(room, "/play/state", _state, "GET"),
        _route(room, "/play/tasks/{env}", _tasks, "GET"),
        _route(room, "/play/brief/{env}", _brief, "GET"),
        _route(room, "/play/image/{game}/{step:int}", _image, "GET"),
        _route(room, "/play/enter", _enter, "POST"),
        _route(room, "/play/start", _start, "POST"),
        _route(room, "/play/step", _step, "POST"),
        _route(room, "/play/hints", _hints, "POST"),
        _route(room, "/play/give-up", _give_up, "POST"),
        Mount("/play/static", StaticFiles(directory=HERE / "static")),
    ]
    return found


def _route(room: Room, path: str, handler: Handler, method: str) -> Route:
    async def guarded(request: Request) -> Response:
        try:
            if method == "POST":
                _refuse_foreign(request)
            return await handler(room, request)
        except AgentEnvError as exc:
            return Response(encode_problem(Problem.of(exc)), exc.status, media_type="application/problem+json")
        except ClientDisconnect:  # in the middle of its body: there is nobody to answer
            return Response(status_code=400)

    return Route(path, guarded, methods=[method])


# What each route does.


async def _state(room: Room, request: Request) -> Response:
    person = room.person(_key(request))
    if person is None:
        return _json({"name": None, "game": None})
    return _told(person, person.game)


async def _tasks(room: Room, request: Request) -> Response:
    _person(room, request)
    found = await room.sources(request.path_params["env"])
    return _json({"sources": [{"value": source.value, "text": source.text} for source in found]})


async def _brief(room: Room, request: Request) -> Response:
    return _json(brief_json(room.sessions.spec_of(request.path_params["env"])))


async def _image(room: Room, request: Request) -> Response:
    game = _game(_person(room, request), request.path_params["game"])
    if game.image is None or request.path_params["step"] != len(game.turns):
        raise NotFound("there is no picture of that step any more")
    return Response(game.image, media_type="image/png")


async def _enter(room: Room, request: Request) -> Response:
    body = await _body(request, ComeIn)
    key = room.come_in(body.name, body.token)
    person = room.person(key)
    assert person is not None
    reply = _told(person, None)
    path = f"{request.scope.get('root_path', '')}/play"
    reply.set_cookie(_cookie(request), key, path=path, httponly=True, samesite="strict")
    return reply


async def _start(room: Room, request: Request) -> Response:
    person = _person(room, request)
    body = await _body(request, Start)
    return _told(person, await room.start(person, body.env, body.source, body.task.strip()))


async def _step(room: Room, request: Request) -> Response:
    person = _person(room, request)
    body = await _body(request, Step)
    game = _game(person, body.game)
    await game.step(body.step, body.action)
    return _told(person, game, since=body.step)


async def _hints(room: Room, request: Request) -> Response:
    person = _person(room, request)
    game = _game(person, (await _body(request, Whole)).game)
    bounded = await game.turn_hints_on()
    return _told(person, game, since=len(game.turns), bounded=bounded)


async def _give_up(room: Room, request: Request) -> Response:
    person = _person(room, request)
    game = _game(person, (await _body(request, Whole)).game)
    await game.give_up()
    return _told(person, game, since=len(game.turns))


# Parts.


def _person(room: Room, request: Request) -> Person:
    person = room.person(_key(request))
    if person is None:
        raise Unauthorized("come in first: choose a pseudonym")
    return person


def _game(person: Person, id: str) -> Game:
    if person.game is None or person.game.id != id:
        raise NotFound("that game is over, and another one was begun; load the page again")
    return person.game


def _cookie(request: Request) -> str:
    """Cookies are shared by all ports of a host: each port's has a name of its own."""
    return f"agentenv_play_{request.url.port or 0}"


def _key(request: Request) -> str | None:
    return request.cookies.get(_cookie(request))


def _refuse_foreign(request: Request) -> None:
    origin = request.headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != request.headers.get("host"):
        raise ForeignOrigin(f"pages of {origin!r} may not play here")


async def _body(request: Request, kind: type[Any]) -> Any:
    content = request.headers.get("content-type", "")
    if content.partition(";")[0].strip().lower() != JSON:
        raise NotJson(f"content type {content!r}: send {JSON}")
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MAX_BODY:
            raise BodyTooLarge(f"a body of over {MAX_BODY} bytes")
        parts.append(part)
    return decode(b"".join(parts), msgspec.json.Decoder(kind))


def _told(person: Person, game: Game | None, *, since: int = 0, **more: Any) -> Response:
    told = None if game is None else game_json(game, since=max(0, since))
    return _json({"name": person.pseudonym, "game": told, **more})


def _json(value: Any) -> Response:
    return Response(msgspec.json.encode(value), media_type=JSON)
