"""A run that ended early, by itself or by SIGKILL, goes on as if nothing had been."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import kill_runs
import pytest
from kill_runs import STEPS
from train_runs import coin_config, episodes_of, rows_of, state_of, tensors_of

from agentenv.errors import BadCall
from trainers.checkpoints import WRITE_POINTS, Checkpoints
from trainers.loop import STEP_POINTS, NothingLearned, train
from trainers.settings import BadSetting

PRUNING = "save:pruning"
"""Visited only where old checkpoints go."""


@pytest.fixture(scope="module")
def undisturbed(model, tmp_path_factory) -> Path:
    return runs(model, tmp_path_factory.mktemp("undisturbed"), [[]]) / "undisturbed"


def runs(model: Path, folder: Path, places: list[list[str]], keep: int = 9) -> Path:
    """The folders of runs that died at these places."""
    support = Path(kill_runs.__file__)
    out = folder / "ends.json"
    given = json.dumps({"model": str(model), "folder": str(folder), "places": places, "keep": keep})
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, support, given, out], env=environment, check=True, timeout=590)
    return folder


def same_run(folder: Path, other: Path) -> None:
    """Weights, optimizers, counters, figures and episodes are equal to the last bit."""
    assert rows_of(folder) == rows_of(other)
    assert episodes_of(folder) == episodes_of(other)
    assert episodes_of(folder, "validation") == episodes_of(other, "validation")
    assert state_of(folder, STEPS) == state_of(other, STEPS)
    assert tensors_of(folder, STEPS) == tensors_of(other, STEPS)
    best = [(f / "checkpoints" / "best").read_text() for f in (folder, other)]
    assert best[0] == best[1]
    assert not list((folder / "checkpoints").glob(".step-*"))


def check_killed(model: Path, folder: Path, undisturbed: Path, places: list[list[str]], keep: int = 9) -> None:
    runs(model, folder, places, keep)
    ends = json.loads((folder / "ends.json").read_text())
    for several in places:
        name = " then ".join(several)
        assert ends[name] == [-9] * len(several) + [0], (folder / f"{name.replace(':', '_')}.log").read_text()
        same_run(folder / name.replace(":", "_"), undisturbed)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("visit", [1, 2])
def test_killed_during_a_save_and_resumed_it_is_the_undisturbed_run(model, tmp_path, undisturbed, visit):
    """The first save is that of the best weights before the first step, the second that after a stage of turns."""
    check_killed(model, tmp_path, undisturbed, [[f"{point}@{visit}"] for point in WRITE_POINTS if point != PRUNING])


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_killed_while_an_old_checkpoint_goes_and_resumed_it_is_the_undisturbed_run(model, tmp_path, undisturbed):
    check_killed(model, tmp_path, undisturbed, [[f"{PRUNING}@1"], [f"{PRUNING}@2"]], keep=1)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("step", range(1, STEPS + 1))
def test_killed_in_any_step_and_resumed_it_is_the_undisturbed_run(model, tmp_path, undisturbed, step):
    """Saves and stages of turns change after steps 2, 4 and 6, epochs after 3 and 6."""
    points = STEP_POINTS if step == 3 else ("step:learned", "step:end")
    check_killed(model, tmp_path, undisturbed, [[f"{point}@{step}"] for point in points])


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_killed_again_and_again_it_is_the_undisturbed_run(model, tmp_path, undisturbed):
    places = [["step:pushed@3", "save:shards@1", "step:collected@2", "save:renamed@1", "step:logged@1"]]
    check_killed(model, tmp_path, undisturbed, places)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_full_disk_at_a_checkpoint_is_a_clear_error_and_the_run_goes_on_later(model, tmp_path, undisturbed):
    places = ["step:end@2", "disk:full"]
    folder, name = runs(model, tmp_path, [places]), " then ".join(places)
    assert json.loads((folder / "ends.json").read_text())[name] == [-9, 1, 0]
    log = (folder / f"{name.replace(':', '_')}.log").read_text()
    assert re.search(r"CheckpointFailed: cannot save step [34] in .* \([\d,]+ MiB free\)", log)
    assert "earlier checkpoints are untouched: step-00000000, step-00000002" in log
    same_run(folder / name.replace(":", "_"), undisturbed)


@pytest.mark.usefixtures("coin")
class TestInOneProcess:
    """Stops by the number of steps, and what a resumed run may not have otherwise."""

    def config(self, model, tmp_path, steps=2, **settings):
        return coin_config(model, tmp_path, run__steps=steps, run__deterministic=True, **settings)

    def test_a_run_that_is_given_more_steps_goes_on_where_it_was(self, model, tmp_path):
        for steps in (1, 3):
            assert train(self.config(model, tmp_path / "parts", steps)).step == steps
        train(self.config(model, tmp_path / "whole", 3))
        assert rows_of(tmp_path / "parts") == rows_of(tmp_path / "whole")
        assert episodes_of(tmp_path / "parts") == episodes_of(tmp_path / "whole")
        assert tensors_of(tmp_path / "parts", 3) == tensors_of(tmp_path / "whole", 3)

    def test_bits_apart_a_run_goes_on_where_it_was_in_every_mode(self, model, tmp_path):
        whole, parts = tmp_path / "whole", tmp_path / "parts"
        for folder in (whole, parts, parts):
            config = coin_config(
                model, folder, run__steps=5, batch__tasks_per_step=8, rollout__concurrency=5, checkpoint__every=2,
                optim__schedule="cosine", env__options={"turns": 3},
            )  # fmt: skip
            config.algorithm.rounds.type, config.algorithm.rounds.values = "scaling_inter_stepwise", [1, 2, 3]
            config.algorithm.rounds.every = 2
            train(config)
            last = parts / "checkpoints" / "step-00000005"
            if not (parts / "notes.log").exists():
                shutil.rmtree(last, ignore_errors=True)  # as of a run that was killed after its save of step 4
        for kind in ("optim/lr", "rounds/limit", "train/episodes"):
            assert [row[kind] for row in rows_of(whole)] == [row[kind] for row in rows_of(parts)]
        tasks = [[[task for task, *_ in step] for step in episodes_of(folder)] for folder in (whole, parts)]
        assert tasks[0] == tasks[1]
        assert "at step 4" in (parts / "notes.log").read_text()

    def test_a_kill_between_the_best_checkpoint_and_its_mark_costs_neither(self, model, tmp_path):
        settings = {"evaluation__before": True, "evaluation__every": 1, "evaluation__tasks": 2, "optim__lr": 0.0}
        config = self.config(model, tmp_path, checkpoint__keep=1, **settings)
        train(config)
        store = Checkpoints(tmp_path / "checkpoints", keep=1)
        assert store.best().name == "step-00000000", "equal weights have equal scores: the first stays the best"
        (store.folder / "best").unlink()
        shutil.rmtree(store.latest())
        train(config)
        assert store.best().name == "step-00000000"
        assert store.latest().name == "step-00000002"

    def test_a_finished_run_says_so(self, model, tmp_path):
        train(self.config(model, tmp_path))
        summary = train(self.config(model, tmp_path))
        assert (summary.reason, summary.step, summary.updates) == ("already complete", 2, 0)
        assert len(rows_of(tmp_path)) == 2

    def test_other_settings_are_refused_by_name_and_nothing_is_written(self, model, tmp_path):
        train(self.config(model, tmp_path))
        before = (tmp_path / "config.json").read_text()
        changed = {"optim__lr": 0.5, "run__seed": 3, "batch__group_size": 8, "env__options": {"turns": 2}}
        with pytest.raises(BadCall) as caught:
            train(self.config(model, tmp_path, 4, **changed))
        for words in ("optim.lr (was 0.001, is 0.5)", "run.seed (was 0, is 3)", "batch.group_size (was 4, is 8)",
                      "environments[0].options (was {}, is {'turns': 2})"):  # fmt: skip
            assert words in caught.value.message
        assert "run.steps" not in caught.value.message
        assert (tmp_path / "config.json").read_text() == before

    def test_what_does_not_change_the_learning_may_change(self, model, tmp_path):
        train(self.config(model, tmp_path))
        changed = {"rollout__concurrency": 3, "checkpoint__every": 1, "batch__episodes_per_microbatch": 2,
                   "run__name": "again", "evaluation__tasks": 3, "stop__entropy": 0.1}  # fmt: skip
        assert train(self.config(model, tmp_path, 3, **changed)).reason == "complete"
        assert json.loads((tmp_path / "config.json").read_text())["run"]["name"] == "again"

    def test_another_file_of_tasks_is_refused(self, model, tmp_path):
        file = tmp_path / "tasks.txt"
        file.write_text("".join(f"coin/train/{i}\n" for i in range(8)))
        train(self.config(model, tmp_path, env__tasks=str(file)))
        file.write_text("".join(f"coin/train/{i}\n" for i in range(9)))
        with pytest.raises(BadSetting, match=r"environments\[0\]: its tasks are not those of the checkpoint"):
            train(self.config(model, tmp_path, 3, env__tasks=str(file)))

    def test_a_run_that_must_not_go_on_refuses_a_used_folder(self, model, tmp_path):
        train(self.config(model, tmp_path))
        with pytest.raises(BadSetting, match=r"checkpoint\.resume=never, but .*step-00000002 is there"):
            train(self.config(model, tmp_path, 3, checkpoint__resume="never"))

    def test_a_checkpoint_is_named_by_its_folder(self, model, tmp_path):
        train(self.config(model, tmp_path / "a", 3, checkpoint__every=1))
        older = tmp_path / "a" / "checkpoints" / "step-00000001"
        with pytest.raises(BadSetting, match=r"step-00000003 is newer"):
            train(self.config(model, tmp_path / "a", 3, checkpoint__resume=str(older)))
        summary = train(self.config(model, tmp_path / "b", 3, checkpoint__resume=str(older)))
        assert (summary.step, summary.updates) == (3, 2)
        assert tensors_of(tmp_path / "a", 3) == tensors_of(tmp_path / "b", 3)
        with pytest.raises(BadCall, match="no finished checkpoint"):
            train(self.config(model, tmp_path / "c", 3, checkpoint__resume=str(tmp_path / "nowhere")))

    def test_a_resumed_run_without_one_update_is_an_error(self, model, tmp_path):
        settings = {"reward__scale": 0.0, "stop__zero_groups": 50}
        train(self.config(model, tmp_path, **settings))
        with pytest.raises(NothingLearned, match="resumed at step 2 of 3, and no step made an update"):
            train(self.config(model, tmp_path, 3, **settings))
