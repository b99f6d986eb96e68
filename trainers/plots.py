"""A run's figures as pictures: `plots.png` in its folder, made from `metrics.jsonl`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PANELS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("success rate", "share", ("train/success", "validation/success")),
    ("reward", "per episode", ("train/reward", "validation/reward")),
    ("length", "turns per episode", ("train/turns", "rounds/limit")),
    ("time", "seconds per step", ("time/collect_s", "time/learn_s", "time/push_s", "time/other_s")),
)
"""Title, axis and metrics of each panel."""

TIMES = PANELS[3][2]


def draw(folder: Path) -> Path | None:
    """Write `plots.png`; None when there is nothing to draw yet."""
    path = folder / "metrics.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    if not rows:
        return None
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 7), layout="constrained")
    axes = figure.subplots(2, 2).flat
    for axis, (title, label, names) in zip(axes, PANELS, strict=True):
        axis.set_title(title)
        axis.set_xlabel("step")
        axis.set_ylabel(label)
        if names is TIMES:
            _stack(axis, rows, names)
        else:
            for name in names:
                _line(axis, rows, name)
        if axis.get_legend_handles_labels()[0]:
            axis.legend(fontsize="small")
    target = folder / "plots.png"
    figure.savefig(target, dpi=110)
    return target


def _line(axis: Any, rows: Sequence[dict[str, Any]], name: str) -> None:
    points = [(row["step"], row[name]) for row in rows if name in row]
    if not points:
        return
    steps, values = zip(*points, strict=True)
    axis.plot(steps, values, label=name, marker="o" if len(points) < 30 else None, markersize=3)
    low, high = f"{name}_low", f"{name}_high"
    if all(low in row and high in row for row in rows if name in row):
        bounds = [(row[low], row[high]) for row in rows if name in row]
        axis.fill_between(steps, *zip(*bounds, strict=True), alpha=0.2)


def _stack(axis: Any, rows: Sequence[dict[str, Any]], names: Sequence[str]) -> None:
    steps = [row["step"] for row in rows]
    axis.stackplot(steps, [[row.get(name, 0.0) for row in rows] for name in names], labels=names, alpha=0.8)
