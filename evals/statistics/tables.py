"""Rank ranges of a whole table: every pair of every section is one claim, and all claims share one error rate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from agentenv.intervals import seed_of
from evals.statistics.ranking import Attempts, holm, pair_p_values, rank_ranges

ByEnv = Mapping[str, Attempts]

Claims = Mapping[tuple[str, str, str], float]
"""The p of a pair, by section and by what the two rows are kept under."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """A ranked row as the tests see it. All rows of a section have valid attempts at the same tasks."""

    key: str
    """Stands for its attempts: equal ones have equal attempts."""
    score: float
    envs: Sequence[str]
    """That are tested together."""


Sections = Mapping[str, Mapping[str, Played]]
"""The ranked rows of each section of a table, by the id of their latest run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranges:
    """What a table may say, and the claims that it rests on."""

    ranges: dict[str, dict[str, tuple[int, int]]]
    """`(rank_low, rank_high)` by section and row."""
    claims: dict[tuple[str, str, str], float]


def table_ranges(
    sections: Sections,
    *,
    attempts: Callable[[str], ByEnv],
    seed: Sequence[str],
    known: Claims,
) -> Ranges:
    """The ranges of the rows of each section; a section over a single env repeats that env's claims.

    `attempts` of a key are asked for where a claim is not `known` yet. `seed` is the table's own, whoever is in it: a
    pair's p stays what it is when other rows come or change.
    """
    claims: dict[tuple[str, str, str], float] = {}
    for name, rows in sections.items():
        if _source(name, sections) == name:
            claims |= _claims(name, list(rows.values()), attempts, seed=seed_of(*seed, name), known=known)
    adjusted = holm(claims)
    ranges = {}
    for name, rows in sections.items():
        source = _source(name, sections)
        keys = [row.key for row in rows.values()]
        pairs = {(i, j): adjusted[source, keys[i], keys[j]] for i, j in combinations(range(len(keys)), 2)}
        found = rank_ranges([row.score for row in rows.values()], pairs)
        ranges[name] = {run: (r.low, r.high) for run, r in zip(rows, found, strict=True)}
    return Ranges(ranges=ranges, claims=claims)


def _claims(
    name: str, rows: Sequence[Played], attempts: Callable[[str], ByEnv], *, seed: int, known: Claims
) -> dict[tuple[str, str, str], float]:
    """Of every pair of the section, in order."""
    pairs = [(name, a.key, b.key) for a, b in combinations(rows, 2)]
    missing = [pair for pair in pairs if pair not in known]
    keys = dict.fromkeys(key for _, a, b in missing for key in (a, b))
    found = {key: attempts(key) for key in keys}
    parts = {key: [own[env] for env in rows[0].envs] for key, own in found.items()}
    fresh = dict(zip(missing, pair_p_values([(parts[a], parts[b]) for _, a, b in missing], seed=seed), strict=True))
    return {pair: fresh[pair] if pair in fresh else known[pair] for pair in pairs}


def _source(name: str, sections: Sections) -> str:
    """The section that holds the claims of this one: the only env's for the row over all envs of a suite with one."""
    envs = {env for row in sections[name].values() for env in row.envs}
    only = next(iter(envs)) if len(envs) == 1 else name
    return only if list(sections.get(only, ())) == list(sections[name]) else name
