"""An episode, turn by turn: why did it fail?"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import Response

from agentenv.errors import AgentEnvError
from agentenv.registry import EnvSpec, get_spec
from evals.store.database import reading
from evals.web import queries, tags
from evals.web.commands import replaying
from evals.web.index import Try, behind
from evals.web.run_page import limits_of
from evals.web.shots import shot_of, shots_of
from evals.web.site import Site, asked
from evals.web.turns import TurnView, checks_of, views

if TYPE_CHECKING:
    from starlette.requests import Request

    from agentenv.trajectory import Trajectory

TURNS = 150
"""Of one page; a longer episode has several."""


def page(site: Site, request: Request) -> Response:
    """The episode, from the turn `from` on."""
    with reading(site.store.engine) as connection:
        found = queries.episode(connection, request.path_params["id"])
        if found is None:
            raise HTTPException(404, f"there is no episode {request.path_params['id']}")
        key, task, whole, row = found
        run = site.store.run(key.run)
        index = site.indexes.of(connection, run.id, limits_of(run))
        others = [b for b in queries.briefs(connection, suite=run.suite, limit=30) if b.id != run.id]
    turns = views(whole.turns)
    start = asked(request, "from")
    first = min(int(start), max(0, len(turns) - 1)) if start.isdecimal() else 0
    first -= first % TURNS
    at = behind(index.tries, (key.slot, key.try_)) - 1
    entry = index.tries[at]
    return site.render(
        request,
        "episode.html",
        key=key,
        task=task,
        run=run,
        episode=whole,
        superseded=row.superseded,
        valid=row.valid,
        spec=_spec(whole.env),
        checks=checks_of(whole.turns),
        tags=_tags(whole, index.row_tags(entry), turns),
        turns=turns[first : first + TURNS],
        shots=shots_of(site, whole.turns[first : first + TURNS], first),
        last_shot=shot_of(site, whole.final_image),
        pages=[(n, min(n + TURNS, len(turns)) - 1) for n in range(0, len(turns), TURNS)],
        shown_from=first,
        wrong=[turn for turn in turns if turn.wrong],
        per_page=TURNS,
        attempts=[(e, index.slots[e.slot][1]) for e in index.of_task(task.position)],
        others=others,
        before=_failed(reversed(index.tries[:at])),
        after=_failed(islice(index.tries, at + 1, None)),
        command=replaying(run.id, whole),
    )


def as_json(site: Site, request: Request) -> Response:
    """The record, as trainers and viewers share it."""
    with reading(site.store.engine) as connection:
        found = queries.episode(connection, request.path_params["id"])
    if found is None:
        raise HTTPException(404, f"there is no episode {request.path_params['id']}")
    headers = {"content-disposition": f'attachment; filename="episode-{found[0].id}.jsonl"'}
    return Response(found[2].to_json() + "\n", media_type="application/jsonl", headers=headers)


def _spec(env: str) -> EnvSpec | None:
    """What is known of the env here; None where it is not installed."""
    try:
        return get_spec(env)
    except AgentEnvError:
        return None


def _tags(whole: Trajectory, known: set[str], turns: list[TurnView]) -> list[str]:
    found = set(known)
    found |= {tags.REPEATED} if tags.repeats(turn.action for turn in whole.turns) else set()
    found |= {tags.INVALID} if any(turn.refused is not None for turn in turns) else set()
    return [tag for tag in tags.TAGS if tag in found]


def _failed(entries: Iterable[Try]) -> int | None:
    """The first that failed."""
    return next((entry.id for entry in entries if entry.valid and not entry.success and not entry.superseded), None)
