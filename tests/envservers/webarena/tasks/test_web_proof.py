"""The report of `scripts/prove.py`, checked in: every task outside of train was solved as it is now."""

import importlib.util
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from envservers.webarena.spec import SPEC

SCRIPT = Path(__file__).resolve().parents[4] / "scripts" / "prove.py"
SPLITS = ("dev", "test", "test_ood", "mini", "smoke")


@pytest.fixture(scope="module")
def prove() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("prove", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["prove"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["prove"]


def test_every_task_was_proved_within_its_steps(prove: ModuleType) -> None:
    _, report = prove.read_report(prove.report_path(SPEC))
    tasks = SPEC.task_set({})
    expected = [f"webarena/{split}/{index}" for split in SPLITS for index in range(tasks.count(split))]
    assert sorted(report) == sorted(expected)
    assert all(proof.holds and proof.score == 1.0 and proof.steps <= 30 for proof in report.values())


def test_the_report_is_of_the_tasks_as_they_are_now(prove: ModuleType) -> None:
    head, _ = prove.read_report(prove.report_path(SPEC))
    assert head["tasks"] == SPEC.task_set({}).digest
    assert head["version"] == SPEC.version


@pytest.mark.slow
def test_every_line_has_its_task_s_digest(prove: ModuleType) -> None:
    _, report = prove.read_report(prove.report_path(SPEC))
    tasks = SPEC.task_set({})
    for split in SPLITS:
        for index in range(tasks.count(split)):
            task = tasks.get(split, index)
            assert report[task.id].digest == task.digest[:16]


def test_a_run_keeps_what_holds_and_plays_the_rest(prove: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "proof.jsonl"
    given = ["maze", "--split", "double_t", "--report", str(path)]
    assert prove.main(given) == 0
    lines = path.read_text().splitlines()
    changed = lines[1].replace('"steps":', '"steps":7')
    path.write_text("\n".join([lines[0], changed, *lines[2:-1]]) + "\n")
    assert prove.main(given) == 0
    again = path.read_text().splitlines()
    assert again[0] == lines[0]
    assert again[1] == changed
    assert again[2:] == lines[2:]


def test_a_sample_in_a_real_browser_was_proved_on_the_tasks_as_they_are_now(prove: ModuleType) -> None:
    head, report = prove.read_report(prove.report_path(SPEC, "proof_sample.jsonl"))
    tasks = SPEC.task_set({})
    assert head["options"] == {"engine": "chromium"}
    assert len(report) >= 150
    assert all(proof.holds for proof in report.values())
    found = [tasks.get(split, int(index)) for _, split, index in (name.split("/") for name in report)]
    assert [task.digest[:16] for task in found] == [proof.digest for proof in report.values()]
    every = {tasks.get(split, index).template for split in ("test", "test_ood") for index in range(tasks.count(split))}
    assert {task.template for task in found} == every


def test_a_sample_takes_the_templates_in_turns(prove: ModuleType) -> None:
    tasks = SPEC.task_set({})
    chosen = prove.sampled((tasks.get("test", index) for index in range(200)), 30)
    met = Counter(task.template for task in chosen)
    assert len(chosen) == 30
    assert max(met.values()) - min(met.values()) <= 1 or min(met.values()) == 1
