"""A page of a run's episodes: those that match, by keyset, with their tags.

Tags and texts are in the turns, so a page reads so many turns and no more. When it has not found enough by then, it
says from where to look further.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from evals.web import queries, tags
from evals.web.finding import Found, find
from evals.web.index import RunIndex, Try, behind
from evals.web.texts import cut

ROWS = 40
"""Episodes of a page."""

TURNS = 600
"""Turns that a page reads, at least one episode's."""

LOOKED_AT = 20_000
"""Episodes that a page goes through by their own facts alone."""

BATCH = 40
"""Episodes whose turns are read together, at most; fewer where they are long."""

ERROR = 160
"""Characters of an error that the list shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the list is to show; empty texts, and None for the category, stand for any."""

    env: str = ""
    category: str | None = None
    outcome: str = ""
    tag: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """An episode in the list."""

    entry: Try
    env: str
    task: str
    category: str
    attempt: int
    tags: list[str]
    error: str
    found: Found | None
    """Where the text that was looked for is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A page of the list."""

    items: list[Item]
    after: tuple[int, int] | None
    """The place to go on from; None at the end."""
    looked: int
    """Episodes that this page went through, of those with the wanted env, category and outcome."""
    chosen: int
    """How many these are."""


def listed(connection: Connection, index: RunIndex, wanted: Wanted, *, after: tuple[int, int] = (-1, -1)) -> Listing:
    """The next episodes behind a place."""
    chosen = index.chosen(env=wanted.env, category=wanted.category, outcome=wanted.outcome)
    start = at = behind(chosen, after)
    items: list[Item] = []
    turns = 0
    while at < len(chosen) and len(items) < ROWS and turns < TURNS and at - start < LOOKED_AT:
        batch, at = _batch(index, chosen, at, wanted.tag, most=start + LOOKED_AT)
        turns += sum(entry.steps for _, entry in batch)
        for position, item in _matching(connection, index, batch, wanted):
            items.append(item)
            if len(items) == ROWS:
                at = position + 1
                break
    last = chosen[at - 1] if at < len(chosen) else None
    place = (last.slot, last.try_) if last else None
    return Listing(items=items, after=place, looked=at - start, chosen=len(chosen))


def _batch(
    index: RunIndex, chosen: Sequence[Try], at: int, tag: str, *, most: int
) -> tuple[list[tuple[int, Try]], int]:
    """The next episodes whose turns are worth reading, with their positions, and the position behind them."""
    found: list[tuple[int, Try]] = []
    turns = 0
    while at < min(len(chosen), most) and len(found) < BATCH and turns < TURNS // 4:
        entry = chosen[at]
        if tag not in tags.CHEAP or tag in index.row_tags(entry):
            found.append((at, entry))
            turns += entry.steps
        at += 1
    return found, at


def _matching(
    connection: Connection, index: RunIndex, batch: Sequence[tuple[int, Try]], wanted: Wanted
) -> Iterator[tuple[int, Item]]:
    ids = [entry.id for _, entry in batch]
    unread = ids if wanted.text else [id_ for id_ in ids if id_ not in index.turn_tags]
    turns = queries.turn_texts(connection, unread)
    for id_, rows in turns.items():
        index.turn_tags[id_] = frozenset(tags.of_turns(rows))
    errors = queries.errors(connection, ids)
    ends = queries.final_observations(connection, ids) if wanted.text else {}
    for position, entry in batch:
        task = index.task(entry)
        own = index.row_tags(entry) | index.turn_tags[entry.id]
        if wanted.tag and wanted.tag not in own:
            continue
        error = errors.get(entry.id, "")
        found = None
        if wanted.text:
            found = find(wanted.text, task=task.task, error=error, end=ends[entry.id], turns=turns[entry.id])
            if found is None:
                continue
        yield (
            position,
            Item(
                entry=entry,
                env=task.env,
                task=task.task,
                category=task.category,
                attempt=index.slots[entry.slot][1],
                tags=[tag for tag in tags.TAGS if tag in own],
                error=cut(error, ERROR),
                found=found,
            ),
        )
