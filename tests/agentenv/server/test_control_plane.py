"""What a server tells about itself: root, cards, tasks, sessions, and the OpenAPI document.

No page shows a task's seed or payload, or a session's id.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest
from starlette.routing import Route, WebSocketRoute
from tables import door, run
from toy_envs import SPECS, tasks_of

from agentenv.protocol import PROTOCOL_VERSION
from agentenv.server.app import make_app
from agentenv.server.openapi import openapi
from agentenv.server.sessions import Sessions
from agentenv.wire import (
    CreateReply,
    OracleReply,
    Problem,
    ResetReply,
    StateReply,
    StepReply,
)

TOYS = [SPECS["toy_inline"], SPECS["toy_thread"]]


async def read(http: httpx.AsyncClient, path: str) -> Any:
    got = await http.get(path)
    assert got.status_code == 200, got.text
    assert got.headers["content-type"] == "application/json"
    return got.json()


@pytest.mark.parametrize("oracle", [False, True])
def test_the_root_says_what_the_server_is(oracle: bool):
    async def play() -> None:
        async with door(TOYS, oracle=oracle) as http:
            root = await read(http, "/v1")
            assert root["protocol"] == PROTOCOL_VERSION == "1.0"
            assert root["server"].startswith("agentenv/")
            assert root["envs"] == ["toy_inline", "toy_thread"]
            assert ("oracle" in root["features"]) is oracle
            assert {"batch", "websocket", "keys", "positions"} <= set(root["features"])

    run(play)


def test_a_card_says_everything_but_where_the_code_lies():
    async def play() -> None:
        async with door(TOYS, env_options={"toy_thread": {"pause_s": 0.25}}) as http:
            cards = (await read(http, "/v1/envs"))["envs"]
            assert [card["id"] for card in cards] == ["toy_inline", "toy_thread"]
            card = await read(http, "/v1/envs/toy_thread")
            assert card == cards[1]
            assert card["splits"] == {"train": 1000, "test": 10}
            assert card["tasks_digest"] == tasks_of("toy_thread").digest
            assert card["server_options"] == {"goal": 5, "pause_s": 0.25}
            assert [(o["name"], o["type"], o["scope"]) for o in card["options"]] == [
                ("goal", "int", "session"),
                ("pause_s", "float", "server"),
            ]
            assert card["max_steps"] == 8
            assert not {"entry", "tasks", "prompt"} & set(card)

    run(play)


def test_a_broken_env_is_named_in_the_listing_and_hides_no_other():
    broken = replace(SPECS["toy_inline"], id="toy_broken", tasks="rough_envs:broken_set")

    async def play() -> None:
        async with door([broken, *TOYS]) as http:
            cards = (await read(http, "/v1/envs"))["envs"]
            assert [card["id"] for card in cards] == ["toy_broken", "toy_inline", "toy_thread"]
            assert "KeyError" in cards[0]["unavailable"]
            got = await http.get("/v1/envs/toy_broken/tasks")
            assert (got.status_code, got.json()["code"]) == (500, "env_failed")

    run(play)


@pytest.mark.parametrize(
    ("query", "first", "count", "total"),
    [
        ("", 0, 100, 1000),
        ("?split=test", 0, 10, 10),
        ("?limit=1000", 0, 1000, 1000),
        ("?offset=995&limit=10", 995, 5, 1000),
        ("?offset=1000", None, 0, 1000),
        ("?offset=99999999999999999999", None, 0, 1000),
    ],
)
def test_tasks_come_by_page(query: str, first: int | None, count: int, total: int):
    async def play() -> None:
        async with door(TOYS) as http:
            page = await read(http, f"/v1/envs/toy_inline/tasks{query}")
            assert (len(page["tasks"]), page["total"]) == (count, total)
            assert [t["index"] for t in page["tasks"]] == list(range(first or 0, (first or 0) + count))
            if count:
                assert set(page["tasks"][0]) == {
                    "id",
                    "env",
                    "split",
                    "index",
                    "category",
                    "difficulty",
                    "template",
                    "digest",
                }

    run(play)


def test_a_session_does_not_tell_the_agent_of_what_kind_its_task_is():
    async def play() -> None:
        async with door(TOYS) as http:
            made = await http.post("/v1/sessions", json={"env": "toy_inline", "task": "toy_inline/test/1"})
            assert made.json()["task"]["category"] == "odd"
            task = (await read(http, f"/v1/sessions/{made.json()['session']}"))["task"]
            assert (task["id"], task["category"], task["template"], task["difficulty"]) == (
                "toy_inline/test/1",
                "",
                "",
                0,
            )

    run(play)


@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        ("/v1/envs/toy_inline/tasks?split=dev", 404, "train, test"),
        ("/v1/envs/toy_inline/tasks?limit=0", 422, "limit from 1 to 1000"),
        ("/v1/envs/toy_inline/tasks?limit=1001", 422, "limit from 1 to 1000"),
        ("/v1/envs/toy_inline/tasks?offset=-1", 422, "offset must be 0 or more"),
        ("/v1/envs/toy_inline/tasks?offset=x", 422, "whole numbers"),
        ("/v1/envs/toy_inlin/tasks", 404, "did you mean 'toy_inline'"),
        ("/v1/sessions?limit=1001", 422, "limit from 1 to 1000"),
        ("/v1/sessions?ofset=1", 422, "did you mean 'offset'"),
    ],
)
def test_a_page_that_there_is_not_is_told_what_there_is(path: str, status: int, says: str):
    async def play() -> None:
        async with door(TOYS) as http:
            got = await http.get(path)
            assert got.status_code == status
            assert says in got.json()["detail"]

    run(play)


def test_no_page_and_no_reply_shows_a_seed_a_payload_or_a_session_id():
    async def play() -> None:
        async with door(TOYS, oracle=True) as http:
            made = await http.post("/v1/sessions", json={"env": "toy_inline", "task": "toy_inline/test/3"})
            id = made.json()["session"]
            pages = [
                (await http.get(path)).text
                for path in ("/v1", "/v1/envs", "/v1/envs/toy_inline/tasks?split=test", "/v1/sessions", "/openapi.json")
            ]
            pages += [made.text.replace("seed 100003 count 0", ""), (await http.get(f"/v1/sessions/{id}")).text]
            assert not any("100003" in p.replace("seed 100003 count 0", "") for p in pages)
            assert not any('"payload"' in p for p in pages)
            assert not any(id in page for page in pages[:5])

    run(play)


def test_sessions_are_listed_by_page_under_a_hash_of_their_id():
    async def play() -> None:
        async with door(TOYS) as http:
            for n in range(5):
                body = {"env": "toy_inline", "task": {"split": "train", "index": n}}
                assert (await http.post("/v1/sessions", json=body)).status_code == 201
            page = await read(http, "/v1/sessions?offset=1&limit=3")
            assert (page["total"], page["offset"]) == (5, 1)
            assert [row["task"] for row in page["sessions"]] == [f"toy_inline/train/{n}" for n in (1, 2, 3)]
            assert {len(row["session_hash"]) for row in page["sessions"]} == {8}
            assert (page["sessions"][0]["episode"], page["sessions"][0]["step"]) == (0, 0)

    run(play)


def test_a_seed_names_the_same_task_everywhere():
    async def play() -> None:
        async with door(TOYS) as http:
            tasks = []
            for env in ("toy_inline", "toy_inline", "toy_thread"):
                body = {"env": env, "task": {"split": "train", "seed": 12345678901234567890}}
                tasks.append((await http.post("/v1/sessions", json=body)).json()["task"]["index"])
            assert len(set(tasks)) == 1

    run(play)


def test_the_oracle_is_off_unless_the_server_offers_it():
    async def play() -> None:
        async with door(TOYS) as http:
            made = await http.post("/v1/sessions", json={"env": "toy_inline", "task": "toy_inline/train/0"})
            got = await http.get(f"/v1/sessions/{made.json()['session']}/oracle")
            assert (got.status_code, got.json()["code"]) == (403, "oracle_off")
            assert "--oracle" in got.json()["detail"]

    run(play)


def test_the_oracle_tells_the_same_action_until_a_step_and_stops_after_another_one():
    async def play() -> None:
        async with door(TOYS, oracle=True) as http:
            made = await http.post("/v1/sessions", json={"env": "toy_inline", "task": "toy_inline/train/0"})
            session = f"/v1/sessions/{made.json()['session']}"
            asked = [(await read(http, f"{session}/oracle")) for _ in range(3)]
            assert asked == [{"action": "go", "episode": 0, "step": 0}] * 3
            await http.post(f"{session}/step", json={"action": "go"})
            assert (await read(http, f"{session}/oracle"))["step"] == 1
            await http.post(f"{session}/step", json={"action": "another way"})
            got = await http.get(f"{session}/oracle")
            assert (got.status_code, got.json()["code"]) == (409, "oracle_diverged")
            await http.post(f"{session}/reset", json={"task": "toy_inline/train/1"})
            assert (await read(http, f"{session}/oracle"))["action"] == "go"

    run(play)


# OpenAPI.


@pytest.fixture(scope="module")
def document() -> Any:
    return json.loads(json.dumps(openapi(Sessions(TOYS))))


def refs(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        if isinstance(value.get("discriminator"), dict):
            yield from value["discriminator"]["mapping"].values()
        for part in value.values():
            yield from refs(part)
    elif isinstance(value, list):
        for part in value:
            yield from refs(part)


def test_every_reference_of_the_document_leads_somewhere(document: Any):
    found = set(refs(document))
    assert len(found) > 15
    for ref in found:
        target = document
        for part in ref.removeprefix("#/").split("/"):
            target = target[part]
        assert target["type"] == "object"


def test_every_schema_of_the_document_is_used(document: Any):
    used = {ref.rpartition("/")[2] for ref in refs(document)}
    assert used == set(document["components"]["schemas"])


def test_every_route_is_documented_and_every_documented_path_is_a_route(document: Any):
    app = make_app(Sessions(TOYS))
    routes = set()
    for route in app.routes:
        if isinstance(route, WebSocketRoute):
            routes.add((route.path, "get"))
        elif isinstance(route, Route):
            routes |= {(route.path, method.lower()) for method in route.methods or () if method != "HEAD"}
    documented = {(path, method) for path, methods in document["paths"].items() for method in methods}
    assert documented == routes


def test_every_parameter_of_a_path_is_declared(document: Any):
    for path, methods in document["paths"].items():
        for operation in methods.values():
            declared = {p["name"] for p in operation["parameters"] if p["in"] == "path"}
            assert declared == {part[1:-1] for part in path.split("/") if part.startswith("{")}
            assert "default" in operation["responses"]
            assert operation["summary"]


@pytest.mark.parametrize("kind", [CreateReply, ResetReply, StepReply, StateReply, OracleReply])
def test_the_document_tells_every_field_of_a_reply(document: Any, kind: Any):
    assert set(document["components"]["schemas"][kind.__name__]["properties"]) == set(kind.__struct_fields__)


def test_requests_are_closed_and_problems_open(document: Any):
    schemas = document["components"]["schemas"]
    for name in ("CreateBody", "ResetBody", "StepBody", "ActionBody", "TaskAtBody", "StepCall"):
        assert schemas[name]["additionalProperties"] is False
    assert schemas["Problem"].get("additionalProperties", True) is True
    assert set(schemas["Problem"]["properties"]) == set(Problem.__struct_fields__) - {"extra"}


def test_the_document_is_served():
    async def play() -> None:
        async with door(TOYS) as http:
            served = await read(http, "/openapi.json")
            assert served["openapi"] == "3.1.0"
            assert "toy_inline, toy_thread" in served["info"]["title"]

    run(play)
