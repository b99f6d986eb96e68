"""Making the models of a learner: load, check, shard, choose how they run."""

from __future__ import annotations

from typing import Any

import torch

from trainers.config import TrainConfig
from trainers.fsdp.model import (
    PolicyModel,
    ValueModel,
    add_adapters,
    compute_dtype,
    load_backbone,
    load_policy,
    shard,
)
from trainers.fsdp.probe import LEAK, check_head, check_sharded, leak
from trainers.fsdp.runner import Runner
from trainers.fsdp.world import World


def policy_runner(config: TrainConfig, world: World, name: str) -> Runner:
    """The `policy`, or the `reference`: the same model without adapters and frozen."""
    lm = load_policy(config.model.path, rank=world.rank)
    model = PolicyModel(lm)
    if world.rank == 0:
        check_head(model, lm)
    if name == "policy" and config.model.lora.rank:
        add_adapters(lm, config.model.lora, seed=config.run.seed)
    if name == "reference":
        model.requires_grad_(False)

    def run(targets: torch.Tensor, **laid: Any) -> torch.Tensor:
        logprobs: torch.Tensor = model(targets=targets, temperature=1.0, **laid)[0]
        return logprobs

    return _ready(Runner(name, model, lm, world, config), lm, run, config)


def critic_runner(config: TrainConfig, world: World) -> Runner:
    """The value model: the policy's backbone, or the one of `critic.model.path`."""
    backbone = load_backbone(config.critic.model.path or config.model.path, rank=world.rank)
    model = ValueModel(backbone)

    def run(_targets: torch.Tensor, **laid: Any) -> torch.Tensor:
        values: torch.Tensor = model(**laid)
        return values

    with torch.no_grad():
        model.head.weight.fill_(1.0)  # a head of zeros would hide a leak
        runner = _ready(Runner("critic", model, backbone, world, config), backbone, run, config)
        model.head.weight.zero_()
    return runner


def _ready(runner: Runner, hf_model: Any, run: Any, config: TrainConfig) -> Runner:
    """Probe for leaks in float32 on rank 0's copy, which sees small ones too; shard; try and probe what will run."""
    reason = None
    if config.batch.packing != "off" and runner.world.rank == 0:
        reason = leak(hf_model, run, torch.device("cpu"), LEAK[torch.float32])
    shard(runner.model, hf_model, runner.world, config.model, config.fsdp)
    check_sharded(hf_model, run, runner.world.device)
    runner.choose(run, compute_dtype(config.model, runner.world.device), reason=reason)
    return runner
