"""A run: how far it is, how its episodes ended, and which ones to look at."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from agentenv.protocol import Outcome
from evals.store.database import reading
from evals.verify.marks import mark_of, marks
from evals.web import queries, spreadsheet, tags
from evals.web.index import SUPERSEDED, RunIndex
from evals.web.listing import Wanted, listed
from evals.web.runs_page import state_of
from evals.web.site import Site, asked

if TYPE_CHECKING:
    from starlette.requests import Request

    from evals.store.schema import RunRow

OUTCOMES = (*(outcome.value for outcome in Outcome), SUPERSEDED)
"""Columns of the matrix, in this order, where there is one of it."""

CATEGORIES = 60
"""Rows of the matrix; the biggest, when there are more."""

ANY, NONE = "", "-"
"""In the query: any category, and the empty one."""

COLUMNS = (
    "episode", "env", "task", "category", "difficulty", "attempt", "try", "outcome", "valid", "success", "superseded",
    "reward", "steps", "malformed",
)  # fmt: skip
"""Of the CSV."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRow:
    """A category of an env."""

    env: str
    category: str
    counts: dict[str, int]
    """By outcome; only what is there."""
    valid: int
    success: int


def page(site: Site, request: Request) -> Response:
    """The run with a page of its episodes."""
    run = site.store.run(request.path_params["run"])
    picked = {name: asked(request, name) for name in ("env", "category", "outcome", "tag", "q")}
    with reading(site.store.engine) as connection:
        index = site.indexes.of(connection, run.id, limits_of(run))
        listing = listed(connection, index, wanted_of(picked), after=_after(request))
        brief = queries.brief(connection, run.id)
        others = [b for b in queries.briefs(connection, suite=run.suite, limit=30) if b.id != run.id]
    more = {**picked, "after": f"{listing.after[0]}.{listing.after[1]}"} if listing.after else None
    return site.render(
        request,
        "run.html",
        run=run,
        brief=brief,
        state=state_of(brief),
        verified=mark_of([marks(site.store, [run]).get(run.id)]),
        facts=facts_of(run),
        matrix=matrix(index),
        outcomes=outcomes_of(index),
        picked=picked,
        choices=_choices(index),
        listing=listing,
        first=_after(request) == (-1, -1),
        more=more,
        others=others,
    )


def live(site: Site, request: Request) -> Response:
    """The part of the page that changes while the run is played."""
    run = site.store.run(request.path_params["run"])
    with reading(site.store.engine) as connection:
        index = site.indexes.of(connection, run.id, limits_of(run))
        brief = queries.brief(connection, run.id)
    return site.render(
        request, "live.html", run=run, brief=brief, state=state_of(brief), matrix=matrix(index),
        outcomes=outcomes_of(index),
    )  # fmt: skip


def as_csv(site: Site, request: Request) -> Response:
    """Every episode with the wanted env, category and outcome."""
    run = site.store.run(request.path_params["run"])
    wanted = wanted_of({name: asked(request, name) for name in ("env", "category", "outcome", "tag", "q")})
    with reading(site.store.engine) as connection:
        index = site.indexes.of(connection, run.id, limits_of(run))
    rows = []
    for entry in index.chosen(env=wanted.env, category=wanted.category, outcome=wanted.outcome):
        task, attempt = index.task(entry), index.slots[entry.slot][1]
        rows.append(
            (entry.id, task.env, task.task, task.category, task.difficulty, attempt, entry.try_, entry.outcome,
             entry.valid, entry.success, entry.superseded, entry.reward, entry.steps, entry.malformed)
        )  # fmt: skip
    headers = {"content-disposition": 'attachment; filename="episodes.csv"'}
    return Response(spreadsheet.table(COLUMNS, rows), media_type="text/csv", headers=headers)


def limits_of(run: RunRow) -> dict[str, int]:
    """Step limit by the suite's name of the env."""
    return {world["label"]: world["max_steps"] for world in run.worlds}


def wanted_of(picked: Mapping[str, str]) -> Wanted:
    """What the query asks the list for."""
    category = picked["category"]
    return Wanted(
        env=picked["env"],
        category=None if category == ANY else "" if category == NONE else category,
        outcome=picked["outcome"],
        tag=picked["tag"] if picked["tag"] in tags.TAGS else "",
        text=picked["q"],
    )


def _after(request: Request) -> tuple[int, int]:
    """The place that the query names; the beginning for none, and for what is no place."""
    slot, _, try_ = asked(request, "after").partition(".")
    return (int(slot), int(try_)) if slot.isdecimal() and try_.isdecimal() else (-1, -1)


def outcomes_of(index: RunIndex) -> list[str]:
    """Those that came up."""
    there = {group.outcome for group, entries in index.groups.items() if entries}
    return [outcome for outcome in OUTCOMES if outcome in there]


def matrix(index: RunIndex) -> list[MatrixRow]:
    """Categories by outcomes, in the order of the plan; the biggest categories where there are too many."""
    counts: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    success: dict[tuple[str, str], int] = defaultdict(int)
    valid: dict[tuple[str, str], int] = defaultdict(int)
    for group, entries in list(index.groups.items()):
        place = group.env, group.category
        counts[place][group.outcome] = len(entries)
        if group.outcome != SUPERSEDED and Outcome(group.outcome).valid:
            valid[place] += len(entries)
            # an outcome is no success by its name alone: a cut episode may have been scored as one
            success[place] += index.successes[group]
    order = sorted(
        counts, key=lambda place: (list(index.limits).index(place[0]) if place[0] in index.limits else 0, place)
    )
    if len(order) > CATEGORIES:
        biggest = set(sorted(order, key=lambda place: -sum(counts[place].values()))[:CATEGORIES])
        order = [place for place in order if place in biggest]
    return [
        MatrixRow(env=env, category=category, counts=counts[env, category], valid=valid[env, category],
                  success=success[env, category])
        for env, category in order
    ]  # fmt: skip


def _choices(index: RunIndex) -> dict[str, list[str]]:
    groups = [group for group, entries in list(index.groups.items()) if entries]
    return {
        "env": list(index.limits),
        "category": sorted({group.category or NONE for group in groups}),
        "outcome": outcomes_of(index),
        "tag": list(tags.TAGS),
    }


def facts_of(run: RunRow) -> dict[str, str]:
    """What the run was made with, as JSON by title."""
    found = {
        "agent": run.agent_data,
        "settings": run.agent_settings,
        "environments": run.worlds,
        "suite": run.suite_data,
        "software": run.software,
        "changed by hand": run.journal,
    }
    return {title: pretty(value) for title, value in found.items() if value}


def pretty(value: Any) -> str:
    """JSON for people."""
    return json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True)
