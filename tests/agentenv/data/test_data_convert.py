"""`agentenv data convert`: rows for trainers, as a file of their form."""

import asyncio
import json
import sys

import pytest

pytest.importorskip("pyarrow")

import pyarrow.parquet as pq

from agentenv.agents.prompts import opening_of
from agentenv.cli.main import main
from agentenv.data.parquet import GROUP, write_rows
from agentenv.data.rows import Wanted, rows_of
from agentenv.errors import BadCall, EnvUnavailable, UnknownTask
from agentenv.registry import get_spec

COLUMNS = ["data_source", "prompt", "ability", "reward_model", "extra_info"]


@pytest.fixture
def cli(capsys):
    """Call the command line in this process: exit code, stdout, stderr."""

    def call(*words):
        capsys.readouterr()
        with pytest.raises(SystemExit) as exit:
            main(["data", "convert", *map(str, words)])
        out, err = capsys.readouterr()
        return int(exit.value.code or 0), out, err

    return call


def rows(env, split="test", **how):
    return list(rows_of(Wanted(spec=get_spec(env), options=how.pop("options", {}), split=split, **how)))


def test_a_file_has_the_five_columns_and_a_row_a_task(cli, tmp_path):
    target = tmp_path / "dev.parquet"
    code, out, _ = cli("math", "--split", "dev", "--limit", 30, "--out", target)
    assert (code, out) == (0, f"30 rows of math dev in {target}\n")
    table = pq.read_table(target)
    assert table.column_names == COLUMNS
    assert table.to_pylist() == rows("math", "dev", limit=30)
    assert [p.name for p in tmp_path.iterdir()] == ["dev.parquet"]


def test_a_row_is_what_a_trainer_of_the_verl_family_reads():
    [row] = rows("math", limit=1)
    task = get_spec("math").task_set().get("test", 0)
    opening = opening_of(get_spec("math")).prompt.messages
    assert row["prompt"] == [*opening, {"role": "user", "content": task.payload["question"]}]
    assert (row["data_source"], row["ability"]) == ("agentenv/math", "math")
    assert row["reward_model"] == {"style": "rule", "ground_truth": task.payload["answer"]}
    info = row["extra_info"]
    assert (info["split"], info["index"], info["item_id"], info["task"]) == ("test", 0, "math_0", "math/test/0")
    assert (info["digest"], info["template"]) == (task.digest, task.template)
    assert info["answer"].endswith(f"\n#### {task.payload['answer']}")


def test_an_env_without_an_answer_to_compare_is_itself_the_judge():
    found = rows("textcraft", limit=3)
    assert found[1]["reward_model"] == {"style": "env", "ground_truth": "textcraft/test/1"}
    assert found[1]["data_source"] == "agentenv/textcraft"
    assert found[1]["extra_info"]["item_id"] == "textcraft_1"
    assert "Goal" in found[1]["prompt"][-1]["content"]
    assert "answer" not in found[1]["extra_info"]


def test_without_observations_no_engine_is_imported(monkeypatch):
    monkeypatch.setattr(type(get_spec("textcraft")), "load_class", lambda spec: pytest.fail("the engine was loaded"))
    found = rows("textcraft", limit=3, observation=False)
    assert found[0]["prompt"] == opening_of(get_spec("textcraft")).prompt.messages


def test_options_of_the_env_reach_its_tasks_and_its_observations():
    [row] = rows("math", limit=1, options={"mode": "calculator"})
    assert "calculate[expression]" in row["prompt"][-1]["content"]


def test_rows_are_also_made_where_an_event_loop_runs():
    async def inside():
        return rows("textcraft", limit=2)

    assert asyncio.run(inside()) == rows("textcraft", limit=2)


def test_another_source_may_be_named(cli, tmp_path):
    cli("math", "--split", "dev", "--limit", 2, "--data-source", "openai/gsm8k", "--out", tmp_path / "a.parquet")
    assert set(pq.read_table(tmp_path / "a.parquet")["data_source"].to_pylist()) == {"openai/gsm8k"}


def test_what_was_written_can_be_played_by_math_again(cli, tmp_path):
    cli("math", "--split", "dev", "--limit", 25, "--out", tmp_path / "test.parquet")
    again = get_spec("math").task_set({"gsm8k": str(tmp_path / "test.parquet")})
    tasks = get_spec("math").task_set()
    assert again.count("test") == 25
    for index in range(25):
        one, other = again.get("test", index).payload, tasks.get("dev", index).payload
        assert (one["question"], one["answer"]) == (other["question"], other["answer"])


def test_problems_from_gsm8k_files_keep_the_name_of_their_source(cli, tmp_path):
    cli("math", "--split", "dev", "--limit", 3, "--out", tmp_path / "train-0.parquet")
    option = f"gsm8k={tmp_path / 'train-0.parquet'}"
    code, *_ = cli("math", "--split", "train", "--env-option", option, "--out", tmp_path / "out.parquet")
    assert code == 0
    assert set(pq.read_table(tmp_path / "out.parquet")["data_source"].to_pylist()) == {"openai/gsm8k"}


@pytest.mark.parametrize("scheme", ["memory", "file"])
def test_a_url_is_written_to_and_the_summary_is_json(cli, tmp_path, scheme):
    fsspec = pytest.importorskip("fsspec")
    url = f"{scheme}://{tmp_path / 'test.parquet'}"
    code, out, _ = cli("textcraft", "--split", "test", "--limit", 3, "--out", url, "--json")
    told = json.loads(out)
    assert (code, told["rows"], told["env"], told["split"], told["out"]) == (0, 3, "textcraft", "test", url)
    with fsspec.open(url, "rb") as file:
        assert len(pq.read_table(file)) == 3
        assert file.seek(0, 2) == told["bytes"]


def test_wrong_calls_write_nothing_and_exit_with_2(cli, tmp_path):
    target = tmp_path / "a.parquet"
    for words, said in (
        (["math", "--split", "nosuch"], "no split 'nosuch'"),
        (["nosuch"], "no environment 'nosuch'"),
        (["math", "--env-option", "size=3"], "no option 'size'"),
        (["math", "--env-option", "gsm8k=/nowhere"], "no .parquet file there"),
    ):
        code, _, err = cli(*words, "--out", target)
        assert (code, said in err) == (2, True), err
    target.write_text("old")
    code, _, err = cli("math", "--split", "dev", "--out", target)
    assert (code, "--force overwrites it" in err) == (2, True)
    assert [p.read_text() for p in tmp_path.iterdir()] == ["old"]


def test_the_help_shows_examples(cli):
    code, out, _ = cli("--help")
    assert (code, "agentenv data convert math --split train --out train.parquet" in out) == (0, True)


def test_an_unknown_split_is_known_before_anything_is_begun():
    with pytest.raises(UnknownTask, match="nosuch"):
        Wanted(spec=get_spec("math"), options={}, split="nosuch").count()


def test_rows_are_written_in_groups_and_counted_as_they_are_made(tmp_path):
    done = []
    made = ({"n": number, "t": {"a": "x"}} for number in range(GROUP + 5))
    assert write_rows(tmp_path / "a.parquet", made, on_row=lambda: done.append(1)) == GROUP + 5 == len(done)
    file = pq.ParquetFile(tmp_path / "a.parquet")
    assert [file.metadata.row_group(n).num_rows for n in range(file.num_row_groups)] == [GROUP, 5]
    assert file.read()["n"].to_pylist() == list(range(GROUP + 5))


def test_rows_of_another_form_than_the_first_ones_are_refused_by_their_place(tmp_path):
    odd = [{"n": 1}] * GROUP + [{"n": "one"}]
    with pytest.raises(BadCall, match=f"rows {GROUP} to {GROUP} are not of the form"):
        write_rows(tmp_path / "a.parquet", odd)
    with pytest.raises(BadCall, match="rows 0 to 1 are not of the form"):
        write_rows(tmp_path / "a.parquet", [{"n": 1}, {"n": "one"}])
    with pytest.raises(BadCall, match="no row"):
        write_rows(tmp_path / "a.parquet", [])


def test_without_pyarrow_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(EnvUnavailable, match=r"pip install 'agentenv-gym\[data\]'"):
        write_rows(tmp_path / "a.parquet", [{"n": 1}])
