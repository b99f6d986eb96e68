"""Starting, asking and ending the process of the engine `vllm`."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from trainers.engines import vllm_worker
from trainers.engines.errors import EngineFailed
from trainers.settings import BadSetting

NOT_INHERITED = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE", "ROLE_RANK")
"""And MASTER_*, TORCHELASTIC_*: with them vLLM would join the learners' process group."""
DEFAULTS = {
    "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_LOGGING_LEVEL": "WARNING",
    "VLLM_NO_USAGE_STATS": "1",
    "HF_HUB_OFFLINE": "1",
    "PYTHONUNBUFFERED": "1",
}
CLOSE_S = 15.0
"""For the process to end by itself; then it is killed."""
TAIL = 2000
"""Characters of the log in an error."""


class ProcessEnded(EngineFailed):
    """The process is gone; nothing brings it back but a new engine."""

    code = "engine_ended"


class WorkerProcess:
    """Questions by number, answers in any order. A thread reads the answers; any event loop may ask."""

    def __init__(
        self, python: str | None, environment: Mapping[str, str], *, threads: int | None, log: Path | None
    ) -> None:
        self.closed = False
        self._home = tempfile.mkdtemp(prefix="agentenv-vllm-")
        self._log = log or Path(self._home, "log")
        self._pending: dict[int, Future[dict[str, Any]]] = {}
        self._count = 0
        self._lock = threading.Lock()
        self._ended = ""
        # A folder with the one module: whatever else lies beside it here stays out of that interpreter's way.
        shutil.copyfile(vllm_worker.__file__, Path(self._home, f"{vllm_worker.MODULE}.py"))
        self._socket, theirs = socket.socketpair()
        with theirs, self._log.open("ab") as output:
            try:
                self._popen = subprocess.Popen(
                    [python or sys.executable, "-P", "-m", vllm_worker.MODULE, str(theirs.fileno())],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    pass_fds=[theirs.fileno()],
                    env=_environment(os.environ, environment, self._home, threads),
                    start_new_session=True,  # so that close finds what it started, too
                )
            except OSError as exc:
                self._socket.close()
                shutil.rmtree(self._home)
                raise BadSetting(f"engine vllm: cannot start python={python}: {exc}") from exc
        self._threads = [
            threading.Thread(target=target, name="vllm-engine", daemon=True) for target in (self._read, self._watch)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def busy(self) -> int:
        """Questions without an answer."""
        return len(self._pending)

    @property
    def pid(self) -> int:
        """Of the process, which is also its group's."""
        return self._popen.pid

    def send(self, header: Mapping[str, Any], body: bytes = b"") -> Future[dict[str, Any]]:
        """Ask; the answer comes later."""
        answer: Future[dict[str, Any]] = Future()
        with self._lock:
            if self._ended:
                raise ProcessEnded(self._ended)
            self._count += 1
            self._pending[self._count] = answer
            self._write({**header, "id": self._count}, body)
        return answer

    async def ask(self, header: Mapping[str, Any], body: bytes = b"") -> dict[str, Any]:
        """The answer. Raises EngineFailed with what the process says, ProcessEnded when it has gone."""
        answer = await asyncio.to_thread(self.send, header, body) if body else self.send(header)
        try:
            return await asyncio.wrap_future(answer)
        except asyncio.CancelledError:
            self._abort(answer)
            raise

    def tail(self) -> str:
        """The end of what the process has printed, as the end of a message."""
        with contextlib.suppress(OSError):
            text = self._log.read_text(errors="replace").strip()
            if text:
                return f"; it printed:\n{text[-TAIL:]}"
        return ""

    def close(self) -> None:
        """End the process and all that it started; idempotent."""
        if self.closed:
            return
        self.closed = True
        with self._lock:
            if not self._ended:
                self._write({"kind": "close"}, b"")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(CLOSE_S)
        self._kill()
        for thread in self._threads:
            thread.join()
        self._socket.close()
        shutil.rmtree(self._home, ignore_errors=True)

    def _write(self, header: Mapping[str, Any], body: bytes) -> None:
        with contextlib.suppress(OSError):  # the reader sees the end, and tells everybody
            self._socket.sendall(vllm_worker.frame(dict(header), body))

    def _abort(self, answer: Future[dict[str, Any]]) -> None:
        with self._lock:
            for number in [n for n, pending in self._pending.items() if pending is answer]:
                del self._pending[number]
                self._write({"kind": "abort", "id": number}, b"")

    def _read(self) -> None:
        with self._socket.makefile("rb") as stream:
            while (message := _next_message(stream)) is not None:
                header, _ = message
                with self._lock:
                    answer = self._pending.pop(header["id"], None)
                if answer is None or not answer.set_running_or_notify_cancel():
                    continue
                if header["kind"] == "failed":
                    answer.set_exception(EngineFailed(f"vLLM: {header['error']}"))
                else:
                    answer.set_result(header)
        self._lose()

    def _watch(self) -> None:
        """Its children may hold the socket open when the process has gone."""
        self._popen.wait()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def _lose(self) -> None:
        """The process has gone, or is of no more use: everybody who waits learns it."""
        self._kill()
        code = self._popen.wait()
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        reason = "the engine was closed" if self.closed else f"the vLLM process ended ({how}){self.tail()}"
        with self._lock:
            self._ended = reason
            lost, self._pending = self._pending, {}
        for answer in lost.values():
            if answer.set_running_or_notify_cancel():
                answer.set_exception(ProcessEnded(reason))

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._popen.pid, signal.SIGKILL)


def _next_message(stream: Any) -> tuple[dict[str, Any], bytes] | None:
    try:
        return vllm_worker.read_frame(stream)
    except (OSError, ValueError):
        return None


def _environment(
    inherited: Mapping[str, str], given: Mapping[str, str], home: str, threads: int | None
) -> dict[str, str]:
    kept = {
        name: value
        for name, value in inherited.items()
        if name not in NOT_INHERITED and not name.startswith(("MASTER_", "TORCHELASTIC_", "PYTHON"))
    }
    ours = {"PYTHONPATH": home} | ({"OMP_NUM_THREADS": str(threads)} if threads else {})
    return DEFAULTS | kept | ours | dict(given)
