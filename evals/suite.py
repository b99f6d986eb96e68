"""A suite is data: which tasks of which envs, under which options and limits. A YAML file, by name or by path.

    name: demo
    title: Thirty test tasks each of two games
    seed: 1            # which tasks are taken, and their order
    attempts: 1        # how often each is played; `--attempts` overrides it
    envs:
      - {env: textcraft, split: test, tasks: 30}
      - {env: maze, label: maze4, split: test, tasks: all, options: {size: 4}, max_steps: 40}

Equal hashes, equal measurement. The hash covers what is played, not how often: attempts at one suite can be pooled.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from agentenv.errors import BadCall
from agentenv.protocol import digest_of

SUITES = Path(__file__).parent / "suites"


class BadSuite(BadCall):
    """No such suite, or a file that is none."""

    code = "bad_suite"


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteEnv:
    """The tasks of one env under one set of options."""

    env: str
    split: str = "test"
    tasks: int | str = "all"
    """How many, taken so that every category and difficulty has its share; or `all`."""
    label: str = ""
    """Its name in tables; the env's id unless the suite has the env twice."""
    options: Mapping[str, Any] = field(default_factory=dict)
    max_steps: int | None = None
    """A limit below the env's own."""

    @property
    def name(self) -> str:
        """What tables call it."""
        return self.label or self.env


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """What a run measures."""

    name: str
    envs: tuple[SuiteEnv, ...]
    title: str = ""
    seed: int = 0
    attempts: int = 1
    source: str = ""
    """The name or the absolute path that it was loaded by."""

    @property
    def hash(self) -> str:
        """sha256 over everything that decides what is played."""
        return digest_of({"name": self.name, "seed": self.seed, "envs": [asdict(e) for e in self.envs]})

    def to_json(self) -> dict[str, Any]:
        """JSON values that `parse` reads back."""
        envs = [{k: v for k, v in asdict(e).items() if v not in ("", None, {})} for e in self.envs]
        return {"name": self.name, "title": self.title, "seed": self.seed, "attempts": self.attempts, "envs": envs}


def suite_names() -> list[str]:
    """The suites that come with this package."""
    return sorted(path.stem for path in SUITES.glob("*.yaml"))


def is_suite(text: str) -> bool:
    """Whether it names a suite, or a file that could be one, and not a run."""
    return text in suite_names() or text.endswith((".yaml", ".yml"))


def load(wanted: str) -> Suite:
    """The suite of a name, or of a path to a YAML file; BadSuite says what is wrong and where."""
    import msgspec

    path = _path(wanted)
    try:
        data = msgspec.yaml.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError) as exc:
        raise BadSuite(f"suite {path}: {exc}") from exc
    source = wanted if path.parent == SUITES else str(path.resolve())
    return parse(data, where=path.name, source=source)


def _path(wanted: str) -> Path:
    if wanted in suite_names():
        return SUITES / f"{wanted}.yaml"
    if wanted.endswith((".yaml", ".yml")) or "/" in wanted:
        return Path(wanted)
    raise BadSuite(f"no suite {wanted!r}{_nearest(wanted, suite_names())}, or give a path to a YAML file")


def parse(data: Any, *, where: str, source: str = "") -> Suite:
    """A suite from plain values; unknown and missing settings fail with their path."""
    top = _settings(data, Suite, where=where, skip={"source"})
    if not isinstance(top["envs"], list) or not top["envs"]:
        raise BadSuite(f"{where}: envs must be a list with at least one env")
    envs = tuple(_suite_env(entry, f"{where}: envs[{i}]") for i, entry in enumerate(top.pop("envs")))
    _typed(top, where, name=str, title=str, seed=int, attempts=int)
    if top.get("attempts", 1) < 1:
        raise BadSuite(f"{where}: attempts={top['attempts']}: at least 1")
    labels = [e.name for e in envs]
    twice = sorted({name for name in labels if labels.count(name) > 1})
    if twice:
        raise BadSuite(f"{where}: {', '.join(twice)} is there twice; give each a label of its own")
    return Suite(**top, envs=envs, source=source)


def _suite_env(data: Any, where: str) -> SuiteEnv:
    entry = _settings(data, SuiteEnv, where=where)
    _typed(entry, where, env=str, split=str, label=str, options=dict, max_steps=int)
    tasks = entry.get("tasks", "all")
    if tasks != "all" and (type(tasks) is not int or tasks < 1):
        raise BadSuite(f"{where}.tasks={tasks!r}: a number from 1, or `all`")
    if entry.get("max_steps") is not None and entry["max_steps"] < 1:
        raise BadSuite(f"{where}.max_steps={entry['max_steps']}: at least 1")
    return SuiteEnv(**entry)


def _settings(data: Any, cls: type, *, where: str, skip: Collection[str] = ()) -> dict[str, Any]:
    """`data` as a mapping with every required and no unknown key of `cls`."""
    if not isinstance(data, dict):
        raise BadSuite(f"{where}: must be a mapping of settings, not {type(data).__name__}")
    known = {f.name: f for f in fields(cls) if f.name not in skip}
    for key in data:
        if key not in known:
            path = f"{where}.{key}" if "[" in where else f"{where}: {key}"
            raise BadSuite(f"{path} is not a setting{_nearest(str(key), known)}")
    for name, f in known.items():
        if f.default is MISSING and f.default_factory is MISSING and name not in data:
            raise BadSuite(f"{where}: {name} is missing")
    return dict(data)


def _typed(data: Mapping[str, Any], where: str, **types: type) -> None:
    for name, wanted in types.items():
        value = data.get(name)
        if value is not None and type(value) is not wanted:
            raise BadSuite(f"{where}: {name}={value!r}: must be {wanted.__name__}")


def _nearest(name: str, known: Collection[str]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else f"; there are: {', '.join(known)}"
