"""The command line as its users meet it: words in, text, JSON and exit codes out."""

import io
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from agentenv.cli.main import main
from agentenv.cli.new import write_env
from agentenv.cli.server_process import serving
from agentenv.registry import all_specs
from agentenv.trajectory import read_jsonl

CLI = [sys.executable, "-m", "agentenv.cli.main"]


@pytest.fixture
def cli(capsys):
    """Call the command line in this process: exit code, stdout, stderr."""

    def call(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as exit:
            main(words)
        out, err = capsys.readouterr()
        return int(exit.value.code or 0), out, err

    return call


@pytest.fixture(scope="module")
def server():
    with serving(["wordle", "maze"], "--oracle", "--env-option", "maze.size=4") as url:
        yield url


def test_help_shows_every_command_with_a_line_about_it(cli):
    code, out, _ = cli("--help")
    assert code == 0
    for command in (
        "envs",
        "serve",
        "play",
        "rollout",
        "check",
        "bench",
        "demo",
        "doctor",
        "new",
        "eval",
        "leaderboard",
    ):
        assert f"\n  {command} " in out


def test_a_wrong_command_is_answered_with_the_nearest_one(cli):
    code, _, err = cli("rolout")
    assert (code, "Did you mean 'rollout'?" in err) == (2, True)


def test_the_version_is_the_packages(cli):
    from agentenv import __version__

    assert cli("--version") == (0, f"agentenv {__version__}\n", "")


def test_a_wrong_call_is_one_line_and_exit_code_2(cli):
    code, out, err = cli("envs", "wordel")
    assert (code, out) == (2, "")
    assert err.startswith("agentenv: no environment 'wordel'; did you mean 'wordle'?")
    assert err.count("\n") == 1


def test_debugging_shows_the_trace(monkeypatch):
    monkeypatch.setenv("AGENTENV_DEBUG", "1")
    with pytest.raises(ValueError, match="wordel"):
        main(["envs", "wordel"])


def test_the_list_of_envs_has_stable_keys(cli):
    code, out, _ = cli("envs", "--json")
    rows = json.loads(out)
    assert code == 0
    assert [row["env"] for row in rows] == list(all_specs())
    for row in rows:
        assert list(row) == ["env", "title", "version", "tasks", "concurrency", "needs"]
        assert set(row["tasks"]) >= {"train", "dev", "test"}


def test_a_card_counts_its_tasks_by_difficulty_under_the_given_options(cli):
    code, out, _ = cli("envs", "maze", "--env-option", "size=4", "--json")
    card = json.loads(out)
    assert code == 0
    assert card["options_used"]["size"] == 4
    for split in card["splits"].values():
        assert sum(split["by_difficulty"].values()) in (0, split["tasks"])
        assert sum(split["by_category"].values()) in (0, split["tasks"])
    assert {"id", "action_grammar", "success_rule", "max_steps", "options", "tasks_digest", "facts"} <= set(card)


def test_the_facts_of_an_env_are_printed(cli):
    card = json.loads(cli("envs", "textcraft", "--json")[1])
    assert card["facts"], "TextCraft counts its items and recipes"
    _, out, _ = cli("envs", "textcraft")
    for key in card["facts"]:
        assert key.replace("_", " ") in out


def test_a_wrong_option_is_named_with_what_there_is(cli):
    code, _, err = cli("envs", "maze", "--env-option", "sise=4")
    assert (code, "did you mean 'size'?" in err) == (2, True)
    code, _, err = cli("envs", "maze", "--env-option", "size")
    assert (code, "write key=value" in err) == (2, True)
    code, _, err = cli("envs", "maze", "--env-option", "size=4", "--env-option", "size=5")
    assert (code, "given twice" in err) == (2, True)


# Serving


def test_serving_beyond_loopback_without_a_token_is_refused(cli):
    code, _, err = cli("serve", "wordle", "--host", "0.0.0.0", "--port", "0")
    assert code == 2
    assert "AGENTENV_TOKEN" in err
    assert "--token-file" in err


def test_an_empty_or_missing_token_file_is_refused(cli, tmp_path):
    (tmp_path / "token").write_text("\n")
    assert cli("serve", "wordle", "--token-file", str(tmp_path / "token"))[0] == 2
    code, _, err = cli("serve", "wordle", "--token-file", str(tmp_path / "none"))
    assert (code, "none" in err) == (2, True)


def test_a_busy_port_names_the_process_that_holds_it(cli):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, _, err = cli("serve", "wordle", "--port", str(taken.getsockname()[1]))
    assert code == 1
    assert f"(pid {os.getpid()})" in err
    assert "--port" in err


def test_options_of_served_envs_name_their_env(cli):
    for pair in ("size=4", "wordle.size=4"):
        code, _, err = cli("serve", "maze", "--port", "0", "--env-option", pair)
        assert (code, "ENV.key=value with ENV one of maze" in err) == (2, True)
    code, _, err = cli("serve", "maze", "--port", "0", "--env-option", "maze.size=many")
    assert (code, "size='many'" in err) == (2, True)


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_server_says_when_it_is_ready_and_stops_at_a_signal(sign):
    command = [*CLI, "serve", "gym:FrozenLake-v1", "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        ready = json.loads(process.stdout.readline())
        assert (set(ready), ready["pid"], ready["envs"]) == ({"url", "pid", "envs"}, process.pid, ["gym_frozenlake_v1"])
        process.send_signal(sign)
        process.wait(20)
        assert "Traceback" not in process.stderr.read()


# Rollouts


def test_a_rollout_writes_one_record_an_episode_and_sums_up(cli, tmp_path):
    out_file = tmp_path / "o.jsonl"
    code, out, _ = cli("rollout", "wordle", "--agent", "oracle", "--limit", "3", "--out", str(out_file), "--json")
    summary = json.loads(out)
    assert code == 0
    assert {k: summary[k] for k in ("env", "split", "agent", "episodes", "valid", "invalid", "successes")} == {
        "env": "wordle",
        "split": "test",
        "agent": "oracle",
        "episodes": 3,
        "valid": 3,
        "invalid": 0,
        "successes": 3,
    }
    assert summary["outcomes"] == {"success": 3}
    assert summary["ci_low"] < summary["success"] == 1.0
    records = list(read_jsonl(out_file))
    assert sorted(r.task.id for r in records) == ["wordle/test/0", "wordle/test/1", "wordle/test/2"]
    assert all(r.success and r.oracle for r in records)


def test_a_file_of_records_is_not_overwritten_unless_asked(cli, tmp_path):
    out_file = tmp_path / "o.jsonl"
    out_file.write_text("precious\n")
    words = ("rollout", "wordle", "--agent", "noop", "--limit", "1", "--out", str(out_file))
    code, _, err = cli(*words)
    assert (code, "--force" in err, out_file.read_text()) == (2, True, "precious\n")
    assert cli(*words, "--force")[0] == 0
    assert len(list(read_jsonl(out_file))) == 1
    assert cli(*words[:-1], str(tmp_path / "no" / "where"))[0] == 2


def test_a_shorter_limit_of_steps_ends_episodes(cli):
    _, out, _ = cli("rollout", "maze", "--agent", "noop", "--limit", "2", "--max-steps", "2", "--json")
    assert json.loads(out)["outcomes"] == {"step_limit": 2}


def test_a_rollout_over_a_server_uses_the_servers_tasks(cli, server, tmp_path):
    out_file = tmp_path / "o.jsonl"
    code, _, err = cli(
        "rollout", "maze", "--agent", "oracle", "--limit", "4", "--server", server, "--out", str(out_file)
    )
    assert code == 0, err
    assert all(record.success for record in read_jsonl(out_file))


def test_a_server_without_oracle_is_told_as_a_wrong_call(cli):
    with serving(["wordle"]) as url:
        code, _, err = cli("rollout", "wordle", "--agent", "oracle", "--limit", "2", "--server", url)
    assert code == 2
    assert "--oracle" in err


def test_a_gymnasium_env_is_rolled_out_by_its_name(cli):
    code, out, _ = cli("rollout", "gym:FrozenLake-v1", "--agent", "random", "--limit", "2", "--json")
    assert (code, json.loads(out)["env"], json.loads(out)["valid"]) == (0, "gym_frozenlake_v1", 2)
    code, out, _ = cli(
        "rollout", "gym:CliffWalking-v1", "--agent", "noop", "--limit", "1", "--max-steps", "3", "--json"
    )
    assert code == 2


def test_no_server_is_told_with_the_command_that_starts_one(cli):
    with socket.create_server(("127.0.0.1", 0)) as free:
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    code, _, err = cli("rollout", "wordle", "--agent", "noop", "--limit", "1", "--server", url)
    assert code == 1
    assert "start one with `agentenv serve " in err


def test_an_unknown_agent_or_split_is_a_wrong_call(cli):
    code, _, err = cli("rollout", "wordle", "--agent", "orcale")
    assert (code, "did you mean 'oracle'?" in err) == (2, True)
    code, _, err = cli("rollout", "wordle", "--agent", "noop", "--split", "trian")
    assert (code, "'trian'" in err) == (2, True)


# Playing


def test_playing_shows_answers_and_ends_with_the_input(cli, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("?\n\nup\n"))
    code, out, _ = cli("play", "maze", "--task", "maze/test/0")
    assert code == 0
    assert "Task maze/test/0" in out
    assert "move up\nmove down" in out
    assert out.endswith("Left after 1 step.\n"), "an empty line costs nothing"


def test_playing_where_actions_have_no_bound_names_the_command_that_says_their_form(cli, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("?\n"))
    _, out, _ = cli("play", "gym:MountainCarContinuous-v0")
    assert "They have no bound; `agentenv envs gym:MountainCarContinuous-v0` says their form." in out


def test_playing_to_the_end_says_how_it_ended(cli, monkeypatch, server):
    monkeypatch.setattr("sys.stdin", io.StringIO("hello\n" * 9))
    code, out, _ = cli("play", "wordle", "--split", "test", "--server", server, "--max-steps", "2")
    assert (code, "The episode ended: " in out, " after 2 steps" in out) == (0, True, True)


# The installation, and new things


def test_doctor_reports_each_part_with_a_status(cli, tmp_path, monkeypatch):
    code, out, _ = cli("doctor", "--json")
    findings = {f["check"]: f for f in json.loads(out)}
    assert code == 0, out
    assert {
        "python",
        "agentenv",
        "import evals",
        "plug-ins: envs",
        "java",
        "chromium",
        "AGENTENV_HOME",
        "database",
    } <= set(findings)
    assert all(list(f) == ["check", "status", "detail"] for f in findings.values())


def test_doctor_looks_for_the_browser_that_environments_use_and_says_how_to_get_it(cli, tmp_path, monkeypatch):
    monkeypatch.delenv("AGENTENV_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "apt-get install chromium-headless-shell" in _chromium(cli)["detail"]
    program = tmp_path / "chromium-headless-shell"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert _chromium(cli) == {"check": "chromium", "status": "ok", "detail": str(program)}
    monkeypatch.setenv("AGENTENV_CHROMIUM", "no-such-browser")
    assert "AGENTENV_CHROMIUM=no-such-browser is no program" in _chromium(cli)["detail"]


def _chromium(cli):
    _, out, _ = cli("doctor", "--json")
    return next(f for f in json.loads(out) if f["check"] == "chromium")


def test_doctor_finds_a_file_that_is_no_database_and_leaves_it_alone(cli, tmp_path, monkeypatch):
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"not a database at all" * 100)
    monkeypatch.setenv("AGENTENV_DB", f"sqlite:///{broken}")
    code, out, _ = cli("doctor", "--json")
    [finding] = [f for f in json.loads(out) if f["check"] == "database"]
    assert (code, finding["status"]) == (1, "problem")
    assert "not a database" in finding["detail"]
    assert broken.read_bytes() == b"not a database at all" * 100


def test_doctor_names_the_holder_of_the_default_port(cli, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setattr("agentenv.cli.doctor.PORT", taken.getsockname()[1])
        _, out, _ = cli("doctor", "--json")
    [finding] = [f for f in json.loads(out) if f["check"].startswith("port ")]
    assert (finding["status"], f"(pid {os.getpid()})" in finding["detail"]) == ("note", True)


@pytest.fixture(scope="module")
def new_env(tmp_path_factory):
    """A package fresh from the template, installed: its folder, and what finds it."""
    folder = tmp_path_factory.mktemp("new") / "agentenv-odd_numbers"
    write_env("odd_numbers", folder)
    site = folder.parent / "site"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
    subprocess.run([*install, "--no-deps", "--no-build-isolation", "--target", site, folder], check=True, timeout=100)
    return folder, {**os.environ, "PYTHONPATH": str(site)}


def test_the_tests_of_a_new_env_pass(new_env):
    folder, environment = new_env
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder / "tests"]
    subprocess.run(tests, env=environment, check=True, timeout=60)


def test_a_new_env_is_found_and_solved(new_env):
    words = ["rollout", "odd_numbers", "--agent", "oracle", "--json"]
    done = subprocess.run([*CLI, *words], env=new_env[1], check=True, timeout=60, capture_output=True, text=True)
    assert json.loads(done.stdout)["outcomes"] == {"success": 100}


def test_a_new_env_keeps_the_contract(new_env):
    words = ["check", "odd_numbers", "--sessions", "32", "--budget", "1"]
    done = subprocess.run([*CLI, *words], env=new_env[1], check=False, timeout=60, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_new_env_says_what_to_type_next(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, _ = cli("new", "env", "numbers")
    assert (code, "pip install -e ./agentenv-numbers && agentenv play numbers" in out) == (0, True)


def test_a_new_env_never_overwrites_and_never_takes_a_used_name(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert cli("new", "env", "numbers")[0] == 0
    for name, reason in [("numbers", "exists"), ("Bad-Name", "must match"), ("wordle", "already installed")]:
        code, _, err = cli("new", "env", name)
        assert (code, reason in err) == (2, True)


def test_the_template_passes_our_own_lint(cli, tmp_path):
    assert cli("new", "env", "numbers", "--folder", str(tmp_path / "numbers"))[0] == 0
    ruff = Path(sys.executable).parent / "ruff"
    subprocess.run(
        [
            ruff,
            "check",
            "--select",
            "E,F,I,UP,B,D1",
            "--ignore",
            "D107",
            "--line-length",
            "120",
            tmp_path / "numbers" / "numbers_env",
        ],
        check=True,
    )
    subprocess.run([ruff, "format", "--line-length", "120", "--check", tmp_path / "numbers"], check=True)
