"""What a learner's checkpoint holds, by torch.distributed.checkpoint: any number of ranks reads what another wrote."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch.distributed.checkpoint import FileSystemWriter, load, save  # type: ignore[attr-defined]
from torch.distributed.checkpoint.api import CheckpointException

from trainers.faults import fault_point
from trainers.fsdp.role import Role
from trainers.fsdp.world import World

State = dict[str, Any]

INDEX = ".metadata"
"""What torch writes last."""


def state_of(roles: Mapping[str, Role]) -> State:
    """Live tensors by `role/kind/parameter`: saving reads them, loading writes them in place."""
    state: State = {}
    for name, role in roles.items():
        for key, parameter in role.parameters.items():
            state[f"{name}/parameters/{key}"] = parameter.detach()
            for kind, tensor in role.optimizer.state[parameter].items():
                state[f"{name}/{kind}/{key}"] = tensor
    return state


def write(folder: Path, roles: Mapping[str, Role], world: World) -> None:
    """Every rank writes its share; OSError where a file cannot be written, on every rank."""
    try:
        with _quiet():
            save(
                state_of(roles),
                storage_writer=_Writer(folder),
                process_group=world.control,
                no_dist=world.control is None,
            )
    except CheckpointException as exc:  # torch's is no Exception
        raise OSError(f"cannot write {folder}: {_reason(exc)}") from exc


def read(folder: Path, roles: Mapping[str, Role], world: World, *, optimizers: bool = True) -> None:
    """Fill parameters, and what the optimizers remember; OSError where something is missing."""
    if not (folder / INDEX).is_file():
        raise OSError(f"cannot read {folder}: there is no {INDEX}, so no checkpoint of this learner")
    state = state_of(roles)
    if not optimizers:
        state = {key: tensor for key, tensor in state.items() if key.split("/")[1] == "parameters"}
    try:
        with _quiet():
            load(state, checkpoint_id=folder, process_group=world.control, no_dist=world.control is None)
    except CheckpointException as exc:
        raise OSError(f"cannot read {folder}: {_reason(exc)}") from exc


def _reason(exc: CheckpointException) -> str:
    rank, (cause, _) = sorted(exc.failures.items())[0]
    return f"rank {rank}: {type(cause).__name__}: {cause}"


class _Writer(FileSystemWriter):
    def finish(self, metadata: Any, results: Any) -> None:
        """The index comes last: without it the shards are no checkpoint."""
        fault_point("save:shards")
        super().finish(metadata, results)


class _quiet(warnings.catch_warnings):
    """Without torch's remarks about saving from one process."""

    def __enter__(self) -> Any:
        log = super().__enter__()
        warnings.simplefilter("ignore")
        return log
