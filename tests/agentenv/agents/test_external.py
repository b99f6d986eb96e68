"""A program as an agent: real processes, and what happens when they misbehave."""

import asyncio
import os
import random
import signal
import sys
import time
from pathlib import Path

import pytest
from agent_play import SPEC, TASK

from agentenv.agents import Seat, make_agent
from agentenv.agents.external import NOTHING_TO_PLAY, start_of
from agentenv.errors import BadAgent
from agentenv.pool import EnvPool
from agentenv.protocol import Outcome
from agentenv.rollout import rollout

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "external_agent.py"
HEAD = "import json, os, subprocess, sys, time\nlines = map(json.loads, sys.stdin)\nstart = next(lines)\n"


def agent_of(tmp_path, body, **settings):
    program = tmp_path / "program.py"
    program.write_text(HEAD + body)
    return make_agent("external", command=f"{sys.executable} {program}", **settings)


def played(agent, *, limit=1, max_steps=3):
    async def run():
        async with EnvPool("maze", size=2, max_steps=max_steps) as pool:
            return await rollout(pool, await pool.task_refs("test", limit), agent)

    return asyncio.run(run())


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


def test_the_example_plays_whole_episodes_and_its_chance_is_the_episodes():
    command = f"{sys.executable} {EXAMPLE}"
    once, again = (played(make_agent("external", command=command), limit=2) for _ in range(2))
    assert [e.outcome for e in once] == [Outcome.STEP_LIMIT] * 2
    assert [[t.action for t in e.turns] for e in once] == [[t.action for t in e.turns] for e in again]
    assert all(t.malformed is None for e in once for t in e.turns)


def test_a_program_is_told_what_it_plays_and_how_it_ended(tmp_path):
    body = """
seen = [start]
for message in lines:
    seen.append(message)
    if message["type"] == "end":
        open(sys.argv[0] + ".seen", "w").write(json.dumps(seen))
        break
    print(json.dumps({"type": "action", "text": "move up"}), flush=True)
"""
    played(agent_of(tmp_path, body))
    import json

    start, *observations, end = json.loads((tmp_path / "program.py.seen").read_text())
    assert (start["env"], start["task"]["id"], start["max_steps"], start["protocol"]) == ("maze", "maze/test/0", 3, 1)
    assert start["functions"][0]["name"] == "move"
    assert set(start["task"]) == {"id", "split", "index"}, "a category can tell the answer"
    assert [o["step"] for o in observations] == [0, 1, 2]
    assert all(o["text"] for o in observations)
    assert end == {"type": "end", "outcome": "step_limit", "success": False}


def test_tokens_notes_and_a_reason_for_no_action_are_kept_in_the_record(tmp_path):
    body = """
for message in lines:
    if message["type"] == "end": break
    print(json.dumps({"type": "action", "text": "hm", "malformed": "no move found", "notes": {"plan": [1]},
                      "usage": {"prompt_tokens": 7, "completion_tokens": 2, "cached_tokens": -1, "cost": 0.5}}),
          flush=True)
"""
    [episode] = played(agent_of(tmp_path, body))
    turn = episode.turns[0]
    assert turn.malformed == "no move found"
    about = turn.info["agent"]
    assert (about["prompt_tokens"], about["completion_tokens"], about["cost"]) == (7, 2, 0.5)
    assert about["notes"] == {"plan": [1]}
    assert "cached_tokens" not in about


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("sys.exit('no key set')", r"does not read|ended before the episode did.*exit code 1.*no key set"),
        ("next(lines); sys.stderr.write('boom\\n'); os._exit(3)", r"ended before .*exit code 3.*boom"),
        ("next(lines); print('move up', flush=True); time.sleep(60)", r"no JSON object .*'move up'"),
        ("next(lines); print('[1]', flush=True); time.sleep(60)", "no JSON object"),
        ('next(lines); print(\'{"type": "action"}\', flush=True); time.sleep(60)', "no .*action"),
        ('next(lines); print(\'{"type": "end", "reason": "too hard"}\', flush=True)', "gave up: too hard"),
        ("next(lines); print('x' * 2_000_000, flush=True); time.sleep(60)", "a line of over 1048576 bytes"),
        ("next(lines); sys.stderr.write('\\x1b[2Jred'); sys.exit(4)", r"exit code 4.*: \?\[2Jred$"),
        ("next(lines); time.sleep(60)", "gave no action within 1 s"),
    ],
)
def test_a_program_that_misbehaves_is_an_agent_error_in_its_own_words(tmp_path, body, words):
    import re

    act_s = 1 if "within" in words else 30
    [episode] = played(agent_of(tmp_path, body, act_s=act_s, grace_s=1))
    assert episode.outcome is Outcome.AGENT_ERROR
    assert re.search(words, episode.error, re.DOTALL), episode.error


def test_nothing_is_left_running_neither_the_program_nor_what_it_started(tmp_path):
    body = """
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], stdout=subprocess.DEVNULL)
open(sys.argv[0] + ".pids", "w").write(f"{os.getpid()} {child.pid}")
next(lines)
print(json.dumps({"type": "action", "text": "move up"}), flush=True)
time.sleep(600)
"""
    played(agent_of(tmp_path, body, act_s=2, grace_s=0.2))
    pids = [int(pid) for pid in (tmp_path / "program.py.pids").read_text().split()]
    deadline = time.monotonic() + 20
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(alive, pids))


def test_a_child_that_left_the_group_and_holds_the_pipes_keeps_nobody_waiting(tmp_path):
    body = """
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(20)"], start_new_session=True)
open(sys.argv[0] + ".pids", "w").write(str(child.pid))
next(lines)
os._exit(5)
"""
    began = time.monotonic()
    [episode] = played(agent_of(tmp_path, body, act_s=1, grace_s=0.2))
    os.kill(int((tmp_path / "program.py.pids").read_text()), signal.SIGKILL)
    assert episode.outcome is Outcome.AGENT_ERROR
    assert time.monotonic() - began < 18


def test_a_cancelled_episode_ends_its_program(tmp_path):
    body = """
open(sys.argv[0] + ".pids", "w").write(str(os.getpid()))
time.sleep(600)
"""
    agent, pids = agent_of(tmp_path, body, grace_s=0.2), tmp_path / "program.py.pids"

    async def run():
        async with EnvPool("maze", size=1) as pool:
            task = asyncio.create_task(rollout(pool, await pool.task_refs("test", 1), agent))
            while not (pids.exists() and pids.read_text()):
                await asyncio.sleep(0.05)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(run())
    assert not alive(int(pids.read_text()))


def test_the_token_of_the_server_is_kept_from_a_program(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTENV_TOKEN", "secret")
    monkeypatch.setenv("MY_KEY", "kept")
    body = "next(lines)\nprint(json.dumps({'type': 'end', 'reason': str(sorted(os.environ))}), flush=True)\n"
    [episode] = played(agent_of(tmp_path, body))
    assert "MY_KEY" in episode.error
    assert "AGENTENV_TOKEN" not in episode.error


def greeted(agent):
    return asyncio.run(agent.preflight())


def test_a_preflight_starts_the_program_with_nothing_to_play(tmp_path):
    assert "starts and ends" in greeted(make_agent("external", command=f"{sys.executable} {EXAMPLE}"))
    body = "assert start['env'] == 'preflight'\nassert next(lines)['type'] == 'end'\n"
    assert "starts and ends" in greeted(agent_of(tmp_path, body))


@pytest.mark.parametrize("body", ["import no_such_module", "sys.exit('no key set')"])
def test_a_program_that_cannot_run_is_refused_before_the_first_episode(tmp_path, body):
    words = "cannot be started .exit code 1.*(no_such_module|no key set)"
    with pytest.raises(BadAgent, match=f"(?s){words}"):
        greeted(agent_of(tmp_path, body))


def test_nothing_to_play_has_the_fields_of_an_episode():
    seat = Seat(spec=SPEC, task=TASK.ref(), view=None, max_steps=3, rng=random.Random(0))
    assert list(start_of(seat)) == list(NOTHING_TO_PLAY)
    assert list(start_of(seat)["task"]) == list(NOTHING_TO_PLAY["task"])


@pytest.mark.parametrize("command", ["", "/no/such/program x", "'open"])
def test_a_command_that_cannot_be_started_is_refused(command):
    with pytest.raises(BadAgent, match="command="):
        make_agent("external", command=command)


def test_the_description_names_the_command_and_tables_call_it_by_its_script(tmp_path):
    assert agent_of(tmp_path, "").describe["model"] == "program.py"
    assert agent_of(tmp_path, "", label="mine").describe["model"] == "mine"
