"""Where figures go: lines, files, event files, wandb's own folder, and a picture."""

import json
import math
import os
import subprocess
import sys

import pytest

from trainers.folder import FolderFailed
from trainers.plots import draw
from trainers.settings import BadSetting
from trainers.trackers import Console, Jsonl, TrackerFailed, open_trackers, read_rows

FIGURES = {"train/success": 0.5, "train/reward": 0.25, "loss/policy": -0.125, "time/step_s": 1.5}


def opened(folder, *names, first=1, total=3):
    return open_trackers(names, folder, project="p", name="n", config={"a": {"b": 1}}, first=first, total=total)


def test_the_console_without_a_terminal_writes_a_line_a_step(capsys):
    console = Console(total=3, first=1)
    console.log(1, FIGURES)
    console.log(2, {"validation/success": 0.75})
    console.close()
    console.close()
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.splitlines() == [
        "step 1: success 0.5  reward 0.25  loss -0.125  s/step 1.5",
        "step 2: dev 0.75",
    ]


def test_the_console_on_a_terminal_is_a_live_table(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    console = Console(total=3, first=1)
    for step in range(1, 20):
        console.log(step, FIGURES)
    console.close()
    shown = capsys.readouterr().err
    assert "success" in shown
    assert "│ 19" in shown
    assert "entropy" not in shown, "a column that nothing fills is not there"
    assert len(console._rows) == Console.ROWS


def test_lines_of_a_resumed_run_stand_once(tmp_path):
    first = Jsonl(tmp_path, first=0)
    for step in range(5):
        first.log(step, {"x": float(step)})
    first.close()
    second = Jsonl(tmp_path, first=3)
    second.log(3, {"x": 30.0})
    second.close()
    second.close()
    assert [(row["step"], row["x"]) for row in read_rows(tmp_path / "metrics.jsonl")] == [
        (0, 0.0), (1, 1.0), (2, 2.0), (3, 30.0),
    ]  # fmt: skip


def test_a_line_that_a_kill_left_unfinished_is_dropped(tmp_path):
    (tmp_path / "metrics.jsonl").write_text('{"step": 1, "x": 1.0}\n{"step": 2, "x": 2')
    tracker = Jsonl(tmp_path, first=5)
    tracker.log(5, {"x": 5.0})
    tracker.close()
    assert [row["step"] for row in read_rows(tmp_path / "metrics.jsonl")] == [1, 5]
    (tmp_path / "metrics.jsonl").write_text('{"step": 1\n{"step": 2}\n')
    with pytest.raises(BadSetting, match=r"metrics.jsonl:1 is no JSON"):
        Jsonl(tmp_path, first=5)


def test_lines_are_json_even_of_numbers_that_are_not(tmp_path):
    tracker = Jsonl(tmp_path, first=0)
    tracker.log(1, {"a": math.nan, "b": math.inf, "c": 1.0})
    tracker.close()
    [line] = (tmp_path / "metrics.jsonl").read_text().splitlines()
    assert json.loads(line, parse_constant=lambda name: pytest.fail(name)) == {
        "step": 1,
        "a": None,
        "b": None,
        "c": 1.0,
    }


def test_a_full_disk_is_an_error_of_one_line(tmp_path):
    code = (
        "import resource; from pathlib import Path; from trainers.trackers import Jsonl, TrackerFailed\n"
        f"tracker = Jsonl(Path({str(tmp_path)!r}), 0)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "try:\n    for step in range(99): tracker.log(step, {'x': 1.0})\n"
        "except TrackerFailed as exc: print(exc); tracker.close()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"cannot write {tmp_path / 'metrics.jsonl'}: File too large\n"
    assert issubclass(TrackerFailed, Exception)


def test_event_files_of_tensorboard_are_read_back(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    for first in (1, 3):
        [tracker] = opened(tmp_path, "tensorboard", first=first)
        for step in range(first, first + 3):
            tracker.log(step, {"train/success": step + first / 10})
        tracker.close()
    found = EventAccumulator(str(tmp_path / "tensorboard"))
    found.Reload()
    points = [(event.step, round(event.value, 3)) for event in found.Scalars("train/success")]
    assert points == [(1, 1.1), (2, 2.1), (3, 3.3), (4, 4.3), (5, 5.3)], "the third step is that of the second start"


@pytest.mark.slow
def test_wandb_offline_writes_its_own_folder_and_a_resumed_run_has_the_same_id(tmp_path):
    pytest.importorskip("wandb", reason="wandb is not installed")
    code = (
        "from pathlib import Path; from trainers.trackers import open_trackers\n"
        f"[t] = open_trackers(['wandb'], Path({str(tmp_path)!r}), project='p', name='n', config={{'a': 1}},"
        " first=1, total=2)\n"
        "t.log(1, {'train/success': 0.5}); t.close()\n"
    )
    environment = {**os.environ, "WANDB_MODE": "offline", "WANDB_SILENT": "true", "WANDB_DIR": str(tmp_path)}
    for _ in range(2):
        subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=100)
    run_id = (tmp_path / "wandb-id").read_text()
    files = list((tmp_path / "wandb").glob(f"offline-run-*-{run_id}/*.wandb"))
    assert len(files) == 2
    assert all(b"train/success" in file.read_bytes() for file in files)


def test_an_unknown_tracker_is_refused_before_any_is_opened(tmp_path):
    with pytest.raises(
        BadSetting, match=r"run\.trackers: 'tensorbord'; choose from console, jsonl, tensorboard, wandb"
    ):
        opened(tmp_path, "jsonl", "tensorbord")
    assert not (tmp_path / "metrics.jsonl").exists()


def test_a_tracker_that_cannot_open_closes_the_others(tmp_path):
    (tmp_path / "tensorboard").write_text("no folder")
    with pytest.raises(OSError):
        opened(tmp_path, "jsonl", "tensorboard")
    with (tmp_path / "metrics.jsonl").open("a") as file:  # an unclosed one would warn, and warnings are errors
        file.write("")


def write_rows(folder, count=30):
    tracker = Jsonl(folder, first=0)
    tracker.log(0, {"validation/success": 0.3, "validation/success_low": 0.2, "validation/success_high": 0.4})
    for step in range(1, count + 1):
        row = {
            "train/success": 0.3 + 0.5 * step / count, "train/reward": 0.5 * step / count, "train/turns": 8 - step / 10,
            "rounds/limit": 8.0, "time/collect_s": 1.0, "time/learn_s": 0.5 + step / count, "time/push_s": 0.1,
            "time/validate_s": 0.0, "time/save_s": 0.0, "time/step_s": 2.0,
        }  # fmt: skip
        if step % 10 == 0:
            score = 0.3 + 0.5 * step / count
            row |= {"validation/success": score, "validation/success_low": score - 0.1, "validation/reward": score,
                    "validation/success_high": score + 0.1, "time/validate_s": 1.0}  # fmt: skip
        tracker.log(step, row)
    tracker.close()


def test_the_picture_is_a_png_of_four_panels(tmp_path):
    write_rows(tmp_path)
    target = draw(tmp_path)
    data = target.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = (int.from_bytes(data[at : at + 4], "big") for at in (16, 20))
    assert (width, height) == (1210, 770)
    assert [p.name for p in tmp_path.glob("*.png")] == ["plots.png"]


def test_a_run_with_holes_in_its_figures_is_drawn_too(tmp_path):
    assert draw(tmp_path) is None
    tracker = Jsonl(tmp_path, first=0)
    tracker.log(1, {"train/success": math.nan})
    tracker.log(2, {})
    tracker.close()
    assert draw(tmp_path).exists()


def test_a_picture_that_cannot_be_written_is_an_error_of_one_line(tmp_path):
    write_rows(tmp_path, count=2)
    (tmp_path / ".plots.png").mkdir()
    with pytest.raises(FolderFailed, match=r"cannot write .*plots\.png"):
        draw(tmp_path)
