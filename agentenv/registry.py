"""What is known of an environment without importing its engine, and where environments are found.

An env package declares an entry point in the group `agentenv.envs` whose object is a list of `EnvSpec` in a light
module. `specs()` lists every one; a plug-in that cannot be imported is listed as broken and raises when asked for.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import inspect
import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from typing import Any, Protocol, cast

from agentenv.env import AsyncEnv, Env
from agentenv.errors import BadCall, EnvUnavailable, UnknownEnv, UnknownOption, UnknownTask
from agentenv.functions import check_functions
from agentenv.plugins import Broken, load_group
from agentenv.protocol import Task, digest_of, index_of_seed

ID_PATTERN = re.compile(r"[a-z][a-z0-9_]*")
INDEX_PATTERN = re.compile(r"0|[1-9][0-9]{0,17}")
"""One spelling an index, so that one task has one id."""


class Concurrency(StrEnum):
    """Where an env's methods may run."""

    INLINE = "inline"  # on the event loop: every call under 1 ms and no I/O
    ANY_THREAD = "any_thread"  # in a thread pool
    LOCKED = "locked"  # in a thread, one at a time for one lock key
    PROCESS = "process"  # in a process of its own
    ASYNC = "async"  # an AsyncEnv, awaited on the event loop


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One typed option of an env."""

    name: str
    type: type
    """bool, int, float or str."""
    default: Any
    help: str
    scope: str = "session"
    """`session`: a client may set it in `create`; `server`: only whoever serves the env (paths, for example)."""
    choices: tuple[Any, ...] = ()
    low: float | None = None
    high: float | None = None
    unsettled: tuple[Any, ...] = ()
    """Values by which the serving machine decides what is played; evaluation runs refuse them."""

    def parse(self, value: Any) -> Any:
        """`value`, also as text from a command line, in the option's type; UnknownOption when it does not fit."""
        parsed = self._coerced(value)
        if parsed is None:
            return None
        if self.choices and parsed not in self.choices:
            raise UnknownOption(f"option {self.name}={value!r}: choose from {', '.join(map(repr, self.choices))}")
        if isinstance(parsed, float) and not math.isfinite(parsed):
            raise UnknownOption(f"option {self.name}={value!r}: must be a finite number")
        if self.low is not None and parsed < self.low:
            raise UnknownOption(f"option {self.name}={value!r}: must be at least {self.low:g}")
        if self.high is not None and parsed > self.high:
            raise UnknownOption(f"option {self.name}={value!r}: must be at most {self.high:g}")
        return parsed

    def _coerced(self, value: Any) -> Any:
        if value is None and self.default is None:
            return None
        if self.type is bool and isinstance(value, str) and value.lower() in ("true", "false", "1", "0"):
            return value.lower() in ("true", "1")
        if self.type in (int, float) and isinstance(value, str):
            try:
                return self.type(value)
            except ValueError:
                pass
        if self.type is float and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        if type(value) is self.type:
            return value
        raise UnknownOption(f"option {self.name}={value!r}: must be {self.type.__name__}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortcut:
    """A way to score without really playing, shipped as the agent `shortcut:NAME`; its rate is held under a ceiling."""

    name: str
    entry: str
    """`module:factory` of an Agent, called without arguments."""
    ceiling: float
    """Success over the split that is tolerated at most."""
    about: str
    """What it does, one line."""
    split: str = "test"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Tasks that an env knows of and cannot play here, such as those of a benchmark that needs sites of one's own."""

    name: str
    entry: str
    """`module:function`, `(file: Path | None) -> list[dict]`: a row a task, with at least `id` and `needs`."""
    about: str
    """Whose tasks they are and what they need, one line."""


RANDOM = Shortcut(
    name="random", entry="agentenv.agents.scripted:Random", ceiling=0.01, about="draws from the available actions"
)
"""For envs whose actions have a bound."""


class TaskSet(Protocol):
    """The tasks of one env under one set of options. Made by the spec's light factory `(options) -> TaskSet`."""

    @property
    def digest(self) -> str:
        """Over data, options and generator version: equal digests, equal tasks."""

    def splits(self) -> tuple[str, ...]:
        """Names of the splits, `train` first."""

    def count(self, split: str) -> int:
        """Number of tasks in `split`."""

    def get(self, split: str, index: int) -> Task:
        """Task `index` of `split`; both exist."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvSpec:
    """An environment as data."""

    id: str
    """`[a-z][a-z0-9_]*`"""
    version: str
    """Changes whenever an equal task and equal actions may give other bytes."""
    gym_name: str
    """`TextCraft-v0`, registered in gymnasium's namespace `agentenv`."""
    title: str
    entry: str
    """`module:Class` of the Env or AsyncEnv."""
    tasks: str
    """`module:factory`, `(options: dict) -> TaskSet`; light: the engine stays unimported."""
    concurrency: Concurrency
    max_steps: int
    success_rule: str
    """In words."""
    action_grammar: str
    """In words, one form a line."""
    options: tuple[Option, ...] = ()
    reward_range: tuple[float, float] = (0.0, 1.0)
    return_range: tuple[float, float] = (0.0, 1.0)
    lock_key: str = ""
    """For `locked`: envs with one key run one at a time; empty means the env's id."""
    reuse: bool = True
    """Whether one Env object can be reset for another episode."""
    shortcuts: tuple[Shortcut, ...] = ()
    """Agents that cheat, with what they may reach; `agentenv check --controls` plays them."""
    snapshots: bool = False
    """Whether `snapshot` and `restore` work."""
    snapshot_options: Mapping[str, Any] = field(default_factory=dict)
    """The values of options that they need; empty: any."""
    listings: tuple[Listing, ...] = ()
    """`agentenv envs ENV --list NAME` prints one."""
    solvable: bool = True
    """Whether `solve()` solves every task, those of the category `unproven` left out."""
    images: bool = False
    needs: tuple[str, ...] = ()
    """Such as java, chromium, network."""
    licence: str = "Apache-2.0"
    world: str = ""
    """`agentenv-textcraft-v1`: own worlds say so; their scores do not compare with a published benchmark's."""
    prompt: str = ""
    """`package:file` of the opening prompt's data (YAML), versioned."""
    other_prompts: Mapping[str, str] = field(default_factory=dict)
    """`{format: package:file}` of prompts for other formats than that of `prompt`."""
    functions: tuple[Mapping[str, Any], ...] = ()
    """What may be called: `name`, `description`, `parameters` (JSON Schema) and `text`, the action that a call makes.
    See agentenv.functions."""
    replay: str = ""
    """What must be equal, beside the task and the actions, for an episode to come out byte for byte again, in words."""
    unreplayable: str = ""
    """`module:function`, `(options) -> str`: why an episode under these options may come out otherwise when its actions
    are sent again; empty where it may not. Without one every episode replays."""
    last_action_decides: bool = False
    """Whether the last action alone, sent first in a fresh episode, gets the verdict: then a newer version of the env
    can score stored episodes."""
    malformed_text: str = "Invalid action: {reason}. Answer with one action in the required format."
    """What the session answers to a malformed action; `{reason}` is filled in."""
    extra: str = ""
    """The pip extra that brings the engine."""
    reset_s: float = 60.0
    step_s: float = 60.0
    episode_s: float = 3600.0
    """The agent's own time in one episode."""

    def __post_init__(self) -> None:
        if not ID_PATTERN.fullmatch(self.id):
            raise BadCall(f"environment id {self.id!r}: must match {ID_PATTERN.pattern}")
        if self.entry:  # what a server of another version tells is checked where it is used
            check_functions(self.functions)

    def __hash__(self) -> int:
        """By name: `functions` holds dictionaries, which have no hash."""
        return hash((self.id, self.version, self.tasks))

    def resolve_options(self, options: Mapping[str, Any], *, scope: str | None = None) -> dict[str, Any]:
        """Every option with its value, defaults filled in. `scope="session"` refuses the server's options."""
        known = {o.name: o for o in self.options}
        for name in options:
            if name not in known:
                close = difflib.get_close_matches(name, known, n=1)
                hint = f"; did you mean {close[0]!r}?" if close else f"; it has: {', '.join(known) or 'none'}"
                raise UnknownOption(f"{self.id} has no option {name!r}{hint}")
            if scope == "session" and known[name].scope == "server":
                raise UnknownOption(
                    f"option {name!r} of {self.id} is the server's: "
                    f"`agentenv serve {self.id} --env-option {self.id}.{name}=...`"
                )
        return {n: o.parse(options[n]) if n in options else o.default for n, o in known.items()}

    def load_class(self) -> type[Env] | type[AsyncEnv]:
        """Import the engine; EnvUnavailable names what is missing and the command that installs it."""
        return cast("type[Env] | type[AsyncEnv]", self._load(self.entry))

    def make(self, options: Mapping[str, Any] | None = None) -> Env | AsyncEnv:
        """A fresh env object with these options (others at their defaults)."""
        return self.build(self.resolve_options(options or {}))

    def build(self, options: Mapping[str, Any]) -> Env | AsyncEnv:
        """A fresh env object with options that `resolve_options` has completed."""
        made = self.load_class()
        try:
            return made(**options)
        except TypeError as exc:
            if _takes(made, options):
                raise
            names = ", ".join(options)
            raise EnvUnavailable(
                f"{self.id} is unavailable: {exc}; the constructor of {self.entry} gets every option of the spec as a "
                f"keyword: {names or 'none'}"
            ) from exc

    def task_set(self, options: Mapping[str, Any] | None = None) -> TaskSet:
        """The tasks under these options; cached."""
        resolved = self.resolve_options(options or {})
        return _task_set(self, json.dumps(resolved, sort_keys=True))

    def _load(self, entry: str) -> Any:
        module, _, name = entry.partition(":")
        try:
            return getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError) as exc:
            hint = f" (pip install 'agentenv-gym[{self.extra}]')" if self.extra else f"; its spec names {entry!r}"
            raise EnvUnavailable(f"{self.id} is unavailable: {exc}{hint}") from exc

    def unreplayable_because(self, options: Mapping[str, Any]) -> str:
        """Why episodes under these options, which `resolve_options` has completed, may not replay; empty: they do."""
        return str(self._load(self.unreplayable)(options)) if self.unreplayable else ""

    def has_snapshots(self, options: Mapping[str, Any]) -> bool:
        """Whether `snapshot` and `restore` work under these options, which `resolve_options` has completed."""
        return self.snapshots and all(options[name] == value for name, value in self.snapshot_options.items())

    def card(self) -> dict[str, Any]:
        """The spec as JSON values, for listings, the wire and records."""
        card = asdict(self)
        card["options"] = [{**asdict(o), "type": o.type.__name__} for o in self.options]
        for name in ("shortcuts", "listings"):
            card[name] = [{k: v for k, v in item.items() if k != "entry"} for item in card[name]]
        for name in ("entry", "tasks", "prompt", "other_prompts", "unreplayable"):
            del card[name]
        return card

    @classmethod
    def from_card(cls, card: Mapping[str, Any]) -> EnvSpec:
        """A spec of an env that only a server has: everything but the engine, the tasks and the prompt."""
        own = {"entry", "tasks", "prompt", "other_prompts", "unreplayable", "options", "shortcuts", "listings"}
        known = {f.name for f in fields(cls)} - own
        values = {name: card[name] for name in known if name in card}
        for name in ("reward_range", "return_range", "needs", "functions"):
            if name in values:
                values[name] = tuple(values[name])
        try:
            values["concurrency"] = Concurrency(values["concurrency"])
            return cls(entry="", tasks="", **values)
        except (KeyError, TypeError, ValueError) as exc:
            raise BadCall(f"not an environment's card: {exc}") from exc


def _takes(made: Callable[..., object], options: Mapping[str, Any]) -> bool:
    """Whether the options can be the keywords of a call."""
    try:
        inspect.signature(made).bind(**options)
    except TypeError:
        return False
    return True


@functools.lru_cache(maxsize=256)
def _task_set(spec: EnvSpec, options: str) -> TaskSet:
    return cast(TaskSet, spec._load(spec.tasks)(json.loads(options)))


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskAt:
    """A task by its place: `{split, index}` or `{split, seed}`, exactly one of the two."""

    split: str
    index: int | None = None
    seed: int | None = None


def find_task(spec: EnvSpec, tasks: TaskSet, wanted: str | TaskAt) -> Task:
    """The task of an id or a place; UnknownTask says what there is."""
    if isinstance(wanted, str):
        env, _, rest = wanted.partition("/")
        split, _, number = rest.rpartition("/")
        if env != spec.id or not split or not INDEX_PATTERN.fullmatch(number):
            raise UnknownTask(f"no task {wanted!r}; ids look like {spec.id}/{tasks.splits()[0]}/0")
        wanted = TaskAt(split=split, index=int(number))
    if wanted.split not in tasks.splits():
        raise UnknownTask(f"{spec.id} has no split {wanted.split!r}; it has {', '.join(tasks.splits())}")
    count = tasks.count(wanted.split)
    if (wanted.index is None) == (wanted.seed is None):
        raise UnknownTask(f"name a task of {spec.id}/{wanted.split} by index or by seed, exactly one of them")
    if wanted.seed is not None:
        return tasks.get(wanted.split, index_of_seed(wanted.split, wanted.seed, count))
    index = cast(int, wanted.index)
    if not 0 <= index < count:
        raise UnknownTask(f"no task {spec.id}/{wanted.split}/{index}; the split has {count} tasks, from 0")
    return tasks.get(wanted.split, index)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableTasks:
    """A TaskSet over tables of tasks already made: `TableTasks(tables={"train": [...]}, options=options)`."""

    tables: Mapping[str, Sequence[Task]]
    version: str
    """Of the generator."""
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Over every task, so over data, options and generator alike."""
        digests = {split: [t.digest for t in table] for split, table in self.tables.items()}
        return digest_of([self.version, dict(self.options), digests])

    def splits(self) -> tuple[str, ...]:
        """Names of the splits."""
        return tuple(self.tables)

    def count(self, split: str) -> int:
        """Number of tasks in `split`."""
        return len(self.tables[split])

    def get(self, split: str, index: int) -> Task:
        """Task `index` of `split`."""
        return self.tables[split][index]


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeTasks:
    """A TaskSet whose tasks are made when they are asked for, by `make(split, index)`."""

    counts: Mapping[str, int]
    """Tasks of each split, `train` first."""
    digest: str
    """Of everything that decides the tasks."""
    make: Callable[[str, int], Task]

    def splits(self) -> tuple[str, ...]:
        """Names of the splits."""
        return tuple(self.counts)

    def count(self, split: str) -> int:
        """Number of tasks in `split`."""
        return self.counts[split]

    def get(self, split: str, index: int) -> Task:
        """Task `index` of `split`."""
        return self.make(split, index)


@functools.cache
def _installed() -> dict[str, EnvSpec | Broken]:
    found: dict[str, EnvSpec | Broken] = {}
    for name, loaded in load_group("agentenv.envs").items():
        if isinstance(loaded, Broken):
            found[name] = loaded
            continue
        if not isinstance(loaded, (list, tuple)) or not all(isinstance(s, EnvSpec) for s in loaded):
            found[name] = Broken(name, f"its entry point names {type(loaded).__name__}, not a list of EnvSpec")
            continue
        for spec in loaded:
            found[spec.id] = spec
    return found


_registered: dict[str, EnvSpec] = {}


def register(spec: EnvSpec) -> None:
    """Add an env to this process without an installed package (notebooks, tests, `serve module:SPECS`)."""
    _registered[spec.id] = spec
    if "gymnasium" in sys.modules:
        from agentenv.gym import register_all

        register_all()


def all_specs() -> dict[str, EnvSpec | Broken]:
    """Every known env by id, broken plug-ins by the name of their entry point."""
    return dict(sorted({**_installed(), **_registered}.items()))


def specs() -> Iterator[EnvSpec]:
    """Every usable spec, by id."""
    return (s for s in all_specs().values() if isinstance(s, EnvSpec))


def get_spec(id: str) -> EnvSpec:
    """The spec of `id`; UnknownEnv with the nearest name, EnvUnavailable when its plug-in is broken."""
    known = all_specs()
    match known.get(id):
        case EnvSpec() as spec:
            return spec
        case Broken(reason=reason):
            raise EnvUnavailable(f"{id} is unavailable: {reason}")
    broken = [f"{n} ({b.reason})" for n, b in known.items() if isinstance(b, Broken)]
    close = difflib.get_close_matches(id, known, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    lost = f" Plug-ins that cannot be imported: {'; '.join(broken)}." if broken else ""
    raise UnknownEnv(f"no environment {id!r}{hint} `agentenv envs` lists all {len(known)}.{lost}")
