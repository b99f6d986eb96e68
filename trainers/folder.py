"""The folder of a run: settings, figures, rollouts of each step, checkpoints, plots.

`config.json`, `notes.log`, `metrics.jsonl`, `plots.png`, `rollouts/train-00000001.jsonl`, `checkpoints/step-00000001/`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from agentenv.errors import BadCall
from agentenv.trajectory import Trajectory, write_jsonl
from trainers.batch import TokenBatch
from trainers.checkpoints import LEARNER, Checkpoints, read_config, read_state
from trainers.config import TrainConfig
from trainers.learner import Learner
from trainers.settings import BadSetting, plain
from trainers.state import RunState

FREE_TO_CHANGE = ("run", "checkpoint", "evaluation", "launch", "stop", "fsdp")
"""Sections that a resumed run may have otherwise than its checkpoint."""


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
            (self.path / "config.json").write_text(json.dumps(self.stored, indent=1), encoding="utf-8")
        except OSError as exc:
            raise BadSetting(f"run.dir={config.run.dir}: {exc}") from exc

    def resume(self, learner: Learner, state: RunState) -> bool:
        """Take over the checkpoint that `checkpoint.resume` means; whether there was one."""
        wanted = self.config.checkpoint.resume
        if wanted == "never":
            if (found := self.checkpoints.latest()) is not None:
                raise BadSetting(
                    f"checkpoint.resume=never, but {found} is there; choose another run.dir or remove the folder"
                )
            return False
        checkpoint = self.checkpoints.latest() if wanted == "auto" else Path(wanted)
        if checkpoint is None:
            return False
        self._require_same(checkpoint)
        learner.load(checkpoint / LEARNER)
        state.restore(read_state(checkpoint))
        self.note(f"resumed {checkpoint}, at step {state.step}")
        return True

    def _require_same(self, checkpoint: Path) -> None:
        """BadCall names each setting that changed and may not."""
        before = plain(read_config(checkpoint))
        changed = [
            f"{section}.{key}" if key else section
            for section, values in before.items()
            if section not in FREE_TO_CHANGE
            for key in _changed(values, self.stored[section])
        ]
        if changed:
            raise BadCall(
                f"{checkpoint} was made with other settings: {', '.join(changed)}; "
                "restore them, or begin a run of its own with another run.dir"
            )

    def save(self, learner: Learner, state: RunState, *, best: bool = False) -> None:
        """A checkpoint of everything."""
        self.checkpoints.save(learner, step=state.step, state=state.state(), config=self.config, best=best)

    def write_rollouts(self, kind: str, step: int, records: Iterable[Trajectory]) -> None:
        """The episodes of a step, as records that `agentenv audit-tokens` and every reader of records take."""
        target = self.path / "rollouts" / f"{kind}-{step:08d}.jsonl"
        aside = target.with_suffix(".unfinished")
        with aside.open("w", encoding="utf-8") as file:
            write_jsonl(records, file)
        aside.replace(target)

    def keep_batch(self, batch: TokenBatch) -> Path:
        """A batch that could not be learned from, for whoever looks into it: arrays by episode and segment."""
        arrays: dict[str, Any] = {}
        for e, episode in enumerate(batch.episodes):
            for s, segment in enumerate(episode.segments):
                for name in ("tokens", "mask", "turn", "engine_logprobs", "old_logprobs", "advantages", "returns"):
                    value = getattr(segment, name)
                    if value is not None:
                        arrays[f"{e}/{s}/{name}"] = value
        target = self.path / f"batch-{batch.step:08d}.npz"
        np.savez_compressed(target, tasks=np.array([e.task for e in batch.episodes]), **arrays)
        return target

    def note(self, text: str) -> None:
        """A line in `notes.log`."""
        with (self.path / "notes.log").open("a", encoding="utf-8") as file:
            file.write(text + "\n")


def _changed(before: Any, now: Any) -> list[str]:
    if not isinstance(before, dict):
        return [] if before == now else [""]
    return [key for key in before if before[key] != now.get(key)]
