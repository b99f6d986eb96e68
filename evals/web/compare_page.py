"""Two runs on the same tasks: what differs, and two episodes of one task beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.responses import Response

from evals.compare import NotComparable, comparison, verdict
from evals.store.database import reading
from evals.web import plots, queries
from evals.web.aligning import aligned
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
        tries = [queries.episodes_of_task(connection, run.id, env, task) for run in (a, b)]
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
        tries=tries,
        chosen=chosen,
        episodes=(one, other),
        pairs=pairs[:TURNS],
        cut=len(pairs) - TURNS,
        first=next((pair for pair in pairs if pair.first), None),
    )


def _chosen(tries: Sequence[Sequence[Mapping[str, Any]]], asked_for: Sequence[str]) -> list[int]:
    """The episodes asked for; else the first that counts, and for B one that ended otherwise if there is one."""
    found: list[int] = []
    for own, wanted in zip(tries, asked_for, strict=True):
        ids = [row["id"] for row in own]
        if wanted.isdecimal() and int(wanted) in ids:
            found.append(int(wanted))
            continue
        counting = [row for row in own if not row["superseded"]] or list(own)
        other = [row["id"] for row in counting if found and row["success"] != _success(tries[0], found[0])]
        found.append(other[0] if other else counting[0]["id"])
    return found


def _success(rows: Sequence[Mapping[str, Any]], id_: int) -> bool:
    return bool(next(row["success"] for row in rows if row["id"] == id_))
