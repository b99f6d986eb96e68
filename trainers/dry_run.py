"""`agentenv train --dry-run`: the resolved settings, how much a step plays and learns, and a memory estimate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trainers.algorithms.checks import check_together, notes
from trainers.algorithms.rounds import turn_limit
from trainers.config import TrainConfig
from trainers.settings import plain

GIB, MIB = 2**30, 2**20
FLOAT32 = 4


def report(config: TrainConfig) -> str:
    """Everything as text. Raises BadSetting for settings that do not go together."""
    import yaml

    check_together(config)
    lines = [yaml.safe_dump(plain(config), sort_keys=False).rstrip(), ""]
    lines += [f"# {name}: {value}" for name, value in (*sizes(config).items(), *memory(config).items())]
    lines += [f"# note: {note}" for note in notes(config)]
    return "\n".join(lines)


def sizes(config: TrainConfig) -> dict[str, str]:
    """Episodes and tokens of a step; tokens are the most that the limits allow."""
    greedy = config.batch.tasks_per_step if config.algorithm.estimator == "remax" else 0
    episodes = config.batch.tasks_per_step * config.batch.group_size
    per_minibatch = config.batch.tasks_per_minibatch or config.batch.tasks_per_step
    steps = config.batch.tasks_per_step // per_minibatch * config.loss.epochs
    turns = {e.env: turn_limit(1, config.algorithm.rounds, e) for e in config.environments}
    return {
        "episodes per step": f"{episodes}" + (f" and {greedy} greedy ones" if greedy else ""),
        "turns per episode, first stage": ", ".join(f"{env} {n or 'its own limit'}" for env, n in turns.items()),
        "tokens per step, at most": f"{episodes * config.rollout.max_episode_tokens:,}",
        "optimizer steps per step": str(steps),
    }


def memory(config: TrainConfig) -> dict[str, str]:
    """Bytes by the parameters' number: float32 masters, gradients, two moments; copies for engine, reference, critic.

    Activations and caches come on top: they depend on lengths.
    """
    count = parameters_of(Path(config.model.path))
    ranks = config.launch.nodes * config.launch.processes_per_node
    trained = count if not config.model.lora.rank else 0
    learner = FLOAT32 * (count + 3 * trained) / ranks
    critic = FLOAT32 * 4 * count / ranks if config.algorithm.estimator == "gae" else 0
    reference = FLOAT32 * count / ranks if config.kl.placement != "none" and not config.model.lora.rank else 0
    engine = FLOAT32 * count
    parts = {"learner": learner, "critic": critic, "reference": reference, "engine (on one rank)": engine}
    found = {f"memory, {name}": f"{_shown(size)} a rank" for name, size in parts.items() if size}
    found["memory, together"] = f"{_shown(sum(parts.values()))}, activations and caches apart"
    return {"parameters": f"{count:,}"} | found


def _shown(size: float) -> str:
    return f"{size / GIB:.2f} GiB" if size >= GIB else f"{size / MIB:.1f} MiB"


def parameters_of(folder: Path) -> int:
    """Number of parameters of the model in a folder, without loading it."""
    import torch
    from transformers import AutoModelForCausalLM

    from trainers.fsdp.model import load_config

    model_config: Any = load_config(str(folder))
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(model_config)
    return sum(p.numel() for p in model.parameters())
