"""A model in a folder of this machine as an agent: an engine found by entry point samples, by the trainers' own path.

The engine is made at the first turn of a run and shared by its episodes; each episode keeps its conversation as ids.
"""

from __future__ import annotations

import asyncio
import difflib
import functools
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agentenv.agents.base import AgentSpec
from agentenv.agents.conversation import Bounds
from agentenv.agents.prompts import opening_of
from agentenv.agents.react import React, described
from agentenv.agents.tokens import TokenPolicy
from agentenv.errors import BadAgent
from agentenv.plugins import entry_points, load_point
from agentenv.policy import Completion, Engine, Message, Sampling
from agentenv.registry import Option
from agentenv.render import Renderer, load_renderer

GROUP = "agentenv.engines"
UNBOUNDED = 1 << 40
"""The engine's own context is the limit."""

SETTINGS = (
    Option(name="engine", type=str, default="hf", help="entry point in the group agentenv.engines"),
    Option(name="engine_options", type=str, default="", help="of the engine, such as threads=2,dtype=float32"),
    Option(name="top_p", type=float, default=1.0, help="of sampling", low=0.0, high=1.0),
    Option(name="top_k", type=int, default=-1, help="of sampling; -1: all tokens", low=-1),
)


class LocalModel:
    """Renderer and engine of a folder, made when they are first needed."""

    def __init__(self, path: Path, engine: str, options: Mapping[str, Any]) -> None:
        self.path, self.engine, self.options = path, engine, dict(options)
        self._factory = _engine_factory(engine)
        self._made: tuple[Engine, Renderer] | None = None
        self._making = asyncio.Lock()

    def describe(self) -> dict[str, Any]:
        """What makes two models the same one: every byte of the folder, and the engine that runs it."""
        return {
            "model": self.path.name,
            "weights": digest_of_folder(self.path),
            "engine": self.engine,
            "engine_options": self.options,
        }

    async def open(self) -> tuple[Engine, Renderer]:
        """Load the model, the first time only."""
        async with self._making:
            if self._made is None:
                self._made = await asyncio.to_thread(self._make)
            return self._made

    def _make(self) -> tuple[Engine, Renderer]:
        renderer = load_renderer(self.path)
        return self._factory(str(self.path), stop_ids=renderer.stop_ids, **self.options), renderer

    async def check(self) -> str:
        """Whether tokenizer and chat template can be used; loads no weights."""
        renderer = await asyncio.to_thread(load_renderer, self.path)
        return f"{self.path.name} on the engine {self.engine}: a vocabulary of {renderer.vocab_size}"

    async def close(self) -> None:
        """Free the engine; idempotent."""
        made, self._made = self._made, None
        if made is not None:
            await made[0].close()


class LocalPolicy:
    """The policy of one episode."""

    def __init__(self, model: LocalModel, sampling: Sampling) -> None:
        self._model, self._sampling = model, sampling
        self._tokens: TokenPolicy | None = None

    def describe(self) -> dict[str, Any]:
        """Model, engine and sampling."""
        sampling = asdict(self._sampling)
        del sampling["seed"]
        return {**self._model.describe(), **sampling}

    async def complete(self, messages: Sequence[Message], *, seed: int | None = None) -> Completion:
        """See Policy."""
        if self._tokens is None:
            engine, renderer = await self._model.open()
            self._tokens = TokenPolicy(
                engine, renderer, self._sampling, max_prompt_tokens=UNBOUNDED, max_episode_tokens=UNBOUNDED
            )
        return await self._tokens.complete(messages, seed=seed)

    async def close(self) -> None:
        """Nothing to free: the engine belongs to the model."""


def local_agent(
    name: str,
    *,
    path: str,
    model: str | None = None,
    engine: str | None = None,
    engine_options: str | None = None,
    temperature: float | None = None,
    top_p: float | str | None = None,
    top_k: int | str | None = None,
    max_tokens: int = 512,
    seed: int | None = None,
    context_tokens: int | None = None,
) -> AgentSpec:
    """The agent `name` over a Hugging Face folder. `model`: what tables call it, else the folder's name.

    Temperature is 1 unless it is given, seeds count from 0. BadAgent names what cannot be used.
    """
    given = {"engine": engine, "engine_options": engine_options, "top_p": top_p, "top_k": top_k}
    value = {o.name: o.parse(o.default if given[o.name] is None else given[o.name]) for o in SETTINGS}
    folder = Path(path)
    if not (folder / "config.json").is_file():
        raise BadAgent(f"model_path={path}: no folder with a config.json; give a Hugging Face folder")
    local = LocalModel(folder.resolve(), value["engine"], options_of(value["engine_options"]))
    sampling = Sampling(
        temperature=1.0 if temperature is None else temperature,
        top_p=value["top_p"],
        top_k=value["top_k"],
        max_tokens=max_tokens,
    )
    bounds = Bounds(seed=seed or 0, context_tokens=context_tokens)
    format = None if name == "react" else name
    about = described(name, format or "react", LocalPolicy(local, sampling), bounds)
    return AgentSpec(
        name=name,
        describe={**about, "model": model or about["model"]},
        make=lambda: React(LocalPolicy(local, sampling), bounds, format),
        preflight=local.check,
        close=local.close,
        prompt=lambda spec: opening_of(spec, format).describe(),
    )


def options_of(text: str) -> dict[str, Any]:
    """`threads=2,dtype=float32` as YAML reads each value; BadAgent for what is no key=value."""
    import yaml

    options = {}
    for pair in filter(None, text.split(",")):
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise BadAgent(f"engine_options {pair!r}: write key=value, separated by commas")
        options[key.strip()] = yaml.safe_load(value)
    return options


def digest_of_folder(path: Path) -> str:
    """sha256 over the names and bytes of the folder's files (not of folders in it), 16 hex digits."""
    files = sorted(file for file in path.iterdir() if file.is_file())
    stats = tuple((file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files)
    return _digest(path, stats)


@functools.lru_cache(maxsize=16)
def _digest(path: Path, stats: tuple[tuple[str, int, int], ...]) -> str:
    whole = hashlib.sha256()
    for name, size, _ in stats:
        whole.update(f"{name}:{size}\n".encode())
        with (path / name).open("rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()[:16]


def _engine_factory(name: str) -> Callable[..., Engine]:
    found = entry_points(GROUP)
    if name not in found:
        close = difflib.get_close_matches(name, found, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise BadAgent(f"engine={name}: {hint}There are: {', '.join(sorted(found))}")
    try:
        factory: Callable[..., Engine] = load_point(*found[name])
    except ImportError as exc:
        raise BadAgent(f"engine={name} cannot be loaded: {exc}; pip install 'agentenv-gym[train]'") from exc
    return factory
