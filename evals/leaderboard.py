"""The board: each agent on a suite, all its runs pooled, with what the data allow to say.

One table holds what may be compared: the same suite hash in the same worlds (env versions, task digests, limits). Runs
of one agent hash are further attempts of one row, so nobody can publish the best of several. Runs of a part of the
suite have rows of their own, but for those of people: together they are whole when every task has been played. Only
complete rows of agents that are not told the solution, and that were not trained on its tasks, have a rank; what the
rank is worth stands beside it, as a range.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from agentenv.protocol import digest_of
from evals import people
from evals.statistics.measure import Counters, Measure, Tally, measure, over_envs
from evals.statistics.pairs import MEAN_SCORE, SUCCESS
from evals.statistics.ranking import Attempts
from evals.statistics.tables import Played, Sections, table_ranges

if TYPE_CHECKING:
    from evals.store.schema import RunRow

ALL = "all"
"""The `env` of a row over every env of the suite."""

TEST = "test"
"""The split on which choosing among configurations spoils the result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One agent on one env of a suite, or on `all` of it."""

    suite: str
    suite_hash: str
    world_hash: str
    world: str | None
    """Name of the env's own world; None over several."""
    split: str | None
    agent: str
    agent_hash: str
    reference: bool
    run: str
    """The latest of the pooled runs."""
    runs: int
    unfinished: int
    """Of those, how many were not played to their end."""
    deleted: int
    """Of those, how many have left only a tombstone; their counters still count."""
    extended: int
    """Of those, how many began after an earlier one had ended, when its result could be seen."""
    reopened: int
    """Settled attempts of these runs that a command opened again."""
    configurations: int | None
    """Agents of that name which ran on this suite's test split, this one too; None on other splits."""
    seen: int | None
    """Tasks of the plan that the agent was trained on; None where nobody said what it was trained on."""
    dependent: bool
    """Several attempts without chance in the sampling: they are not independent."""
    env: str
    metric: str
    """`success`, or `mean_score`."""
    measure: Measure
    people: int | None = None
    """How many pseudonyms have a valid attempt here; None for programs."""
    played: int | None = None
    """Of people: tasks with a valid attempt."""
    verified: str = ""
    """What `agentenv eval verify` found, over all of its runs; empty as long as one was not verified."""
    verifications: list[dict[str, Any]] = field(default_factory=list)
    """Of each run that was verified: level, mark, sample, date, platform and version of the verifier, self or other."""
    breaks_the_environment: list[dict[str, str]] = field(default_factory=list)
    """Tasks on which all tries ended in the same error of the environment: `task`, `error`."""
    rank: int | None = None
    """Place by score, 1 is best; None for rows that are not ranked."""
    rank_low: int | None = None
    """The best rank that the data allow: one more than the rows that are significantly better."""
    rank_high: int | None = None
    table_hash: str | None = None
    """Of the whole table that the ranges hold for: the state of its runs, and the code."""

    @property
    def score(self) -> float | None:
        """What the board sorts by: the suite's metric."""
        return self.measure.mean_score if self.metric == MEAN_SCORE else self.measure.success

    @property
    def name(self) -> str:
        """What tables call it: the agent; people with how many they are, and how many tasks they have played."""
        return self.agent if self.people is None else people.shown(self.agent, self.people, self.played or 0)

    @property
    def status(self) -> str:
        """`ranked`, `reference`, or why it is neither."""
        problem = self._problem_of_people()
        if problem:
            return problem
        if self.measure.problem:
            return self.measure.problem
        if self.reference:
            return "reference"
        return f"seen: {self.seen}" if self.seen else "ranked"

    def _problem_of_people(self) -> str | None:
        """Why people may not be ranked; their attempts are no measure of how much of the suite they have played."""
        if self.people is None or self.played is None:
            return None
        tasks = self.measure.wanted // max(1, self.measure.attempts)
        partial = f"partial {self.played}/{tasks}" if self.measure.partial else None
        return people.too_few(self.people, self.played) or partial

    def to_json(self) -> dict[str, Any]:
        """One flat object, but for pass@k by k; its keys are stable."""
        own = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "measure"}
        return {**own, **asdict(self.measure), "name": self.name, "score": self.score, "status": self.status}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """The runs of one agent that are one row, and its tasks by env: `{label: {task: sums}}`."""

    runs: Sequence[RunRow]
    tallies: dict[str, dict[str, Tally]]
    whole: dict[str, bool]
    """For each env, whether one of the runs has settled every attempt that the suite asks for; of people's runs,
    whether together they have settled every task."""
    people: dict[str, set[str]] | None
    """Of people's runs: who has a valid attempt, by env."""


class TaskCounters(Counters, Protocol):
    """One task of a run with its sums."""

    env: str
    task_id: str


Data = Sequence[tuple["RunRow", TaskCounters]]
"""Tasks, each beside its run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What a table takes of a pool."""

    key: str
    """Stands for the pool's attempts in claims."""
    runs: Sequence[RunRow]
    """Oldest first."""
    rows: Sequence[Row]
    """Without ranks."""


def leaderboard(data: Iterable[tuple[RunRow, TaskCounters]]) -> list[Row]:
    """The rows of every table, ranked within table and env, in the order in which they are shown."""
    pools: dict[tuple[str, ...], list[tuple[RunRow, TaskCounters]]] = defaultdict(list)
    keys: dict[str, tuple[str, ...]] = {}
    for run, task in data:
        if run.id not in keys:
            keys[run.id] = row_key(run)
        pools[keys[run.id]].append((run, task))
    tables: dict[tuple[str, ...], list[Pool]] = defaultdict(list)
    for key, pairs in pools.items():
        tables[key[:3]].append(pool_of(pairs))
    return [row for name, table in tables.items() for row in _table(name, table)]


def _table(name: tuple[str, ...], pools: Sequence[Pool]) -> list[Row]:
    """From nothing but the pools."""
    attempts = {pool.runs[-1].id: attempts_of(pool) for pool in pools}
    entries = [Entry(key=pool.runs[-1].id, runs=pool.runs, rows=rows_of(pool)) for pool in pools]

    def ranges_of(sections: Sections) -> dict[str, dict[str, tuple[int, int]]]:
        return table_ranges(sections, attempts=attempts.__getitem__, seed=name, known={}).ranges

    return table_rows(entries, ranges_of)


def is_part(run: RunRow) -> bool:
    """Whether the run's plan leaves out tasks of the suite."""
    return run.planned < run.attempts * sum(int(world["tasks"]) for world in run.worlds)


def same_row(a: RunRow, b: RunRow) -> bool:
    """Whether the board pools the two runs."""
    return row_key(a) == row_key(b)


def row_key(run: RunRow) -> tuple[str, ...]:
    """Runs with equal keys are one row."""
    return run.suite, run.suite_hash, run.world_hash, run.agent_hash, _part_of(run)


def _part_of(run: RunRow) -> str:
    """Runs of a part of the suite pool with those under the same limit alone."""
    if people.is_human(run.agent_data):
        return people.HUMAN
    return str(run.task_limit) if is_part(run) else ""


def pooled_rows(data: Data) -> list[Row]:
    """The rows of one agent on one suite: `all` of it first, then env by env in the suite's order; without ranks."""
    return rows_of(pool_of(data))


def pool_of(data: Data) -> Pool:
    """Runs of one agent, put together."""
    tallies: dict[str, dict[str, Tally]] = defaultdict(dict)
    for _, task in data:
        own = tallies[task.env]
        own[task.task_id] = own[task.task_id].with_(task) if task.task_id in own else Tally.of(task)
    runs = list({run.id: run for run, _ in data}.values())
    human = people.is_human(runs[0].agent_data)
    return Pool(
        runs=sorted(runs, key=lambda run: (run.created_at, run.id)),
        tallies=tallies,
        whole=_whole_of_people(runs[0], tallies) if human else _whole(data),
        people=_people(data) if human else None,
    )


def _people(data: Data) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for run, task in data:
        if task.valid:
            found[task.env].add(run.agent_settings["pseudonym"])
    return found


def _whole_of_people(run: RunRow, tallies: dict[str, dict[str, Tally]]) -> dict[str, bool]:
    return {
        world["label"]: sum(t.valid + t.lost > 0 for t in tallies[world["label"]].values()) >= world["tasks"]
        for world in run.worlds
    }


def table_rows(
    entries: Sequence[Entry], ranges_of: Callable[[Sections], Mapping[str, Mapping[str, tuple[int, int]]]]
) -> list[Row]:
    """The rows of one table, section by section, with ranks and the ranges that `ranges_of` its sections gives."""
    names: dict[str, set[str]] = defaultdict(set)
    for entry in entries:
        names[entry.runs[-1].agent].add(_configuration(entry.runs[-1]))
    sections: dict[str, list[tuple[Row, Entry]]] = defaultdict(list)
    for entry in entries:
        for row in entry.rows:
            told = replace(row, configurations=len(names[row.agent])) if row.split == TEST else row
            sections[row.env].append((told, entry))
    ranges = ranges_of({env: _played(env, section) for env, section in sections.items()})
    return [row for env, section in sections.items() for row in ranked([r for r, _ in section], ranges[env])]


def attempts_of(pool: Pool) -> dict[str, Attempts]:
    """What the pool's rows are tested by: its tasks with a valid attempt, by env."""
    import numpy as np

    found = {}
    graded = pool.runs[-1].suite_data.get("metric", SUCCESS) == MEAN_SCORE
    for env, tallies in pool.tallies.items():
        played = [tallies[task] for task in sorted(tallies) if tallies[task].valid]
        scores = [t.mean_score for t in played if t.scored] if graded else None
        found[env] = Attempts(
            success=np.array([t.success for t in played], dtype=np.int64),
            valid=np.array([t.valid for t in played], dtype=np.int64),
            scores=None if scores is None else np.array(scores, dtype=np.float64),
        )
    return found


def _configuration(run: RunRow) -> str:
    """What ran: an agent whose old answers were judged again is no further one."""
    return digest_of({name: value for name, value in run.agent_data.items() if name != "rescored"})


def _played(env: str, section: Sequence[tuple[Row, Entry]]) -> dict[str, Played]:
    """What the ranked rows of a section are tested by, by the id of their latest run."""
    return {
        row.run: Played(
            key=entry.key,
            score=row.score,
            envs=[world["label"] for world in entry.runs[-1].worlds] if env == ALL else [env],
        )
        for row, entry in section
        if row.status == "ranked" and row.score is not None
    }


def rows_of(pool: Pool) -> list[Row]:
    """The rows of one pool, without ranks."""
    worlds = pool.runs[0].worlds
    ids = sorted(run.id for run in pool.runs)
    measures = [
        measure(
            list(pool.tallies[world["label"]].values()),
            seed=[*ids, world["label"]],
            suite_tasks=world["tasks"],
            whole=pool.whole[world["label"]],
        )
        for world in worlds
    ]
    splits = {world["split"] for world in worlds}
    total = _row(pool, over_envs(measures), env=ALL, split=splits.pop() if len(splits) == 1 else None)
    return [
        total,
        *(
            _row(pool, part, env=world["label"], split=world["split"], world=world["world"] or None)
            for world, part in zip(worlds, measures, strict=True)
            if pool.people is None or part.tasks
        ),
    ]


def _row(pool: Pool, part: Measure, *, env: str, split: str | None, world: str | None = None) -> Row:
    """A row without a rank."""
    latest = pool.runs[-1]
    return Row(
        suite=latest.suite,
        suite_hash=latest.suite_hash,
        world_hash=latest.world_hash,
        world=world,
        split=split,
        agent=latest.agent,
        agent_hash=latest.agent_hash,
        reference=latest.reference,
        run=latest.id,
        runs=len(pool.runs),
        unfinished=sum(run.finished_at is None for run in pool.runs),
        deleted=sum(run.deleted_at is not None for run in pool.runs),
        extended=_extended(pool.runs),
        reopened=sum(run.reopened for run in pool.runs),
        configurations=None,
        seen=_seen(pool.runs, env),
        dependent=part.attempts > 1 and is_greedy(latest.agent_data),
        env=env,
        metric=latest.suite_data.get("metric", SUCCESS),
        measure=part,
        people=None if pool.people is None else len(_who(pool.people, env)),
        played=None if pool.people is None else _played_tasks(pool, env),
    )


def _who(by_env: dict[str, set[str]], env: str) -> set[str]:
    return set().union(*by_env.values()) if env == ALL else by_env[env]


def _played_tasks(pool: Pool, env: str) -> int:
    chosen = pool.tallies.values() if env == ALL else [pool.tallies[env]]
    return sum(tally.valid > 0 for tasks in chosen for tally in tasks.values())


def _extended(runs: Sequence[RunRow]) -> int:
    """Runs that began when another one's result was there to be looked at."""
    ends = [run.finished_at for run in runs if run.finished_at is not None]
    return sum(any(end < run.created_at for end in ends) for run in runs)


def _seen(runs: Sequence[RunRow], env: str) -> int | None:
    """The most that one of the runs says; None where none says anything."""
    told = [run.seen for run in runs if run.seen is not None]
    return max((sum(seen.values()) if env == ALL else seen.get(env, 0) for seen in told), default=None)


def is_greedy(agent: dict[str, Any]) -> bool:
    """Whether the agent's description says that it samples at temperature 0."""
    sampling = agent.get("sampling")
    places = [agent, sampling] if isinstance(sampling, dict) else [agent]
    return any(place.get("temperature") == 0 for place in places)


def ranked(rows: Sequence[Row], ranges: Mapping[str, tuple[int, int]]) -> list[Row]:
    """One section of a table: ranked rows by score, then references, then those that may not be ranked."""
    scores = [row.score for row in rows if row.run in ranges and row.score is not None]
    placed = []
    for row in rows:
        if row.run in ranges and row.score is not None:
            low, high = ranges[row.run]
            place = 1 + sum(other > row.score for other in scores)
            row = replace(row, rank=place, rank_low=low, rank_high=high)
        placed.append(row)
    return sorted(placed, key=_place)


def _place(row: Row) -> tuple[int, float, str, str]:
    kind = 0 if row.rank is not None else 1 if row.status == "reference" else 2
    return kind, -row.score if row.score is not None else float("inf"), row.agent, row.run


def _whole(data: Data) -> dict[str, bool]:
    """For each env, whether one of the runs has settled every attempt that the suite asks for."""
    settled: dict[tuple[str, str], int] = defaultdict(int)
    wanted: dict[tuple[str, str], int] = {}
    for run, task in data:
        settled[run.id, task.env] += task.valid + task.lost
        if (run.id, task.env) not in wanted:
            tasks = next(world["tasks"] for world in run.worlds if world["label"] == task.env)
            wanted[run.id, task.env] = tasks * run.attempts
    whole: dict[str, bool] = defaultdict(bool)
    for (run_id, env), done in settled.items():
        whole[env] |= done >= wanted[run_id, env]
    return whole
