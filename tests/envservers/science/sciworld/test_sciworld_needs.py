"""What is missing is named with the one command that brings it, and nothing else is affected."""

import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from agentenv.errors import EnvFailed, EnvUnavailable
from envservers.science.sciworld.needs import APT, PIP, check_needs, find_java
from envservers.science.sciworld.spec import SPEC
from envservers.science.sciworld.tasks import make_tasks


@pytest.fixture
def no_java(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)


def java_script(folder: Path, text: str) -> None:
    """A program `java` of another kind."""
    script = folder / "java"
    script.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    script.chmod(0o755)


def test_without_java_the_command_that_installs_it_is_named(needs, no_java):
    with pytest.raises(EnvUnavailable, match=f"^sciworld needs Java 11 or newer: {APT}$"):
        check_needs()
    with pytest.raises(EnvUnavailable, match=APT):
        make_tasks(SPEC.resolve_options({}))


def test_without_the_package_the_extra_is_named(monkeypatch, no_java):
    monkeypatch.setattr(sys, "path", [])
    for name in [n for n in sys.modules if n.partition(".")[0] in ("scienceworld", "py4j")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(EnvUnavailable) as raised:
        check_needs()
    assert raised.value.message.endswith(f"py4j and Java 11 or newer: {PIP} && {APT}")


def test_the_list_of_environments_shows_it_as_unavailable_and_the_others_as_they_are(needs, tmp_path):
    environ = {k: v for k, v in os.environ.items() if k != "JAVA_HOME"} | {"PATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "agentenv.cli.main", "envs", "--json"],
        env=environ,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    rows = {row["env"]: row for row in json.loads(done.stdout)}
    assert APT in rows["sciworld"]["unavailable"]
    assert "tasks" in rows["wordle"]


def test_java_is_that_of_java_home_before_that_of_the_path(monkeypatch, tmp_path):
    (tmp_path / "bin").mkdir()
    java_script(tmp_path / "bin", "exit 0")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert find_java() == str(tmp_path / "bin" / "java")


def test_a_java_that_is_too_old_is_told_with_its_own_words(needs, new_pool, monkeypatch, tmp_path):
    java_script(tmp_path, "echo 'Unrecognized option: --add-opens=java.base' >&2; exit 1")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(EnvFailed, match=r"Unrecognized option.* needs Java 11 \(apt-get install openjdk-17"):
        new_pool().load("boil", 0, "")


def test_the_heap_is_bounded_and_claimed_and_settings_of_the_user_do_not_reach_the_machine(
    needs, new_pool, monkeypatch
):
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Duser.language=tr -XX:hashCode=5 -Xmx1m")
    pool = new_pool(heap_mb=160)
    assert pool.load("boil", 0, "").step("look around").text.startswith("This room")
    [pid] = pool.pids()
    machine = psutil.Process(pid)
    assert "JAVA_TOOL_OPTIONS" not in machine.environ()
    assert "-Xmx160m" in machine.cmdline()
    assert 160 < machine.memory_info().rss / 2**20 < 160 + 200
