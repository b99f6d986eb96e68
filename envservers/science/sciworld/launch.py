"""Start a Java machine that waits for calls on a loopback port, under flags that make the simulator's text repeatable.

The process ends with this one, however that ends: it reads its standard input and leaves when the pipe breaks. It has
a session of its own, so that Ctrl-C in a terminal is left to this process.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from py4j.java_gateway import find_jar_path

from agentenv.errors import EnvFailed
from envservers.science.sciworld.needs import APT, LEAST_JAVA, find_jar, find_java

START_S = 60.0
"""Seconds that a machine may take to answer."""

FLAGS: tuple[str, ...] = (
    # Sets of objects are listed in the order of their hash codes, which are random by default and here all equal.
    "-XX:+UnlockExperimentalVMOptions",
    "-XX:hashCode=2",
    # Case and number formats, whatever the user's locale.
    "-Duser.language=en",
    "-Duser.country=US",
    "-Dfile.encoding=UTF-8",
    # The state of the one random generator is read and set, see `jvm.py`.
    "--add-opens=java.base/java.util=ALL-UNNAMED",
    # Out of memory it ends, so that no half-broken world plays on.
    "-XX:+ExitOnOutOfMemoryError",
    "-XX:+UseSerialGC",
    # No files in the temporary or the working folder.
    "-XX:-UsePerfData",
    f"-XX:ErrorFile={os.devnull}",
)

FOREIGN = frozenset({"CLASSPATH", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"})
"""Variables by which a user's settings would reach the machine."""
STEADY = {"MALLOC_ARENA_MAX": "1"}
"""With one arena the machine grew by 4 MB over 220 sessions, else by 16; one thread of it works at a time anyway."""


@dataclass(frozen=True, slots=True)
class Launched:
    """A machine that answers on `port` those who know `token`."""

    process: subprocess.Popen[bytes]
    port: int
    token: str
    errors: IO[bytes]
    """What it wrote to its standard error; a file without a name."""

    def end(self) -> None:
        """Kill it and free what is held of it; a second call does nothing."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.errors):
            if stream is not None:
                stream.close()


def command(heap_mb: int, *, claimed: bool) -> list[str]:
    """The command line; a heap that is claimed at once never grows."""
    heap = [f"-Xmx{heap_mb}m", *([f"-Xms{heap_mb}m", "-XX:+AlwaysPreTouch"] if claimed else [])]
    classpath = os.pathsep.join([str(Path(find_jar_path()).resolve()), str(find_jar())])
    gateway = ["py4j.GatewayServer", "--die-on-broken-pipe", "--enable-auth", "0"]
    return [find_java() or "java", *FLAGS, *heap, "-classpath", classpath, *gateway]


def launch(*, heap_mb: int, claimed: bool) -> Launched:
    """Start one and wait until it answers; EnvFailed with its own words when it does not."""
    errors = tempfile.TemporaryFile()  # noqa: SIM115  # it lives as long as the machine
    process = subprocess.Popen(
        command(heap_mb, claimed=claimed),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        env={name: value for name, value in os.environ.items() if name not in FOREIGN} | STEADY,
        cwd=os.sep,
        start_new_session=True,
    )
    late = threading.Timer(START_S, process.kill)
    late.daemon = True
    late.start()
    try:
        assert process.stdout is not None
        port, token = process.stdout.readline().strip(), process.stdout.readline().strip()
    finally:
        late.cancel()
    launched = Launched(process, int(port) if port.isdigit() else 0, token.decode(), errors)
    if not (launched.port and token):
        said = tail(errors)
        launched.end()
        raise EnvFailed(f"Java did not start: {said or 'no word of it'}; sciworld needs Java {LEAST_JAVA} ({APT})")
    return launched


def tail(errors: IO[bytes], most: int = 300) -> str:
    """The end of what a machine wrote to its standard error."""
    file = errors.fileno()  # read by place: the machine writes at the position that both share
    return os.pread(file, most, max(0, os.fstat(file).st_size - most)).decode("utf-8", "replace").strip()
