"""A server in a process of its own, for as long as a block runs."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any

from agentenv.errors import ServerUnreachable

STOP_S = 10.0
"""Seconds from the polite request to stop until the server is killed."""


@contextmanager
def serving(envs: Sequence[str], *options: str) -> Iterator[str]:
    """`agentenv serve ENVS OPTIONS` on a free port; gives its URL. The process has ended when the block is left.

    SIGTERM leaves the block like Ctrl-C; for the main thread alone, as signals are.
    """
    command = [sys.executable, "-m", "agentenv.cli.main", "serve", *envs, *options, "--port", "0", "--json"]
    # A session of its own: Ctrl-C reaches this process alone, which then stops the server in order.
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    before = signal.signal(signal.SIGTERM, _unwind)
    try:
        yield str(_ready(process)["url"])
    finally:
        _stop(process)
        signal.signal(signal.SIGTERM, before)


def _unwind(signum: int, frame: FrameType | None) -> None:
    """SIGTERM unwinds like Ctrl-C, so that the server stops too."""
    raise KeyboardInterrupt


def _ready(process: subprocess.Popen[str]) -> dict[str, Any]:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise ServerUnreachable(f"the server did not start (exit code {process.wait()}); its message stands above")
    ready: dict[str, Any] = json.loads(line)
    return ready


def _stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
