"""What is checked: an env of this process, or one behind a URL, with a sample of its tasks."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from agentenv.client.transport import Transport
from agentenv.protocol import Task, TaskRef
from agentenv.registry import EnvSpec, TaskSet
from agentenv.testing.players import ObjectPlayer, Player, SessionPlayer, closing
from agentenv.testing.scripts import Episode, episodes_of, mixed, replay
from agentenv.testing.specs import spec_to_json
from agentenv.testing.trace import Request, Trace, elsewhere

SAMPLE = 40
"""Tasks of a sample."""
LISTED = 5_000
"""Tasks of a split that are looked at to draw the sample."""


EPISODES = 6
"""Tasks whose scripted episodes the rules compare."""
PER_EPISODE = 16
"""Short sessions that one task's scripted episodes may cost."""


@dataclass(slots=True, kw_only=True)
class Subject:
    """The env under check. `tasks` is a sample over splits, categories and difficulties."""

    spec: EnvSpec
    transport: Transport
    """To a table of sessions of this process, or to a server."""
    tasks: Sequence[Task] | Sequence[TaskRef]
    oracle: bool
    """Whether `solve()` can be asked."""
    options: Mapping[str, Any]
    """Those that were given; empty by URL, where the server's hold."""
    task_set: TaskSet | None = None
    """None by URL."""
    thread: ThreadPoolExecutor | None = None
    """Where a bare sync env runs that is not declared inline."""
    sessions: int = 1000
    """Sessions of the endurance rule."""
    budget_s: float = 20.0
    """Seconds that a repeating rule may take; slow envs get fewer repetitions."""
    session_s: float = 0.0
    """Seconds of one session with a short scripted episode, measured by `probe`."""
    _played: list[Episode] = field(default_factory=list)
    _replayed: list[Episode] = field(default_factory=list)
    _traces: list[Trace] = field(default_factory=list)

    @property
    def local(self) -> bool:
        """Whether the env's class is at hand."""
        return self.task_set is not None

    def player(self) -> Player:
        """A fresh player: the bare object where there is one."""
        return self.object() if self.local else self.session()

    def object(self) -> ObjectPlayer:
        """A fresh bare env."""
        return ObjectPlayer(self.spec, lambda: self.spec.make(self.options), self.thread)

    def session(self, *, max_steps: int | None = None) -> SessionPlayer:
        """A fresh session, not created yet."""
        return SessionPlayer(self.spec.id, self.transport, max_steps=max_steps)

    def affordable(self, wanted: int, least: int) -> int:
        """How many sessions fit the budget."""
        if self.session_s <= 0:
            return wanted
        return max(least, min(wanted, int(self.budget_s / self.session_s)))

    def few(self, count: int) -> Sequence[Task] | Sequence[TaskRef]:
        """The first tasks of the sample; its order mixes the strata."""
        return self.tasks[:count]

    async def played(self) -> list[Episode]:
        """Scripted episodes of a few tasks, each by a fresh player that asked for solutions and available actions."""
        if not self._played:
            for task in self.few(self.affordable(EPISODES * PER_EPISODE, PER_EPISODE) // PER_EPISODE):
                self._played += await episodes_of(self.player, task, solvable=self.oracle)
        return self._played

    async def replayed(self) -> list[Episode]:
        """The same episodes, each by a fresh player that was sent the actions and asked for nothing."""
        if not self._replayed:
            for episode in await self.played():
                async with closing(self.player()) as player:
                    self._replayed.append(await replay(player, episode))
        return self._replayed

    async def compared(self) -> list[Task]:
        """The tasks that `played` played."""
        found = {e.task.id: e.task for e in await self.played()}
        return [task for task in found.values() if isinstance(task, Task)]

    async def traces(self) -> list[Trace]:
        """What two other processes saw of the same episodes; ChildFailed when one could not play them."""
        if not self._traces:
            tasks = await self.compared()
            request = Request(spec=spec_to_json(self.spec), options=dict(self.options), tasks=tasks)
            self._traces = await elsewhere(request, timeout_s=60 + 10 * self.budget_s)
        return self._traces

    async def probe(self) -> None:
        """Measure what one session costs; the env's first failure to start is raised here."""
        for _ in range(2):  # the first one imports the engine
            started = time.perf_counter()
            async with closing(self.session()) as player:
                await player.reset(self.tasks[0])
                await mixed(player, self.tasks[0], longest=5)
            self.session_s = time.perf_counter() - started


def stratified(tasks: Sequence[Any], count: int) -> list[Any]:
    """`count` tasks, as even as possible over (split, category, difficulty), the same ones every time."""
    strata: dict[tuple[str, str, int], list[Any]] = {}
    for task in tasks:
        strata.setdefault((task.split, task.category, task.difficulty), []).append(task)
    for key, stratum in strata.items():
        random.Random(f"sample {key}").shuffle(stratum)
    mixed = list(strata.values())
    random.Random("strata").shuffle(mixed)
    found: list[Any] = []
    depth = 0
    while len(found) < count and any(len(s) > depth for s in mixed):
        found += [s[depth] for s in mixed if len(s) > depth]
        depth += 1
    return found[:count]


def spaced(count: int, most: int) -> list[int]:
    """At most `most` indices below `count`, evenly spaced, the first and the last among them."""
    if count <= most:
        return list(range(count))
    return sorted({round(i * (count - 1) / (most - 1)) for i in range(most)})


def sample(task_set: TaskSet) -> list[Task]:
    """The sample of a task set."""
    seen = [task_set.get(s, i) for s in task_set.splits() for i in spaced(task_set.count(s), LISTED)]
    return stratified(seen, SAMPLE)
