"""The five concurrency models.

1. Each plays an episode; what an env does never depends on where it runs.
2. A step that takes its time delays no other session and no health check.
3. `locked` never runs two calls at once, also when one overran; a slow `inline` env moves to threads.
4. An overrun, a raise, a `sys.exit` and a killed process end that one episode as env_error; the session plays on.
5. Nothing is left running after close().
"""

import asyncio
import logging
import os
import signal
from dataclasses import replace
from pathlib import Path

import httpx
import psutil
import pytest
from rough_envs import CLOSED, SPECS, Gate
from serving import running
from tables import Table, hasty, problem, run, table, until
from toy_envs import MODELS, Clock
from toy_envs import SPECS as TOYS

from agentenv.protocol import Outcome
from agentenv.registry import Concurrency
from agentenv.server.limits import ServerLimits
from agentenv.server.sessions import Sessions
from agentenv.wire import OracleReply, StateReply, StepBody, StepCall, StepReply

ROUGH = ("rough_inline", "rough_thread", "rough_locked", "rough_process", "rough_async")
CAN_WAIT = ROUGH[1:]


@pytest.fixture
def gate(tmp_path: Path):
    gate = Gate(tmp_path / "gate")
    yield gate
    gate.open()  # no thread stays behind


def children() -> set[int]:
    return {child.pid for child in psutil.Process().children(recursive=True)}


async def play_to_the_end(table: Table, session: str) -> StepReply:
    for _ in range(5):
        reply = await table.step(session, "go")
        assert isinstance(reply.body, StepReply), reply.body
    return reply.body


@pytest.mark.parametrize("env", MODELS)
def test_every_model_plays_an_episode_to_its_end(env: str):
    async def play() -> None:
        async with table([TOYS[env]], oracle=True) as t:
            session = await t.open(env, 3)
            oracle, state = await t.oracle(session), await t.get(session, actions=True)
            assert isinstance(oracle.body, OracleReply)
            assert oracle.body.action == "go"
            assert isinstance(state.body, StateReply)
            assert state.body.available_actions == ["go", "wait"]
            last = await play_to_the_end(t, session)
            assert (last.observation, last.reward, last.outcome) == ("seed 3 count 5 got go", 1.0, Outcome.SUCCESS)
            assert (await t.reset(session, f"{env}/test/1")).body.observation == "seed 100001 count 0"
            final = (await t.delete(session)).body
            assert (final.outcome, final.episode, final.step) == (Outcome.CANCELLED, 1, 0)

    run(play)


@pytest.mark.parametrize("env", CAN_WAIT)
def test_a_step_that_takes_its_time_delays_nobody_else(env: str, gate: Gate):
    sessions = Sessions([*SPECS.values(), *TOYS.values()])

    async def play(url: str) -> None:
        async with httpx.AsyncClient(base_url=url, timeout=60) as http:

            async def create(env: str) -> str:
                body = {"env": env, "task": f"{env}/train/0"}
                return f"/v1/sessions/{(await http.post('/v1/sessions', json=body)).json()['session']}"

            slow, fast = await create(env), await create("toy_inline")
            also = fast if env == "rough_locked" else await create(env)  # the lock is there to make others wait
            held = asyncio.create_task(http.post(f"{slow}/step", json={"action": gate.hold}))
            await gate.entered()
            assert (await http.get("/healthz")).json() == {"ok": True}
            assert (await http.get("/v1/sessions")).json()["total"] == (2 if env == "rough_locked" else 3)
            for session in (fast, also):
                assert (await http.post(f"{session}/step", json={"action": "go"})).status_code == 200
            assert not held.done()
            gate.open()
            assert (await held).json()["observation"] == f"did {gate.hold}"

    with running(sessions) as url:
        asyncio.run(play(url))


def test_a_locked_env_never_does_two_steps_at_once():
    async def play() -> None:
        async with table([TOYS["toy_exclusive"]]) as t:
            ids = [await t.open("toy_exclusive", i) for i in range(16)]
            replies = await asyncio.gather(*(t.step(session, "go") for session in ids for _ in range(2)))
            assert [r.status for r in replies] == [200] * 32

    run(play)


def test_a_lock_stays_taken_while_a_call_that_overran_still_runs(gate: Gate):
    spec = hasty(SPECS["rough_locked"], 1.0)

    async def play() -> None:
        async with table([spec]) as t:
            first, second = [await t.open(spec.id, i) for i in range(2)]
            overrun = await t.step(first, gate.hold)
            assert problem(overrun).code == "env_failed"
            waiting = asyncio.create_task(t.step(second, "where"))
            await asyncio.sleep(0.05)
            assert not waiting.done()
            gate.open()
            assert (await waiting).status == 200

    run(play)


def test_calls_behind_a_lock_that_never_comes_free_are_env_errors_until_it_does(gate: Gate):
    spec = hasty(SPECS["rough_locked"], 0.5)

    async def play() -> None:
        async with table([spec]) as t:
            ids = [await t.open(spec.id, i) for i in range(3)]
            assert (await t.step(ids[0], gate.hold)).status == 500
            for session in ids[1:]:
                refused = problem(await t.step(session, "win"))
                assert refused.code == "env_failed"
                assert "overran and has not come back" in refused.detail
            gate.open()
            held = t.sessions._sessions[ids[0]].runner
            await until(held.stuck.done)  # type: ignore[union-attr]
            assert (await t.reset(ids[1], f"{spec.id}/train/5")).status == 200
            assert (await t.step(ids[1], "win")).body.outcome == Outcome.SUCCESS

    run(play)


def test_a_slow_inline_env_moves_to_threads_with_a_line_in_the_log_and_the_same_bytes(caplog):
    actions = ["wait", *["burn 1.5"] * 7, "wait", "burn 1.5", "win"]

    async def play(env: str) -> tuple[list[object], list[bool]]:
        async with table([SPECS[env]]) as t:
            session = await t.open(env)
            replies, at_once = [], []
            for action in actions:
                now = t.sessions.handle_now(StepCall(session, StepBody(action)))
                at_once.append(now is not None)
                replies.append((now or await t.step(session, action)).body)
            return replies, at_once

    with caplog.at_level(logging.WARNING, logger="agentenv.server"):
        inline, at_once = asyncio.run(play("rough_inline"))
        threaded, _ = asyncio.run(play("rough_thread"))
    assert inline == threaded
    # One call to be looked at, then five that are measured: from then on it runs in threads.
    assert at_once == [True] * 7 + [False] * 4
    [line] = [r.getMessage() for r in caplog.records]
    assert "rough_inline is declared inline but took over 1 ms of thread time 5 times" in line


def test_an_inline_env_is_not_demoted_for_time_that_its_thread_did_not_use(caplog):
    async def play() -> None:
        async with table([SPECS["rough_inline"]]) as t:
            session = await t.open("rough_inline")
            for _ in range(12):
                assert t.sessions.handle_now(StepCall(session, StepBody("sleep 2"))) is not None

    run(play)
    assert not caplog.records


@pytest.mark.parametrize("env", CAN_WAIT)
def test_a_step_that_overruns_is_an_env_error_and_the_session_plays_on_with_a_fresh_env(env: str, gate: Gate):
    spec = hasty(SPECS[env], 0.5)
    seed = CAN_WAIT.index(env) + 700

    async def play() -> None:
        async with table([spec]) as t:
            CLOSED[seed] = 0
            session = await t.open(env, seed)
            old = t.sessions._sessions[session].runner
            refused = problem(await t.step(session, gate.hold, 0, 0))
            assert (refused.code, refused.retryable) == ("env_failed", False)
            assert refused.extra == {"outcome": "env_error", "episode": 0, "step": 1}
            assert "took over 0.5 s" in refused.detail
            assert (await t.step(session, gate.hold, 0, 0)).body == refused
            assert problem(await t.step(session, "win")).code == "episode_over"
            if env == "rough_locked":
                gate.open()
                await until(old.stuck.done)  # type: ignore[attr-defined]
            assert (await t.reset(session, f"{env}/train/{seed}")).body.observation == f"ready {seed}"
            assert (await t.step(session, "win")).body.outcome == Outcome.SUCCESS
            assert t.sessions._sessions[session].runner is not old
            if env in ("rough_thread", "rough_locked"):  # the old env is closed when its thread comes back
                gate.open()
                await until(lambda: CLOSED[seed] == 1)

    run(play)


def test_an_env_that_refuses_to_be_cancelled_is_an_env_error_all_the_same(gate: Gate):
    spec = hasty(SPECS["rough_async"], 0.05)

    async def play() -> None:
        async with table([spec]) as t:
            session = await t.open(spec.id)
            assert "took over 0.05 s" in problem(await t.step(session, gate.hold.replace("hold", "stubborn"))).detail
            assert (await t.reset(session, f"{spec.id}/train/1")).status == 200
            gate.open()

    run(play)


def test_an_env_that_cancels_itself_is_an_env_error():
    async def play() -> None:
        async with table([SPECS["rough_async"]]) as t:
            session = await t.open("rough_async")
            assert "cancelled from inside" in problem(await t.step(session, "cancelled")).detail

    run(play)


def test_a_stuck_thread_holds_its_slot_until_it_returns(gate: Gate):
    spec = hasty(SPECS["rough_thread"], 0.1)

    async def play() -> None:
        async with table([spec], limits=ServerLimits(max_sessions=1)) as t:
            session = await t.open(spec.id)
            assert problem(await t.step(session, gate.hold)).code == "env_failed"
            assert (await t.delete(session)).body.outcome == Outcome.ENV_ERROR
            refused = await t.create(spec.id)
            assert (problem(refused).code, refused.retry_after_s) == ("no_capacity", 1.0)
            gate.open()
            while (await t.create(spec.id)).status == 503:
                await asyncio.sleep(0.003)
            assert len(t.sessions._sessions) == 1

    run(play)


@pytest.mark.parametrize("env", ROUGH)
@pytest.mark.parametrize(("action", "says"), [("raise", "RuntimeError: the env broke"), ("exit", "SystemExit: 7")])
def test_whatever_an_env_raises_ends_its_own_episode_alone(env: str, action: str, says: str):
    async def play() -> None:
        async with table([SPECS[env]]) as t:
            broken, other = [await t.open(env, i) for i in range(2)]
            assert says in problem(await t.step(broken, action)).detail
            assert (await t.step(other, "win")).body.outcome == Outcome.SUCCESS
            assert (await t.reset(broken, f"{env}/train/4")).body.observation == "ready 4"
            assert (await t.step(broken, "win")).body.outcome == Outcome.SUCCESS

    run(play)


@pytest.mark.parametrize(("how", "processes", "threads"), [("killed", 8, 56), ("dies", 2, 1)])
def test_a_dead_process_costs_one_episode_and_all_others_finish(how: str, processes: int, threads: int):
    before = children()

    async def play() -> None:
        async with table([TOYS["toy_process"], TOYS["toy_thread"]]) as t:
            in_processes = [await t.open("toy_process", i) for i in range(processes)]
            in_threads = [await t.open("toy_thread", 100 + i) for i in range(threads)]
            victim = in_processes[1]
            assert (await t.step(victim, "go")).status == 200
            if how == "killed":
                os.kill(t.sessions._sessions[victim].runner.pid, signal.SIGKILL)  # type: ignore[attr-defined]
            ends, lost = await asyncio.gather(
                asyncio.gather(*(play_to_the_end(t, s) for s in in_processes + in_threads if s != victim)),
                t.step(victim, "die"),
            )
            assert [end.outcome for end in ends] == [Outcome.SUCCESS] * (processes + threads - 1)
            assert problem(lost).extra["outcome"] == Outcome.ENV_ERROR
            assert "process died" in problem(lost).detail
            assert (await t.reset(victim, "toy_process/train/3")).body.observation == "seed 3 count 0"
            assert (await play_to_the_end(t, victim)).outcome == Outcome.SUCCESS

    run(play)
    assert children() == before


def test_what_a_process_env_started_dies_with_it():
    async def play() -> None:
        async with table([SPECS["rough_process"]]) as t:
            session = await t.open("rough_process")
            started = psutil.Process(int((await t.step(session, "spawn")).body.observation))
            assert started.is_running()
            await t.delete(session)
            await until(lambda: not started.is_running() or started.status() == psutil.STATUS_ZOMBIE)

    run(play)


@pytest.mark.parametrize(
    ("action", "observation"),
    [
        ("read", "read ''"),  # its stdin is not the pipe of the messages
        ("print", "did print"),  # nor its stdout
        ("say \ud800", "did say �"),
        ("odd", "a�b\x00c"),
        ("where", None),
    ],
)
def test_the_pipes_of_a_process_env_carry_messages_alone(action: str, observation: str | None):
    async def play() -> None:
        async with table([SPECS["rough_process"]]) as t:
            session = await t.open("rough_process")
            got = (await t.step(session, action)).body
            if observation is None:
                assert got.observation == f"{t.sessions._sessions[session].runner.pid} MainThread"  # type: ignore[attr-defined]
            else:
                assert got.observation == observation

    run(play)


def test_a_result_that_a_process_cannot_send_is_an_env_error_that_says_so():
    async def play() -> None:
        async with table([SPECS["rough_process"]]) as t:
            session = await t.open("rough_process")
            assert "cannot be packed" in problem(await t.step(session, "huge")).detail
            assert (await t.reset(session, "rough_process/train/1")).status == 200

    run(play)


def test_a_question_that_hangs_ends_the_episode_since_the_env_is_of_no_more_use(gate: Gate):
    spec = hasty(SPECS["rough_ask"], 0.5)

    async def play() -> None:
        async with table([spec]) as t:
            session = await t.open(spec.id)
            await t.step(session, f"later {gate.path}")
            asked = problem(await t.get(session, actions=True))
            assert (asked.code, asked.extra["outcome"]) == ("env_failed", "env_error")
            assert problem(await t.step(session, "win")).code == "episode_over"
            assert (await t.reset(session, f"{spec.id}/train/1")).status == 200
            assert (await t.step(session, "win")).body.outcome == Outcome.SUCCESS

    run(play)


@pytest.mark.parametrize("env", CAN_WAIT)
def test_close_leaves_behind_a_step_that_hangs(env: str, gate: Gate):
    before = children()

    async def play() -> None:
        sessions = Sessions([SPECS[env]], limits=ServerLimits(grace_s=0.05))
        t = Table(sessions)
        session = await t.open(env)
        held = sessions.start(StepCall(session, StepBody(gate.hold)))
        await gate.entered()
        await sessions.close()
        assert held.done()
        assert problem(await t.step(session, "win")).extra == {"reason": "closed"}

    run(play)
    assert children() == before


@pytest.mark.parametrize("env", CAN_WAIT)
def test_close_waits_for_a_running_step_and_closes_no_env_under_it(env: str, gate: Gate):
    seed = CAN_WAIT.index(env) + 820

    async def play() -> None:
        CLOSED[seed] = 0
        sessions = Sessions([SPECS[env]], limits=ServerLimits(grace_s=60.0))
        session = await Table(sessions).open(env, seed)
        held = sessions.start(StepCall(session, StepBody(gate.hold)))
        await gate.entered()
        closing = asyncio.create_task(sessions.close())
        await asyncio.sleep(0.02)
        assert not closing.done()
        assert CLOSED[seed] == 0
        gate.open()
        assert (await held).status == 200
        await closing
        assert CLOSED[seed] == (0 if env == "rough_process" else 1)

    run(play)


def test_close_closes_an_env_that_was_being_reset_for_a_create(gate: Gate):
    async def play() -> None:
        CLOSED[830] = 0
        sessions = Sessions([SPECS["rough_reset"]], limits=ServerLimits(grace_s=60.0))
        create = asyncio.create_task(
            Table(sessions).create("rough_reset", 830, options={"gate": str(gate.path)}, key="k")
        )
        await gate.entered()
        closing = asyncio.create_task(sessions.close())
        await asyncio.sleep(0)
        gate.open()
        await closing
        assert problem(await create).code == "no_capacity"
        assert not sessions._sessions
        assert CLOSED[830] == 1

    run(play)


@pytest.mark.parametrize("env", ROUGH)
def test_close_ends_sessions_whose_create_was_under_way(env: str):
    before = children()
    seed = ROUGH.index(env) + 800

    async def play() -> None:
        CLOSED[seed] = 0
        sessions = Sessions([SPECS[env]], limits=ServerLimits(grace_s=30.0))
        creates = [asyncio.create_task(Table(sessions).create(env, seed)) for _ in range(3)]
        await asyncio.sleep(0)
        await sessions.close()
        refused = [problem(r) for r in await asyncio.gather(*creates)]
        assert {(p.code, p.retryable) for p in refused} == {("no_capacity", True)}
        assert not sessions._sessions
        assert problem(await Table(sessions).create(env)).code == "no_capacity"

    run(play)
    assert children() == before


@pytest.mark.parametrize("env", MODELS)
def test_close_closes_the_env_of_every_session(env: str):
    before = children()

    async def play() -> None:
        sessions = Sessions([TOYS[env]])
        t = Table(sessions)
        ids = [await t.open(env, i) for i in range(3)]
        hosts = [getattr(sessions._sessions[id].runner, "host", None) for id in ids]
        await sessions.close()
        assert [host.env for host in hosts if host is not None] == [None] * (0 if env == "toy_process" else 3)
        await sessions.close()  # idempotent

    run(play)
    assert children() == before


def test_an_expired_session_is_closed_after_its_running_step_and_never_under_it(gate: Gate):
    clock = Clock()
    spec = SPECS["rough_thread"]

    async def play() -> None:
        async with table([spec], limits=ServerLimits(lease_s=10.0), clock=clock) as t:
            CLOSED[900] = 0
            session = await t.open(spec.id, 900)
            held = asyncio.create_task(t.step(session, gate.hold))
            await gate.entered()
            clock.advance(1000.0)
            assert t.sessions.reap() == 0
            assert CLOSED[900] == 0
            gate.open()
            assert (await held).status == 200
            clock.advance(9.0)
            assert t.sessions.reap() == 0  # the lease begins at the end of the step
            clock.advance(2.0)
            assert t.sessions.reap() == 1
            await until(lambda: CLOSED[900] == 1)

    run(play)


def test_a_caller_that_goes_away_cancels_nothing(gate: Gate):
    async def play() -> None:
        async with table([SPECS["rough_thread"]]) as t:
            session = await t.open("rough_thread")
            caller = asyncio.create_task(t.step(session, gate.hold, 0, 0))
            await gate.entered()
            waiting = asyncio.create_task(t.step(session, gate.hold, 0, 0))
            await asyncio.sleep(0)
            caller.cancel()
            with pytest.raises(asyncio.CancelledError):
                await caller
            gate.open()
            reply = await waiting
            assert reply.body.step == 1
            assert await t.step(session, gate.hold, 0, 0) is reply

    run(play)


def test_an_env_that_may_not_be_reset_twice_is_made_anew_for_each_episode():
    spec = replace(TOYS["toy_inline"], reuse=False)

    async def play() -> None:
        async with table([spec]) as t:
            session = await t.open(spec.id)
            runner = t.sessions._sessions[session].runner
            first = runner.host.env  # type: ignore[attr-defined]
            await t.reset(session, f"{spec.id}/train/1")
            assert runner.host.env is not first  # type: ignore[attr-defined]
            assert first.closed == 1

    run(play)


def test_sixty_four_threads_are_inside_their_envs_at_once(tmp_path: Path):
    gates = [Gate(tmp_path / str(i)) for i in range(64)]

    async def play() -> None:
        async with table([SPECS["rough_thread"]]) as t:
            ids = [await t.open("rough_thread", i) for i in range(64)]
            steps = [asyncio.create_task(t.step(id, gate.hold)) for id, gate in zip(ids, gates, strict=True)]
            for gate in gates:
                await gate.entered()
            assert not any(step.done() for step in steps)
            for gate in gates:
                gate.open()
            assert [r.status for r in await asyncio.gather(*steps)] == [200] * 64

    run(play)


def test_every_model_of_the_registry_has_a_test_env():
    assert {TOYS[env].concurrency for env in MODELS} == set(Concurrency)
    assert {SPECS[env].concurrency for env in ROUGH} == set(Concurrency)
