"""The Java machines: shared, bounded, replaced when they die, and gone with the process."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time

import psutil
import pytest

from agentenv.errors import EnvFailed, NoCapacity
from agentenv.protocol import Action
from agentenv.server.sessions import Sessions
from agentenv.wire import CreateBody, CreateCall, StepBody, StepCall
from envservers.science.sciworld.env import SciWorld
from envservers.science.sciworld.spec import SPEC

HOLDS = """
import sys
import threading
from envservers.science.sciworld.pool import pool_of
pool = pool_of(jvms=1, heap_mb=128)
world = pool.load("boil", 0, "")
print(*pool.pids(), flush=True)
if sys.argv[1] == "wait":
    sys.stdin.read()
elif sys.argv[1] == "raise":
    raise RuntimeError("the end")
"""


def holder(how: str) -> tuple[subprocess.Popen, int]:
    """A process that has a machine, and the machine's process id."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS, how], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    return process, int(process.stdout.readline())


def gone(pid: int, *, within_s: float = 20.0) -> bool:
    """Whether the process ends; one that its parent has not asked for yet has ended too."""
    until = time.monotonic() + within_s
    while time.monotonic() < until:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.05)
    return False


def test_a_machine_ends_with_its_process(needs):
    process, pid = holder("raise")
    process.communicate(timeout=60)
    assert gone(pid)


def test_a_machine_ends_when_its_process_is_killed(needs):
    process, pid = holder("wait")
    assert not gone(pid, within_s=0.2)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert gone(pid)


def test_a_machine_that_dies_ends_its_worlds_as_failed_and_is_replaced(new_pool):
    pool = new_pool()
    world = pool.load("boil", 0, "")
    seen = world.step("look around")
    others = [pool.load("boil", n, "") for n in range(1, 6)]
    [first] = pool.pids()  # of all six
    os.kill(first, signal.SIGKILL)
    for _ in range(2):
        with pytest.raises(EnvFailed, match="the Java machine of this session has ended"):
            world.step("look around")
    with pytest.raises(EnvFailed, match="has ended"):
        world.actions()
    with pytest.raises(EnvFailed, match="has ended"):
        others[0].step("look around")
    world.close()
    assert pool.load("boil", 0, "").step("look around") == seen
    [second] = pool.pids()
    assert second != first
    assert gone(first)


def test_a_session_on_a_machine_that_dies_ends_as_env_error_and_a_reset_goes_on(needs):
    async def run() -> list:
        table = Sessions([SPEC], env_options={"sciworld": {"jvms": 1, "heap_mb": 130}})
        try:
            made = await table.handle(CreateCall(body=CreateBody(env="sciworld", task="sciworld/test/0")))
            env = SciWorld(jvms=1, heap_mb=130)
            for pid in env._pool.pids():
                os.kill(pid, signal.SIGKILL)
            look = StepCall(session=made.body.session, body=StepBody(action="look around"))
            replies = [await table.handle(look), await table.handle(look)]
            again = await table.handle(CreateCall(body=CreateBody(env="sciworld", task="sciworld/test/0")))
            env._pool.close()
            return [*replies, made, again]
        finally:
            await table.close()

    failed, after, made, again = asyncio.run(run())
    assert (failed.status, failed.body.code) == (500, "env_failed")
    assert (after.status, after.body.extra["outcome"]) == (409, "env_error")
    assert again.body.observation == made.body.observation


def test_a_full_machine_refuses_one_more_world_and_has_room_again_after_a_close(new_pool):
    pool = new_pool()
    pool.room = 2
    first, second = pool.load("boil", 0, ""), pool.load("boil", 1, "")
    with pytest.raises(NoCapacity, match="serve with more jvms or heap_mb"):
        pool.load("boil", 2, "")
    first.close()
    third = pool.load("boil", 2, "")
    del third  # a world that nobody holds leaves by itself
    pool.load("boil", 3, "")
    assert second.step("look around").text


def test_an_env_keeps_its_machine_over_close(needs):
    env = SciWorld(jvms=1)
    task = SPEC.task_set().get("test", 0)
    env.reset(task)
    pids = env._pool.pids()
    env.close()
    env.reset(task)
    assert env.step(Action(text="wait1")).observation
    env.close()
    assert env._pool.pids() == pids


def test_a_forked_child_leaves_the_machine_to_its_parent(needs):
    code = HOLDS.partition("if sys.argv")[0] + (
        "import os\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    del world\n"
        "    print(len(pool_of(jvms=1, heap_mb=128).pids()), flush=True)\n"
        "    os._exit(0)\n"
        "os.waitpid(child, 0)\n"
        "print(world.step('look around').text[:9])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=False)
    assert done.stdout.splitlines()[1:] == ["0", "This room"], done.stderr


def test_closing_does_not_wait_for_a_call_that_runs(new_pool):
    pool = new_pool()
    world = pool.load("boil", 0, "")
    world.step("look around")
    errors = []

    def wait_on() -> None:
        try:
            while True:
                world.step("wait")
        except EnvFailed as exc:
            errors.append(exc)

    thread = threading.Thread(target=wait_on)
    thread.start()
    time.sleep(0.3)
    began = time.monotonic()
    pool.close()
    assert time.monotonic() - began < 10
    thread.join(timeout=30)
    assert "has ended" in str(errors[0])
