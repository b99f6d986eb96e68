"""A Hugging Face folder of the policy."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

from agentenv.trained_on import trained_on, write_trained_on

WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".gguf", ".msgpack", ".h5", ".index.json")
"""Files of the source folder that are weights, by ending."""


def write_folder(
    folder: Path,
    source: Path,
    weights: Iterable[tuple[str, torch.Tensor]],
    *,
    dtype: str = "float32",
    write: bool = True,
) -> None:
    """Weights with the configuration, tokenizer and generation settings of `source`; transformers and vllm load it.

    Every rank iterates over the weights, one of them writes.
    """
    from huggingface_hub import save_torch_state_dict

    from trainers.fsdp.model import load_config

    if not write:
        for _ in weights:
            pass
        return
    folder.mkdir(parents=True, exist_ok=True)
    for file in sorted(source.iterdir()):
        if file.is_file() and not file.name.endswith(WEIGHTS):
            shutil.copy(file, folder / file.name)
    config: Any = load_config(str(source))
    config.dtype = dtype
    config.save_pretrained(folder)
    # Clones: a gathered tensor may be a view of a longer buffer, which would be saved whole.
    tensors = {name: tensor.to("cpu", getattr(torch, dtype)).clone() for name, tensor in weights}
    save_torch_state_dict(tensors, folder, metadata={"format": "pt"})


def export_checkpoint(checkpoint: Path, out: Path, *, model: Path | None, dtype: str) -> None:
    """The policy of a checkpoint, in one process, on however many ranks it was written. Nothing half-written stays."""
    from trainers.checkpoints import LEARNER, read_config
    from trainers.fsdp.learner import FsdpLearner

    config = read_config(checkpoint)
    config.model.path = str(model or config.model.path)
    config.algorithm.estimator, config.kl.placement = "grpo", "none"  # the policy alone
    config.fsdp.shard_size = None
    learner = FsdpLearner(config)
    aside = out.with_name(f".{out.name}.unfinished")
    try:
        learner.load_policy(checkpoint / LEARNER)
        shutil.rmtree(aside, ignore_errors=True)
        write_folder(aside, Path(config.model.path), learner.weights(), dtype=dtype)
        write_trained_on(aside, trained_on(checkpoint) or ())
        if out.exists():
            out.rmdir()
        aside.rename(out)
    finally:
        learner.close()
        shutil.rmtree(aside, ignore_errors=True)
