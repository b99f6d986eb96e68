"""Checkpoints are whole or absent, whatever ends the process while one is written."""

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from token_batches import learner_config

from agentenv.errors import BadCall
from agentenv.trained_on import trained_on, write_trained_on
from trainers.checkpoints import WRITE_POINTS, CheckpointFailed, Checkpoints, read_config, read_state


class FileLearner:
    """Writes one file in two parts, with the FSDP learner's place to die between them."""

    def save(self, folder: Path) -> None:
        from trainers.faults import fault_point

        folder.mkdir()
        (folder / "data").write_text("x" * 1000)
        fault_point("save:shards")
        (folder / "index").write_text("whole")


def save(folder: Path, step: int, *, keep: int = 2, best: bool = False) -> Path:
    config = learner_config(folder)
    return Checkpoints(folder, keep=keep).save(FileLearner(), step=step, state={"step": step}, config=config, best=best)


def test_what_was_saved_is_read(tmp_path):
    folder = save(tmp_path, 3)
    assert Checkpoints(tmp_path, keep=2).latest() == folder
    assert read_state(folder) == {"step": 3}
    assert read_config(folder).run.threads == 1
    assert (folder / "learner" / "index").read_text() == "whole"


def test_the_newest_stay_and_so_does_the_best(tmp_path):
    for step in range(1, 6):
        save(tmp_path, step, best=step == 2)
    store = Checkpoints(tmp_path, keep=2)
    assert [p.name for p in store.all()] == ["step-00000002", "step-00000004", "step-00000005"]
    assert store.best().name == "step-00000002"


def test_a_run_that_went_back_saves_the_same_step_again(tmp_path):
    save(tmp_path, 1)
    (save(tmp_path, 2) / "learner" / "data").write_text("older")
    folder = save(tmp_path, 2)
    assert (folder / "learner" / "data").read_text() == "x" * 1000
    assert not [p.name for p in tmp_path.iterdir() if p.name.startswith(".")]


def test_no_folder_and_an_empty_one_have_no_latest(tmp_path):
    assert Checkpoints(tmp_path / "nowhere", keep=1).latest() is None
    assert Checkpoints(tmp_path, keep=1).latest() is None
    with pytest.raises(BadCall, match="no finished checkpoint"):
        read_state(tmp_path)


def run_saves(folder: Path, kill_at: str | None, *steps: int, limit: int | None = None) -> subprocess.CompletedProcess:
    code = f"import test_checkpoints as t, pathlib\nfor step in {steps}: t.save(pathlib.Path({str(folder)!r}), step)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])}
    if kill_at is not None:
        environment["AGENTENV_KILL_AT"] = kill_at

    def small_files() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.run(
        [sys.executable, "-c", code],
        env=environment, preexec_fn=small_files, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("point", [p for p in WRITE_POINTS if p != "save:pruning"])
def test_a_kill_during_a_save_leaves_a_whole_checkpoint_to_go_on_from(tmp_path, point):
    assert run_saves(tmp_path, f"{point}@2", 1, 2).returncode == -9
    latest = Checkpoints(tmp_path, keep=2).latest()
    landed = WRITE_POINTS.index(point) >= WRITE_POINTS.index("save:renamed")
    assert read_state(latest) == {"step": 2 if landed else 1}
    assert (latest / "learner" / "index").read_text() == "whole"
    save(tmp_path, 2)
    assert {p.name for p in tmp_path.iterdir()} == {"step-00000001", "step-00000002"}


def test_a_kill_while_old_ones_are_removed_leaves_whole_ones(tmp_path):
    assert run_saves(tmp_path, "save:pruning", 1, 2, 3).returncode == -9
    assert read_state(Checkpoints(tmp_path, keep=2).latest()) == {"step": 3}
    save(tmp_path, 4)
    assert [p.name for p in Checkpoints(tmp_path, keep=2).all()] == ["step-00000003", "step-00000004"]


def test_a_full_disk_is_a_clear_error_and_the_old_checkpoint_survives(tmp_path):
    save(tmp_path, 1)
    done = run_saves(tmp_path, None, 2, limit=500)
    assert "CheckpointFailed: cannot save step 2" in done.stderr
    assert "File too large" in done.stderr
    assert "earlier checkpoints are untouched: step-00000001" in done.stderr
    assert {p.name for p in tmp_path.iterdir()} == {"step-00000001"}


def test_an_error_of_the_learner_is_the_callers(tmp_path):
    class Broken:
        def save(self, folder):
            raise OSError(28, "No space left on device")

    with pytest.raises(CheckpointFailed, match="No space left on device"):
        Checkpoints(tmp_path, keep=1).save(Broken(), step=1, state={}, config=learner_config(tmp_path))
    assert json.dumps([p.name for p in tmp_path.iterdir()]) == "[]"


def test_a_checkpoint_says_which_tasks_its_weights_have_seen_those_of_the_first_model_too(tmp_path):
    first = tmp_path / "first"
    first.mkdir()
    write_trained_on(first, ["before"])
    config = learner_config(tmp_path)
    config.model.path = str(first)
    made = Checkpoints(tmp_path, keep=1).save(FileLearner(), step=1, state={}, config=config, tasks={"now"})
    assert trained_on(made) == {"before", "now"}
