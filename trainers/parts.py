"""The parts of a run that other packages may bring: a backend and an engine, each by its entry point."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import AsyncIterator, Sequence
from typing import Any, cast

from agentenv.plugins import entry_points, load_point
from agentenv.policy import Engine
from agentenv.render import Renderer, load_renderer
from trainers.config import TrainConfig
from trainers.engines import folder, push_check
from trainers.learner import Learner
from trainers.settings import BadSetting

BACKENDS, ENGINES = "agentenv.trainers", "agentenv.engines"
OURS = ("hf", "vllm")
"""Engines that have the option `threads`."""


def make_learner(config: TrainConfig, backend: str) -> Learner:
    """The learner of a backend; BadSetting for an unknown name or one that cannot be imported."""
    return cast(Learner, _factory(BACKENDS, backend, "--backend")(config))


def make_renderer(config: TrainConfig) -> Renderer:
    """The run's one renderer."""
    settings = config.rollout
    return load_renderer(
        config.model.path,
        history=settings.history,
        date=settings.template_date,
        options=settings.template_options,
    )


@contextlib.asynccontextmanager
async def make_engine(config: TrainConfig, stop_ids: Sequence[int]) -> AsyncIterator[Engine]:
    """The engine of a run, closed at its end; sampling ends after `stop_ids`, which are the renderer's."""
    factory = _factory(ENGINES, config.rollout.engine, "rollout.engine")
    engine = cast(Engine, factory(config.model.path, stop_ids=list(stop_ids), **options_of(config)))
    try:
        yield engine
    finally:
        await engine.close()


def options_of(config: TrainConfig) -> dict[str, Any]:
    """`rollout.engine_options`, with what other settings say to the engines of this project."""
    options = dict(config.rollout.engine_options)
    if config.run.deterministic:
        return options | {"lockstep": True, "threads": 1}
    if config.rollout.engine in OURS and config.run.threads is not None:
        options.setdefault("threads", config.run.threads)
    if config.rollout.engine == "vllm" and "max_model_len" not in options:
        options.setdefault("context_tokens", _context_tokens(config))
    return options


def _context_tokens(config: TrainConfig) -> int:
    """What an episode and a push check need: vLLM keeps room for the longest request that it may get."""
    needed = max(config.rollout.max_episode_tokens, push_check.CONTEXT)
    positions = folder.config_of(config.model.path).get("max_position_embeddings")
    return needed if positions is None else min(needed, positions)


def _factory(group: str, name: str, setting: str) -> Any:
    found = entry_points(group)
    if name not in found:
        close = difflib.get_close_matches(name, found, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise BadSetting(f"{setting}={name}: {hint}There are: {', '.join(sorted(found))}")
    point, dist = found[name]
    try:
        return load_point(point, dist)
    except ImportError as exc:
        raise BadSetting(
            f"{setting}={name} cannot be loaded: {exc}; the trainer's packages come with "
            "pip install 'agentenv-gym[train]'"
        ) from exc
