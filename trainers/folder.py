"""The folder of a run: settings, figures, rollouts of each step, checkpoints, plots.

`config.json`, `notes.log`, `metrics.jsonl`, `plots.png`, `rollouts/train-00000001.jsonl`, `checkpoints/step-00000001/`.
"""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from agentenv.errors import AgentEnvError, BadCall
from agentenv.trajectory import Trajectory, write_jsonl
from trainers.batch import TokenBatch
from trainers.checkpoints import LEARNER, Checkpoints, read_config, read_state
from trainers.config import TrainConfig
from trainers.learner import Learner
from trainers.setting_keys import general
from trainers.settings import BadSetting, plain
from trainers.state import RunState

log = logging.getLogger(__name__)

FREE_TO_CHANGE = (
    "run.dir", "run.project", "run.name", "run.steps", "run.epochs", "run.threads", "run.trackers", "run.plots",
    "model.gradient_checkpointing",
    "environments[].base_url",
    "rollout.concurrency", "rollout.max_error_rate", "rollout.phase_timeout_s", "rollout.engine_options",
    "rollout.push_tolerance",
    "batch.episodes_per_microbatch", "batch.tokens_per_microbatch", "batch.tokens_per_forward", "batch.packing",
    "checkpoint", "evaluation", "fsdp", "launch", "stop",
)  # fmt: skip
"""Settings and sections that a resumed run may have otherwise than its checkpoint: they change what it costs, not what
it learns from."""


class FolderFailed(AgentEnvError):
    """A file of a run could not be written."""

    code = "folder_failed"


class RunFolder:
    """Where one run writes."""

    def __init__(self, config: TrainConfig) -> None:
        self.config = config
        self.path = Path(config.run.dir)
        self.stored: dict[str, Any] = plain(config)
        where = Path(config.checkpoint.dir) if config.checkpoint.dir else self.path / "checkpoints"
        self.checkpoints = Checkpoints(where, keep=config.checkpoint.keep)
        try:
            (self.path / "rollouts").mkdir(parents=True, exist_ok=True)
        except OSError as exc:
            raise BadSetting(f"run.dir={config.run.dir}: {exc.strerror}") from exc

    def begin(self, learner: Learner, state: RunState) -> bool:
        """Go on from the checkpoint that `checkpoint.resume` means, if there is one (True); write down the settings."""
        checkpoint = self._wanted()
        if checkpoint is not None:
            self._require_same(checkpoint)
            learner.load(checkpoint / LEARNER)
            state.restore(read_state(checkpoint))
            own = checkpoint.resolve().parent == self.checkpoints.folder.resolve()
            if own and state.best is not None and state.best_step == state.step:
                self.checkpoints.mark_best(checkpoint)  # of a run that was killed between a save and its mark
            self.note(f"resumed {checkpoint}, at step {state.step}")
        self.write_json("config.json", self.stored)
        return checkpoint is not None

    def _wanted(self) -> Path | None:
        wanted, latest = self.config.checkpoint.resume, self.checkpoints.latest()
        if wanted == "auto":
            return latest
        if wanted == "never":
            if latest is not None:
                raise BadSetting(
                    f"checkpoint.resume=never, but {latest} is there; choose another run.dir or remove the folder"
                )
            return None
        chosen = Path(wanted)
        if latest is not None and chosen.resolve().parent == latest.resolve().parent and chosen.name < latest.name:
            raise BadSetting(
                f"checkpoint.resume={wanted}: {latest} is newer, and a later start would go on from it; remove the "
                "newer ones, or go on in another run.dir"
            )
        return chosen

    def _require_same(self, checkpoint: Path) -> None:
        """BadCall names each setting that changed and may not."""
        before, now = dict(_flat(read_config(checkpoint))), dict(_flat(self.config))
        changed = [
            f"{key} (was {before.get(key)!r}, is {now.get(key)!r})"
            for key in dict.fromkeys([*before, *now])
            if before.get(key) != now.get(key) and not _may_change(key)
        ]
        if changed:
            raise BadCall(
                f"{checkpoint} was made with other settings: {', '.join(changed)}; "
                "restore them, or begin a run of its own with another run.dir"
            )

    def save(self, learner: Learner, state: RunState, *, best: bool = False) -> None:
        """A checkpoint of everything."""
        self.checkpoints.save(
            learner,
            step=state.step,
            state=state.state(),
            config=self.config,
            best=best,
            tasks=state.cursor.drawn(),
        )

    def write_rollouts(self, kind: str, step: int, records: Iterable[Trajectory]) -> None:
        """The episodes of a step, as records that `agentenv audit-tokens` and every reader of records take."""
        with self._writing(f"rollouts/{kind}-{step:08d}.jsonl") as target:
            aside = target.with_suffix(".unfinished")
            with aside.open("w", encoding="utf-8") as file:
                write_jsonl(records, file)
            aside.replace(target)

    def write_json(self, name: str, value: Any) -> None:
        """A file of the run as JSON."""
        with self._writing(name) as target:
            target.write_text(json.dumps(value, indent=1), encoding="utf-8")

    def keep_batch(self, batch: TokenBatch) -> Path:
        """A batch that could not be learned from, for whoever looks into it: arrays by episode and segment."""
        arrays: dict[str, Any] = {}
        for e, episode in enumerate(batch.episodes):
            for s, segment in enumerate(episode.segments):
                for name in ("tokens", "mask", "turn", "engine_logprobs", "old_logprobs", "advantages", "returns"):
                    value = getattr(segment, name)
                    if value is not None:
                        arrays[f"{e}/{s}/{name}"] = value
        with self._writing(f"batch-{batch.step:08d}.npz") as target:
            np.savez_compressed(target, tasks=np.array([e.task for e in batch.episodes]), **arrays)
        return target

    def note(self, text: str) -> None:
        """What a user should know: in the log, and a line in `notes.log`."""
        log.warning(text)
        with self._writing("notes.log") as target, target.open("a", encoding="utf-8") as file:
            file.write(text + "\n")

    @contextlib.contextmanager
    def _writing(self, name: str) -> Iterator[Path]:
        """A full disk is an error of one line that names the file."""
        target = self.path / name
        try:
            yield target
        except OSError as exc:
            raise FolderFailed(f"cannot write {target}: {exc.strerror or exc}") from exc


def _flat(settings: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Every leaf by its dotted key; free mappings and plain lists are leaves. No read is noted."""
    if is_dataclass(settings):
        for f in fields(settings):
            yield from _flat(object.__getattribute__(settings, f.name), f"{key}.{f.name}".lstrip("."))
    elif isinstance(settings, list) and any(is_dataclass(item) for item in settings):
        for number, item in enumerate(settings):
            yield from _flat(item, f"{key}[{number}]")
    else:
        yield key, settings


def _may_change(key: str) -> bool:
    name = general(key)
    return any(name == free or name.startswith(f"{free}.") for free in FREE_TO_CHANGE)
