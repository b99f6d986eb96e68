"""Two runs on the same tasks: what differs, and two episodes of one task beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.responses import Response

from evals.compare import NotComparable, comparison, verdict
from evals.store.database import reading
from evals.web import plots, queries
from evals.web.aligning import aligned
from evals.web.index import RunIndex, Try
from evals.web.run_page import limits_of
from evals.web.shots import shot_of, shots_of
from evals.web.site import Site, asked

if TYPE_CHECKING:
    from starlette.requests import Request

    from evals.store.schema import RunRow

FLIPS = 200
"""That are listed, the largest first."""

RUNS = 200
"""To choose from."""

TURNS = 300
"""Of two episodes side by side."""


def page(site: Site, request: Request) -> Response:
    """The comparison of runs `a` and `b`; a form as long as there are not two."""
    picked = {name: asked(request, name) for name in ("a", "b", "suite", "anyway")}
    with reading(site.store.engine) as connection:
        choices = queries.briefs(connection, suite=picked["suite"] or None, limit=RUNS)
        suites = queries.suites(connection)
    facts, refused, bar = None, "", None
    if picked["a"] and picked["b"]:
        a, b = site.store.run(picked["a"]), site.store.run(picked["b"])
        try:
            facts = _compared(site, a, b, anyway=bool(picked["anyway"]))
        except NotComparable as exc:
            refused = exc.message
    if facts is not None:
        bar = plots.bar(facts["difference"], facts["ci_low"], facts["ci_high"], least=-1.0)
    told = facts is not None and facts["p_value"] is not None
    return site.render(
        request,
        "compare.html",
        picked=picked,
        choices=choices,
        suites=suites,
        facts=facts,
        refused=refused,
        bar=bar,
        verdict=verdict(facts["p_value"], facts["difference"]) if facts and told else "",
        most=FLIPS,
    )


def _compared(site: Site, a: RunRow, b: RunRow, *, anyway: bool) -> dict[str, Any]:
    states = [(run.id, run.tries, run.reopened, run.deleted_at) for run in (a, b)]
    key = (*states, anyway)
    return site.comparisons.of(key, lambda: comparison(site.store, a, b, delta=0.05, anyway=anyway))


def task_page(site: Site, request: Request) -> Response:
    """An episode of each run at one task, `ea` and `eb` where there are several."""
    a, b = site.store.run(asked(request, "a")), site.store.run(asked(request, "b"))
    env, task = asked(request, "env"), asked(request, "task")
    with reading(site.store.engine) as connection:
        indexes = [site.indexes.of(connection, run.id, limits_of(run)) for run in (a, b)]
        tries = [_tries(index, env, task) for index in indexes]
        if not all(tries):
            raise HTTPException(404, f"not both runs have an episode of {task}")
        chosen = _chosen(tries, (asked(request, "ea"), asked(request, "eb")))
        found = [queries.episode(connection, id_) for id_ in chosen]
    one, other = (whole[2] for whole in found if whole is not None)
    pairs = aligned(one.turns, other.turns)
    return site.render(
        request,
        "beside.html",
        env=env,
        task=task,
        runs=(a, b),
        tries=[[(e, index.slots[e.slot][1]) for e in own] for index, own in zip(indexes, tries, strict=True)],
        chosen=chosen,
        episodes=(one, other),
        pairs=pairs[:TURNS],
        shots=[shots_of(site, episode.turns[:TURNS]) for episode in (one, other)],
        last_shots=[shot_of(site, episode.final_image) for episode in (one, other)],
        cut=len(pairs) - TURNS,
        first=next((pair for pair in pairs if pair.first), None),
    )


def _tries(index: RunIndex, env: str, task: str) -> list[Try]:
    """Those at a task, by the suite's name for its env and by its id."""
    positions = [planned.position for planned in index.tasks.values() if (planned.env, planned.task) == (env, task)]
    return [entry for position in positions for entry in index.of_task(position)]


def _chosen(tries: Sequence[Sequence[Try]], asked_for: Sequence[str]) -> list[int]:
    """The episodes asked for; else the first that counts, and for B one that ended otherwise if there is one."""
    found: list[int] = []
    for own, wanted in zip(tries, asked_for, strict=True):
        ids = [entry.id for entry in own]
        if wanted.isdecimal() and int(wanted) in ids:
            found.append(int(wanted))
            continue
        counting = [entry for entry in own if not entry.superseded] or list(own)
        counting = [entry for entry in counting if entry.id not in found] or counting  # two attempts of one run
        success = next(entry.success for entry in tries[0] if entry.id == found[0]) if found else None
        other = [entry for entry in counting if success is not None and entry.success != success]
        found.append((other or counting)[0].id)
    return found
