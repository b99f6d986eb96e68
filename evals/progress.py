"""How far a sitting is, on stderr: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from agentenv.trajectory import Trajectory
from evals.limits import Limits, Meter
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


def spent(meter: Meter) -> list[str]:
    """What this sitting has used so far, where it is known."""
    used = [f"{meter.tokens:,} tokens"] if meter.tokens else []
    return [*used, f"cost {meter.cost:.4f}"] if meter.cost else used


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
        invalid, meter = 0, Meter(Limits())

        def on_episode(slot: OpenSlot, episode: Trajectory) -> None:
            nonlocal invalid
            invalid += not episode.outcome.valid
            meter.add(episode)
            speed = bar.tasks[0].speed
            notes = [f"{speed:.1f}/s"] if speed else []
            notes += [f"{invalid} invalid"] if invalid else []
            notes += spent(meter)
            bar.update(task, advance=int(settles(slot, episode)), note=", ".join(notes))

        yield on_episode


def _lines(total: int, done: int, console: Console) -> OnEpisode:
    begun = last = time.monotonic()
    settled, meter = done, Meter(Limits())

    def on_episode(slot: OpenSlot, episode: Trajectory) -> None:
        nonlocal settled, last
        settled += settles(slot, episode)
        meter.add(episode)
        now = time.monotonic()
        if now - last < LINE_S:
            return
        last = now
        rate = (settled - done) / (now - begun)
        left = f", {(total - settled) / rate:.0f} s left" if rate else ""
        words = [f"{settled}/{total} episodes", f"{rate:.1f}/s{left}", *spent(meter)]
        console.print(", ".join(words), highlight=False)

    return on_episode
