"""The ranks of a run: one process without torchrun, any number with it; gloo on CPUs, NCCL beside it on GPUs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

import torch
import torch.distributed as dist
from torch.distributed import HashStore  # type: ignore[attr-defined]
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh

from trainers.settings import BadSetting

T = TypeVar("T")

NO_LIMIT = timedelta(days=365)
"""Of calls that wait while another rank collects episodes."""

_users = 0
"""Learners of this process that use a process group made here; the last one ends it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """This process among its ranks."""

    rank: int
    size: int
    device: torch.device
    mesh: DeviceMesh
    """[shard], or [replicate, shard] where ranks hold several copies."""
    control: dist.ProcessGroup | None
    """A gloo group that never times out; None with one rank."""
    owned: bool
    """The process group was made here."""


def join(*, shard_size: int | None) -> World:
    """Join the ranks that torchrun (or the caller) has started, or be the only one."""
    global _users
    owned = not dist.is_initialized() or _users > 0
    if not dist.is_initialized():
        _init_process_group()
    _users += owned
    rank, size = dist.get_rank(), dist.get_world_size()
    if shard_size is not None and size % shard_size:
        raise BadSetting(f"fsdp.shard_size={shard_size} does not divide the {size} ranks")
    kind = "cuda" if torch.cuda.is_available() else "cpu"
    if shard_size is None or shard_size >= size:
        mesh = init_device_mesh(kind, (size,), mesh_dim_names=("shard",))
    else:
        mesh = init_device_mesh(kind, (size // shard_size, shard_size), mesh_dim_names=("replicate", "shard"))
    device = torch.device(kind, torch.cuda.current_device()) if kind == "cuda" else torch.device(kind)
    control = dist.new_group(backend="gloo", timeout=NO_LIMIT) if size > 1 else None
    return World(rank=rank, size=size, device=device, mesh=mesh, control=control, owned=bool(owned))


def from_first(value: T, world: World) -> T:
    """What rank 0 has, on every rank."""
    if world.control is None:
        return value
    shared = [value]
    dist.broadcast_object_list(shared, src=0, group=world.control)
    return shared[0]


def leave(world: World) -> None:
    """Give the process group up; once for each `join`."""
    global _users
    if not world.owned:
        return
    _users -= 1
    if _users == 0 and dist.is_initialized():
        dist.destroy_process_group()


def _init_process_group() -> None:
    cuda = torch.cuda.is_available()
    backend = "cpu:gloo,cuda:nccl" if cuda else "gloo"
    if "RANK" in os.environ and "WORLD_SIZE" in os.environ:
        if cuda:
            torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
        dist.init_process_group(backend)
    else:
        dist.init_process_group(backend, store=HashStore(), rank=0, world_size=1)
