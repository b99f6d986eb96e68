"""`serve`: where it may listen, what it says about a busy port, and that it ends in order with nothing left."""

import contextlib
import errno
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from rough_envs import Gate
from toy_envs import SPECS as TOYS

from agentenv.errors import BadCall, EnvUnavailable, UnknownOption
from agentenv.server.serve import PortBusy, ServeConfig, bind, own_hosts, serve

TOY = TOYS["toy_inline"]
SUPPORT = Path(__file__).parents[2] / "support"

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
from rough_envs import SPECS
from agentenv.server.serve import ServeConfig, serve
serve(list(SPECS.values()), ServeConfig(port=0, grace_s=1), on_ready=lambda url: print(url, flush=True))
print("ended", flush=True)
"""


@contextmanager
def server_process() -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """`serve` in a process of its own: URL and process. It must have ended when the block is left."""
    command = [sys.executable, "-W", "error", "-c", PROGRAM, str(SUPPORT)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        url = process.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:"), process.stderr.read()
        yield url, process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def post(url: str, body: Any) -> Any:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.load(reply)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_in_order(number: signal.Signals):
    with server_process() as (url, process):
        for env in ("rough_process", "rough_thread"):
            post(f"{url}/v1/sessions", {"env": env, "task": f"{env}/train/0"})
        [child] = psutil.Process(process.pid).children()
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
        assert (process.returncode, out, err) == (0, "ended\n", "")
        assert not child.is_running()


@pytest.mark.parametrize("env", ["rough_process", "rough_thread", "rough_async"])
def test_sigterm_ends_the_server_while_a_step_hangs(env: str, tmp_path: Path):
    gate = Gate(tmp_path / "gate")
    with server_process() as (url, process):
        session = post(f"{url}/v1/sessions", {"env": env, "task": f"{env}/train/0"})["session"]
        children = psutil.Process(process.pid).children(recursive=True)
        assert len(children) == (env == "rough_process")

        def step() -> None:
            with contextlib.suppress(OSError):  # the server goes away underneath it
                post(f"{url}/v1/sessions/{session}/step", {"action": gate.hold})

        caller = threading.Thread(target=step)
        caller.start()
        while not Path(f"{gate.path}.in").exists():
            caller.join(0.01)
        process.terminate()
        out, _ = process.communicate(timeout=60)
        caller.join()
        assert (process.returncode, out) == (0, "ended\n")
        assert not any(child.is_running() for child in children)


def test_ready_is_told_once_requests_are_answered_and_signal_handlers_are_given_back():
    answered: list[Any] = []

    def ready(url: str) -> None:
        def ask() -> None:
            with urllib.request.urlopen(f"{url}/healthz", timeout=30) as reply:
                answered.append(json.load(reply))
            os.kill(os.getpid(), signal.SIGTERM)

        threading.Thread(target=ask).start()

    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    serve([TOY], ServeConfig(port=0), on_ready=ready)
    assert answered == [{"ok": True}]
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "10.1.2.3", "127.evil.example"])
def test_other_hosts_than_loopback_want_a_token(host: str):
    with pytest.raises(BadCall, match=r"AGENTENV_TOKEN or --token-file"):
        serve([TOY], ServeConfig(host=host, port=0))


def test_a_busy_port_names_the_process_that_holds_it():
    holder = socket.socket()
    with holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        with pytest.raises(PortBusy) as caught:
            serve([TOY], ServeConfig(port=port))
        me = psutil.Process()
        assert f"port {port} on 127.0.0.1 is taken by {me.name()} (pid {me.pid})" in str(caught.value)
        assert "--port 0" in str(caught.value)


def test_an_address_that_cannot_be_bound_is_not_called_busy(monkeypatch: pytest.MonkeyPatch):
    for host in ("192.0.2.1", "no.such.host.invalid"):
        with pytest.raises(BadCall, match="cannot bind"):
            bind(host, 0)

    class Refused(socket.socket):
        def bind(self, address: Any) -> None:
            raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(socket, "socket", Refused)
    with pytest.raises(BadCall, match=r"cannot bind 127\.0\.0\.1:80: .*Permission denied"):
        bind("127.0.0.1", 80)


def test_a_wrong_option_or_a_missing_engine_is_told_before_anything_listens():
    with pytest.raises(UnknownOption, match="goal"):
        serve([TOY], ServeConfig(port=0, env_options={"toy_inline": {"gaol": 1}}))
    with pytest.raises(EnvUnavailable, match="no_such_module"):
        serve([replace(TOY, entry="no_such_module:Env")], ServeConfig(port=0))


def test_a_server_on_every_address_answers_to_all_names_of_this_machine():
    assert own_hosts("127.0.0.1") == {"127.0.0.1"}
    for host in ("0.0.0.0", "::", ""):
        found = own_hosts(host)
        assert {"127.0.0.1", socket.gethostname()} <= found
        assert not any("%" in name for name in found)
