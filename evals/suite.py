"""A suite is data: which tasks of which envs, under which options and limits. A YAML file, by name or by path.

    name: demo
    title: Thirty test tasks each of two games
    seed: 1            # which tasks are taken, and their order
    attempts: 1        # how often each is played; `--attempts` overrides it
    metric: success    # or mean_score: what the board sorts by
    agent: {temperature: 0.7}   # settings of agents that ask a model, where the call gives none
    envs:
      - {env: textcraft, split: test, tasks: 30}
      - {env: maze, label: maze4, split: test, tasks: all, options: {size: 4}, max_steps: 40}
      - {env: babyai, split: test, tasks: 20, categories: [goto, open]}
      - {env: wordle, split: test, tasks: [3, 1, 4, wordle/test/15]}

Equal hashes, equal measurement. The hash covers what is played and by which metric, not how often: attempts at one
suite can be pooled. Settings of the agent are in the agent's own hash.
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

METRICS = ("success", "mean_score")

LONGEST_NAME = 100


class BadSuite(BadCall):
    """No such suite, or a file that is none."""

    code = "bad_suite"


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteEnv:
    """The tasks of one env under one set of options."""

    env: str
    split: str = "test"
    tasks: int | str | tuple[int | str, ...] = "all"
    """How many, taken so that every category and difficulty has its share; or `all`; or a list of indices and ids."""
    label: str = ""
    """Its name in tables; the env's id unless the suite has the env twice."""
    options: Mapping[str, Any] = field(default_factory=dict)
    max_steps: int | None = None
    """A limit below the env's own."""
    categories: tuple[str, ...] = ()
    """Only tasks of these; none means of all."""

    @property
    def name(self) -> str:
        """What tables call it."""
        return self.label or self.env

    def to_json(self) -> dict[str, Any]:
        """JSON values; what came later than the first suites is there only where it is used, so that hashes stay."""
        values = {**asdict(self), "options": dict(self.options)}
        if isinstance(self.tasks, tuple):
            values["tasks"] = list(self.tasks)
        del values["categories"]
        return {**values, "categories": list(self.categories)} if self.categories else values


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """What a run measures."""

    name: str
    envs: tuple[SuiteEnv, ...]
    title: str = ""
    seed: int = 0
    attempts: int = 1
    metric: str = "success"
    """`success`, or `mean_score`: the mean of the env's raw scores."""
    agent: Mapping[str, Any] = field(default_factory=dict)
    """Settings of agents that ask a model, where the caller gives none."""
    source: str = ""
    """The name or the absolute path that it was loaded by."""

    @property
    def hash(self) -> str:
        """sha256 over everything that decides what is measured."""
        whole = {"name": self.name, "seed": self.seed, "envs": [entry.to_json() for entry in self.envs]}
        return digest_of(whole if self.metric == METRICS[0] else {**whole, "metric": self.metric})

    def to_json(self) -> dict[str, Any]:
        """JSON values that `parse` reads back."""
        envs = [{k: v for k, v in entry.to_json().items() if v not in ("", None, {})} for entry in self.envs]
        own = {name: getattr(self, name) for name in ("name", "title", "seed", "attempts", "metric")}
        return {**own, "agent": dict(self.agent), "envs": envs}


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
    _typed(top, where, name=str, title=str, seed=int, attempts=int, metric=str, agent=dict)
    if top.get("attempts", 1) < 1:
        raise BadSuite(f"{where}: attempts={top['attempts']}: at least 1")
    if not 1 <= len(top["name"]) <= LONGEST_NAME:
        raise BadSuite(f"{where}: name has {len(top['name'])} characters; 1 to {LONGEST_NAME}")
    if top.get("metric", METRICS[0]) not in METRICS:
        raise BadSuite(f"{where}: metric={top['metric']!r}: one of {', '.join(METRICS)}")
    labels = [e.name for e in envs]
    twice = sorted({name for name in labels if labels.count(name) > 1})
    if twice:
        raise BadSuite(f"{where}: {', '.join(twice)} is there twice; give each a label of its own")
    return Suite(**top, envs=envs, source=source)


def _suite_env(data: Any, where: str) -> SuiteEnv:
    entry = _settings(data, SuiteEnv, where=where)
    _typed(entry, where, env=str, split=str, label=str, options=dict, max_steps=int)
    if "tasks" in entry:
        entry["tasks"] = _wanted(entry["tasks"], where)
    if "categories" in entry:
        entry["categories"] = _categories(entry["categories"], where)
    if entry.get("max_steps") is not None and entry["max_steps"] < 1:
        raise BadSuite(f"{where}.max_steps={entry['max_steps']}: at least 1")
    return SuiteEnv(**entry)


def _wanted(tasks: Any, where: str) -> int | str | tuple[int | str, ...]:
    if isinstance(tasks, str) and tasks == "all":
        return tasks
    if isinstance(tasks, int) and type(tasks) is int and tasks >= 1:
        return tasks
    if isinstance(tasks, list) and tasks and all(type(t) is str or (type(t) is int and t >= 0) for t in tasks):
        twice = sorted({str(task) for task in tasks if tasks.count(task) > 1})
        if twice:
            raise BadSuite(f"{where}.tasks: {', '.join(twice)} is there twice")
        return tuple(tasks)
    raise BadSuite(f"{where}.tasks={tasks!r}: a number from 1, or `all`, or a list of indices and ids")


def _categories(categories: Any, where: str) -> tuple[str, ...]:
    if not isinstance(categories, list) or not all(type(name) is str for name in categories):
        raise BadSuite(f"{where}.categories={categories!r}: a list of names")
    return tuple(categories)


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
