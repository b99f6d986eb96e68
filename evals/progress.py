"""How far a sitting is, on stderr: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from agentenv.trajectory import Trajectory
from evals.store.store import OpenSlot

if TYPE_CHECKING:
    from rich.console import Console

LINE_S = 10.0
"""Seconds between lines where there is no terminal."""

OnEpisode = Callable[[OpenSlot, Trajectory], None]


@contextlib.contextmanager
def progress(*, total: int, done: int, quiet: bool) -> Iterator[OnEpisode | None]:
    """What to call after each episode; None when nothing is to be shown."""
    from rich.console import Console

    console = Console(stderr=True)
    if quiet:
        yield None
    elif console.is_terminal:
        with _bar(total, done, console) as on_episode:
            yield on_episode
    else:
        yield _lines(total, done, console)


def settles(slot: OpenSlot, episode: Trajectory) -> bool:
    """Whether the slot will not be played again."""
    return episode.outcome.valid or slot.left <= 1


@contextlib.contextmanager
def _bar(total: int, done: int, console: Console) -> Iterator[OnEpisode]:
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("episodes", total=total, completed=done, note="")
        invalid = 0

        def on_episode(slot: OpenSlot, episode: Trajectory) -> None:
            nonlocal invalid
            invalid += not episode.outcome.valid
            speed = bar.tasks[0].speed
            notes = [f"{speed:.1f}/s"] if speed else []
            notes += [f"{invalid} invalid"] if invalid else []
            bar.update(task, advance=int(settles(slot, episode)), note=", ".join(notes))

        yield on_episode


def _lines(total: int, done: int, console: Console) -> OnEpisode:
    begun = last = time.monotonic()
    settled = done

    def on_episode(slot: OpenSlot, episode: Trajectory) -> None:
        nonlocal settled, last
        settled += settles(slot, episode)
        now = time.monotonic()
        if now - last < LINE_S:
            return
        last = now
        rate = (settled - done) / (now - begun)
        left = f", {(total - settled) / rate:.0f} s left" if rate else ""
        console.print(f"{settled}/{total} episodes, {rate:.1f}/s{left}", highlight=False)

    return on_episode
