"""Measure agentenv beside OpenEnv and the bare transport; write .bench/results.json and a part of docs/benchmarks.md.

    python benchmarks/run.py [--rounds 5] [--seconds 0.6] [--sessions 1,8,64,512] [--no-docs]

Each side has one server and one client process for the whole run. The runs alternate: in every round and at every
number of sessions each way is measured once, so that a busy moment of the machine meets all of them. The medians over
the rounds count.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path

import report
import sections

from agentenv.testing import machine

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
OPENENV = ROOT / ".bench" / "openenv" / "bin" / "python"
RESULTS = ROOT / ".bench" / "results.json"

SIDES = {
    "openenv": (OPENENV, "openenv_side.py"),
    "agentenv": (Path(sys.executable), "ours.py"),
    "ceiling": (Path(sys.executable), "ceiling.py"),
}
WAYS = (
    ("openenv", "websocket"),
    ("agentenv", "websocket"),
    ("agentenv", "websocket batch"),
    ("agentenv", "http"),
    ("agentenv", "http batch"),
    ("ceiling", "single"),
    ("ceiling", "batch"),
)
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Side:
    """A server and a client of one side."""

    def __init__(self, server: subprocess.Popen, client: subprocess.Popen) -> None:
        self.server, self.client = server, client

    def measure(self, way: str, sessions: int, seconds: float) -> dict[str, float]:
        """Steps per second, and microseconds of CPU time per step."""
        self.client.stdin.write(json.dumps({"way": way, "sessions": sessions, "seconds": seconds}) + "\n")
        self.client.stdin.flush()
        return read_line(self.client)


@contextmanager
def started(python: Path, script: str):
    """A side's two processes, which have ended when the block is left."""
    server = spawn(python, script, "serve")
    try:
        ready = read_line(server)
        client = spawn(python, script, "client", ready["url"], str(ready["pid"]))
        try:
            yield Side(server, client)
        finally:
            client.stdin.close()
            stop(client)
    finally:
        stop(server)


def spawn(python: Path, script: str, *words: str) -> subprocess.Popen:
    return subprocess.Popen(
        [python, HERE / script, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **ONE_THREAD},
    )


def read_line(process: subprocess.Popen) -> dict:
    line = process.stdout.readline()
    if not line:
        sys.exit(f"{' '.join(map(str, process.args))} ended with {process.wait()}; its message stands above")
    return json.loads(line)


def stop(process: subprocess.Popen) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def measure_all(counts: list[int], rounds: int, seconds: float) -> list[dict]:
    """Medians of each way at each number of sessions, with every round's rate."""
    found: dict[tuple[str, str, int], list[dict[str, float]]] = {}
    with ExitStack() as stack:
        sides = {name: stack.enter_context(started(*SIDES[name])) for name in SIDES}
        for number in range(rounds):
            for count in counts:
                for name, way in WAYS:
                    rate = sides[name].measure(way, count, seconds)
                    found.setdefault((name, way, count), []).append(rate)
                    told = f"{rate['steps_per_s']:,.0f} steps/s"
                    print(f"round {number + 1}: {name} {way}, {count} sessions: {told}", file=sys.stderr)
    return [
        {
            "side": side,
            "way": way,
            "sessions": count,
            "steps_per_s": round(median(rates, "steps_per_s")),
            "client_us": round(median(rates, "client_us"), 2),
            "server_us": round(median(rates, "server_us"), 2),
            "rounds": [round(rate["steps_per_s"]) for rate in rates],
        }
        for (side, way, count), rates in found.items()
    ]


def median(rates: list[dict[str, float]], name: str) -> float:
    return statistics.median(rate[name] for rate in rates)


def openenv_version() -> str:
    code = "from importlib.metadata import version; print(version('openenv'))"
    return subprocess.run([OPENENV, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.6)
    parser.add_argument("--sessions", type=lambda text: [int(n) for n in text.split(",")], default=[1, 8, 64, 512])
    parser.add_argument("--no-docs", action="store_true", help="leave docs/benchmarks.md as it is")
    wanted = parser.parse_args()
    if not OPENENV.exists():
        sys.exit(f"{OPENENV} is not there; `make bench` makes it")
    about = machine.describe()
    about["versions"]["openenv"] = openenv_version()
    rows = measure_all(wanted.sessions, wanted.rounds, wanted.seconds)
    about["load_1m_after"] = round(os.getloadavg()[0], 2)
    results = {"machine": about, "rounds": wanted.rounds, "seconds": wanted.seconds, "rows": rows}
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    page = report.page(results)
    print(page)
    if not wanted.no_docs:
        sections.put("steps", page)


if __name__ == "__main__":
    main()
