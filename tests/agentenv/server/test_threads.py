"""The threads of env calls: never a queue, kept for later calls, gone after close."""

import gc
import threading
import time
import weakref
from concurrent.futures import Future

import pytest

from agentenv.server.threads import Threads


def alive(name: str) -> list[str]:
    return [t.name for t in threading.enumerate() if t.name.startswith(f"{name}-")]


def gone(name: str) -> bool:
    until = time.monotonic() + 10
    while alive(name) and time.monotonic() < until:
        time.sleep(0.002)
    return not alive(name)


def test_calls_one_after_the_other_share_one_thread():
    threads = Threads("one")
    names = {threads.submit(lambda: threading.current_thread().name).result(10) for _ in range(200)}
    assert names == {"one-0"}
    threads.close()
    assert gone("one")


def test_calls_at_one_time_have_a_thread_each_and_none_waits():
    threads, barrier = Threads("many"), threading.Barrier(40)
    calls = [threads.submit(barrier.wait, 20) for _ in range(40)]
    assert sorted(call.result(20) for call in calls) == list(range(40))
    again = [threads.submit(pow, n, 2) for n in range(40)]
    assert [call.result(10) for call in again] == [n * n for n in range(40)]
    assert len(alive("many")) == 40
    threads.close()
    assert gone("many")


def test_whatever_a_call_raises_arrives_and_the_thread_lives_on():
    threads = Threads("brave")
    for error in (ValueError("x"), SystemExit(3), KeyboardInterrupt()):

        def fail(error: BaseException = error) -> None:
            raise error

        with pytest.raises(type(error)):
            threads.submit(fail).result(10)
    assert threads.submit(threading.get_ident).result(10)
    assert alive("brave") == ["brave-0"]
    threads.close()
    assert gone("brave")


def test_a_call_under_way_at_close_ends_and_later_calls_are_done_too():
    threads, go = Threads("late"), threading.Event()
    held: Future[bool] = threads.submit(go.wait, 20)
    threads.submit(pow, 1, 1).result(10)  # an idle one beside it
    threads.close()
    assert threads.submit(pow, 2, 5).result(10) == 32
    go.set()
    assert held.result(10) is True
    assert [threads.submit(pow, n, 2).result(10) for n in range(3)] == [0, 1, 4]
    assert gone("late")


def test_a_thread_that_waits_holds_nothing_of_its_last_call():
    class Env:
        def step(self) -> int:
            raise ValueError("with a traceback")

    threads, env = Threads("clean"), Env()
    with pytest.raises(ValueError, match="traceback"):
        threads.submit(env.step).result(10)
    dead = weakref.ref(env)
    threads.submit(pow, 1, 1).result(10)
    del env
    gc.collect()
    assert dead() is None
    threads.close()
