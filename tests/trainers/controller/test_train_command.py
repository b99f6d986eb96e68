"""`agentenv train` and `agentenv sft` as they are typed: exit codes, words, and ranks."""

import json
import math
import os
import subprocess
import sys

import pytest
from train_runs import coin_config, rows_of

from agentenv.cli.main import main
from trainers.config import TrainConfig
from trainers.engines.folder import shapes_of
from trainers.launch.local import leads, take_ranks, under_torchrun
from trainers.settings import BadSetting, load, plain

pytestmark = pytest.mark.usefixtures("coin")


def said(capsys, *words: object) -> tuple[int, str, str]:
    """Exit code, output and errors of a command."""
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    shown = capsys.readouterr()
    return int(ended.value.code or 0), shown.out, shown.err


@pytest.fixture
def file(model, tmp_path):
    import yaml

    path = tmp_path / "run.yaml"
    path.write_text(yaml.safe_dump(plain(coin_config(model, tmp_path / "run"))))
    return path


def test_a_run_that_completes_ends_with_zero_and_says_where_it_is(capsys, file, tmp_path):
    code, out, _ = said(capsys, "train", "--backend", "fsdp", file, "run.steps=1")
    assert code == 0
    assert out == f"complete at step 1, 1 optimizer steps; {tmp_path / 'run'}\n"
    code, out, _ = said(capsys, "train", file, "run.steps=1")
    assert (code, out.partition(" at ")[0]) == (0, "already complete")


def test_a_stop_rule_ends_with_one(capsys, file):
    code, out, _ = said(capsys, "train", file, "stop.entropy=50", "--json")
    assert code == 1
    assert json.loads(out)["reason"].startswith("step 1: mean entropy")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["batch.group_sise=2"], "did you mean batch.group_size (int, 8)?"),
        (["actor_rollout_ref.rollout.n=2"], "here it is batch.group_size"),
        (["batch.tasks_per_minibatch=3"], "batch.tasks_per_minibatch=3 does not divide"),
        (["rollout.max_episode_tokens=999"], "more than the 256 positions"),
        (["--backend", "fsdpp"], "--backend=fsdpp: did you mean fsdp?"),
    ],
)
def test_a_wrong_call_ends_with_two_and_one_line(capsys, file, words, error):
    code, out, err = said(capsys, "train", file, *words)
    assert (code, out) == (2, "")
    assert error in err
    assert err.count("\n") == 1


def test_a_world_that_fails_ends_with_one(capsys, file):
    code, _, err = said(capsys, "train", file, "environments[0].base_url=http://127.0.0.1:9")
    assert code == 1
    assert err.startswith("agentenv: no server at http://127.0.0.1:9")


def test_settings_may_be_words_alone(capsys, model, tmp_path):
    code, out, _ = said(
        capsys, "train", f"model.path={model}", "environments=[{env: coin, format: plain}]", f"run.dir={tmp_path}",
        "run.steps=1", "run.threads=1", "run.trackers=[jsonl]", "run.plots=false", "batch.tasks_per_step=2",
        "batch.group_size=2", "rollout.max_prompt_tokens=64", "rollout.max_episode_tokens=128",
        "rollout.max_turn_tokens=1", "evaluation={before: true, tasks: 2}",
    )  # fmt: skip
    assert code == 0
    assert "validation/success 0" in out or "validation/success 1" in out
    assert [row["step"] for row in rows_of(tmp_path)] == [0, 1]


def test_a_dry_run_prints_the_settings_the_sizes_and_the_memory(capsys, file, model, tmp_path):
    code, out, _ = said(capsys, "train", file, "--dry-run", "algorithm.estimator=remax", "batch.tasks_per_minibatch=1")
    assert code == 0
    (tmp_path / "again.yaml").write_text(out)
    again = load(TrainConfig, tmp_path / "again.yaml")
    assert (again.algorithm.estimator, again.batch.tasks_per_minibatch) == ("remax", 1)
    comments = dict(line[2:].split(": ", 1) for line in out.splitlines() if line.startswith("# "))
    assert comments["episodes per step"] == "8 and 2 greedy ones"
    assert comments["turns per episode, first stage"] == "coin its own limit"
    assert comments["tokens per step, at most"] == "1,024"
    assert comments["optimizer steps per step"] == "2"
    count = sum(math.prod(shape) for shape in shapes_of(str(model)).values())
    assert comments["parameters"] == f"{count:,}"
    assert comments["memory, learner"] == f"{16 * count / 2**20:.1f} MiB a rank", "masters, gradients, two moments"
    assert comments["memory, engine (on one rank)"] == f"{4 * count / 2**20:.1f} MiB a rank"
    assert not (tmp_path / "run").exists()


def test_a_dry_run_refuses_what_a_run_would(capsys, file):
    code, out, err = said(capsys, "train", file, "--dry-run", "batch.tasks_per_minibatch=3")
    assert (code, out) == (2, "")
    assert "does not divide" in err


def test_a_dry_run_tells_what_another_setting_decides(capsys, file):
    _, out, _ = said(capsys, "train", file, "--dry-run", "loss.entropy_coef=0.01")
    assert "# note: algorithm.zero_variance: keep" in out


def test_under_torchrun_the_ranks_are_those_that_there_are(monkeypatch):
    assert not under_torchrun()
    assert leads()
    for name, value in {"RANK": "3", "WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "2"}.items():
        monkeypatch.setenv(name, value)
    config = TrainConfig()
    assert under_torchrun()
    assert not leads()
    take_ranks(config)
    assert (config.launch.nodes, config.launch.processes_per_node) == (2, 2)
    config.launch.processes_per_node = 8
    with pytest.raises(BadSetting, match="are 16 ranks, but torchrun started 4"):
        take_ranks(config)


def test_several_machines_are_started_by_hand(capsys, file):
    code, _, err = said(capsys, "train", file, "launch.nodes=2")
    assert code == 2
    assert "torchrun --nnodes=2" in err


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.parametrize(
    ("words", "kill_at", "code", "told"),
    [
        (["model.path=/nowhere"], "", 2, "agentenv: model.path=/nowhere: there is no config.json"),
        ([], "step:collected", 128 + 9, "rank 0 was ended by SIGKILL"),
    ],
)
def test_ranks_that_fail_end_with_their_code_and_their_words(model, tmp_path, words, kill_at, code, told):
    command = [
        "train", f"model.path={model}", "environments=[{env: maze, format: plain, options: {size: 4}, max_steps: 1}]",
        f"run.dir={tmp_path}", "run.steps=1", "run.threads=1", "run.trackers=[]", "evaluation.before=false",
        "batch.tasks_per_step=2", "batch.group_size=2", "rollout.max_prompt_tokens=200",
        "rollout.max_episode_tokens=250", "rollout.max_turn_tokens=4", "launch.processes_per_node=2", *words,
    ]  # fmt: skip
    environment = {**os.environ, "OMP_NUM_THREADS": "1"} | ({"AGENTENV_KILL_AT": kill_at} if kill_at else {})
    done = subprocess.run(
        [sys.executable, "-m", "agentenv.cli.main", *command],
        env=environment, capture_output=True, text=True, timeout=220, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr[-3000:]
    assert told in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("command", ["launch.processes_per_node=2", "torchrun"])
def test_two_ranks_train_end_to_end(model, tmp_path, command):
    words = [
        "train", f"model.path={model}", "environments=[{env: maze, format: plain, options: {size: 4}, max_steps: 2}]",
        f"run.dir={tmp_path}", "run.steps=2", "run.threads=1", "run.trackers=[jsonl]", "run.plots=false",
        "batch.tasks_per_step=2", "batch.group_size=2", "rollout.max_prompt_tokens=200", "evaluation.before=false",
        "rollout.max_episode_tokens=250", "rollout.max_turn_tokens=4", "algorithm.zero_variance=keep",
    ]  # fmt: skip
    start = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "-m"]
    if command != "torchrun":
        start, words = [sys.executable, "-m"], [*words, command]
    done = subprocess.run(
        [*start, "agentenv.cli.main", *words],
        env={**os.environ, "OMP_NUM_THREADS": "1"}, capture_output=True, text=True, timeout=280, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.count("complete at step 2, 2 optimizer steps") == 1, "rank 0 alone speaks"
    assert [row["learn/optimizer_steps"] for row in rows_of(tmp_path)] == [1.0, 1.0]
    alone = [word for word in words if not word.startswith(("launch.", "run.steps="))]
    with pytest.raises(SystemExit) as ended:
        main([*alone, "run.steps=3"])
    assert not ended.value.code
    assert [row["learn/optimizer_steps"] for row in rows_of(tmp_path)] == [1.0, 1.0, 1.0], "one rank went on"
    assert "at step 2" in (tmp_path / "notes.log").read_text()
