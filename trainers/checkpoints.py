"""Checkpoints of a run: written aside, then renamed, so that a folder with a step's name is whole.

One holds `learner/` (the backend's own files), `config.json` (the settings), `state.json` (what the loop must know) and
`trained_on.json` (digests of the tasks that the weights have seen).
A run that is killed in the middle of a save leaves a hidden folder, which the next save removes.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from agentenv.errors import AgentEnvError, BadCall
from agentenv.trained_on import inherited, write_trained_on
from trainers.config import TrainConfig
from trainers.faults import fault_point
from trainers.learner import Learner
from trainers.settings import load, plain

NAME = re.compile(r"step-(\d{8})")
STATE, CONFIG, LEARNER, BEST = "state.json", "config.json", "learner", "best"

WRITE_POINTS = (
    "save:begin", "save:shards", "save:learner", "save:state", "save:renamed", "save:best", "save:pruning", "save:end",
)  # fmt: skip
"""Where `faults` can end a process during a save; `save:shards` is the FSDP learner's, before its index is written."""


class CheckpointFailed(AgentEnvError):
    """A checkpoint could not be written; the earlier ones are as they were."""

    code = "checkpoint_failed"


class Checkpoints:
    """The checkpoints of one run, oldest removed first; the best one is never removed."""

    def __init__(self, folder: Path, *, keep: int) -> None:
        self.folder, self._keep = folder, keep

    def save(
        self,
        learner: Learner,
        *,
        step: int,
        state: Mapping[str, Any],
        config: TrainConfig,
        best: bool = False,
        tasks: Collection[str] = (),
    ) -> Path:
        """Write the checkpoint of a step; `best` marks it as such. Raises CheckpointFailed, say on a full disk.

        `tasks` are the digests of those that the run was trained on; those of the model it began with are added.
        """
        final = self.folder / f"step-{step:08d}"
        aside = self.folder / f".{final.name}.unfinished"
        try:
            self._clear_leftovers()
            aside.mkdir(parents=True)
            fault_point("save:begin")
            learner.save(aside / LEARNER)
            fault_point("save:learner")
            _write(aside / CONFIG, json.dumps(plain(config), indent=1))
            _write(aside / STATE, json.dumps(dict(state), indent=1))
            write_trained_on(aside, {*tasks, *inherited(config.model.path)})
            fault_point("save:state")
            _put_in_place(aside, final)
            fault_point("save:renamed")
            if best:
                self.mark_best(final)
            fault_point("save:best")
            self._prune()
            fault_point("save:end")
        except OSError as exc:
            shutil.rmtree(aside, ignore_errors=True)
            left = ", ".join(p.name for p in self.all()) or "none"
            raise CheckpointFailed(
                f"cannot save step {step} in {self.folder} ({_free(self.folder)}): {' '.join(str(exc).split())}; "
                f"earlier checkpoints are untouched: {left}"
            ) from exc
        return final

    def mark_best(self, checkpoint: Path) -> None:
        """From now on `best` names this one."""
        _write(self.folder / ".best.unfinished", checkpoint.name)
        (self.folder / ".best.unfinished").replace(self.folder / BEST)

    def all(self) -> list[Path]:
        """Finished checkpoints, oldest first."""
        if not self.folder.is_dir():
            return []
        return sorted(p for p in self.folder.iterdir() if NAME.fullmatch(p.name) and (p / STATE).is_file())

    def latest(self) -> Path | None:
        """The newest finished checkpoint."""
        return next(reversed(self.all()), None)

    def best(self) -> Path | None:
        """The one that was last saved as the best."""
        pointer = self.folder / BEST
        found = self.folder / pointer.read_text().strip() if pointer.is_file() else None
        return found if found is not None and found in self.all() else None

    def _prune(self) -> None:
        best = self.best()
        for old in self.all()[: -self._keep]:
            if old != best:
                fault_point("save:pruning")
                hidden = self.folder / f".{old.name}.removed"
                old.rename(hidden)  # half a checkpoint never has a step's name
                shutil.rmtree(hidden)

    def _clear_leftovers(self) -> None:
        """What killed saves left."""
        for path in self.folder.glob(".step-*"):
            shutil.rmtree(path)


def read_state(checkpoint: Path) -> dict[str, Any]:
    """What the loop stored. Raises BadCall where there is no finished checkpoint."""
    file = checkpoint / STATE
    if not file.is_file():
        raise BadCall(f"{checkpoint} is no finished checkpoint: there is no {STATE}")
    state: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return state


def read_config(checkpoint: Path) -> TrainConfig:
    """The settings that the checkpoint was made under. Raises BadCall where there is no finished checkpoint."""
    read_state(checkpoint)
    return load(TrainConfig, checkpoint / CONFIG)


def _free(folder: Path) -> str:
    """What torch's own writers do not say when a disk is full."""
    with contextlib.suppress(OSError):
        return f"{shutil.disk_usage(folder).free / 2**20:,.0f} MiB free"
    return "cannot be written to"


def _write(file: Path, text: str) -> None:
    """The whole file on the disk before anything goes on."""
    with file.open("w", encoding="utf-8") as out:
        out.write(text)
        out.flush()
        os.fsync(out.fileno())


def _put_in_place(aside: Path, final: Path) -> None:
    """Rename; a checkpoint of the same step (a run that went back) makes way."""
    _sync(aside)
    if final.exists():
        replaced = final.parent / f".{final.name}.removed"
        final.rename(replaced)
        aside.rename(final)
        shutil.rmtree(replaced)
    else:
        aside.rename(final)
    _sync(final.parent)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
