"""Several ranks on this machine: the same command again under torchrun."""

from __future__ import annotations

import os
import subprocess
import sys

from trainers.config import TrainConfig
from trainers.settings import BadSetting
from trainers.sft.config import SftConfig


def under_torchrun() -> bool:
    """Whether this process is already a rank."""
    return "RANK" in os.environ and "WORLD_SIZE" in os.environ


def leads() -> bool:
    """Whether this process is the only one, or rank 0."""
    return os.environ.get("RANK", "0") == "0"


def take_ranks(config: TrainConfig | SftConfig) -> None:
    """Under torchrun `launch` tells the ranks that there are; BadSetting when the settings say otherwise."""
    size = int(os.environ["WORLD_SIZE"])
    local = int(os.environ.get("LOCAL_WORLD_SIZE", size))
    asked = config.launch.nodes * config.launch.processes_per_node
    if asked not in (1, size):
        raise BadSetting(
            f"launch.nodes={config.launch.nodes} x launch.processes_per_node={config.launch.processes_per_node} "
            f"are {asked} ranks, but torchrun started {size}"
        )
    config.launch.nodes, config.launch.processes_per_node = max(1, size // local), local


def relaunch(config: TrainConfig | SftConfig) -> int:
    """Run this command under torchrun with `launch.processes_per_node` ranks; its exit code."""
    if config.launch.nodes > 1:
        raise BadSetting(
            f"launch.nodes={config.launch.nodes}: start `torchrun --nnodes={config.launch.nodes} "
            "--nproc-per-node=... -m agentenv.cli.main ...` on every node"
        )
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        f"--nproc-per-node={config.launch.processes_per_node}",
        "-m",
        "agentenv.cli.main",
        *sys.argv[1:],
    ]
    return subprocess.run(command, check=False).returncode
