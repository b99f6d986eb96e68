"""The list of trained tasks stays with the weights, and says nothing where nothing is known."""

import pytest

from agentenv.errors import BadCall
from agentenv.protocol import Outcome, TaskRef
from agentenv.trained_on import FILE, inherited, trained_on, write_trained_on
from agentenv.trajectory import Trajectory, write_jsonl


def test_what_was_written_is_read_once_each_and_in_order(tmp_path):
    write_trained_on(tmp_path, ["b", "a", "b", ""])
    assert trained_on(tmp_path) == trained_on(tmp_path / FILE) == {"a", "b"}
    assert inherited(str(tmp_path)) == {"a", "b"}


def test_a_folder_that_says_nothing_is_unknown(tmp_path):
    assert trained_on(tmp_path) is None
    assert inherited(str(tmp_path)) == inherited("someone/model-on-a-hub") == frozenset()


def test_records_say_it_by_themselves(tmp_path):
    records = [
        Trajectory(
            task=TaskRef(id=f"coin/train/{i}", env="coin", split="train", index=i, digest=f"d{i}"),
            env="coin", env_version="1", agent={}, outcome=Outcome.SUCCESS, success=True, reward=1.0, last_reward=1.0,
            score=None, steps=0, turns=[], max_steps=3, tasks_digest="d", final_observation="", time={},
        )
        for i in range(3)
    ]  # fmt: skip
    file = tmp_path / "set.jsonl"
    with file.open("w", encoding="utf-8") as out:
        write_jsonl(records, out)
    assert trained_on(file) == {"d0", "d1", "d2"}


@pytest.mark.parametrize("text", ["", "[]", '{"format": 2, "tasks": []}', '{"format": 1, "tasks": [1]}'])
def test_a_file_that_is_no_list_is_named(tmp_path, text):
    (tmp_path / FILE).write_text(text)
    with pytest.raises(BadCall, match=r"trained_on\.json: not a list of trained tasks"):
        trained_on(tmp_path)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(BadCall, match="absent"):
        trained_on(tmp_path / "absent.json")
    with pytest.raises(BadCall, match="absent"):
        trained_on(tmp_path / "absent.jsonl")
