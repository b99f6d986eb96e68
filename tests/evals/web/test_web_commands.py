"""`agentenv leaderboard --web` and `agentenv serve`: the same pages by themselves and beside the environments."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
from made_runs import new_run
from sqlalchemy.engine import URL

from agentenv.trajectory import read_jsonl
from evals.store.store import Store
from evals.web.commands import replaying


@contextmanager
def started(*words: str, url: URL) -> Iterator[str]:
    """The URL of a server that the command starts; at its end Ctrl-C, and exit code 0."""
    environment = {**os.environ, "AGENTENV_DB": url.render_as_string()}
    command = [sys.executable, "-m", "agentenv.cli.main", *words, "--port", "0", "--json"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())["url"]
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@pytest.mark.parametrize(("words", "path"), [(("leaderboard", "--web"), ""), (("serve", "maze"), "/eval")])
def test_the_pages_are_served_to_this_machine_alone(file_url: URL, words: tuple[str, ...], path: str):
    with Store.open(file_url) as store:
        store.add_runs([new_run("one")])
    with started(*words, url=file_url) as base, httpx.Client(base_url=base) as http:
        assert "/run/one" in http.get(f"{path}/runs").text
        assert f'href="{path}/run/one"' in http.get(f"{path}/").text
        assert http.get(f"{path}/", headers={"host": "evil.example"}).status_code == 421
        assert http.get(f"{path}/", headers={"origin": "http://evil.example"}).status_code == 403
        assert http.post(f"{path}/runs").status_code == 405


def test_options_of_the_table_are_refused_with_the_page():
    command = [sys.executable, "-m", "agentenv.cli.main", "leaderboard", "--web", "--suite", "demo"]
    found = subprocess.run(command, capture_output=True, text=True)
    assert found.returncode == 2
    assert "filters of its own" in found.stderr


def test_the_command_of_an_episode_plays_it_again(tmp_path):
    file = tmp_path / "played.jsonl"
    agentenv = [sys.executable, "-m", "agentenv.cli.main"]
    played = ["rollout", "maze", "--agent", "random", "--limit", "1", "--max-steps", "7", "--out", str(file)]
    rolled = subprocess.run([*agentenv, *played], capture_output=True, text=True)
    assert rolled.returncode == 0, rolled.stderr
    (episode,) = read_jsonl(file)
    command = replaying("run-1", episode).replace("| agentenv ", f"| {shlex.join(agentenv)} ")
    again = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    end = f"The episode ended: {episode.outcome.value} after 7 steps, return {episode.reward:g}.\n"
    assert again.stdout.endswith(end), again.stderr
    assert episode.final_observation in again.stdout
