"""`EnvPool`: bounded, fair, balanced; it routes around servers, renews, reuses, and gives back what it took."""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from dataclasses import replace
from typing import Any

import pytest
from foreign_server import ForeignServer, always
from serve_toys import toy_process
from serving import running
from toy_agents import Scripted
from toy_envs import SPECS, Clock

import agentenv
from agentenv.client.core import Patience
from agentenv.errors import (
    BadCall,
    ClientClosed,
    EnvFailed,
    EnvUnavailable,
    NoCapacity,
    ServerUnreachable,
    SessionGone,
    UnknownEnv,
    UnknownOption,
    UnknownTask,
)
from agentenv.pool import EnvPool
from agentenv.protocol import Outcome
from agentenv.registry import TaskAt
from agentenv.rollout import play, rollout
from agentenv.server.limits import ServerLimits
from agentenv.server.sessions import Sessions

QUICK = Patience(total_s=0.3, first_s=0.01, longest_s=0.05)
ENV = "toy_inline"


def task(number: int, env: str = ENV) -> str:
    return f"{env}/train/{number}"


def run(work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    return asyncio.run(asyncio.wait_for(work(), 60))


@contextlib.contextmanager
def servers(*sizes: int, **limits: Any) -> Iterator[tuple[list[str], list[Sessions]]]:
    """Servers of the toys with room for so many sessions."""
    tables = [Sessions(SPECS.values(), oracle=True, limits=ServerLimits(max_sessions=n, **limits)) for n in sizes]
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(running(table)) for table in tables], tables


async def dead_url() -> str:
    server = await asyncio.start_server(lambda r, w: None, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    return f"http://127.0.0.1:{port}"


async def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10.0
    while not true():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


# Bounded, fair, balanced.


@pytest.mark.parametrize("where", ["local", "remote"])
def test_never_more_sessions_than_its_size(where: str, toys: None) -> None:
    async def work() -> None:
        at_once, full = 0, asyncio.Event()
        async with EnvPool(ENV, servers=urls, size=3) as pool:

            async def one(number: int) -> None:
                nonlocal at_once
                async with pool.session(task(number)) as session:
                    at_once += 1
                    assert at_once <= 3
                    if at_once == 3:
                        full.set()
                    await full.wait()  # the first ones stay until every place was taken
                    await session.step("go")
                    at_once -= 1

            await asyncio.gather(*(one(n) for n in range(20)))

    with servers(3) as (urls, tables):
        if where == "local":
            urls = []
        run(work)
        assert not tables[0]._sessions


def test_the_first_to_ask_for_a_place_is_the_first_to_get_one(toys: None) -> None:
    async def work() -> None:
        order = []
        async with EnvPool(ENV, size=1) as pool:

            async def one(number: int) -> None:
                async with pool.session(task(number)):
                    order.append(number)

            await asyncio.gather(*(one(n) for n in range(20)))
        assert order == list(range(20))

    run(work)


def test_sessions_are_balanced_over_the_servers() -> None:
    async def work() -> Counter[str]:
        seen: Counter[str] = Counter()
        async with EnvPool(ENV, servers=urls, size=8) as pool, contextlib.AsyncExitStack() as stack:
            for n in range(8):
                session = await stack.enter_async_context(pool.session(task(n)))
                seen[session.connection.transport.address] += 1
        return seen

    with servers(16, 16) as (urls, tables):
        assert run(work) == {urls[0]: 4, urls[1]: 4}
        assert not any(table._sessions for table in tables)


def test_the_same_address_twice_is_one_server() -> None:
    async def work() -> None:
        async with EnvPool(ENV, servers=[*urls, *urls], size=2) as pool:
            assert len(pool._lanes) == 1

    with servers(4) as (urls, _):
        run(work)


# Routing.


@pytest.mark.parametrize("transport", ["websocket", "http"])
def test_a_create_that_finds_no_server_or_a_foreign_one_goes_to_another(transport: str) -> None:
    async def work() -> None:
        async with ForeignServer(always(502, "<html>bad gateway</html>")) as foreign:
            urls = [await dead_url(), foreign.url, alive[0]]
            async with EnvPool(ENV, servers=urls, size=4, transport=transport) as pool:
                started = time.monotonic()
                for n in range(4):
                    async with pool.session(task(n)) as session:
                        assert session.connection.transport.address == alive[0]
                        assert (await session.step("go")).step == 1
                assert time.monotonic() - started < 5.0  # no patience is spent on a server that is not there

    with servers(4) as (alive, _):
        run(work)


def test_a_full_server_is_passed_over_for_one_with_room() -> None:
    async def work() -> Counter[str]:
        seen: Counter[str] = Counter()
        async with EnvPool(ENV, servers=urls, size=5) as pool, contextlib.AsyncExitStack() as stack:
            for n in range(5):
                session = await stack.enter_async_context(pool.session(task(n)))
                seen[session.connection.transport.address] += 1
        return seen

    with servers(1, 8) as (urls, _):
        assert run(work) == {urls[0]: 1, urls[1]: 4}


@pytest.mark.parametrize("count", [1, 2])
def test_when_every_server_is_full_for_too_long_the_cause_is_told(count: int) -> None:
    async def work() -> None:
        async with EnvPool(ENV, servers=urls, size=8, patience=QUICK) as pool, contextlib.AsyncExitStack() as stack:
            for n in range(count):
                await stack.enter_async_context(pool.session(task(n)))
            with pytest.raises(NoCapacity, match="sessions are taken"):
                await stack.enter_async_context(pool.session(task(9)))

    with servers(*[1] * count) as (urls, _):
        run(work)


def test_a_place_that_becomes_free_in_time_is_taken() -> None:
    async def work() -> None:
        async with EnvPool(ENV, servers=urls, size=8, patience=Patience(total_s=10.0)) as pool:

            async def hold(number: int, seconds: float) -> None:
                async with pool.session(task(number)):
                    await asyncio.sleep(seconds)

            await asyncio.gather(*(hold(n, 0.1) for n in range(4)))

    with servers(1, 1) as (urls, _):
        run(work)


def test_no_server_at_all_names_the_command_that_starts_one() -> None:
    async def work() -> None:
        with pytest.raises(ServerUnreachable, match="agentenv serve"):
            async with EnvPool(ENV, servers=[await dead_url(), await dead_url()], patience=QUICK):
                pass

    run(work)


@pytest.mark.parametrize("transport", ["websocket", "http"])
def test_an_episode_on_a_server_that_is_killed_is_lost_and_the_others_finish(transport: str) -> None:
    async def work() -> None:
        agent = Scripted("go", think_s=0.1)
        async with EnvPool(
            ENV, servers=[*urls, doomed], size=6, transport=transport, patience=QUICK, options={"goal": 6}
        ) as pool:
            refs = await pool.task_refs("train", 12)
            players = asyncio.create_task(rollout(pool, refs, agent.spec))
            await until(lambda: agent.calls >= 12)
            process.kill()
            episodes = await players
        outcomes = Counter(e.outcome for e in episodes)
        assert outcomes == {Outcome.INFRA_LOST: 3, Outcome.SUCCESS: 9}
        for lost in (e for e in episodes if e.outcome is Outcome.INFRA_LOST):
            assert lost.error is not None
            assert lost.error.startswith(("transport_lost: ", "server_unreachable: "))
            assert lost.turns  # what was played is in the record
            assert not lost.success

    with servers(16) as (urls, tables), toy_process() as (doomed, process):
        run(work)
        assert not tables[0]._sessions


# Giving back.


@pytest.mark.parametrize("where", ["local", "remote"])
@pytest.mark.parametrize("end", ["finished", "left", "error", "cancelled", "cancelled in a step"])
def test_every_session_is_released_however_its_user_ends(where: str, end: str, toys: None) -> None:
    async def work() -> None:
        async with EnvPool("toy_thread", servers=urls, size=2) as pool:
            table = tables[0] if urls else pool._lanes[0].connection.transport.sessions  # type: ignore[attr-defined]

            async def use() -> None:
                async with pool.session(task(1, "toy_thread")) as session:
                    if end == "finished":
                        for _ in range(5):
                            await session.step("go")
                    elif end == "error":
                        raise ZeroDivisionError
                    elif end == "cancelled":
                        await asyncio.sleep(60)
                    elif end == "cancelled in a step":
                        await session.step("sleep 0.3")

            for _ in range(4):
                user = asyncio.create_task(use())
                if end.startswith("cancelled"):
                    await until(lambda: len(table._sessions) == 1)
                    await asyncio.sleep(0.05)
                    user.cancel()
                await asyncio.wait([user])
                kept = 1 if end == "finished" else 0  # its episode is over, so it waits for the next task
                await until(lambda kept=kept: len(table._sessions) == kept)  # type: ignore[misc]
                assert sum(lane.in_use for lane in pool._lanes) == 0
        assert not table._sessions

    with servers(2) as (urls, tables):
        if where == "local":
            urls = []
        run(work)


@pytest.mark.parametrize("where", ["local", "remote"])
def test_a_create_that_is_cancelled_leaves_no_session_behind(where: str, toys: None) -> None:
    """The server makes the session although nobody waits for it any more."""

    async def work() -> None:
        async with EnvPool("toy_process", servers=urls, size=1) as pool:
            table = tables[0] if urls else pool._lanes[0].connection.transport.sessions  # type: ignore[attr-defined]

            async def use() -> None:
                async with pool.session(task(1, "toy_process")):
                    raise AssertionError("too early")

            user = asyncio.create_task(use())
            await until(lambda: table._creating == 1)
            user.cancel()
            with pytest.raises(asyncio.CancelledError):
                await user
            await until(lambda: not table._creating and not table._sessions)
            async with pool.session(task(2, "toy_process")) as session:  # and its place is free
                assert (await session.step("go")).step == 1

    with servers(1) as (urls, tables):
        if where == "local":
            urls = []
        run(work)


def test_closing_the_pool_ends_the_sessions_that_wait_for_reuse() -> None:
    async def work() -> None:
        async with EnvPool(ENV, servers=urls, size=4, options={"goal": 1}) as pool:
            for n in range(3):
                async with pool.session(task(n)) as session:
                    await session.step("go")
            assert len(tables[0]._sessions) == 1
        await pool.close()

    with servers(4) as (urls, tables):
        run(work)
        assert not tables[0]._sessions


# Reuse and leases.


def ids_of(pool: EnvPool, env: str, count: int) -> Callable[[], Awaitable[list[str]]]:
    """Session ids of episodes played one after the other to their ends."""

    async def ids() -> list[str]:
        found = []
        for n in range(count):
            async with pool.session(task(n, env)) as session:
                found.append(session.id)
                assert session.observation == f"seed {n} count 0"
                for _ in range(5):
                    await session.step("go")
        return found

    return ids


@pytest.mark.parametrize(("env", "sessions"), [("toy_inline", 1), ("toy_process", 1), ("toy_once", 4)])
def test_a_session_is_reused_where_the_env_allows_it(env: str, sessions: int) -> None:
    async def work() -> None:
        async with EnvPool(env, servers=urls, size=1) as pool:
            assert len(set(await ids_of(pool, env, 4)())) == sessions

    with servers(2) as (urls, _):
        run(work)


def test_a_session_whose_env_broke_is_not_reused() -> None:
    async def work() -> None:
        async with EnvPool("toy_fragile", servers=urls, size=1) as pool:
            async with pool.session(task(0, "toy_fragile")) as session:
                broken = session.id
                with pytest.raises(EnvFailed):
                    await session.step("break")
            async with pool.session(task(0, "toy_fragile")) as session:
                assert session.id != broken
                await session.step("win")
                good = session.id
            with pytest.raises(EnvFailed, match="no world"):
                async with pool.session(task(13, "toy_fragile")):
                    pass
            async with pool.session(task(1, "toy_fragile")) as session:
                assert session.id not in (broken, good)

    with servers(1) as (urls, _):
        run(work)


def test_an_expired_idle_session_is_replaced() -> None:
    async def work() -> None:
        async with EnvPool(ENV, servers=[url], size=1, options={"goal": 1}) as pool:
            async with pool.session(task(1)) as session:
                await session.step("go")
                first = session.id
            clock.advance(601.0)
            async with pool.session(task(2)) as session:
                assert session.id != first
                assert session.observation == "seed 2 count 0"

    clock = Clock()
    with running(Sessions(SPECS.values(), clock=clock)) as url:
        run(work)


def test_idle_sessions_of_a_server_that_died_cost_no_patience() -> None:
    async def work() -> None:
        async with EnvPool(ENV, servers=[doomed, *urls], size=8, options={"goal": 1}) as pool:
            async with contextlib.AsyncExitStack() as stack:
                sessions = [await stack.enter_async_context(pool.session(task(n))) for n in range(8)]
                for session in sessions:
                    await session.step("go")
            process.kill()
            process.wait(10)
            started = time.monotonic()
            async with contextlib.AsyncExitStack() as stack:
                for n in range(8):
                    session = await stack.enter_async_context(pool.session(task(n)))
                    assert session.connection.transport.address == urls[0]
            assert time.monotonic() - started < 5.0

    with servers(16) as (urls, _), toy_process() as (doomed, process):
        run(work)


def test_a_lease_is_renewed_while_a_model_thinks() -> None:
    async def work() -> None:
        async with EnvPool(ENV, servers=urls, size=2, options={"goal": 2}) as pool:
            [ref] = await pool.task_refs("train", 1)
            episode = await play(pool, ref, Scripted("go", think_s=0.5).spec)
            assert (episode.outcome, episode.error) == (Outcome.SUCCESS, None)
            async with pool.session(ref.id) as session:  # nobody renews a session that is used by hand
                await asyncio.sleep(0.7)
                with pytest.raises(SessionGone, match="expired"):
                    await session.step("go")

    with servers(4, lease_s=0.3) as (urls, _):
        run(work)


# The local pool, and what a pool is asked.


def test_a_local_pool_takes_the_options_that_only_a_server_may_set(toys: None) -> None:
    async def work() -> None:
        async with EnvPool("toy_thread", options={"goal": 1, "pause_s": 0.001}) as pool:
            async with pool.session(task(0, "toy_thread")) as session:
                assert (await session.step("go")).terminated
            assert pool.card["server_options"] == {"goal": 1, "pause_s": 0.001}

    run(work)


def test_a_remote_pool_may_not_set_the_servers_options() -> None:
    async def work() -> None:
        with pytest.raises(UnknownOption, match="is the server's"):
            async with EnvPool("toy_thread", servers=urls, options={"pause_s": 0.001}):
                pass

    with servers(2) as (urls, tables):
        run(work)
        assert not tables[0]._sessions


@pytest.mark.parametrize("where", ["local", "remote"])
def test_task_refs_are_paged_and_carry_no_seed(where: str, toys: None) -> None:
    from toy_envs import tasks_of

    async def work() -> None:
        async with EnvPool(ENV, servers=urls) as pool:
            refs = await pool.task_refs("train")
            table = tasks_of(ENV)
            assert refs == [table.get("train", n).ref() for n in range(1000)]
            assert await pool.task_refs("train", 3) == refs[:3]
            assert len(await pool.task_refs("test", 5000)) == 10
            assert await pool.task_refs("train", 0) == []
            for split in ("dev", "a b&limit=1", "é/../x"):
                with pytest.raises(BadCall, match="no split"):
                    await pool.task_refs(split)

    with servers(2) as (urls, _):
        if where == "local":
            urls = []
        run(work)


def test_more_tasks_than_one_page_come_in_order(toys: None, monkeypatch: pytest.MonkeyPatch) -> None:
    from toy_envs import spec, tasks_of

    monkeypatch.setattr("toy_envs.toy_many_tasks", lambda options: tasks_of("toy_many", 2345), raising=False)
    agentenv.register(spec("toy_many", "toy_envs:Counter", SPECS[ENV].concurrency))

    async def work() -> None:
        async with EnvPool("toy_many") as pool:
            assert [r.index for r in await pool.task_refs("train")] == list(range(2345))
            assert [r.index for r in await pool.task_refs("train", 1001)] == list(range(1001))

    run(work)


def test_a_task_may_be_named_by_its_place(toys: None) -> None:
    async def work() -> None:
        async with EnvPool(ENV) as pool:
            async with pool.session(TaskAt(split="test", index=3)) as session:
                assert session.task.id == f"{ENV}/test/3"
            with pytest.raises(UnknownTask):
                async with pool.session(task(10_000)):
                    pass

    run(work)


# Misuse.


@pytest.mark.parametrize("size", [0, -1])
def test_a_pool_without_a_place_is_refused(size: int) -> None:
    with pytest.raises(BadCall, match=f"size is {size}"):
        EnvPool(ENV, size=size)


def test_a_pool_is_used_while_it_is_open(toys: None) -> None:
    async def work() -> None:
        pool = EnvPool(ENV, size=1)
        for _ in range(2):
            with pytest.raises(ClientClosed, match="use `async with EnvPool"):
                async with pool.session(task(0)):
                    pass
            async with pool:
                pass
        async with pool, pool.session(task(0)) as session:  # a closed pool may be opened again
            assert (await session.step("go")).step == 1

    run(work)


def test_whoever_waits_for_a_place_of_a_closed_pool_is_told(toys: None) -> None:
    async def work() -> None:
        pool = EnvPool(ENV, size=1)
        await pool.__aenter__()

        async def waiting() -> None:
            async with pool.session(task(1)):
                pass

        async with pool.session(task(0)):
            waiter = asyncio.create_task(waiting())
            await asyncio.sleep(0)
            await pool.close()
        with pytest.raises(ClientClosed, match="is not open"):
            await waiter

    run(work)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"env": "toy_inlien"}, UnknownEnv, "did you mean 'toy_inline'"),
        ({"env": ENV, "servers": ["nonsense"]}, BadCall, "looks like http"),
        ({"env": ENV, "servers": ["http://127.0.0.1:1"], "transport": "pigeon"}, BadCall, "choose from"),
        ({"env": ENV, "options": {"gaol": 1}}, UnknownOption, "did you mean 'goal'"),
        ({"env": ENV, "options": {"goal": "many"}}, UnknownOption, "must be int"),
    ],
)
def test_a_pool_that_cannot_work_says_so_at_its_opening(
    settings: dict[str, Any], error: type[Exception], message: str, toys: None
) -> None:
    async def work() -> None:
        with pytest.raises(error, match=message):
            async with EnvPool(**settings, patience=QUICK):
                pass

    run(work)


def test_an_env_whose_engine_or_data_is_missing_is_unavailable(toys: None) -> None:
    agentenv.register(replace(SPECS[ENV], id="toy_missing", tasks="no_such_engine:tasks", extra="science"))

    async def work() -> None:
        with pytest.raises(EnvUnavailable, match="pip install"):
            async with EnvPool("toy_missing"):
                pass

    run(work)
