"""The runtime: one a process, renewed when it breaks, gone with its process."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from browse import do, texts
from tiny_site import TinySite, script, tiny_session

from envservers.webarena.act import Verb
from envservers.webarena.engines.chromium import browser as browsers
from envservers.webarena.engines.chromium import folder as folders
from envservers.webarena.engines.chromium import runtime as running
from envservers.webarena.engines.chromium import tabs
from envservers.webarena.engines.chromium.engine import ChromiumEngine
from envservers.webarena.engines.engine import EngineFailed

PAGES = {"/": '<p>home</p><a href="/next">Next</a>', "/next": "<p>next</p>"}
HOME = ["http://shop.test/"]
OWNER = """
import asyncio, sys
from pathlib import Path
from tiny_site import TinySite, tiny_session
from envservers.webarena.engines.chromium.engine import ChromiumEngine
from envservers.webarena.engines.chromium.runtime import runtime

async def main():
    engine = ChromiumEngine()
    await engine.open(tiny_session(Path(sys.argv[1]), TinySite({"/": "<p>home"})), ["http://shop.test/"])
    print(runtime().folder, runtime().browsers()[0].pids[0], flush=True)
    if sys.argv[2] == "wait":
        await asyncio.sleep(600)

asyncio.run(main())
"""


def session(tmp_path, pages=PAGES):
    return tiny_session(tmp_path, TinySite(pages))


def family(pid):
    """A process and all below it."""
    root = psutil.Process(pid)
    return [root, *root.children(recursive=True)]


def gone(processes, within_s=10.0):
    """Whether they all end in time."""
    _, alive = psutil.wait_procs(processes, timeout=within_s)
    return not [p for p in alive if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]


def own(tmp_path, mode):
    """A process of its own with an engine; itself, its folder, and the processes of its browser."""
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3] / "support")}
    command = [sys.executable, "-c", OWNER, str(tmp_path), mode]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout as said:
        folder, pid = said.readline().split()
    return process, Path(folder), int(pid)


def test_engines_of_two_threads_share_one_browser(tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()

    async def use(name):
        engine = ChromiumEngine()
        await engine.open(session(tmp_path / name), HOME)
        found = await texts(engine)
        await engine.close()
        return found, running.runtime().browsers()[0].pids

    async def both():
        return await asyncio.gather(*(asyncio.to_thread(asyncio.run, use(name)) for name in "ab"))

    (one, first), (two, second) = asyncio.run(both())
    assert one == two == ["home", "Next"]
    assert first == second


def test_a_second_session_starts_in_a_context_made_before(tmp_path):
    async def play():
        engine = ChromiumEngine()
        await engine.open(session(tmp_path), HOME)
        browser = running.runtime().browsers()[0]
        while browser.opened < 1 + running.WARM:
            await asyncio.sleep(0.01)
        warm = {room.token for room in running.runtime()._warm}
        await engine.open(session(tmp_path), HOME)
        used = engine._browsing.room.token
        await engine.close()
        return used in warm

    assert asyncio.run(play())


def test_a_crashed_page_fails_its_session_and_no_other(tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()

    async def play():
        hit, other = ChromiumEngine(), ChromiumEngine()
        await hit.open(session(tmp_path / "a"), HOME)
        await other.open(session(tmp_path / "b"), HOME)
        with pytest.raises(EngineFailed):
            await hit._run(lambda browsing: browsing.tab.call("Page.crash"))
        with pytest.raises(EngineFailed):
            await hit.view(full=True)
        assert await do(other, Verb.CLICK, "Next") == ""
        await hit.open(session(tmp_path / "a"), HOME)
        found = await texts(hit), await texts(other)
        await hit.close()
        await other.close()
        return found

    assert asyncio.run(play()) == (["home", "Next"], ["next"])


def test_a_killed_browser_fails_its_sessions_and_the_next_one_gets_another(tmp_path):
    async def play():
        engine = ChromiumEngine()
        await engine.open(session(tmp_path), HOME)
        (old,) = running.runtime().browsers()
        folders.end_tree(old.pids[0])
        with pytest.raises(EngineFailed):
            await engine.view(full=True)
        await engine.open(session(tmp_path), HOME)
        new = running.runtime().browsers()
        found = await texts(engine)
        await engine.close()
        return found, [browser.pids for browser in new], old.pids

    found, new, old = asyncio.run(play())
    assert found == ["home", "Next"]
    assert len(new) == 1
    assert new != [old]


def test_a_killed_driver_is_replaced_with_its_browser(tmp_path):
    async def play():
        engine = ChromiumEngine()
        await engine.open(session(tmp_path), HOME)
        for process in psutil.Process().children():
            if "playwright" in " ".join(process.cmdline()):
                process.kill()
        with pytest.raises(EngineFailed):
            await engine.view(full=True)
        await engine.open(session(tmp_path), HOME)
        found = await texts(engine)
        await engine.close()
        return found

    assert asyncio.run(play()) == ["home", "Next"]


def test_a_page_that_never_gets_ready_fails_in_time(tmp_path, monkeypatch):
    monkeypatch.setattr(tabs, "LOAD_S", 0.5)
    stuck = {
        "/": '<p>home</p><script src="/ask.js"></script>',
        "/ask.js": script("const ask = () => fetch('/again').then(ask); for (let n = 0; n < 9; n++) ask()"),
        "/again": "<p>again",
    }

    async def play():
        engine = ChromiumEngine()
        began = time.monotonic()
        with pytest.raises(EngineFailed, match=r"not ready within 0\.5 s"):
            await engine.open(session(tmp_path, stuck), HOME)
        return time.monotonic() - began

    assert asyncio.run(play()) < 10


def test_a_call_that_the_page_does_not_answer_fails_in_time(tmp_path, monkeypatch):
    async def play():
        engine = ChromiumEngine()
        await engine.open(session(tmp_path), HOME)
        monkeypatch.setattr(tabs, "CALL_S", 0.5)
        with pytest.raises(EngineFailed, match=r"Runtime\.evaluate took more than 0\.5 s"):
            await engine._run(lambda browsing: browsing.tab.evaluate("for (;;);"))
        monkeypatch.undo()
        await engine.open(session(tmp_path), HOME)
        found = await texts(engine)
        await engine.close()
        return found

    assert asyncio.run(play()) == ["home", "Next"]


def test_a_browser_takes_no_more_than_its_contexts_and_ends_with_the_last(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "MOST_CONTEXTS", 2)
    monkeypatch.setattr(running, "WARM", 0)
    running.shutdown()
    for name in "abc":
        (tmp_path / name).mkdir()

    async def play():
        engines = [ChromiumEngine() for _ in "abc"]
        for engine, name in zip(engines, "abc", strict=True):
            await engine.open(session(tmp_path / name), HOME)
        used = [engine._browsing.room.browser for engine in engines]
        assert await do(engines[0], Verb.CLICK, "Next") == ""  # a worn browser serves those that it has
        processes = family(used[0].pids[0])
        for engine in engines[:2]:
            await engine.close()
        assert gone(processes)
        found = await texts(engines[2])
        await engines[2].close()
        return used, found

    used, found = asyncio.run(play())
    assert used[0] is used[1] is not used[2]
    assert found == ["home", "Next"]


def test_a_browser_over_its_memory_is_replaced(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "MOST_PSS_MB", 1)
    monkeypatch.setattr(running, "PSS_EVERY", 2)
    monkeypatch.setattr(running, "WARM", 0)
    running.shutdown()

    async def play():
        engine = ChromiumEngine()
        await engine.open(session(tmp_path), HOME)
        first = engine._browsing.room.browser
        await engine.open(session(tmp_path), HOME)
        second = engine._browsing.room.browser
        await engine.close()
        return first.opened, second is first

    opened, same = asyncio.run(play())
    assert opened == 1
    assert not same


def test_shutdown_leaves_nothing_and_the_next_engine_starts_afresh(tmp_path):
    async def use():
        engine = ChromiumEngine()
        await engine.open(session(tmp_path), HOME)
        return running.runtime(), family(running.runtime().browsers()[0].pids[0]), await texts(engine)

    old, processes, _ = asyncio.run(use())
    running.shutdown()
    assert gone(processes)
    assert not old.folder.exists()
    new, _, found = asyncio.run(use())
    assert new is not old
    assert found == ["home", "Next"]
    running.shutdown()
    running.shutdown()


def test_nothing_is_left_after_the_process_ends(tmp_path):
    process, folder, pid = own(tmp_path, "end")
    assert process.wait(60) == 0
    assert not psutil.pid_exists(pid)
    assert not folder.exists()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_no_browser_outlives_a_killed_owner_and_its_folder_is_swept_by_the_next(tmp_path, number):
    process, folder, pid = own(tmp_path, "wait")
    processes = family(pid)
    assert len(processes) > 2
    process.send_signal(number)
    process.wait(10)
    assert gone(processes)
    folders.sweep()
    assert not folder.exists()


def test_a_folder_whose_owner_lives_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(folders.tempfile, "tempdir", str(tmp_path))
    mine = folders.make_folder()
    strange = tmp_path / f"{folders.PREFIX}strange"
    strange.mkdir()
    assert folders.sweep(tmp_path) == []
    assert mine.exists()
    assert strange.exists()


def test_a_left_browser_is_ended_by_its_recorded_process_and_start(tmp_path):
    sleepers = [subprocess.Popen(["sleep", "600"]) for _ in range(2)]
    started = psutil.Process(sleepers[0].pid).create_time()
    left = tmp_path / f"{folders.PREFIX}left"
    left.mkdir()
    owner = {"pid": 2**22 - 1, "started": 1.0}
    stamps = [{"pid": sleepers[0].pid, "started": started}, {"pid": sleepers[1].pid, "started": 1.0}]
    (left / folders.RECORD).write_text(json.dumps({"owner": owner, "browsers": stamps}))
    try:
        assert folders.sweep(tmp_path) == [left]
        assert not psutil.pid_exists(sleepers[0].pid)
        assert sleepers[1].poll() is None  # the number of a browser that is long gone
    finally:
        for sleeper in sleepers:
            sleeper.kill()
            sleeper.wait()


def test_a_forked_child_does_not_touch_the_runtime_of_its_parent(tmp_path):
    async def use(script):
        engine = ChromiumEngine()
        await engine.open(session(tmp_path), HOME)
        script()
        found = await texts(engine)
        await engine.close()
        return found

    def fork():
        child = os.fork()
        if child == 0:
            running.shutdown()
            os._exit(0 if running._current is None else 1)
        assert os.waitpid(child, 0)[1] == 0

    assert asyncio.run(use(fork)) == ["home", "Next"]


def test_steps_wait_for_each_other_beyond_two_a_core():
    assert running.runtime().steps._value == 2 * (os.cpu_count() or 1)
    assert browsers.WIDTH, browsers.HEIGHT == (1280, 720)
