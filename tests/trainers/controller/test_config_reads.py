"""Notes of who reads which setting, and the check that unites them."""

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[3] / "scripts" / "check_config.py"
READER = """
from trainers.config import EnvironmentSettings, TrainConfig
from trainers.rooms import names_of, steps_of
config = TrainConfig(environments=[EnvironmentSettings(env="maze")])
config.run.steps = 3
config.run.name             # not by code of the project
repr(config.optim), config.loss == config.loss
assert steps_of([], config) == 3
names_of(config.environments)
"""


def read_with_notes(folder: Path, code: str) -> None:
    subprocess.run([sys.executable, "-c", code], env={**os.environ, "AGENTENV_CONFIG_READS": str(folder)}, check=True)


def checked(folder: Path) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, SCRIPT, folder], capture_output=True, text=True, check=False)


def test_a_read_by_the_project_counts_and_others_do_not(tmp_path):
    read_with_notes(tmp_path, READER)
    [file] = tmp_path.iterdir()
    leaves = [line for line in file.read_text().splitlines() if not line.startswith("trainers.config.TrainConfig.")]
    assert leaves == ["trainers.config.RunSettings.steps", "trainers.config.EnvironmentSettings.env"]


def test_the_notes_of_all_processes_are_united_and_what_nobody_reads_is_named(tmp_path):
    read_with_notes(tmp_path, READER)
    read_with_notes(tmp_path, READER.replace("config.run.steps = 3", "config.run.steps = 3; names_of([])"))
    assert len(list(tmp_path.iterdir())) == 2
    found = checked(tmp_path)
    assert found.returncode == 1
    assert "nothing reads optim.lr = critic.optim.lr\n" in found.stdout
    assert "nothing reads environments[].split\n" in found.stdout
    assert "nothing reads run.steps\n" not in found.stdout
    assert found.stdout.splitlines()[-1].startswith("2 of ")


def test_a_folder_without_notes_proves_nothing(tmp_path):
    found = checked(tmp_path)
    assert found.returncode == 2
    assert "no notes" in found.stderr


def test_without_the_variable_nothing_is_noted(tmp_path):
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    code = READER + "\nfrom trainers.settings import Settings\nassert '__getattribute__' not in vars(Settings)\n"
    subprocess.run([sys.executable, "-c", code], env=environment, cwd=tmp_path, check=True)
    assert not list(tmp_path.iterdir())
