"""How settings work: dataclasses beside what they set, filled from YAML and `key=value`, every key read by somebody.

`trainers.reads` notes who reads which, when asked to; `make check-config` fails on a setting that nothing reads.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

from agentenv.errors import BadCall
from trainers import reads
from trainers.setting_keys import general, suggestion, unknown_keys

S = TypeVar("S", bound="Settings")

COMMAND_LINE = "command line"

REQUIRED = "???"
"""omegaconf's mark of a setting without a default."""


class BadSetting(BadCall):
    """A setting that does not exist, or a value that it does not take; the message has its path."""

    code = "bad_setting"


def setting(
    default: Any = REQUIRED, *, choices: Sequence[Any] = (), low: float | None = None, high: float | None = None
) -> Any:
    """A field with bounds; its docstring says what it means."""
    metadata = {"choices": tuple(choices), "low": low, "high": high}
    if isinstance(default, (list, dict)):
        return field(default_factory=lambda: type(default)(default), metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(kw_only=True)
class Settings:
    """Base of every settings dataclass."""

    if reads.FOLDER:

        def __getattribute__(self, name: str) -> Any:
            """Note the read of a setting."""
            value = object.__getattribute__(self, name)
            cls = type(self)
            if name in cls.__dataclass_fields__:
                reads.note(cls, name, sys._getframe(1))
            return value


def plain(settings: Any) -> Any:
    """Settings as JSON values, without counting as a read."""
    if is_dataclass(settings):
        return {f.name: plain(object.__getattribute__(settings, f.name)) for f in fields(settings)}
    if isinstance(settings, (list, tuple)):
        return [plain(v) for v in settings]
    return {k: plain(v) for k, v in settings.items()} if isinstance(settings, Mapping) else settings


def load(
    cls: type[S],
    path: Path | None = None,
    overrides: Sequence[str] = (),
    *,
    foreign: Callable[[str], str | None] = lambda key: None,
) -> S:
    """Settings of `cls` from a YAML file, then `key=value` overrides (dotted keys, YAML values).

    Raises BadSetting for unknown keys (each with its path and the nearest name, or with what `foreign` answers to a key
    of another trainer), for a wrong type, and for a value out of bounds.
    """
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException
    from yaml import YAMLError

    source = COMMAND_LINE if path is None else str(path)
    merged: Any = OmegaConf.create({})
    try:
        if path is not None:
            merged = OmegaConf.load(path)
            _refuse_unknown(cls, OmegaConf.to_container(merged), source, foreign)
        for override in overrides:
            source = COMMAND_LINE
            merged = _with_override(cls, merged, override, foreign)
        source = ", ".join([*([str(path)] if path else []), *([COMMAND_LINE] if overrides else [])]) or "settings"
        settings: S = OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(cls), merged))  # type: ignore[assignment]
    except OSError as exc:
        raise BadSetting(f"cannot read {path}: {exc.strerror or exc}") from exc
    except UnicodeDecodeError as exc:
        raise BadSetting(f"{path} is no text: {exc}") from exc
    except YAMLError as exc:
        raise BadSetting(f"{source}: not YAML: {' '.join(str(exc).split())}") from exc
    except OmegaConfBaseException as exc:
        raise BadSetting(_of_omegaconf(exc, source)) from exc
    check(settings, source)
    return settings


def _with_override(cls: type[Any], merged: Any, override: str, foreign: Callable[[str], str | None]) -> Any:
    """`merged` after one `key=value`; `environments[0].split=dev` changes an item of a list that is there."""
    from omegaconf import ListConfig, OmegaConf

    key, equals, value = override.partition("=")
    key = key.lstrip("+")
    if not equals or not key:
        raise BadSetting(f"{override!r} is no setting; write key=value")
    _refuse_unknown(cls, {key: yaml_value(value)}, COMMAND_LINE, foreign)
    items, _, rest = general(key).partition("[]")
    if not rest:
        return OmegaConf.merge(merged, OmegaConf.from_dotlist([f"{key}={value}"]))
    there = OmegaConf.select(merged, items)
    number = int(re.findall(r"\d+", key)[0])
    if not isinstance(there, ListConfig) or number >= len(there):
        raise BadSetting(f"{COMMAND_LINE}: {key}: {items} has no item {number}; write {items}=[{{...}}] first")
    OmegaConf.update(merged, key, OmegaConf.from_dotlist([f"value={value}"])["value"], force_add=True)
    return merged


def yaml_value(text: str) -> Any:
    """A value as it stands behind `key=`."""
    import yaml

    return yaml.safe_load(text)


def _refuse_unknown(cls: type[Any], given: Any, source: str, foreign: Callable[[str], str | None]) -> None:
    problems = []
    for key, reason in unknown_keys(cls, given):
        if reason:
            problems.append(f"{source}: {key}{': ' if key else ''}{reason}")
        elif (ours := foreign(key)) is not None:
            problems.append(f"{source}: {key} is a setting of another trainer; here it is {ours}")
        else:
            hint = suggestion(cls, key)
            problems.append(f"{source}: {key} is not a setting{';' if hint else ''}{hint}")
    if problems:
        raise BadSetting("\n".join(problems))


def _of_omegaconf(error: Exception, source: str) -> str:
    """What omegaconf says, in our words: the key, then one line."""
    key = getattr(error, "full_key", None) or ""
    text = str(error).splitlines()[0]
    if "missing mandatory value" in text:
        return f"{source}: {key} is missing; it has no default"
    return f"{source}: {key}{': ' if key else ''}{text}"


def check(settings: Any, source: str, prefix: str = "") -> None:
    """Raise BadSetting for a value out of its field's bounds, here and below."""
    for f in fields(settings):
        value = object.__getattribute__(settings, f.name)
        key = f"{prefix}{f.name}"
        items = [(key, value)]
        if isinstance(value, list):
            items = [(f"{key}[{i}]", item) for i, item in enumerate(value)]
        for name, item in items:
            if is_dataclass(item):
                check(item, source, f"{name}.")
            else:
                _check_bounds(f, item, f"{source}: {name}={item!r}")


def _check_bounds(f: Field[Any], value: Any, what: str) -> None:
    choices, low, high = (f.metadata.get(name) for name in ("choices", "low", "high"))
    if value is None:
        return
    if isinstance(value, float) and not math.isfinite(value):
        raise BadSetting(f"{what}: must be a finite number")
    if choices and value not in choices:
        raise BadSetting(f"{what}: choose from {', '.join(map(str, choices))}")
    if (low is not None and value < low) or (high is not None and value > high):
        raise BadSetting(f"{what}: must {_bounds(low, high)}")


def _bounds(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return f"be at least {low:g}" if high is None else f"be at most {high:g}"
    return f"lie between {low:g} and {high:g}"
