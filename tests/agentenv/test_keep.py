import json
import logging
import threading

import pytest

from agentenv.keep import STAMP, kept, stages


def writer(calls: list[int], text: str = "made"):
    def write(work) -> None:
        calls.append(1)
        (work / "data").write_text(text, encoding="utf-8")

    return write


def test_many_that_start_together_build_once(tmp_path):
    calls: list[int] = []
    threads = [threading.Thread(target=kept, args=(tmp_path / "x", "k", writer(calls))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1
    assert (tmp_path / "x" / "data").read_text(encoding="utf-8") == "made"


def test_a_damaged_folder_is_made_anew_and_said_so(tmp_path, caplog):
    folder = tmp_path / "x"
    calls: list[int] = []
    folder.mkdir()
    (folder / "data").write_text("half", encoding="utf-8")
    (folder / STAMP).write_text(json.dumps({"key": "k", "files": {"data": "0" * 64}}), encoding="utf-8")
    with caplog.at_level(logging.WARNING, "agentenv.keep"):
        kept(folder, "k", writer(calls))
    assert (folder / "data").read_text(encoding="utf-8") == "made"
    assert "it is replaced" in caplog.text


def test_a_folder_of_another_key_is_made_anew(tmp_path):
    calls: list[int] = []
    for key in ("one", "one", "two"):
        kept(tmp_path / "x", key, writer(calls))
    assert len(calls) == 2


def test_a_build_that_fails_leaves_nothing_behind(tmp_path):
    def write(work) -> None:
        (work / "data").write_text("half", encoding="utf-8")
        raise RuntimeError("no space")

    with pytest.raises(RuntimeError, match="no space"):
        kept(tmp_path / "x", "k", write)
    assert [p.name for p in tmp_path.iterdir()] == [".x.lock"]


def test_a_file_that_changes_after_its_check_is_noticed(tmp_path):
    calls: list[int] = []
    folder = kept(tmp_path / "x", "k", writer(calls))
    (folder / "data").write_text("other", encoding="utf-8")
    kept(tmp_path / "x", "k", writer(calls))
    assert (folder / "data").read_text(encoding="utf-8") == "made"


def test_stages_come_in_order_and_stay_silent_without_a_terminal(capsys):
    with stages("world", ("facts", "index")) as stage:
        assert [next(stage), next(stage)] == ["facts", "index"]
    assert capsys.readouterr().err == ""
