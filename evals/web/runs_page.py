"""The list of runs, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import Response

from evals.store.database import reading
from evals.web import queries
from evals.web.queries import Brief
from evals.web.site import Site, asked

if TYPE_CHECKING:
    from starlette.requests import Request

ROWS = 100


def page(site: Site, request: Request) -> Response:
    """A page of them; `before` is the last one of the page before."""
    suite, at, id_ = asked(request, "suite"), asked(request, "at"), asked(request, "id")
    with reading(site.store.engine) as connection:
        found = queries.briefs(connection, suite=suite or None, before=(at, id_) if at else None, limit=ROWS + 1)
        suites = queries.suites(connection)
    rows = found[:ROWS]
    more = {"suite": suite, "at": rows[-1].created_at, "id": rows[-1].id} if len(found) > ROWS else None
    states = {row.id: state_of(row) for row in rows}
    return site.render(request, "runs.html", rows=rows, states=states, suites=suites, suite=suite, more=more)


def state_of(run: Brief) -> str:
    """In one word or two."""
    if run.deleted_at:
        return "deleted"
    if run.finished_at:
        return "complete"
    return f"open, {run.valid + run.lost}/{run.planned}"
