"""Small training runs: a configuration for a tiny model that tosses coins."""

from __future__ import annotations

from pathlib import Path

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
