import json
import logging
import subprocess
import sys
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


def test_processes_that_start_together_build_once_and_each_finds_it_whole(tmp_path):
    code = """
import sys, time
from pathlib import Path
from agentenv.keep import kept
home = Path(sys.argv[1])
def write(work):
    with (home / "builds").open("a") as log:
        log.write("x")
    time.sleep(0.5)
    (work / "data").write_text("made")
while not (home / "go").exists():
    time.sleep(0.01)
print((kept(home / "world", "k", write) / "data").read_text())
"""
    started = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    (tmp_path / "go").touch()
    assert [process.communicate(timeout=60)[0].strip() for process in started] == ["made"] * 3
    assert (tmp_path / "builds").read_text(encoding="utf-8") == "x"


@pytest.mark.parametrize("damage", ["changed", "missing", "added", "no stamp", "stamp cut"])
def test_a_folder_with_any_file_damaged_is_found_by_the_next_process(tmp_path, damage):
    made = kept(tmp_path / "world", "k", writer([]))
    match damage:
        case "changed":
            (made / "data").write_text("MADE", encoding="utf-8")  # of the same size
        case "missing":
            (made / "data").unlink()
        case "added":
            (made / "more").touch()
        case "no stamp":
            (made / STAMP).unlink()
        case "stamp cut":
            (made / STAMP).write_text((made / STAMP).read_text(encoding="utf-8")[:20], encoding="utf-8")
    code = """
import sys
from pathlib import Path
from agentenv.keep import kept
kept(Path(sys.argv[1]), "k", lambda work: (work / "data").write_text("anew"))
"""
    command = [sys.executable, "-c", code, str(made)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert "damaged; it is replaced" in done.stderr, "people see it without any setting"
    assert (made / "data").read_text(encoding="utf-8") == "anew"
    assert not (made / "more").exists()


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
