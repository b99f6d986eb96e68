"""`agentenv play ENV --web`: the page is served, its address is printed and opened, and Ctrl-C ends it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentenv.cli.main import main

COMMAND = (sys.executable, "-m", "agentenv.cli.main", "play")


@contextlib.contextmanager
def playing(*options: str, folder: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """The command, and the file in which its browser notes what it was to open."""
    opened = folder / "opened"
    script = folder / "browser.sh"
    script.write_text(f'#!/bin/sh\necho "$1" > {opened}.part && mv {opened}.part {opened}\n')
    script.chmod(0o700)
    env = {**os.environ, "BROWSER": f"{script} %s &", "AGENTENV_DB": f"sqlite:///{folder}/runs.db"}
    process = subprocess.Popen([*COMMAND, *options], stdout=subprocess.PIPE, text=True, env=env)
    try:
        yield process, opened
    finally:
        process.kill()
        process.wait(10)
        assert process.stdout is not None
        process.stdout.close()


def test_the_page_of_one_env_is_served_and_opened(tmp_path):
    with playing("maze", "--web", "--task", "maze/test/3", folder=tmp_path) as (process, opened):
        assert process.stdout is not None
        address = process.stdout.readline().removeprefix("Play at ").strip()
        assert address.endswith("/eval/play?env=maze&task=maze%2Ftest%2F3")
        with urllib.request.urlopen(address, timeout=60) as page:
            assert "maze: " in page.read().decode()
        while not opened.exists():
            assert process.poll() is None
            time.sleep(0.02)
        assert opened.read_text().strip() == address
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0


def test_a_step_limit_of_ones_own_is_refused(capsys):
    with pytest.raises(SystemExit) as exit:
        main(["play", "maze", "--web", "--max-steps", "3"])
    assert exit.value.code == 2
    assert "--max-steps goes without --web" in capsys.readouterr().err
