"""The parts of a run that other packages may bring: a backend and an engine, each by its entry point."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import AsyncIterator
from typing import Any, cast

from agentenv.plugins import entry_points, load_point
from agentenv.policy import Engine
from trainers.config import TrainConfig
from trainers.learner import Learner
from trainers.settings import BadSetting

BACKENDS, ENGINES = "agentenv.trainers", "agentenv.engines"


def make_learner(config: TrainConfig, backend: str) -> Learner:
    """The learner of a backend; BadSetting for an unknown name or one that cannot be imported."""
    return cast(Learner, _factory(BACKENDS, backend, "--backend")(config))


@contextlib.asynccontextmanager
async def make_engine(config: TrainConfig) -> AsyncIterator[Engine]:
    """The engine of a run, closed at its end."""
    factory = _factory(ENGINES, config.rollout.engine, "rollout.engine")
    options = dict(config.rollout.engine_options)
    if config.rollout.engine == "hf":
        if config.run.deterministic:
            options.setdefault("lockstep", True)
        if config.run.threads is not None:
            options.setdefault("threads", config.run.threads)
    engine = cast(Engine, factory(config.model.path, **options))
    try:
        yield engine
    finally:
        await engine.close()


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
