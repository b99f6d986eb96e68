"""`agentenv eval export`: the episodes of a run that count, as files."""

import json

import pytest
from made_runs import new_run, play_all

from agentenv.cli.main import main
from agentenv.protocol import Outcome
from agentenv.trained_on import trained_on
from agentenv.trajectory import read_jsonl
from evals.export import counting


def call(capsys, *words):
    """A command in this process: exit code, stdout, stderr."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main(list(map(str, words)))
    out, err = capsys.readouterr()
    return ended.value.code or 0, out, err


def test_a_run_is_exported_by_the_beginning_of_its_id(capsys, tmp_path):
    suite = tmp_path / "three.yaml"
    suite.write_text("name: three\nenvs: [{env: maze, tasks: 3, options: {size: 4}}]\n")
    _, out, _ = call(capsys, "eval", "run", suite, "--agent", "oracle", "--json")
    [run] = json.loads(out)["runs"]
    file = tmp_path / "episodes.jsonl"
    code, out, _ = call(capsys, "eval", "export", run["run"][:-2], "--format", "jsonl", "--out", file, "--json")
    told = json.loads(out)
    assert (code, told["episodes"], told["tasks"], told["left_out"]) == (0, 3, 3, {})
    records = list(read_jsonl(file))
    assert all(record.success for record in records)
    assert trained_on(file) == {record.task.digest for record in records}
    chats = tmp_path / "chats.jsonl"
    assert call(capsys, "eval", "export", run["run"], "--format", "openai", "--as", "react", "--out", chats)[0] == 0
    assert len(chats.read_text().splitlines()) == 3
    assert trained_on(tmp_path / "chats.jsonl.trained_on.json") == trained_on(file)


def test_no_such_run_is_a_wrong_call(capsys, tmp_path):
    code, _, err = call(capsys, "eval", "export", "nothing", "--format", "jsonl", "--out", tmp_path / "x")
    assert code == 2
    assert "nothing" in err


def test_what_was_opened_again_does_not_count(store):
    store.add_runs([new_run(tasks=3)])
    play_all(store, "s-a-1", lambda slot: Outcome.FAILURE)
    store.reopen("s-a-1", reason="again", overwrite=True)
    play_all(store, "s-a-1", lambda slot: Outcome.SUCCESS)
    assert [record.outcome for record in counting(store, "s-a-1")] == [Outcome.SUCCESS] * 3
    assert len(list(store.trajectories("s-a-1"))) == 6
