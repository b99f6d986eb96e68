"""The demo runs from the server to the leaderboard, and its server never outlives it."""

import signal
import subprocess
import sys

import psutil
import pytest

from agentenv.cli.server_process import serving
from agentenv.errors import ServerUnreachable

DEMO = [sys.executable, "-m", "agentenv.cli.main", "demo"]


def wait_until_gone(processes: list[psutil.Process]) -> list[psutil.Process]:
    return psutil.wait_procs(processes, timeout=20)[1]


@pytest.mark.slow
@pytest.mark.timeout(600)  # a browser plays, too
def test_the_demo_ends_with_a_leaderboard_and_leaves_nothing_running(tmp_path):
    done = subprocess.run(DEMO, cwd=tmp_path, capture_output=True, text=True, timeout=580, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for word in (
        "textcraft",
        "wordle",
        "maze",
        "webarena",
        "oracle",
        "random",
        "noop",
        "reference",
        "What to type next",
    ):
        assert word in done.stdout
    [database] = tmp_path.glob(".demo/*/agentenv.db")
    assert f"AGENTENV_HOME={database.parent}" in done.stdout
    left = [p for p in psutil.process_iter(["cwd", "cmdline"]) if p.info["cwd"] == str(tmp_path)]
    assert left == []


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_the_server_stops_when_the_demo_is_interrupted(tmp_path, sign):
    with subprocess.Popen(DEMO, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as demo:
        for line in demo.stdout:
            if line.startswith("It answers at"):
                break
        server = psutil.Process(demo.pid).children(recursive=True)
        assert server
        demo.send_signal(sign)
        assert demo.wait(30) != 0
        assert wait_until_gone(server) == []
        assert "Traceback" not in demo.stdout.read()


def test_the_server_of_a_block_stops_when_the_block_fails():
    before = set(psutil.Process().children())
    server: set[psutil.Process] = set()

    def failing_block() -> None:
        with serving(["wordle"]):
            server.update(set(psutil.Process().children()) - before)
            raise RuntimeError("the block fails")

    with pytest.raises(RuntimeError, match="the block fails"):
        failing_block()
    assert server
    assert wait_until_gone(list(server)) == []


def test_a_server_that_cannot_start_is_told(capfd):
    with pytest.raises(ServerUnreachable, match="exit code 2"), serving(["wordel"]):
        pytest.fail("there is no such env")
    assert "did you mean 'wordle'?" in capfd.readouterr().err
