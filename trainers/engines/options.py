"""Options of an engine by name: dataclasses of settings, filled from `rollout.engine_options`."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

from trainers.settings import BadSetting, Settings, check

S = TypeVar("S", bound=Settings)


def options_of(cls: type[S], given: Mapping[str, Any], engine: str) -> S:
    """`given` as options of `cls`; BadSetting for an unknown name, a wrong type or a value out of bounds."""
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    names = sorted(f.name for f in fields(cls))
    for name in given:
        if name not in names:
            close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
            hint = f"did you mean {close[0]}?" if close else f"there are: {', '.join(names)}"
            raise BadSetting(f"{name} is not an option of the engine {engine}; {hint}")
    try:
        options: S = OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(cls), dict(given)))  # type: ignore[assignment]
    except OmegaConfBaseException as exc:
        key = getattr(exc, "full_key", None) or ""
        raise BadSetting(f"engine {engine}: {key}: {str(exc).splitlines()[0]}") from exc
    check(options, f"engine {engine}")
    return options
