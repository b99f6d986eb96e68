"""How settings work: dataclasses beside what they set, filled from YAML and `key=value`, every key read by somebody.

With `AGENTENV_CONFIG_READS=FOLDER` each process notes which settings it read, one file a process; `make check-config`
unites the notes of a test run and fails on a setting that nothing reads.
"""

from __future__ import annotations

import atexit
import difflib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

from agentenv.errors import BadCall

READS_FOLDER = os.environ.get("AGENTENV_CONFIG_READS")
_reads: set[str] = set()

S = TypeVar("S", bound="Settings")

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

    if READS_FOLDER:

        def __getattribute__(self, name: str) -> Any:
            """Note the read of a setting."""
            value = object.__getattribute__(self, name)
            cls = type(self)
            if name in cls.__dataclass_fields__:
                _reads.add(f"{cls.__module__}.{cls.__qualname__}.{name}")
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
    foreign: Mapping[str, str] | None = None,
    where: str = "",
) -> S:
    """Settings of `cls` from a YAML file, then `key=value` overrides (dotted keys, YAML values).

    Raises BadSetting for an unknown key (with its path and the nearest name, or with our name for a key of `foreign`),
    for a wrong type, and for a value out of bounds.
    """
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    merged: Any = OmegaConf.create({})
    try:
        if path is not None:
            merged = OmegaConf.load(path)
            _refuse_unknown(cls, OmegaConf.to_container(merged), str(path), foreign or {})
        for override in overrides:
            key, equals, _ = override.partition("=")
            if not equals:
                raise BadSetting(f"{override!r} is no setting; write key=value")
            _refuse_unknown_key(cls, key.lstrip("+"), where or "command line", foreign or {})
            merged = OmegaConf.merge(merged, OmegaConf.from_dotlist([override]))
        settings: S = OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(cls), merged))  # type: ignore[assignment]
    except OSError as exc:
        raise BadSetting(f"cannot read {path}: {exc}") from exc
    except OmegaConfBaseException as exc:
        key = getattr(exc, "full_key", None) or ""
        raise BadSetting(f"{path or 'command line'}: {key}: {str(exc).splitlines()[0]}") from exc
    check(settings, str(path or "command line"))
    return settings


def check(settings: Any, source: str, prefix: str = "") -> None:
    """Raise BadSetting for a value out of its field's bounds, here and below."""
    for f in fields(settings):
        value = object.__getattribute__(settings, f.name)
        key = f"{prefix}{f.name}"
        if is_dataclass(value):
            check(value, source, f"{key}.")
        elif isinstance(value, list) and value and is_dataclass(value[0]):
            for i, item in enumerate(value):
                check(item, source, f"{key}[{i}].")
        else:
            _check_bounds(f, value, f"{source}: {key}={value!r}")


def _check_bounds(f: Field[Any], value: Any, what: str) -> None:
    choices, low, high = (f.metadata.get(name) for name in ("choices", "low", "high"))
    if value is None:
        return
    if choices and value not in choices:
        raise BadSetting(f"{what}: choose from {', '.join(map(str, choices))}")
    if (low is not None and value < low) or (high is not None and value > high):
        raise BadSetting(f"{what}: must lie between {low} and {high}")


def keys_of(cls: type[Any], prefix: str = "") -> dict[str, Any]:
    """Every dotted key below `cls` with its type; of lists, the keys of their items under `name[]`."""
    found: dict[str, Any] = {}
    hints = get_type_hints(cls)
    for f in fields(cls):
        kind = hints[f.name]
        inner = next((a for a in (kind, *get_args(kind)) if is_dataclass(a)), None)
        found[f"{prefix}{f.name}"] = kind
        if inner is not None:
            listed = "[]" if kind is not inner and "list" in str(kind) else ""
            found.update(keys_of(inner, f"{prefix}{f.name}{listed}."))  # type: ignore[arg-type]
    return found


def _refuse_unknown(cls: type[Any], given: Any, source: str, foreign: Mapping[str, str], prefix: str = "") -> None:
    if not isinstance(given, Mapping):
        raise BadSetting(f"{source}: must be a mapping of settings, not {type(given).__name__}")
    for name, value in given.items():
        key = f"{prefix}{name}"
        known = keys_of(cls)
        if key not in known:
            _refuse_unknown_key(cls, key, source, foreign, known)
        if isinstance(value, Mapping) and any(k.startswith(f"{key}.") for k in known):
            _refuse_unknown(cls, value, source, foreign, f"{key}.")
        elif isinstance(value, list) and any(k.startswith(f"{key}[].") for k in known):
            for item in value:
                _refuse_unknown(cls, item, source, foreign, f"{key}[].")


def _refuse_unknown_key(
    cls: type[Any], key: str, source: str, foreign: Mapping[str, str], known: Mapping[str, Any] | None = None
) -> None:
    known = known or keys_of(cls)
    general = _general(key)
    if general in known or any(_is_free(known, general, n) for n in range(1, general.count(".") + 1)):
        return
    if key in foreign:
        raise BadSetting(f"{source}: {key} is a setting of another trainer; here it is {foreign[key]}")
    close = difflib.get_close_matches(general, known, n=1, cutoff=0.5)
    if not close:
        last = general.rpartition(".")[2]
        ends = {k.rpartition(".")[2]: k for k in known}
        close = [ends[m] for m in difflib.get_close_matches(last, ends, n=1)]
    hint = f"; did you mean {close[0]}?" if close else ""
    raise BadSetting(f"{source}: {key} is not a setting{hint}")


def _general(key: str) -> str:
    """`environments[0].env` and `environments.0.env` as `environments[].env`."""
    parts: list[str] = []
    for part in key.split("."):
        name, _, index = part.partition("[")
        if part.isdigit() and parts:
            parts[-1] += "[]"
        else:
            parts.append(name + ("[]" if index else ""))
    return ".".join(parts)


def _is_free(known: Mapping[str, Any], key: str, depth: int) -> bool:
    """Whether a parent of `key` is a free mapping (`dict`), which takes any name."""
    parent = ".".join(key.split(".")[:depth])
    return parent in known and "dict" in str(known[parent])


def _write_reads() -> None:
    if READS_FOLDER and _reads:
        folder = Path(READS_FOLDER)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{os.getpid()}.json").write_text(json.dumps(sorted(_reads)))


if READS_FOLDER:
    atexit.register(_write_reads)
