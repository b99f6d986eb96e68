"""What is not installed costs the environments that need it and no other, and one command mends each."""

import json
import os
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import minigrid
import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = Path(minigrid.__file__).parents[1]
JAVA = "apt-get install openjdk-17-jre-headless"
LEFT_OUT = ("minigrid", "bm25s", "scienceworld", "py4j", "playwright", "sentence_transformers", "pyarrow")
MENDED_BY = {
    "babyai": "pip install 'agentenv-gym[embodied]'",
    "search": "pip install 'agentenv-gym[search]'",
    "sciworld": f"pip install 'agentenv-gym[science]' && {JAVA}",
}


@pytest.fixture(scope="module")
def bare(tmp_path_factory) -> dict[str, str]:
    """Settings of a Python that has all packages of this one but those left out, on a machine without Java."""
    folder = tmp_path_factory.mktemp("bare")
    hidden = set(LEFT_OUT)
    for module, distributions in packages_distributions().items():
        if module in LEFT_OUT:
            hidden |= {f"{name.replace('-', '_')}" for name in distributions}
    (folder / "packages").mkdir()
    (folder / "bin").mkdir()
    for entry in PACKAGES.iterdir():
        name = entry.name.partition(".")[0] if entry.suffix != ".dist-info" else entry.name.rpartition("-")[0]
        if name.partition("-")[0] not in hidden and entry.suffix != ".pth":
            (folder / "packages" / entry.name).symlink_to(entry)
    environ = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    path = os.pathsep.join([str(folder / "packages"), str(ROOT)])
    return environ | {"PATH": str(folder / "bin"), "PYTHONPATH": path, "AGENTENV_HOME": str(folder / "home")}


def run(bare: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command as that Python runs it; `-S` keeps it from the packages of this one."""
    command = [sys.executable, "-S", "-m", "agentenv.cli.main", *arguments]
    return subprocess.run(command, env=bare, capture_output=True, text=True, timeout=100, check=False)


def test_the_list_names_one_command_for_each_environment_that_lacks_something(bare):
    done = run(bare, "envs", "--json")
    assert done.returncode == 0, done.stderr
    rows = {row["env"]: row for row in json.loads(done.stdout)}
    lost = {env: row["unavailable"] for env, row in rows.items() if "unavailable" in row}
    assert {env: reason.rpartition(": ")[2] for env, reason in lost.items()} == MENDED_BY
    assert len(rows) >= 12


@pytest.mark.parametrize("env", MENDED_BY)
def test_an_environment_that_lacks_something_says_so_in_one_line(bare, env):
    done = run(bare, "rollout", env, "--agent", "noop", "--limit", "1")
    assert done.returncode != 0
    assert MENDED_BY[env] in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("env", ["math", "todo", "alfworld"])
def test_the_others_are_played_as_ever(bare, tmp_path, env):
    out = tmp_path / "episodes.jsonl"
    done = run(bare, "rollout", env, "--agent", "oracle", "--split", "test", "--limit", "2", "--out", str(out))
    assert done.returncode == 0, done.stderr
    episodes = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [episode["success"] for episode in episodes] == [True, True]
