"""Where a run's figures go: a live console, JSON lines, TensorBoard, wandb. Each is its own library's thin wrapper."""

from __future__ import annotations

import contextlib
import json
import math
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Protocol

from agentenv.errors import AgentEnvError
from trainers.settings import BadSetting

SHOWN = (
    ("success", "train/success"),
    ("reward", "train/reward"),
    ("turns", "train/turns"),
    ("dev", "validation/success"),
    ("loss", "loss/policy"),
    ("nll", "loss/nll"),
    ("kl", "policy/approx_kl"),
    ("entropy", "policy/entropy"),
    ("grad", "optim/grad_norm"),
    ("s/step", "time/step_s"),
)
"""Columns of the console, where there is anything to show: heading and metric."""


class TrackerFailed(AgentEnvError):
    """Figures of a step could not be written."""

    code = "tracker_failed"


class Tracker(Protocol):
    """Takes the figures of each step."""

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """Take note of one step."""

    def close(self) -> None:
        """Write what is left; idempotent."""


class Console:
    """A progress bar and the latest steps as a table, alive on a terminal; one line a step elsewhere."""

    ROWS = 12

    def __init__(self, total: int, first: int) -> None:
        from rich.console import Console as RichConsole
        from rich.live import Live
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._console = RichConsole(stderr=True)
        self._bar = Progress(
            TextColumn("training"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), console=self._console
        )
        self._task = self._bar.add_task("steps", total=total, completed=max(0, first - 1))
        self._rows: list[tuple[int, Mapping[str, float]]] = []
        self._live = (
            Live(self._view(), console=self._console, refresh_per_second=4) if self._console.is_terminal else None
        )
        if self._live is not None:
            self._live.start()

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """See Tracker."""
        self._rows = [*self._rows, (step, dict(metrics))][-self.ROWS :]
        self._bar.update(self._task, completed=step)
        if self._live is not None:
            self._live.update(self._view())
        else:
            shown = [f"{name} {metrics[key]:.4g}" for name, key in SHOWN if key in metrics]
            self._console.print(f"step {step}: {'  '.join(shown)}", highlight=False, soft_wrap=True)

    def _view(self) -> Any:
        from rich.console import Group
        from rich.table import Table

        columns = [(name, key) for name, key in SHOWN if any(key in metrics for _, metrics in self._rows)]
        table = Table("step", *(name for name, _ in columns))
        for step, metrics in self._rows:
            table.add_row(str(step), *(f"{metrics[key]:.4g}" if key in metrics else "" for _, key in columns))
        return Group(table, self._bar)

    def close(self) -> None:
        """See Tracker."""
        live, self._live = self._live, None
        if live is not None:
            live.stop()


class Jsonl:
    """`metrics.jsonl`: one object a step, null for what is not finite. A resumed run drops what it will write again."""

    def __init__(self, folder: Path, first: int) -> None:
        self.path = folder / "metrics.jsonl"
        kept = [json.dumps(row) + "\n" for row in read_rows(self.path) if row["step"] < first]
        aside = folder / ".metrics.unfinished"
        aside.write_text("".join(kept), encoding="utf-8")
        aside.replace(self.path)
        self._file: IO[str] | None = self.path.open("a", encoding="utf-8")

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """See Tracker. Raises TrackerFailed, say on a full disk."""
        assert self._file is not None
        row = {"step": step} | {name: value if math.isfinite(value) else None for name, value in metrics.items()}
        try:
            self._file.write(json.dumps(row) + "\n")
            self._file.flush()
        except OSError as exc:
            raise TrackerFailed(f"cannot write {self.path}: {exc.strerror}") from exc

    def close(self) -> None:
        """See Tracker."""
        file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(OSError):  # what could not be written was told already
                file.close()


class TensorBoard:
    """Event files under `tensorboard/`."""

    def __init__(self, folder: Path, first: int) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as exc:
            raise BadSetting(f"run.trackers=tensorboard: {exc} (pip install tensorboard)") from exc
        self._writer = SummaryWriter(str(folder / "tensorboard"), purge_step=first)

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """See Tracker."""
        for name, value in metrics.items():
            self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        """See Tracker."""
        self._writer.close()


class Wandb:
    """A wandb run; its mode, key and entity are wandb's own environment variables."""

    def __init__(self, folder: Path, project: str, name: str, config: Mapping[str, Any]) -> None:
        try:
            import wandb
        except ImportError as exc:
            raise BadSetting(f"run.trackers=wandb: {exc} (pip install wandb)") from exc
        known = folder / "wandb-id"  # a resumed run goes on in the same one
        if not known.exists():
            known.write_text(uuid.uuid4().hex[:16], encoding="utf-8")
        self._run = wandb.init(
            project=project,
            name=name,
            id=known.read_text(encoding="utf-8"),
            dir=str(folder),
            config=dict(config),
            resume="allow",
        )

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """See Tracker."""
        self._run.log(dict(metrics), step=step)

    def close(self) -> None:
        """See Tracker."""
        self._run.finish()


def open_trackers(
    names: Sequence[str], folder: Path, *, project: str, name: str, config: Mapping[str, Any], first: int, total: int
) -> list[Tracker]:
    """The trackers of a run that begins (or goes on) at step `first`; BadSetting for an unknown one."""
    folder.mkdir(parents=True, exist_ok=True)
    makers: dict[str, Callable[[], Tracker]] = {
        "console": lambda: Console(total, first),
        "jsonl": lambda: Jsonl(folder, first),
        "tensorboard": lambda: TensorBoard(folder, first),
        "wandb": lambda: Wandb(folder, project, name, config),
    }
    unknown = [wanted for wanted in names if wanted not in makers]
    if unknown:
        raise BadSetting(f"run.trackers: {unknown[0]!r}; choose from {', '.join(makers)}")
    with contextlib.ExitStack() as opened:
        found = []
        for wanted in names:
            found.append(makers[wanted]())
            opened.callback(found[-1].close)
        opened.pop_all()
    return found


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a `metrics.jsonl`; a last line that a killed run left unfinished is no row."""
    rows = []
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    for number, line in enumerate(lines, start=1):
        try:
            rows.append(json.loads(line))
        except ValueError:
            if number < len(lines):
                raise BadSetting(f"{path}:{number} is no JSON; move the file away") from None
    return rows
