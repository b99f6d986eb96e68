"""`agentenv eval export`: the episodes of a stored run in the forms that other projects read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from agentenv.data.export.command import Envs, Force, Form, Json, MinReward, Out, Style, Success

if TYPE_CHECKING:
    from agentenv.trajectory import Trajectory
    from evals.store.store import Store


def export(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of a run, or its beginning.")],
    form: Form,
    out: Out,
    min_reward: MinReward = None,
    success: Success = False,
    env: Envs = None,
    style: Style = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Write the episodes of a run that count, as `agentenv data export` does with a file.

    \b
    Examples:
      agentenv eval export demo-react-3f --format jsonl --out episodes.jsonl
      agentenv eval export demo-react-3f --format openai --success --out chats.jsonl
    """
    from agentenv.data.export.command import export_records
    from evals.store.pictures import pictures_in
    from evals.store.store import Store

    with Store.open() as store:
        export_records(
            counting(store, store.run(run).id),
            form,
            out,
            min_reward=min_reward,
            success=success,
            env=env,
            style=style,
            force=force,
            json=json,
            pictures=pictures_in(store).pictures,
        )


def counting(store: Store, run: str) -> Iterator[Trajectory]:
    """The run's episodes in order of play, without those whose attempt was opened again."""
    for episode, trajectory in zip(store.episodes(run), store.trajectories(run), strict=True):
        if not episode.superseded:
            yield trajectory
