"""The OpenAPI document of `/v1`, made from the types that the server really reads and writes."""

from __future__ import annotations

from typing import Any

import msgspec

import agentenv
from agentenv.protocol import PROTOCOL_VERSION
from agentenv.server.batch import ReplyEnvelope
from agentenv.server.sessions import Sessions
from agentenv.wire import (
    Call,
    CreateBody,
    CreateReply,
    OracleReply,
    Problem,
    ResetBody,
    ResetReply,
    StateReply,
    StepBody,
    StepReply,
)

REF = "#/components/schemas/{name}"


class Batch(msgspec.Struct):
    """Several calls."""

    requests: list[Call]


class Replies(msgspec.Struct):
    """The reply of each call, in their order; `body` is what the call alone would have got, or a Problem."""

    replies: list[ReplyEnvelope]


OPERATIONS: tuple[tuple[str, str, str, Any, Any, int], ...] = (
    ("post", "/v1/sessions", "Create a session with its first episode begun", CreateBody, CreateReply, 201),
    ("post", "/v1/sessions/{id}/reset", "Begin another episode", ResetBody, ResetReply, 200),
    ("post", "/v1/sessions/{id}/step", "Do one action", StepBody, StepReply, 200),
    ("get", "/v1/sessions/{id}", "Where the session stands; renews the lease", None, StateReply, 200),
    ("get", "/v1/sessions/{id}/oracle", "The scripted solution's next action", None, OracleReply, 200),
    ("delete", "/v1/sessions/{id}", "End the session; the final result", None, StepReply, 200),
    ("post", "/v1/batch", "Several calls in one request", Batch, Replies, 200),
    ("get", "/v1/ws", "A WebSocket: Calls in, reply envelopes out, one or a list a message", None, None, 101),
    ("get", "/v1", "What the server is", None, None, 200),
    ("get", "/v1/envs", "The cards of the environments", None, None, 200),
    ("get", "/v1/envs/{env}", "One card", None, None, 200),
    ("get", "/v1/envs/{env}/tasks", "TaskRefs of a split", None, None, 200),
    ("get", "/v1/sessions", "The live sessions", None, None, 200),
    ("get", "/healthz", "Whether the server runs; needs no token", None, None, 200),
    ("get", "/readyz", "Whether it takes calls; needs no token", None, None, 200),
    ("get", "/openapi.json", "This document", None, None, 200),
)
"""Method, path, summary, request body, reply body, status."""

QUERIES: dict[tuple[str, str], dict[str, str]] = {
    ("get", "/v1/sessions/{id}"): {"actions": "integer"},
    ("delete", "/v1/sessions/{id}"): {"outcome": "string"},
    ("get", "/v1/envs/{env}/tasks"): {"split": "string", "offset": "integer", "limit": "integer", "options": "string"},
    ("get", "/v1/envs/{env}"): {"options": "string"},
    ("get", "/v1/sessions"): {"offset": "integer", "limit": "integer"},
}


def openapi(sessions: Sessions) -> dict[str, Any]:
    """The document; the same for every server of this version but for its title."""
    kinds = [kind for op in OPERATIONS for kind in op[3:5] if kind is not None]
    _, components = msgspec.json.schema_components([*kinds, Problem], ref_template=REF)
    del components["Problem"]["properties"]["extra"]  # its members stand beside the others
    paths: dict[str, dict[str, Any]] = {}
    for method, path, summary, body, reply, status in OPERATIONS:
        paths.setdefault(path, {})[method] = _operation(method, path, summary, body, reply, status)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": f"agentenv environments: {', '.join(sorted(sessions.specs))}",
            "version": f"{PROTOCOL_VERSION} (agentenv {agentenv.__version__})",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(method: str, path: str, summary: str, body: Any, reply: Any, status: int) -> dict[str, Any]:
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in ("id", "env")
        if "{" + name + "}" in path
    ]
    for name, kind in QUERIES.get((method, path), {}).items():
        parameters.append({"name": name, "in": "query", "required": False, "schema": {"type": kind}})
    operation: dict[str, Any] = {
        "summary": summary,
        "parameters": parameters,
        "responses": {
            str(status): {"description": "done", "content": _content(reply)},
            "default": {"description": "an RFC 9457 problem document", "content": _content(Problem, "problem+json")},
        },
    }
    if method == "post":
        operation["requestBody"] = {"required": True, "content": _content(body)}
    return operation


def _content(kind: Any, subtype: str = "json") -> dict[str, Any]:
    schema = {"type": "object"} if kind is None else {"$ref": REF.format(name=kind.__name__)}
    return {f"application/{subtype}": {"schema": schema}}
