"""Problems from GSM8K's files, as published and as rows for trainers."""

import sys

import pytest

pytest.importorskip("pyarrow")

import pyarrow as pa
import pyarrow.parquet as pq

from agentenv.errors import BadCall, EnvUnavailable, UnknownOption
from agentenv.server.host import EnvHost
from envservers.math.spec import SPEC

ROWS = [
    {
        "question": "Ann sold 48 clips in April, and then half as many in May. How many clips did she sell altogether?",
        "answer": "In May she sold 48/2 = <<48/2=24>>24 clips.\nAltogether 48+24 = <<48+24=72>>72 clips.\n#### 72",
    },
    {"question": " How much? ", "answer": "It is much. #### 1,250"},
    {"question": "What part?", "answer": "<<5-8=-3>>\n#### -3.5"},
]


def written(folder, name, rows):
    pq.write_table(pa.Table.from_pylist(rows), folder / name)
    return str(folder / name)


def tasks_of(path):
    return SPEC.task_set({"gsm8k": str(path)})


def test_a_file_is_one_split_and_a_folder_one_for_each_beginning_of_a_name(tmp_path):
    file = written(tmp_path, "test-00000-of-00001.parquet", ROWS)
    assert tasks_of(file).splits() == ("test",)
    written(tmp_path, "train-00000-of-00002.parquet", ROWS)
    written(tmp_path, "train-00001-of-00002.parquet", ROWS[:1])
    found = tasks_of(tmp_path)
    assert [(split, found.count(split)) for split in found.splits()] == [("train", 4), ("test", 3)]


def test_question_answer_and_solution_are_read_without_the_notes(tmp_path):
    found = tasks_of(written(tmp_path, "test.parquet", ROWS))
    first = found.get("test", 0)
    assert first.payload["answer"] == "72"
    assert first.payload["solution"] == ["In May she sold 48/2 = 24 clips.", "Altogether 48+24 = 72 clips."]
    assert (first.category, first.difficulty, first.id) == ("gsm8k", 1, "math/test/0")
    assert [found.get("test", i).payload["answer"] for i in (1, 2)] == ["1250", "-3.5"]
    assert found.get("test", 1).payload["question"] == "How much?"


@pytest.mark.parametrize("mode", ["answer", "calculator"])
def test_its_problems_are_played_and_solved(tmp_path, mode):
    options = SPEC.resolve_options({"gsm8k": written(tmp_path, "test.parquet", ROWS), "mode": mode})
    host = EnvHost(SPEC, options)
    for index in range(3):
        host.reset(SPEC.task_set(options).get("test", index))
        assert host.step(host.oracle()).success


def test_rows_of_trainers_are_read_too(tmp_path):
    rows = [
        {"prompt": [{"role": "user", "content": "?"}], "reward_model": {"style": "rule", "ground_truth": "72"},
         "extra_info": {"question": "How many?", "split": "test"}},
    ]  # fmt: skip
    task = tasks_of(written(tmp_path, "rows.parquet", rows)).get("rows", 0)
    assert (task.payload["question"], task.payload["answer"]) == ("How many?", "72")


@pytest.mark.parametrize(
    "row",
    [
        {"question": "How many?", "answer": "many"},
        {"question": "How many?", "answer": "#### many"},
        {"question": "", "answer": "#### 1"},
        {"question": "How many?", "answer": 5},
        {"other": "?"},
    ],
)
def test_a_row_without_question_or_number_is_refused_by_its_place(tmp_path, row):
    with pytest.raises(UnknownOption, match="row 0 of test needs a text in `question`"):
        tasks_of(written(tmp_path, "test.parquet", [row]))


def test_what_is_no_parquet_file_is_refused_by_name(tmp_path):
    (tmp_path / "test.parquet").write_text("no")
    with pytest.raises(UnknownOption, match=r"test\.parquet"):
        tasks_of(tmp_path)
    with pytest.raises(UnknownOption, match=r"no \.parquet file there"):
        tasks_of(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnknownOption, match=r"no \.parquet file there"):
        tasks_of(tmp_path / "empty")
    written(tmp_path / "empty", "test.parquet", [{"question": "a", "answer": "#### 1"}][:0])
    with pytest.raises(UnknownOption, match="no problem in test"):
        tasks_of(tmp_path / "empty")


def test_without_pyarrow_the_command_that_installs_it_is_named(tmp_path, monkeypatch):
    file = written(tmp_path, "test.parquet", ROWS)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(EnvUnavailable, match=r"pip install 'agentenv-gym\[data\]'"):
        tasks_of(file)


def test_the_file_is_the_servers_to_choose():
    with pytest.raises(BadCall, match="is the server's"):
        SPEC.resolve_options({"gsm8k": "/etc"}, scope="session")
