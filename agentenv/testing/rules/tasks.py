"""Rules about what is known before an env is made: its card, options and tasks."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator
from importlib import resources
from typing import Any

from agentenv.env import AsyncEnv, Env
from agentenv.errors import UnknownOption
from agentenv.protocol import Task, digest_of
from agentenv.registry import Concurrency, EnvSpec, Option, TaskSet
from agentenv.testing.rules.base import Broken, NotApplicable
from agentenv.testing.subject import Subject, spaced
from agentenv.testing.trace import ChildFailed, fingerprint

COMPARED = 20_000
"""Tasks of a split that are compared with those of the others."""


async def card_is_sound(subject: Subject) -> str:
    """Ranges, limits, texts and declared abilities of the spec."""
    spec = subject.spec
    problems = list(_card_problems(spec))
    if subject.local:
        problems += list(_class_problems(spec, spec.load_class()))
    if problems:
        raise Broken("; ".join(problems))
    return f"version {spec.version}, {spec.concurrency}"


def _card_problems(spec: EnvSpec) -> Iterator[str]:
    for name in ("version", "gym_name", "title", "success_rule", "action_grammar"):
        if not getattr(spec, name).strip():
            yield f"{name} is empty"
    for name in ("reward_range", "return_range"):
        low, high = getattr(spec, name)
        if not (math.isfinite(low) and math.isfinite(high) and low <= high):
            yield f"{name} is {low} to {high}"
    if spec.max_steps < 1:
        yield f"max_steps is {spec.max_steps}"
    if "{reason}" not in spec.malformed_text:
        yield "malformed_text has no {reason}"
    if spec.prompt and not _exists(spec.prompt):
        yield f"prompt {spec.prompt} is no file"


def _exists(prompt: str) -> bool:
    package, _, file = prompt.partition(":")
    try:
        return resources.files(package).joinpath(file).is_file()
    except (ImportError, TypeError):
        return False


def _class_problems(spec: EnvSpec, loaded: type[Env] | type[AsyncEnv]) -> Iterator[str]:
    is_async = issubclass(loaded, AsyncEnv)
    base: type[Env] | type[AsyncEnv] = AsyncEnv if is_async else Env
    if is_async != (spec.concurrency is Concurrency.ASYNC):
        yield f"{loaded.__name__} is {'an AsyncEnv' if is_async else 'an Env'}, concurrency is {spec.concurrency}"
    declared = {"solve": spec.solvable, "snapshot": spec.snapshots, "restore": spec.snapshots}
    for method, wanted in declared.items():
        if wanted and getattr(loaded, method) is getattr(base, method):
            yield f"the card declares what {loaded.__name__} lacks: {method}()"


async def options_are_validated(subject: Subject) -> str:
    """Defaults and choices are taken, other names and values refused."""
    spec = subject.spec
    for option in spec.options:
        _parses(option, option.default, "its default")
        for choice in option.choices:
            _parses(option, choice, "one of its choices")
    _refused("unknown names", lambda: spec.resolve_options({"no_such_option": 1}))
    for option in spec.options:
        if option.scope == "server":
            _refused(option.name, lambda o=option: spec.resolve_options({o.name: o.default}, scope="session"))  # type: ignore[misc]
    for option in spec.options:
        for choice in option.choices[:8] if option.scope == "session" else ():
            await _makes(subject, {**subject.options, option.name: choice})
    await _makes(subject, {})
    return f"{len(spec.options)} options"


def _parses(option: Option, value: Any, what: str) -> None:
    try:
        same = option.parse(value) == value
    except UnknownOption as exc:
        raise Broken(f"option {option.name} refuses {what}: {exc.message}") from exc
    if not same:
        raise Broken(f"option {option.name} changes {what}, {value!r}")


def _refused(what: str, call: Callable[[], Any]) -> None:
    try:
        call()
    except UnknownOption:
        return
    raise Broken(f"{what}: not refused with UnknownOption")


async def _makes(subject: Subject, options: dict[str, Any]) -> None:
    """An env object and a task set come out of the options."""
    player = subject.object()
    try:
        subject.spec.task_set(options)
        env = await player.call(subject.spec.make, options)
        await player.call(env.close)
    except Exception as exc:
        raise Broken(f"options {options} are declared and raise {type(exc).__name__}: {exc}") from exc


async def tasks_are_stable(subject: Subject) -> str:
    """Equal options make equal task sets here and in other processes."""
    task_set = _task_set(subject)
    mine = fingerprint(task_set, await subject.compared())
    try:
        others = await subject.traces()
    except ChildFailed as exc:
        raise Broken(str(exc)) from exc
    for trace in others:
        for name in mine:
            if trace.tasks.get(name) != mine[name]:
                raise Broken(f"{name}: {mine[name][:12]} here, {str(trace.tasks.get(name))[:12]} in another process")
    return f"digest {task_set.digest[:12]}, {len(mine)} facts in {len(others)} other processes"


async def splits_are_disjoint(subject: Subject) -> str:
    """No task of one split stands in another, by id, by digest or in canonical form."""
    task_set = _task_set(subject)
    if len(task_set.splits()) < 2:
        raise NotApplicable("one split")
    canonical = _canonical(subject.spec)
    seen: dict[str, Task] = {}
    for split in task_set.splits():
        for index in spaced(task_set.count(split), COMPARED):
            task = task_set.get(split, index)
            if task.id != f"{subject.spec.id}/{split}/{index}":
                raise Broken(f"task {index} of {split} has the id {task.id!r}")
            other = seen.setdefault(digest_of(canonical(task)), task)
            if other.split != split:
                raise Broken(f"{other.id} and {task.id} are the same task")
    return f"{sum(task_set.count(s) for s in task_set.splits())} tasks in {', '.join(task_set.splits())}"


def _canonical(spec: EnvSpec) -> Callable[[Task], Any]:
    """The optional function `canonical_task(task)` beside the task factory; else template, seed and payload."""
    found: Callable[[Task], Any] | None = getattr(
        importlib.import_module(spec.tasks.partition(":")[0]), "canonical_task", None
    )
    return found or (lambda task: [task.template, task.seed, task.payload])


def _task_set(subject: Subject) -> TaskSet:
    assert subject.task_set is not None
    return subject.task_set
