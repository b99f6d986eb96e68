"""What a server holds, and for how long: keys of creates, leases, capacity, ended sessions.

1. A key makes one session; its reply is kept for `keep_s` after the session's end, then it is 410 and never a second
   session. Errors that changed nothing are not remembered.
2. A session that nobody names for `lease_s` is closed; a running call suspends the lease, any call renews it.
3. A full server says 503 with Retry-After; an ended session frees its slot.
4. Gone is 410 with a reason, never known is 404; what is remembered of the gone is bounded.
"""

import asyncio
import gc
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from rough_envs import SPECS as ROUGH
from rough_envs import Gate
from tables import door, problem, run, table
from toy_envs import SPECS, Clock

from agentenv.server import sessions as sessions_module
from agentenv.server.app import make_app
from agentenv.server.limits import ServerLimits
from agentenv.server.sessions import Sessions

TOY = SPECS["toy_inline"]
TASK = "toy_inline/train/0"


def body(**changes: Any) -> dict[str, Any]:
    return {"env": "toy_inline", "task": TASK, **changes}


# Keys.


def test_a_key_gets_the_same_reply_and_makes_one_session():
    async def play() -> None:
        async with door([TOY]) as http:
            first = await http.post("/v1/sessions", json=body(key="k1"))
            again = await http.post("/v1/sessions", json=body(key="k1"))
            assert (first.status_code, first.content) == (201, again.content)
            assert (await http.get("/v1/sessions")).json()["total"] == 1
            other = await http.post("/v1/sessions", json=body(key="k1", max_steps=3))
            assert (other.status_code, other.json()["code"]) == (409, "request_mismatch")
            assert (await http.post("/v1/sessions", json=body(key="k2"))).json()["session"] != first.json()["session"]

    run(play)


def test_creates_with_one_key_at_one_time_wait_for_the_first():
    async def play() -> None:
        async with table([SPECS["toy_thread"]]) as t:
            replies = await asyncio.gather(*(t.create("toy_thread", key="k") for _ in range(5)))
            assert len({r.body.session for r in replies}) == 1
            assert len(t.sessions._sessions) == 1

    run(play)


def test_a_key_is_kept_for_a_while_after_the_end_and_then_410_for_good():
    clock = Clock()

    async def play() -> None:
        async with door([TOY], limits=ServerLimits(keep_s=100.0), clock=clock) as http:
            made = await http.post("/v1/sessions", json=body(key="k"))
            clock.advance(500.0)  # while it lives, time does nothing
            assert (await http.post("/v1/sessions", json=body(key="k"))).content == made.content
            session = f"/v1/sessions/{made.json()['session']}"
            ended = await http.delete(session)
            clock.advance(99.0)
            assert (await http.post("/v1/sessions", json=body(key="k"))).content == made.content
            assert (await http.delete(session)).content == ended.content
            clock.advance(2.0)
            for _ in range(2):
                gone = await http.post("/v1/sessions", json=body(key="k"))
                assert (gone.status_code, gone.json()["code"], gone.json()["reason"]) == (
                    410,
                    "session_gone",
                    "expired",
                )
            assert (await http.delete(session)).status_code == 404  # no more is known of it
            assert (await http.get("/v1/sessions")).json()["total"] == 0

    run(play)


@pytest.mark.parametrize(
    ("wrong", "code"),
    [({"task": "toy_inline/train/9999"}, "unknown_task"), ({"env": "nothing"}, "unknown_env")],
)
def test_a_create_that_was_wrong_is_not_remembered_under_its_key(wrong: dict[str, Any], code: str):
    async def play() -> None:
        async with door([TOY]) as http:
            refused = await http.post("/v1/sessions", json=body(key="k", **wrong))
            assert refused.json()["code"] == code
            assert (await http.post("/v1/sessions", json=body(key="k"))).status_code == 201

    run(play)


def test_an_env_that_breaks_in_a_create_breaks_the_same_way_when_asked_again():
    clock = Clock()
    sour = replace(ROUGH["rough_thread"], entry="rough_envs:Sour")

    async def play() -> None:
        async with table([sour], clock=clock, limits=ServerLimits(keep_s=100.0)) as t:
            broken = await t.create("rough_thread", 666, key="k")
            assert problem(broken).code == "env_failed"
            assert await t.create("rough_thread", 666, key="k") == broken
            assert not t.sessions._sessions
            clock.advance(101.0)
            assert problem(await t.create("rough_thread", 666, key="k")).code == "session_gone"

    run(play)


# Capacity.


def test_a_full_server_says_so_and_a_key_that_met_it_works_later():
    async def play() -> None:
        async with door([TOY], limits=ServerLimits(max_sessions=2)) as http:
            ids = [(await http.post("/v1/sessions", json=body())).json()["session"] for _ in range(2)]
            full = await http.post("/v1/sessions", json=body(key="k"))
            assert (full.status_code, full.json()["code"], full.json()["retryable"]) == (503, "no_capacity", True)
            assert float(full.headers["retry-after"]) >= 1
            await http.delete(f"/v1/sessions/{ids[0]}")
            made = await http.post("/v1/sessions", json=body(key="k"))
            assert made.status_code == 201
            assert (await http.post("/v1/sessions", json=body(key="k"))).content == made.content

    run(play)


def test_creates_at_one_time_never_go_over_the_capacity():
    async def play() -> None:
        async with table([SPECS["toy_thread"]], limits=ServerLimits(max_sessions=3)) as t:
            replies = await asyncio.gather(*(t.create("toy_thread", i) for i in range(10)))
            assert sorted(r.status for r in replies) == [201] * 3 + [503] * 7

    run(play)


# Gone.


@pytest.mark.parametrize(
    ("method", "path", "send"),
    [
        ("POST", "/step", {"action": "go"}),
        ("POST", "/reset", {"task": TASK}),
        ("GET", "", None),
        ("GET", "/oracle", None),
    ],
)
def test_unknown_closed_and_expired_sessions_are_told_apart(method: str, path: str, send: Any):
    clock = Clock()

    async def play() -> None:
        async with door([TOY], clock=clock, limits=ServerLimits(lease_s=10.0), oracle=True) as http:
            closed, expired = [(await http.post("/v1/sessions", json=body())).json()["session"] for _ in range(2)]
            await http.delete(f"/v1/sessions/{closed}")
            clock.advance(11.0)
            for session, status, code, reason in [
                ("999999", 404, "unknown_session", None),
                (closed, 410, "session_gone", "closed"),
                (expired, 410, "session_gone", "expired"),
            ]:
                got = await http.request(method, f"/v1/sessions/{session}{path}", json=send)
                assert (got.status_code, got.json()["code"], got.json().get("reason")) == (status, code, reason)
            assert "'999999'" in (await http.get("/v1/sessions/999999")).json()["detail"]
            assert (await http.delete("/v1/sessions/999999")).status_code == 404
            assert (await http.delete(f"/v1/sessions/{closed}")).status_code == 200
            assert (await http.delete(f"/v1/sessions/{expired}")).json()["reason"] == "expired"

    run(play)


def test_a_reset_after_the_end_plays_again_and_pays_no_second_time():
    async def play() -> None:
        async with door([TOY]) as http:
            made = await http.post("/v1/sessions", json=body(options={"goal": 1}))
            session = f"/v1/sessions/{made.json()['session']}"
            assert (await http.post(f"{session}/step", json={"action": "go"})).json()["reward"] == 1.0
            over = await http.post(f"{session}/step", json={"action": "go"})
            assert over.json()["code"] == "episode_over"
            assert "reward" not in over.json()
            assert (await http.post(f"{session}/reset", json={"task": TASK})).json()["episode"] == 1
            assert (await http.post(f"{session}/step", json={"action": "go"})).json()["outcome"] == "success"

    run(play)


def test_two_thousand_sessions_leave_nothing_behind():
    process = psutil.Process()

    async def play() -> None:
        async with table([TOY], limits=ServerLimits(max_sessions=4)) as t:
            base = 0
            for n in range(2000):
                session = await t.open("toy_inline", n % 100, key=str(n))
                await t.reset(session, TASK, 0)
                await t.step(session, "go", 1, 0)
                assert (await t.delete(session)).status == 200
                if n == 200:
                    gc.collect()
                    base = process.memory_info().rss
            assert t.sessions.listing(0, 10) == ([], 0)
            gc.collect()
            assert process.memory_info().rss - base < 50 * 1024 * 1024

    run(play)


@pytest.mark.parametrize(("bound", "value"), [("MAX_ENDED", 10), ("MAX_ENDED_BYTES", 6000)])
def test_what_is_remembered_of_ended_sessions_is_bounded(bound: str, value: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sessions_module, bound, value)

    async def play() -> None:
        async with table([TOY]) as t:
            ids = [await t.open("toy_inline", n, key=str(n)) for n in range(30)]
            for session in ids:
                await t.delete(session)
            kept = [(await t.delete(session)).status == 200 for session in ids]
            assert kept == sorted(kept)  # the oldest are forgotten first
            assert 3 <= sum(kept) <= 10
            assert len(t.sessions._keys) == sum(kept)
            assert problem(await t.create("toy_inline", 0, key=str(29 - sum(kept)))).code == "session_gone"
            assert (await t.create("toy_inline", 29, key="29")).body.session == ids[29]

    run(play)


# Leases.


def test_a_dropped_session_frees_its_slot_when_its_lease_ends():
    clock = Clock()

    async def play() -> None:
        async with door([TOY], clock=clock, limits=ServerLimits(max_sessions=4, lease_s=2.0)) as http:
            for _ in range(2):
                made = [await http.post("/v1/sessions", json=body()) for _ in range(4)]
                assert [m.status_code for m in made] == [201] * 4
                assert (await http.post("/v1/sessions", json=body())).status_code == 503
                clock.advance(5.0)
            assert (await http.get("/v1/sessions")).json()["total"] == 0

    run(play)


CALLS: dict[str, Any] = {
    "step": lambda http, s: http.post(f"{s}/step", json={"action": "go"}),
    "reset": lambda http, s: http.post(f"{s}/reset", json={"task": TASK}),
    "get": lambda http, s: http.get(s),
    "oracle": lambda http, s: http.get(f"{s}/oracle"),
    "a call that is refused": lambda http, s: http.post(f"{s}/step", json={"action": "go", "episode": 0, "step": 99}),
}


@pytest.mark.parametrize("call", CALLS)
def test_any_call_that_names_the_session_renews_its_lease(call: str):
    clock = Clock()
    spec = SPECS["toy_inline"]

    async def play() -> None:
        async with door([spec], clock=clock, limits=ServerLimits(lease_s=2.0), oracle=True) as http:
            made = await http.post("/v1/sessions", json=body(options={"goal": 1000}))
            session = f"/v1/sessions/{made.json()['session']}"
            for _ in range(7):
                clock.advance(1.5)
                assert (await CALLS[call](http, session)).status_code in (200, 409)
            clock.advance(2.5)
            assert (await http.get(session)).json()["reason"] == "expired"

    run(play)


def test_the_state_tells_the_lease_that_is_left():
    async def play() -> None:
        async with door([TOY], limits=ServerLimits(lease_s=7.5)) as http:
            made = (await http.post("/v1/sessions", json=body())).json()
            assert made["limits"]["lease_s"] == 7.5
            assert (await http.get(f"/v1/sessions/{made['session']}")).json()["lease_left_s"] == 7.5

    run(play)


def test_a_step_longer_than_the_lease_is_not_reaped_underneath_itself(tmp_path: Path):
    clock, gate = Clock(), Gate(tmp_path / "gate")

    async def play() -> None:
        async with table([ROUGH["rough_thread"]], clock=clock, limits=ServerLimits(lease_s=2.0, max_sessions=1)) as t:
            session = await t.open("rough_thread")
            held = asyncio.create_task(t.step(session, gate.hold))
            await gate.entered()
            clock.advance(100.0)
            assert (await t.create("rough_thread")).status == 503
            assert t.sessions.listing(0, 10)[1] == 1
            gate.open()
            assert (await held).status == 200
            clock.advance(1.0)
            assert (await t.step(session, "win")).status == 200

    run(play)


def test_an_idle_server_closes_expired_sessions_by_itself():
    async def play() -> None:
        sessions = Sessions([TOY], limits=ServerLimits(lease_s=0.05))
        app = make_app(sessions, hosts=("testserver",))
        async with app.router.lifespan_context(app):
            transport = httpx.ASGITransport(app=app)
            async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as http:
                assert (await http.post("/v1/sessions", json=body())).status_code == 201
            while sessions._sessions:  # nobody calls
                await asyncio.sleep(0.01)

    run(play)
