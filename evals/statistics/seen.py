"""Tasks of a plan that an agent was trained on: such a result is shown, and never ranked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from agentenv.trained_on import trained_on
from evals.plan import PlannedTask


def told(sources: Sequence[Path], settings: Mapping[str, Any]) -> frozenset[str] | None:
    """Digests of the tasks that the agent was trained on, from what the user names (models, checkpoints, records) and
    from the folder of a local model; None where nobody says.
    """
    model = settings.get("model_path")
    folders = [Path(model)] if isinstance(model, str) and Path(model).is_dir() else []
    known = [digests for path in [*sources, *folders] if (digests := trained_on(path)) is not None]
    return frozenset().union(*known) if known else None


def seen_tasks(tasks: Iterable[PlannedTask], trained: Collection[str] | None) -> dict[str, int] | None:
    """How many tasks of each env are among those; None where nobody said."""
    if trained is None:
        return None
    return dict(Counter(planned.label for planned in tasks if planned.task.digest in trained))
