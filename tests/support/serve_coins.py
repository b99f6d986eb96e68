"""A server of the coin in a process of its own, which a test can kill: prints its URL, then serves.

Run as `python serve_coins.py [PORT]`; ends by itself when its stdin does.
"""

import subprocess
import sys
import threading
from pathlib import Path


def coin_process(port: int = 0) -> tuple[str, subprocess.Popen[str]]:
    """The URL and the process, ready."""
    pipe = subprocess.PIPE
    process = subprocess.Popen([sys.executable, __file__, str(port)], stdin=pipe, stdout=pipe, text=True)
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    assert url.startswith("http"), "the server ended at its start"
    return url, process


def end(process: subprocess.Popen[str]) -> None:
    """Kill it, and close what it was heard through."""
    process.kill()
    process.wait(10)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    process.stdout.close()


def main() -> None:
    sys.path.insert(0, str(Path(__file__).parent))
    from serve_toys import _end_with_stdin
    from trainer_envs import COIN

    from agentenv.server.serve import ServeConfig, serve

    threading.Thread(target=_end_with_stdin, daemon=True).start()
    serve([COIN], ServeConfig(port=int(sys.argv[1])), on_ready=lambda url: print(url, flush=True))


if __name__ == "__main__":
    main()
