"""A run's figures as pictures: `plots.png` in its folder, made from `metrics.jsonl`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from trainers.folder import FolderFailed
from trainers.settings import BadSetting
from trainers.trackers import read_rows

PANELS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("success rate", "share", ("train/success", "validation/success")),
    ("reward", "per episode", ("train/reward", "validation/reward")),
    ("length", "turns per episode", ("train/turns", "rounds/limit")),
    (
        "time",
        "seconds per step",
        ("time/collect_s", "time/learn_s", "time/push_s", "time/validate_s", "time/save_s"),
    ),
)
"""Title, axis and metrics of each panel; times are stacked."""

LOSS = ("loss", "nats per token", ("loss/nll",))
"""In place of the reward, for a warm start."""


def draw(folder: Path) -> Path | None:
    """Write `plots.png`; None when there is nothing to draw yet."""
    rows = read_rows(folder / "metrics.jsonl")
    if not rows:
        return None
    try:
        from matplotlib.figure import Figure
    except ImportError as exc:
        raise BadSetting(f"run.plots: {exc} (pip install matplotlib, or run.plots=false)") from exc

    figure = Figure(figsize=(11, 7), layout="constrained")
    axes = figure.subplots(2, 2).flat
    warm_start = any("loss/nll" in row for row in rows)
    panels = [LOSS if warm_start and panel[0] == "reward" else panel for panel in PANELS]
    for axis, (title, label, names) in zip(axes, panels, strict=True):
        axis.set_title(title)
        axis.set_xlabel("step")
        axis.set_ylabel(label)
        if title == "time":
            _stack(axis, rows, names)
        else:
            for name in names:
                _line(axis, rows, name)
        if axis.get_legend_handles_labels()[0]:
            axis.legend(fontsize="small")
    target = folder / "plots.png"
    try:
        figure.savefig(folder / ".plots.png", dpi=110)
        (folder / ".plots.png").replace(target)
    except OSError as exc:
        raise FolderFailed(f"cannot write {target}: {exc.strerror}") from exc
    return target


def _line(axis: Any, rows: Sequence[dict[str, Any]], name: str) -> None:
    rows = [row for row in rows if row.get(name) is not None]
    points = [(row["step"], row[name]) for row in rows]
    if not points:
        return
    steps, values = zip(*points, strict=True)
    [line] = axis.plot(steps, values, label=name, marker="o" if len(points) < 30 else None, markersize=3)
    low, high = f"{name}_low", f"{name}_high"
    if all(low in row and high in row for row in rows):
        bounds = [(row[low], row[high]) for row in rows]
        axis.fill_between(steps, *zip(*bounds, strict=True), alpha=0.2, color=line.get_color())


def _stack(axis: Any, rows: Sequence[dict[str, Any]], names: Sequence[str]) -> None:
    rows = [row for row in rows if "time/step_s" in row]
    shown = [name for name in names if any(row.get(name) for row in rows)]
    if shown:
        heights = [[row.get(name) or 0.0 for row in rows] for name in shown]
        axis.stackplot([row["step"] for row in rows], heights, labels=shown, alpha=0.8)
