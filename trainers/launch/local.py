"""Several ranks on this machine: the same command again under torchrun."""

from __future__ import annotations

import os
import subprocess
import sys

from trainers.config import TrainConfig
from trainers.settings import BadSetting


def under_torchrun() -> bool:
    """Whether this process is already a rank."""
    return "RANK" in os.environ and "WORLD_SIZE" in os.environ


def relaunch(config: TrainConfig) -> int:
    """Run this command under torchrun with `launch.processes_per_node` ranks; its exit code."""
    if config.launch.nodes > 1:
        raise BadSetting(
            f"launch.nodes={config.launch.nodes}: start `torchrun --nnodes={config.launch.nodes} "
            "--nproc-per-node=... -m agentenv.cli.main train ...` on every node"
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
