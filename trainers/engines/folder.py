"""What a model's folder says about itself, read as JSON so that nothing heavy is imported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from trainers.settings import BadSetting


def config_of(path: str) -> dict[str, Any]:
    """The language model's configuration; BadSetting when `path` is no model's folder."""
    config = _read(Path(path) / "config.json")
    if config is None:
        raise BadSetting(f"model.path={path!r} is no Hugging Face folder: it has no config.json")
    text: dict[str, Any] = config.get("text_config") or config
    return text


def stop_ids_of(path: str) -> list[int]:
    """End-of-sequence ids: those of generation_config.json, else of config.json; nothing else there counts."""
    for config in (_read(Path(path) / "generation_config.json"), config_of(path)):
        ids = (config or {}).get("eos_token_id")
        if ids is not None:
            return [ids] if isinstance(ids, int) else list(ids)
    return []


def context_of(path: str, wanted: int | None) -> int:
    """Tokens that fit: `wanted`, or the model's own limit; BadSetting when that is less than what is wanted."""
    limit = config_of(path).get("max_position_embeddings")
    if wanted is not None and limit is not None and wanted > limit:
        raise BadSetting(f"context_tokens={wanted} is more than the {limit} positions of the model {path}")
    if wanted is None and limit is None:
        raise BadSetting(f"the model {path} does not say how many tokens it takes; set context_tokens")
    return int(wanted or limit)  # type: ignore[arg-type]


def shapes_of(path: str) -> dict[str, tuple[int, ...]]:
    """Shape of every tensor in the folder's safetensors files, by name."""
    files = sorted(Path(path).glob("*.safetensors"))
    if not files:
        raise BadSetting(f"model.path={path!r} has no safetensors files")
    return {
        name: tuple(entry["shape"]) for file in files for name, entry in _header(file).items() if name != "__metadata__"
    }


def _header(file: Path) -> dict[str, Any]:
    with file.open("rb") as opened:
        size = int.from_bytes(opened.read(8), "little")
        header: dict[str, Any] = json.loads(opened.read(size))
    return header


def _read(path: Path) -> dict[str, Any] | None:
    if not path.is_file():
        return None
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as exc:
        raise BadSetting(f"{path} is not JSON: {exc}") from exc
    return found
