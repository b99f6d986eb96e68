"""Several ranks on this machine: the same command again under torchrun."""

from __future__ import annotations

import logging
import os
import signal
import sys

from trainers.config import TrainConfig
from trainers.settings import BadSetting
from trainers.sft.config import SftConfig

log = logging.getLogger(__name__)


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
    """Run this command under torchrun with `launch.processes_per_node` ranks; the exit code of the first that failed.

    What a rank has to say it says itself; torchrun's own account of it would bury that.
    """
    if config.launch.nodes > 1:
        raise BadSetting(
            f"launch.nodes={config.launch.nodes}: start `torchrun --nnodes={config.launch.nodes} "
            "--nproc-per-node=... -m agentenv.cli.main ...` on every node"
        )
    from torch.distributed import run as torchrun
    from torch.distributed.elastic.multiprocessing.api import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError

    logging.getLogger("torch.distributed.elastic").setLevel(logging.CRITICAL)
    ranks = f"--nproc-per-node={config.launch.processes_per_node}"
    try:
        torchrun.run(torchrun.parse_args(["--standalone", ranks, "-m", "agentenv.cli.main", *sys.argv[1:]]))
    except ChildFailedError as exc:
        for rank, failure in sorted(exc.failures.items()):
            if failure.exitcode < 0 and failure.exitcode != -signal.SIGTERM:  # that one is torchrun's, to the others
                log.error("rank %d was ended by %s", rank, signal.Signals(-failure.exitcode).name)
                return 128 - int(failure.exitcode)
        _, failure = exc.get_first_failure()
        return int(failure.exitcode) if failure.exitcode > 0 else 1
    except SignalException as exc:
        return 128 + int(exc.sigval)
    return 0
