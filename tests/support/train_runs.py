"""Small training runs: a configuration for a tiny model that tosses coins."""

from __future__ import annotations

import json
import tempfile
import warnings
from pathlib import Path

from agentenv.trajectory import read_jsonl
from trainers.config import EnvironmentSettings, TrainConfig


def coin_config(model: Path, folder: Path, **settings: object) -> TrainConfig:
    """Two steps of two tasks; settings by dotted name, dots written `__`: `optim__lr=1e-3`, `env__max_steps=2`."""
    config = TrainConfig(environments=[EnvironmentSettings(env="coin", format="plain")])
    config.model.path = str(model)
    config.run.dir = str(folder)
    config.run.steps = 2
    config.run.threads = 1
    config.run.trackers = ["jsonl"]
    config.run.plots = False
    config.batch.tasks_per_step, config.batch.group_size = 2, 4
    config.rollout.max_prompt_tokens, config.rollout.max_episode_tokens = 64, 128
    config.rollout.max_turn_tokens = 1
    config.optim.lr = 1e-3
    config.evaluation.before = False
    for name, value in settings.items():
        *folders, key = name.split("__")
        target: object = config
        for part in folders:
            target = config.environments[0] if part == "env" else getattr(target, part)
        if key not in type(target).__dataclass_fields__:
            raise AttributeError(f"no setting {name}")
        setattr(target, key, value)
    return config


def rows_of(folder: Path) -> list[dict]:
    """The rows of `metrics.jsonl`, times apart: they are never the same twice."""
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return [{k: v for k, v in row.items() if not k.startswith("time/")} for row in rows]


def episodes_of(folder: Path, kind: str = "train") -> list[list[tuple]]:
    """What was played in each step: task, outcome, reward, and ids with log-probabilities of each turn."""
    files = sorted((folder / "rollouts").glob(f"{kind}-*.jsonl"))
    return [
        [
            (
                record.task.id,
                record.outcome.value,
                record.reward,
                record.max_steps,
                [(t.prompt_ids, t.token_ids, t.logprobs, t.policy_version) for t in record.turns],
            )
            for record in read_jsonl(file)
        ]
        for file in files
    ]


def state_of(folder: Path, step: int) -> dict:
    """The counters of a checkpoint, the seconds apart."""
    state = json.loads((folder / "checkpoints" / f"step-{step:08d}" / "state.json").read_text(encoding="utf-8"))
    return {k: v for k, v in state.items() if k != "seconds"}


def tensors_of(folder: Path, step: int) -> dict[str, bytes]:
    """Every tensor of a checkpoint, parameters and optimizers of all roles, as bytes by name."""
    import torch
    from torch.distributed.checkpoint.format_utils import dcp_to_torch_save

    source = folder / "checkpoints" / f"step-{step:08d}" / "learner"
    with tempfile.TemporaryDirectory() as aside, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dcp_to_torch_save(source, Path(aside) / "whole.pt")
        found = torch.load(Path(aside) / "whole.pt", weights_only=True)
    return {name: tensor.numpy().tobytes() for name, tensor in found.items()}
