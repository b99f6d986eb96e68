"""The control plane's plain GETs as data: what the server is, its cards, its tasks, its sessions."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

import agentenv
from agentenv.errors import AgentEnvError, BadRequest, EnvFailed, NotFound, UnknownTask, boundary
from agentenv.protocol import PROTOCOL_VERSION
from agentenv.registry import EnvSpec
from agentenv.server.sessions import Sessions, hashed

FEATURES = ("batch", "websocket", "keys", "positions")
MAX_PAGE = 1000


def control(sessions: Sessions, target: str) -> bytes:
    """JSON of the control-plane GET `target` (path and query); raises what the server answers as a problem."""
    url = urlsplit(target)
    query = dict(parse_qsl(url.query, keep_blank_values=True))
    parts = [unquote(p) for p in url.path.strip("/").split("/")]
    match parts:
        case ["v1", "envs", _, "tasks"]:
            refuse_unknown(query, ("split", "offset", "limit", "options"))
        case ["v1", "envs", _]:
            refuse_unknown(query, ("options",))
        case ["v1", "sessions"]:
            refuse_unknown(query, ("offset", "limit"))
        case _:
            refuse_unknown(query, ())
    match parts:
        case ["v1"]:
            return msgspec.json.encode(root(sessions))
        case ["v1", "envs"]:
            return msgspec.json.encode({"envs": [card(sessions, s) for _, s in sorted(sessions.specs.items())]})
        case ["v1", "envs", env]:
            return msgspec.json.encode(card(sessions, sessions.spec_of(env), options_in(query)))
        case ["v1", "envs", env, "tasks"]:
            return msgspec.json.encode(task_page(sessions, sessions.spec_of(env), query))
        case ["v1", "sessions"]:
            return msgspec.json.encode(session_page(sessions, query))
    raise NotFound(f"no resource {url.path!r}; /v1 lists what there is")


def root(sessions: Sessions) -> dict[str, Any]:
    """What the server is."""
    features = [*FEATURES, "oracle"] if sessions.oracle else [*FEATURES]
    return {
        "protocol": PROTOCOL_VERSION,
        "server": f"agentenv/{agentenv.__version__}",
        "features": features,
        "envs": sorted(sessions.specs),
    }


def options_in(query: Mapping[str, str]) -> dict[str, Any]:
    """`options=` of a query: a JSON object, as in the body of a create."""
    try:
        return msgspec.json.decode(query.get("options", "{}"), type=dict[str, Any])
    except msgspec.MsgspecError as exc:
        raise BadRequest(f"options must be a JSON object: {exc}") from exc


def card(sessions: Sessions, spec: EnvSpec, wanted: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """A spec as JSON, with the server's options (and those wanted for a session), splits and the task set's digest."""
    options = sessions.options_of(spec, wanted) if wanted else None  # a wrong one is the caller's fault, not the env's
    try:
        own = sessions.options_of(spec, {})
        with boundary(EnvFailed, f"{spec.id}: the tasks"):
            tasks = spec.task_set(own if options is None else options)
            splits = {split: tasks.count(split) for split in tasks.splits()}
            digest = tasks.digest
    except AgentEnvError as exc:
        return {**spec.card(), "unavailable": exc.message}
    return {**spec.card(), "server_options": own, "splits": splits, "tasks_digest": digest}


def task_page(sessions: Sessions, spec: EnvSpec, query: Mapping[str, str]) -> dict[str, Any]:
    """TaskRefs of a split, by page."""
    with boundary(EnvFailed, f"{spec.id}: the tasks"):
        tasks = spec.task_set(sessions.options_of(spec, options_in(query)))
    split = query.get("split", tasks.splits()[0])
    if split not in tasks.splits():
        raise UnknownTask(f"{spec.id} has no split {split!r}; it has {', '.join(tasks.splits())}")
    offset, limit = page(query)
    count = tasks.count(split)
    found = [asdict(tasks.get(split, i).ref()) for i in range(offset, min(count, offset + limit))]
    return {"tasks": found, "total": count, "offset": offset}


def session_page(sessions: Sessions, query: Mapping[str, str]) -> dict[str, Any]:
    """The live sessions, by page; ids are shown as hashes."""
    offset, limit = page(query)
    found, total = sessions.listing(offset, limit)
    rows = [
        {"session_hash": hashed(s.id), "env": s.spec.id, "task": s.task.id, "episode": s.episode, "step": s.step}
        for s in found
    ]
    return {"sessions": rows, "total": total, "offset": offset}


def refuse_unknown(query: Iterable[str], known: tuple[str, ...]) -> None:
    """BadRequest for a query parameter that there is not."""
    for name in query:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else f"; it takes {', '.join(known) or 'none'}"
            raise BadRequest(f"no query parameter {name!r}{hint}")


def page(query: Mapping[str, str]) -> tuple[int, int]:
    """`offset` and `limit` of a listing."""
    try:
        offset, limit = int(query.get("offset", "0")), int(query.get("limit", "100"))
    except ValueError as exc:
        raise BadRequest("offset and limit must be whole numbers") from exc
    if offset < 0 or not 1 <= limit <= MAX_PAGE:
        raise BadRequest(f"offset must be 0 or more, limit from 1 to {MAX_PAGE}")
    return offset, limit
