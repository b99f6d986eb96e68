"""A server of the toys in a process of its own, which a test can kill: prints its URL, then serves.

Run as `python serve_toys.py [PORT]`; ends by itself when its stdin does.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def toy_process(port: int = 0) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The URL and the process."""
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, __file__, str(port)], stdin=pipe, stdout=pipe, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        url = process.stdout.readline().strip()
        assert url.startswith("http"), "the server ended at its start"
        yield url, process
    finally:
        process.kill()
        process.wait(10)
        process.stdin.close()
        process.stdout.close()


def main() -> None:
    sys.path.insert(0, str(Path(__file__).parent))
    from toy_envs import SPECS

    from agentenv.server.serve import ServeConfig, serve

    threading.Thread(target=_end_with_stdin, daemon=True).start()
    serve(list(SPECS.values()), ServeConfig(port=int(sys.argv[1])), on_ready=lambda url: print(url, flush=True))


def _end_with_stdin() -> None:
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
