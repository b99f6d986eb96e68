"""Runs of real environments, played by one process and verified by another with another hash seed."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ENVS = {
    "search": ("oracle", "{env: search, tasks: 4}"),
    "sql": ("oracle", "{env: sql, tasks: 4}"),
    "babyai": ("random", "{env: babyai, tasks: 4, max_steps: 20}"),
    "webarena": ("oracle", "{env: webarena, split: smoke, tasks: 4, options: {engine: lite, size: small}}"),
    "sciworld": ("oracle", "{env: sciworld, tasks: 3}"),
}


PROGRAM = "import sys; from agentenv.cli.main import main; main(sys.argv[1:])"


def command(seed: str, *words: str) -> dict:
    """What the command says in JSON, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "eval", *words, "--json"],
        env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, timeout=110,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("env", ENVS)
def test_a_recorded_run_verifies_in_a_fresh_process(env, tmp_path: Path):
    if env == "sciworld" and shutil.which("java") is None:
        pytest.skip("no Java on this machine")
    agent, entry = ENVS[env]
    suite = tmp_path / "s.yaml"
    suite.write_text(f"name: s\nseed: 1\nenvs: [{entry}]\n")
    ran = command("1", "run", str(suite), "--agent", agent)
    [run] = ran["runs"]
    assert run["valid"] == run["planned"] > 0
    found = command("2", "verify", run["run"])
    assert (found["level"], found["verified"], found["of"]) == ("verified", run["planned"], run["planned"])
    assert {"verifier", "platform", "at", "by", "chain"} <= set(found)
