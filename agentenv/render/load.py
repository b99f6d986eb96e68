"""A renderer from a model's folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from agentenv.errors import BadCall
from agentenv.render.escape import ChatTokenizer
from agentenv.render.renderer import DATE, Renderer


def load_renderer(
    path: str | Path, *, history: str = "append", date: str = DATE, options: Mapping[str, Any] | None = None
) -> Renderer:
    """The renderer of a Hugging Face folder: its tokenizer, its chat template and its EOS ids."""
    folder = Path(path)
    if not folder.is_dir():
        raise BadCall(f"{folder} is no folder; give a Hugging Face folder with a tokenizer")
    try:
        from transformers import AutoTokenizer
    except ImportError as exc:
        raise BadCall("reading a tokenizer needs transformers: pip install 'agentenv-gym[train]'") from exc
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError) as exc:
        raise BadCall(f"{folder} holds no tokenizer that can be read: {exc}") from exc
    return Renderer(
        cast("ChatTokenizer", tokenizer),
        history=history,
        date=date,
        eos_ids=eos_ids_of(folder),
        vocab_size=_vocab_size(folder),
        options=options,
    )


def eos_ids_of(folder: Path) -> tuple[int, ...]:
    """EOS ids of a model's generation config, else of its config; nothing else of the former is ever used."""
    found = _record(folder / "generation_config.json").get("eos_token_id")
    if found is None:
        found = _record(folder / "config.json").get("eos_token_id")
    ids = found if isinstance(found, list) else [] if found is None else [found]
    return tuple(int(i) for i in ids)


def _vocab_size(folder: Path) -> int | None:
    """Of the model; some families nest it."""
    record = _record(folder / "config.json")
    nested = record.get("text_config")
    found = record.get("vocab_size", nested.get("vocab_size") if isinstance(nested, dict) else None)
    return int(found) if found is not None else None


def _record(file: Path) -> dict[str, Any]:
    """A JSON object; empty where there is no such file."""
    if not file.is_file():
        return {}
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as exc:
        raise BadCall(f"{file} is not JSON: {exc}") from exc
    if not isinstance(found, dict):
        raise BadCall(f"{file} is not a JSON object")
    return found
