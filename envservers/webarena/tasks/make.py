"""Tasks made of templates and worlds. Imports no engine and no site."""

from __future__ import annotations

import functools
import hashlib
import random
from collections import Counter
from collections.abc import Iterator

from agentenv.protocol import Task, digest_of
from envservers.webarena.evaluators.combine import guarded, to_json
from envservers.webarena.tasks.plan import acts
from envservers.webarena.tasks.splits import BUCKETS, Split
from envservers.webarena.tasks.template import Params, Template
from envservers.webarena.world.build import build_world
from envservers.webarena.world.world import World

ENV_ID = "webarena"
GENERATOR = "1"
"""Version of templates and splits; part of every seed. Another task at a place means another version."""
MOST_MISSES = 250
"""Draws in a row without a new task, after which a world is taken to have no more."""
LEAST_STEPS, MOST_STEPS = 10, 30


@functools.lru_cache(maxsize=4)
def world_of(seed: int, size: str) -> World:
    """A world, built at its first use."""
    return World(build_world(seed, size))


def draws(template: Template, split: Split, seed: int, size: str) -> Iterator[Params]:
    """The slots of a template's tasks in a world, as far as the split owns them."""
    world = world_of(seed, size)
    rng = random.Random(f"{GENERATOR} {size} {seed} {split.name} {template.name}")
    seen: set[str] = set()
    twins = Counter[bool]()
    misses = hardest = 0
    while misses < MOST_MISSES:
        misses += 1
        params = template.generate(world, rng)
        form = template.canonical(params) if params else ""
        if params is None or form in seen or bucket(form) not in split.buckets:
            continue
        hardest = max(hardest, template.difficulty(params))
        if len(seen) >= split.most(template, hardest):
            return
        absent = bool(params.get("absent"))
        if template.twins and twins[absent] > twins[not absent]:
            continue
        twins[absent] += 1
        seen.add(form)
        misses = 0
        yield params


def bucket(form: str) -> int:
    """Where a canonical form belongs."""
    return int.from_bytes(hashlib.sha256(form.encode()).digest()[:4], "big") % BUCKETS


def make_task(
    template: Template, split: Split, params: Params, number: int, *, seed: int, size: str, id: tuple[str, int]
) -> Task:
    """The task; `number` is its place among the template's tasks in this world, `id` its split and index there."""
    world = world_of(seed, size)
    kind = template.kind_of(params)
    checks = template.expect(world, params)
    guarded(kind, checks)
    phrasing = split.phrasing(template, number)
    plan = template.plan(params)
    name, index = id
    payload = {
        "world": seed,
        "size": size,
        "kind": str(kind),
        "params": dict(params),
        "phrasing": phrasing,
        "intent": template.intent(params, phrasing),
        "start": list(template.start),
        "account": template.account,
        "checks": [to_json(check) for check in checks],
    }
    return Task(
        id=f"{ENV_ID}/{name}/{index}",
        env=ENV_ID,
        split=name,
        index=index,
        category=str(kind),
        difficulty=template.difficulty(params),
        template=template.name,
        seed=int(digest_of([seed, size, template.name, params])[:12], 16),
        payload=payload,
        max_steps=min(MOST_STEPS, max(LEAST_STEPS, 2 * (acts(plan) + template.extra) + 5)),
    )
