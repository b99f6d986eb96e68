"""What a person may play on this server: the splits of its environments, and the suites that hold them."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agentenv.errors import AgentEnvError, BadCall, UnknownTask
from agentenv.protocol import TaskRef
from agentenv.registry import EnvSpec, TaskAt, TaskSet, find_task
from evals.plan import World, make_plan, world_of
from evals.suite import Suite, SuiteEnv, load, suite_names

DRAWS = 200
"""Draws of a task that this person has not played, before an already known one is given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where tasks come from."""

    value: str
    """`split:test`, or `suite:demo:textcraft`."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """A task to play, and the row that it will count for."""

    spec: EnvSpec
    suite: Suite
    worlds: tuple[World, ...]
    label: str
    """The suite's name for the env."""
    task: TaskRef
    source: str
    """The value of the Source that it comes from."""
    options: Mapping[str, Any]
    """What the session is asked for; the server's own come first."""

    @property
    def env_options(self) -> Mapping[str, Any]:
        """As the record has them: the server's and the session's."""
        return next(entry.options for entry in self.suite.envs if entry.name == self.label)

    @property
    def world(self) -> World:
        """Of this env."""
        return next(world for world in self.worlds if world.label == self.label)


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """What has been played before."""

    known: Collection[str]
    """Digests of the tasks that this person knows."""
    plays: Callable[[str], Callable[[str, str], int]]
    """By suite hash: how often people have played `(env, task id)`."""


def sources(spec: EnvSpec, options: Mapping[str, Any]) -> list[Source]:
    """Splits, the ones for measuring first, then suites. `options` are the server's for this env."""
    tasks = spec.task_set(options)
    splits = sorted(tasks.splits(), key=lambda split: (split != "test", split == "train"))
    found = [Source(value=f"split:{split}", text=_words(split, tasks.count(split))) for split in splits]
    for name in suite_names():
        for entry in load(name).envs:
            if entry.env == spec.id:
                try:
                    count = world_of(spec, entry).tasks
                except AgentEnvError:  # not playable here, whatever the reason: nothing to choose
                    continue
                label = "" if entry.name == spec.id else f" ({entry.name})"
                found.append(Source(value=f"suite:{name}:{entry.name}", text=f"suite {name}{label}, {count} tasks"))
    return found


def _words(split: str, count: int) -> str:
    return f"{split}, {count} task{'' if count == 1 else 's'}"


def choose(spec: EnvSpec, options: Mapping[str, Any], source: str, wanted: str | None, past: Past) -> list[Chosen]:
    """The wanted task of a source, or one that this person does not know yet.

    Several where an option is left open, with its settled values in order of preference: the first that works is meant.
    """
    kind, _, name = source.partition(":")
    if kind == "suite":
        suite, _, label = name.rpartition(":")
        return [_of_suite(spec, suite, label, wanted, past)]
    if kind == "split":
        first, *others = _settled(spec, options)
        chosen = _of_split(spec, options, first, name, wanted, past)
        return [chosen, *(_of_split(spec, options, other, name, chosen.task.id, past) for other in others)]
    raise BadCall(f"source {source!r}: begins with split: or suite:")


def _settled(spec: EnvSpec, options: Mapping[str, Any]) -> Sequence[dict[str, Any]]:
    """Values for the options that the machine would decide; one empty choice where there are none."""
    values = spec.resolve_options(options)
    open_ = [option for option in spec.options if values[option.name] in option.unsettled]
    choices = [[(o.name, value) for value in o.choices if value not in o.unsettled] for o in open_]
    return [dict(picked) for picked in itertools.product(*choices)]


def _of_split(
    spec: EnvSpec, own: Mapping[str, Any], picked: Mapping[str, Any], split: str, wanted: str | None, past: Past
) -> Chosen:
    entry = SuiteEnv(env=spec.id, split=split, options={**own, **picked})
    tasks = spec.task_set(entry.options)
    find_task(spec, tasks, TaskAt(split=split, index=0))  # UnknownTask where there is no such split
    suite = Suite(name=f"play-{spec.id}-{split}", title=f"{spec.title}, played task by task", envs=(entry,))
    return Chosen(
        spec=spec,
        suite=suite,
        worlds=(world_of(spec, entry),),
        label=entry.name,
        task=_named(spec, tasks, split, wanted) if wanted else _drawn(tasks, split, past.known),
        source=f"split:{split}",
        options=dict(picked),
    )


def _named(spec: EnvSpec, tasks: TaskSet, split: str, wanted: str) -> TaskRef:
    """By id, or by the number alone."""
    ref = find_task(spec, tasks, wanted if "/" in wanted else f"{spec.id}/{split}/{wanted}").ref()
    if ref.split != split:
        raise UnknownTask(f"{ref.id} is in the split {ref.split}, not in {split}")
    return ref


def _drawn(tasks: TaskSet, split: str, known: Collection[str]) -> TaskRef:
    """Any of the split, if possible one that is not known."""
    ref = tasks.get(split, secrets.randbelow(tasks.count(split))).ref()
    for _ in range(DRAWS):
        if ref.digest not in known:
            break
        ref = tasks.get(split, secrets.randbelow(tasks.count(split))).ref()
    return ref


def _of_suite(spec: EnvSpec, name: str, label: str, wanted: str | None, past: Past) -> Chosen:
    suite = load(name)
    entry = next((entry for entry in suite.envs if entry.name == label and entry.env == spec.id), None)
    if entry is None:
        raise BadCall(f"suite {name} has no {label!r} of {spec.id}")
    refs = [planned.task for planned in make_plan(replace(suite, envs=(entry,))).tasks]
    return Chosen(
        spec=spec,
        suite=suite,
        worlds=tuple(world_of(_spec_of(other, spec), other) for other in suite.envs),
        label=label,
        task=_listed(refs, wanted, name) if wanted else _rarest(refs, label, past, suite.hash),
        source=f"suite:{name}:{label}",
        options=dict(entry.options),
    )


def _spec_of(entry: SuiteEnv, served: EnvSpec) -> EnvSpec:
    from agentenv.registry import get_spec

    return served if entry.env == served.id else get_spec(entry.env)


def _listed(refs: Sequence[TaskRef], wanted: str, suite: str) -> TaskRef:
    for ref in refs:
        if wanted in (ref.id, str(ref.index)):
            return ref
    raise UnknownTask(f"suite {suite} has no task {wanted!r}; its first is {refs[0].id}")


def _rarest(refs: Sequence[TaskRef], label: str, past: Past, suite_hash: str) -> TaskRef:
    """Unknown to this person, played least by people, first in the order of play."""
    plays = past.plays(suite_hash)
    fresh = [ref for ref in refs if ref.digest not in past.known]
    return min(fresh or refs, key=lambda ref: plays(label, ref.id))
