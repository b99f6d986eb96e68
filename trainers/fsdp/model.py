"""Models as the learner holds them: float32 masters on every rank's share, wrapped layer by layer.

Legend of dimensions: B rows, L tokens of a row, N wanted positions, H hidden size, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import (
    CPUOffloadPolicy,
    MixedPrecisionPolicy,
    OffloadPolicy,
    fully_shard,
)
from torch.distributed.tensor import DTensor, distribute_tensor
from torch.utils.checkpoint import checkpoint

from trainers.config import FsdpSettings, LoraSettings, ModelSettings
from trainers.fsdp.attention import packed_arguments
from trainers.fsdp.packing import Layout
from trainers.fsdp.world import World
from trainers.settings import BadSetting

LOGITS_AT_ONCE = 2**25
"""Entries of a block of float32 logits (128 MB); more positions go through the head block by block."""

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


class PolicyModel(nn.Module):
    """A causal language model asked for nothing but the log-probability and entropy of given tokens."""

    def __init__(self, lm: Any) -> None:
        super().__init__()
        self.lm = lm

    def forward(
        self, tokens: torch.Tensor, positions: torch.Tensor, at: torch.Tensor, targets: torch.Tensor,
        *, lengths: tuple[int, ...] | None, temperature: float, entropy_gradient: bool = False,
    ) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
        """Log-probability and entropy at the wanted positions, both [N] float32, at a temperature."""
        hidden_NH = wanted_states(self.lm.base_model, tokens, positions, at, lengths)
        head = self.lm.get_output_embeddings()
        block = max(1, LOGITS_AT_ONCE // head.weight.shape[0])

        def score(states: torch.Tensor, ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return _log_probability(head(states), ids, temperature, entropy_gradient)

        if len(at) <= block:
            return score(hidden_NH, targets)
        blocks = [
            checkpoint(score, states, ids, use_reentrant=False)
            for states, ids in zip(hidden_NH.split(block), targets.split(block), strict=True)
        ]
        logprobs, entropies = zip(*blocks, strict=True)
        return torch.cat(logprobs), torch.cat(entropies)


class ValueModel(nn.Module):
    """A backbone with one number for each position; zero at the start."""

    def __init__(self, backbone: Any) -> None:
        super().__init__()
        self.backbone = backbone
        self.head = nn.Linear(backbone.config.get_text_config().hidden_size, 1)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(
        self, tokens: torch.Tensor, positions: torch.Tensor, at: torch.Tensor, *, lengths: tuple[int, ...] | None
    ) -> torch.Tensor:
        """V at the wanted positions, [N] float32."""
        values: torch.Tensor = self.head(wanted_states(self.backbone, tokens, positions, at, lengths))
        return values.float().sum(-1)  # of one number; FSDP wants no view


def wanted_states(
    backbone: Any, tokens: torch.Tensor, positions: torch.Tensor, at: torch.Tensor, lengths: tuple[int, ...] | None
) -> torch.Tensor:
    """Last hidden states at the wanted positions, [N, H]; the head never sees the others."""
    ragged = packed_arguments(lengths, tokens.device) if lengths is not None else {}
    output = backbone(input_ids=tokens, position_ids=positions, use_cache=False, **ragged)
    states: torch.Tensor = output.last_hidden_state.flatten(0, 1)[at]
    return states


def _log_probability(
    logits_NV: torch.Tensor, targets: torch.Tensor, temperature: float, entropy_gradient: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    logits_NV = logits_NV.float()
    if temperature != 1.0:
        logits_NV = logits_NV / temperature
    log_z_N = logits_NV.logsumexp(-1)
    logprobs_N = logits_NV.gather(-1, targets[:, None]).squeeze(-1) - log_z_N
    if entropy_gradient:
        return logprobs_N, _entropy(logits_NV, log_z_N)
    with torch.no_grad():
        return logprobs_N, _entropy(logits_NV.detach(), log_z_N.detach())


def _entropy(logits_NV: torch.Tensor, log_z_N: torch.Tensor) -> torch.Tensor:
    return log_z_N - ((logits_NV - log_z_N[:, None]).exp() * logits_NV).sum(-1)


def on_device(layout: Layout, device: torch.device) -> dict[str, Any]:
    """A layout as arguments of both models' forward, targets apart."""
    return {
        "tokens": torch.tensor(layout.tokens, device=device),
        "positions": torch.tensor(layout.positions, device=device),
        "at": torch.tensor(layout.at, device=device),
        "lengths": layout.lengths,
    }


def load_config(path: str) -> Any:
    """The model's configuration; BadSetting where there is none."""
    from transformers import AutoConfig

    if not (Path(path) / "config.json").is_file():
        raise BadSetting(f"model.path={path}: there is no config.json; give a Hugging Face folder")
    return AutoConfig.from_pretrained(path)


def load_policy(path: str, *, rank: int) -> Any:
    """The causal model of a folder in float32, whatever it was saved in."""
    from transformers import AutoModelForCausalLM

    return _load(AutoModelForCausalLM, path, rank)


def load_backbone(path: str, *, rank: int) -> Any:
    """The model of a folder without its head, in float32."""
    from transformers import AutoModel

    return _load(AutoModel, path, rank)


def _load(auto: Any, path: str, rank: int) -> Any:
    """Rank 0 reads the folder. The others make the same model with empty memory, which `spread_from_first` fills."""
    from transformers.utils import logging as hf_logging

    config = load_config(path)
    hf_logging.disable_progress_bar()
    try:
        if rank == 0:
            model = auto.from_pretrained(path, dtype=torch.float32)
        else:
            with torch.device("meta"):
                model = auto.from_config(config, dtype=torch.float32)
    except (OSError, ValueError) as exc:  # of another kind, or without weights
        raise BadSetting(f"model.path={path}: {_architecture(config)} cannot be loaded: {_first_line(exc)}") from exc
    if rank > 0:
        model.to_empty(device="cpu")
        model.tie_weights()
    _no_dropout(model)
    return model


@contextmanager
def runnable(hf_model: Any) -> Iterator[None]:
    """Inside a model is run for the first time; what its code raises becomes a BadSetting with its name."""
    try:
        yield
    except Exception as exc:  # it may raise anything
        raise BadSetting(
            f"{type(hf_model).__name__} cannot be trained here: {type(exc).__name__}: {_first_line(exc)}"
        ) from exc


def _architecture(config: Any) -> str:
    return ", ".join(config.architectures or [config.model_type])


def _first_line(exc: Exception) -> str:
    return str(exc).strip().partition("\n")[0]


def _no_dropout(model: nn.Module) -> None:
    """Dropout would make the first ratios differ from 1."""
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
        if isinstance(getattr(module, "attention_dropout", None), float):
            module.attention_dropout = 0.0  # type: ignore[assignment]


def add_adapters(lm: Any, lora: LoraSettings, *, seed: int) -> None:
    """Put low-rank adapters into the model's linear layers and freeze the rest."""
    from peft import LoraConfig, get_peft_model
    from peft.tuners.lora import Linear, LoraLayer

    targets = lora.targets if lora.targets == "all-linear" else [t.strip() for t in lora.targets.split(",")]
    settings = LoraConfig(r=lora.rank, lora_alpha=lora.alpha, target_modules=targets, task_type="CAUSAL_LM")  # type: ignore[arg-type]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        try:
            get_peft_model(lm, settings)
        except ValueError as exc:  # peft's message lists what it looked for
            raise BadSetting(f"model.lora.targets={lora.targets}: {exc}") from exc
    odd = [n for n, m in lm.named_modules() if isinstance(m, LoraLayer) and not isinstance(m, Linear)]
    if odd:
        raise BadSetting(f"model.lora.targets={lora.targets}: {odd[0]} is no linear layer")


@contextmanager
def adapters_off(model: nn.Module) -> Iterator[None]:
    """Run the base model alone."""
    from peft.tuners.tuners_utils import BaseTunerLayer

    layers = [m for m in model.modules() if isinstance(m, BaseTunerLayer)]
    for layer in layers:
        layer.enable_adapters(False)
    try:
        yield
    finally:
        for layer in layers:
            layer.enable_adapters(True)


def shard(model: nn.Module, hf_model: Any, world: World, settings: ModelSettings, fsdp: FsdpSettings) -> None:
    """Spread the model over the ranks: each decoder layer a unit, the rest one more. Rank 0's numbers are the ones."""
    full = dict(model.named_parameters()) if world.size > 1 and world.rank == 0 else {}
    units = set(getattr(hf_model, "_no_split_modules", None) or ())
    precision = MixedPrecisionPolicy(param_dtype=compute_dtype(settings, world.device), reduce_dtype=torch.float32)
    offload = CPUOffloadPolicy(pin_memory=world.device.type == "cuda") if fsdp.cpu_offload else OffloadPolicy()
    if settings.gradient_checkpointing:
        hf_model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    model.train(settings.gradient_checkpointing)
    for module in outermost(model, units):
        fully_shard(module, mesh=world.mesh, mp_policy=precision, offload_policy=offload)
    # By default the root stays whole after a forward pass, and would give its rounded copies as its parameters.
    fully_shard(model, mesh=world.mesh, mp_policy=precision, offload_policy=offload, reshard_after_forward=True)
    for module in model.modules():
        for name, buffer in module.named_buffers(recurse=False):
            module.register_buffer(name, buffer.to(world.device), name not in module._non_persistent_buffers_set)
    if world.size > 1:
        spread_from_first(model, full, world)


def outermost(module: nn.Module, units: Collection[str]) -> list[nn.Module]:
    """Modules of the classes `units`, each once, none inside another: some models name a layer and a part of it."""
    found: list[nn.Module] = []
    for child in module.children():
        inside = [child] if type(child).__name__ in units else outermost(child, units)
        found += [m for m in inside if not any(m is other for other in found)]
    return found


def compute_dtype(settings: ModelSettings, device: torch.device) -> torch.dtype:
    """Of forward and backward."""
    if settings.compute_dtype == "auto":
        return torch.bfloat16 if device.type == "cuda" else torch.float32
    return DTYPES[settings.compute_dtype]


@torch.no_grad()
def spread_from_first(model: nn.Module, full: dict[str, Any], world: World) -> None:
    """Give every rank its share of rank 0's parameters, and all of its buffers (rotary tables are no parameters)."""
    for name, parameter in model.named_parameters():
        whole = torch.empty(parameter.shape, dtype=parameter.dtype, device=world.device)
        if world.rank == 0:
            whole.copy_(full[name])
        dist.broadcast(whole, 0)
        load_full(parameter, whole)
    for buffer in model.buffers():
        dist.broadcast(buffer, 0)


@torch.no_grad()
def load_full(parameter: torch.Tensor, whole: torch.Tensor) -> None:
    """Copy this rank's share of a whole tensor, which every rank has."""
    if not isinstance(parameter, DTensor):
        parameter.copy_(whole)
        return
    own = distribute_tensor(whole, parameter.device_mesh, parameter.placements, src_data_rank=None)
    parameter.to_local().copy_(own.to_local())


def full_tensor(parameter: torch.Tensor) -> torch.Tensor:
    """The whole of a parameter, on every rank; all ranks must call."""
    parameter = parameter.detach()
    return parameter.full_tensor() if isinstance(parameter, DTensor) else parameter


def policy_weights(lm: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """Hugging Face name and whole float32 tensor of each parameter, adapters merged into a copy; all ranks iterate."""
    adapted = {name: m for name, m in lm.named_modules() if hasattr(m, "lora_A")}
    for name, parameter in lm.named_parameters():
        if ".lora_" in name:
            continue
        whole = full_tensor(parameter)
        owner = name.removesuffix(".base_layer.weight")
        if owner in adapted and owner != name:
            whole = whole + _delta(adapted[owner])
        yield name.replace(".base_layer.", "."), whole


def _delta(layer: Any) -> torch.Tensor:
    """What the adapters of a linear layer add to its weight."""
    total: torch.Tensor | None = None
    for adapter in layer.active_adapters:
        a, b = (full_tensor(side[adapter].weight) for side in (layer.lora_A, layer.lora_B))
        delta = (b @ a) * layer.scaling[adapter]
        total = delta if total is None else total + delta
    assert total is not None, "a layer with adapters has an active one"
    return total
