"""What the commands lock: exit codes, JSON, and that whatever stops a run costs only the episodes in flight."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from agentenv.cli.main import main

HERE = Path(__file__).parent

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import coin_env
from agentenv.registry import register
from agentenv.cli.main import main
register(coin_env.SPEC)
main(sys.argv[2:])
"""


def call(capsys, *words):
    """A command in this process: exit code, stdout, stderr."""
    with pytest.raises(SystemExit) as ended:
        main(words)
    out, err = capsys.readouterr()
    return ended.value.code, out, err


def called(*words):
    """A command in a process of its own, with the coin env registered."""
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(HERE), *map(str, words)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ),
    )  # fmt: skip


@pytest.fixture
def coins(tmp_path):
    """A suite of slow coins: twelve episodes of two fifths of a second or more."""
    file = tmp_path / "coins.yaml"
    file.write_text("name: coins\nattempts: 2\nenvs: [{env: coin, options: {pause_s: 0.2}}]\n")
    return file


@pytest.fixture
def database():
    return Path(os.environ["AGENTENV_HOME"]) / "agentenv.db"


def test_a_run_its_listing_and_the_board_as_json(capsys, database):
    code, out, _ = call(capsys, "eval", "run", "smoke", "--agent", "noop", "--agent", "oracle", "--json")
    ran = json.loads(out)
    assert code == 0
    assert [(r["agent"], r["valid"], r["invalid"], r["state"]) for r in ran["runs"]] == [
        ("noop", 12, 0, "complete"), ("oracle", 12, 0, "complete"),
    ]  # fmt: skip
    assert {row["env"] for row in ran["rows"]} == {"all", "textcraft", "wordle", "maze"}
    assert database.exists()

    code, out, _ = call(capsys, "leaderboard", "--json")
    rows = json.loads(out)
    assert code == 0
    found = {(r["agent"], r["env"]): (r["success"], r["rank"], r["n"], r["invalid"]) for r in rows}
    assert found["oracle", "all"] == (1.0, None, 12, 0)
    assert found["noop", "textcraft"] == (0.0, 1, 4, 0)

    code, out, _ = call(capsys, "eval", "list", "--json")
    assert code == 0
    assert {r["run"] for r in json.loads(out)} == {r["run"] for r in ran["runs"]}

    code, out, _ = call(capsys, "eval", "show", ran["runs"][0]["run"][:-2], "--json")
    facts = json.loads(out)
    assert code == 0
    assert facts["run"] == ran["runs"][0]["run"]
    assert sum(o["count"] for o in facts["outcomes"]) == 12
    assert facts["software"]["agentenv-gym"]


def test_commands_are_listed_in_the_order_in_which_they_are_typed(capsys):
    _, out, _ = call(capsys, "eval", "--help")
    names = [line.split()[0] for line in out[out.index("Commands:") :].splitlines()[1:] if line.startswith("  ")]
    assert names[:5] == ["run", "resume", "list", "show", "compare"]
    assert names[-5:] == ["verify", "rescore", "export", "bundle", "key"]


def test_tables_for_people_say_what_to_type_next(capsys):
    _, out, _ = call(capsys, "leaderboard")
    assert "Next: agentenv eval run demo --agent random" in out
    _, out, _ = call(capsys, "eval", "run", "smoke", "--agent", "oracle", "--agent", "noop")
    assert "Next: agentenv leaderboard" in out
    _, out, _ = call(capsys, "leaderboard", "--suite", "smoke")
    assert "reference" in out
    assert "wilson" in out
    assert "[0.510, 1.000]" in out  # 4 of 4
    run = out.split("agentenv eval show ")[1].split()[0]
    code, out, _ = call(capsys, "eval", "show", run)
    assert code == 0
    assert "step_limit" in out
    code, out, _ = call(capsys, "eval", "list")
    assert run in out


def test_a_dry_run_prints_the_plan_and_writes_nothing(capsys, database):
    code, out, _ = call(capsys, "eval", "run", "demo", "--agent", "random", "--limit", "5", "--dry-run", "--json")
    plan = json.loads(out)
    assert code == 0
    assert (plan["episodes"], plan["tasks"], plan["attempts"]) == (15, 15, 1)
    code, out, _ = call(capsys, "eval", "run", "demo", "--agent", "random", "--agent", "noop", "--dry-run")
    assert "180 episodes of random, noop" in out
    assert "--limit 2" in out
    assert not database.exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["eval", "run", "dmeo", "--agent", "noop"], "did you mean 'demo'"),
        (["eval", "run", "demo", "--agent", "orcale"], "did you mean 'oracle'"),
        (["eval", "run", "demo", "--agent", "noop", "--agent", "noop"], "given twice"),
        (["eval", "run", "demo", "--agent", "noop", "--model", "m"], "no setting 'model'"),
        (["eval", "run", "demo", "--agent", "noop", "--agent-option", "seed"], "write key=value"),
        (["eval", "run", "demo", "--agent", "react", "--model", "m"], "--model-url"),
        (["eval", "run", "demo", "--agent", "noop", "--limit", "0"], "limit"),
        (["eval", "run", "demo"], "agent"),
        (["eval", "show", "nothing"], "no run 'nothing'"),
        (["eval", "resume", "nothing"], "no run 'nothing'"),
        (["leaderboard", "--suite", "dmeo"], "did you mean 'demo'"),
    ],
)
def test_a_wrong_call_exits_2_and_says_why(capsys, words, message):
    code, _, err = call(capsys, *words)
    assert code == 2
    assert message in err


def test_a_corrupt_database_exits_1_with_the_file_s_name_and_is_left_alone(capsys, database):
    database.write_bytes(b"not a database" * 100)
    for words in (["leaderboard"], ["eval", "list"], ["eval", "run", "smoke", "--agent", "noop"], ["eval", "resume"]):
        code, _, err = call(capsys, *words)
        assert code == 1
        assert str(database) in err
    assert database.read_bytes() == b"not a database" * 100


def test_a_model_that_is_not_there_exits_1_and_writes_nothing(capsys, database):
    model = ["--model", "m", "--model-url", "http://127.0.0.1:9/v1", "--agent-option", "retries=0"]
    code, _, err = call(capsys, "eval", "run", "smoke", "--agent", "react", "--agent", "noop", *model)
    assert code == 1
    assert "no model endpoint answers at http://127.0.0.1:9/v1" in err
    assert json.loads(call(capsys, "eval", "list", "--json")[1]) == []


def test_a_server_that_is_not_there_exits_1_and_costs_no_try(capsys, database):
    code, _, err = call(capsys, "eval", "run", "smoke", "--agent", "noop", "--server", "http://127.0.0.1:9")
    assert code == 1
    assert "agentenv serve" in err
    assert "0 of 12 episodes are stored; `agentenv eval resume smoke-noop-" in err
    db = sqlite3.connect(database)
    assert db.execute("SELECT COUNT(*), MAX(tries) FROM slots").fetchone() == (12, 0)
    db.close()


def test_a_resume_with_nothing_open_says_so(capsys):
    code, out, _ = call(capsys, "eval", "resume")
    assert code == 0
    assert "Nothing to do" in out
    code, out, _ = call(capsys, "eval", "resume", "--json")
    assert json.loads(out) == {"runs": [], "rows": []}


def episodes(database):
    db = sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=30)
    try:
        return db.execute("SELECT id, run_id, slot, try, outcome FROM episodes ORDER BY id").fetchall()
    except sqlite3.OperationalError:
        return []
    finally:
        db.close()


def wait_for_episodes(database, count, process):
    deadline = time.monotonic() + 60
    while not database.exists() or len(episodes(database)) < count:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_killed_run_keeps_what_was_played_and_its_resume_duplicates_nothing(coins, database):
    first = called("eval", "run", coins, "--agent", "noop", "--agent", "random", "--concurrency", "2")
    wait_for_episodes(database, 5, first)
    first.kill()
    first.communicate()
    before = episodes(database)
    assert 5 <= len(before) < 48

    second = called("eval", "resume", "--concurrency", "8", "--json")
    out, err = second.communicate(timeout=100)
    assert second.returncode == 0, err
    assert [(r["planned"], r["valid"], r["state"]) for r in json.loads(out)["runs"]] == [(24, 24, "complete")] * 2
    after = episodes(database)
    assert after[: len(before)] == before
    assert len(after) == len({(run, slot, try_) for _, run, slot, try_, _ in after}) == 48
    db = sqlite3.connect(database)
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert db.execute("SELECT SUM(valid), SUM(invalid_tries) FROM tasks").fetchone() == (48, 0)
    db.close()


def test_an_interrupt_stops_cleanly_frees_the_sessions_and_says_how_to_go_on(coins, database):
    server = called("serve", "coin", "--port", "0", "--json")
    try:
        url = json.loads(server.stdout.readline())["url"]
        run = called("eval", "run", coins, "--agent", "noop", "--server", url, "--concurrency", "4")
        wait_for_episodes(database, 4, run)
        assert sessions(url) > 0
        run.send_signal(signal.SIGINT)
        _, err = run.communicate(timeout=60)
        assert run.returncode == 130
        assert "agentenv eval resume coins-noop-" in err
        stored = episodes(database)
        assert {outcome for *_, outcome in stored} == {"step_limit"}
        assert sessions(url) == 0

        rest = called("eval", "resume")
        _, err = rest.communicate(timeout=60)
        assert rest.returncode == 0, err
        assert len(episodes(database)) == 24
        assert sessions(url) == 0
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=30)


def sessions(url):
    return len(httpx.get(f"{url}/v1/sessions").json()["sessions"])


@pytest.fixture
def played(capsys):
    """Two agents on four mazes, with an earlier run to be told apart."""
    wanted = ["eval", "run", "smoke", "--agent", "noop", "--agent", "random", "--limit", "1", "--json"]
    code, out, _ = call(capsys, *wanted)
    assert code == 0
    return [row["run"] for row in json.loads(out)["runs"]]


def test_a_matrix_of_suites_and_agents_is_one_command(capsys, tmp_path):
    (tmp_path / "one.yaml").write_text("name: one\nenvs: [{env: maze, tasks: 2}]\n")
    (tmp_path / "chance.yaml").write_text("agent: random\n")
    suites, agents = (
        [str(tmp_path / "one.yaml"), "smoke"],
        ["--agent", "noop", "--agent", str(tmp_path / "chance.yaml")],
    )
    code, out, _ = call(capsys, "eval", "run", *suites, *agents, "--limit", "1", "--json")
    assert code == 0
    assert [(r["suite"], r["agent"], r["valid"]) for r in json.loads(out)["runs"]] == [
        ("one", "noop", 1), ("one", "random", 1), ("smoke", "noop", 3), ("smoke", "random", 3),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [("- noop", "must be a mapping with `agent: NAME`"), ("model: m", "must be a mapping"), ("agent: [", "odd.yaml")],
)
def test_a_file_that_names_no_agent_is_refused(capsys, tmp_path, text, message):
    (tmp_path / "odd.yaml").write_text(text)
    code, _, err = call(capsys, "eval", "run", "smoke", "--agent", str(tmp_path / "odd.yaml"))
    assert code == 2
    assert message in err


def test_a_dry_run_estimates_by_what_the_agent_took_before(capsys, played):
    code, out, _ = call(capsys, "eval", "run", "smoke", "--agent", "noop", "--agent", "oracle", "--dry-run", "--json")
    noop, oracle = json.loads(out)["estimates"]
    assert code == 0
    assert (noop["episodes"], noop["tokens"], noop["cost"]) == (12, None, None)
    assert noop["seconds"] > 0
    assert oracle["seconds"] is None
    code, out, _ = call(capsys, "eval", "run", "smoke", "--agent", "noop", "--dry-run")
    assert "- is unknown" in out


def test_a_question_in_sql(capsys, played):
    query = "SELECT agent, COUNT(*) AS episodes FROM v_episodes GROUP BY agent ORDER BY agent"
    code, out, _ = call(capsys, "eval", "sql", query, "--json")
    assert (code, json.loads(out)) == (
        0, {"columns": ["agent", "episodes"], "rows": [["noop", 3], ["random", 3]], "cut": False},
    )  # fmt: skip
    code, out, _ = call(capsys, "eval", "sql", query, "--rows", "1")
    assert code == 0
    assert "noop" in out
    assert "There are more rows than 1" in out
    code, _, err = call(capsys, "eval", "sql", "DELETE FROM runs")
    assert code == 2
    assert "only questions can be asked" in err
    code, _, err = call(capsys, "eval", "sql", "SELECT x FROM nowhere")
    assert code == 2
    assert "no such table: nowhere" in err


def test_attempts_are_opened_again_and_episodes_deleted_by_command(capsys, played):
    run = played[0]
    code, out, _ = call(capsys, "eval", "reopen", run, "--reason", "to see", "--json")
    assert (code, json.loads(out)) == (0, {"run": run, "reopened": 0})
    code, out, _ = call(capsys, "eval", "reopen", run, "--overwrite", "--reason", "to see")
    assert f"3 attempts are open again. Next: agentenv eval resume {run}" in out
    code, out, _ = call(capsys, "eval", "resume", run, "--json")
    [again] = json.loads(out)["runs"]
    assert (code, again["valid"], again["reopened"], again["state"]) == (0, 3, 3, "complete")
    code, out, _ = call(capsys, "eval", "delete", run, "--reason", "to see", "--json")
    assert (code, json.loads(out)) == (0, {"run": run, "deleted": 6})
    code, out, _ = call(capsys, "eval", "list", "--json")
    assert {row["run"]: row["state"] for row in json.loads(out)}[run] == "deleted"
    code, out, _ = call(capsys, "eval", "show", run)
    assert "opened 3 settled attempts again: to see" in out
    assert "deleted 6 episodes: to see" in out
    code, out, _ = call(capsys, "leaderboard", "--json")
    assert code == 0
    assert {row["deleted"] for row in json.loads(out) if row["agent"] == "noop"} == {1}
    assert {row["n"] for row in json.loads(out) if row["agent"] == "noop" and row["env"] == "all"} == {3}
