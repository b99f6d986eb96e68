"""Every setting of `agentenv sft`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from agentenv.render import DATE
from trainers.config import (
    FsdpSettings,
    LaunchSettings,
    ModelSettings,
    OptimSettings,
    RunSettings,
)
from trainers.settings import Settings, setting


@dataclass(kw_only=True)
class DemonstrationSettings(Settings):
    """Where the episodes to imitate come from."""

    files: list[str] = setting([])
    """Records (JSON lines) to imitate; the environment's own scripted solution is asked where there are none."""
    env: str | None = None
    """The environment that is played, here or in an evaluation."""
    options: dict[str, Any] = setting({})
    """Of the environment, by its own names."""
    split: str = "train"
    """Of the tasks that the scripted solution plays."""
    tasks: int = setting(512, low=1)
    """Tasks that the scripted solution plays, the first of the split."""
    noise: float = setting(0.0, low=0.0, high=1.0)
    """Share of its actions that are random ones instead; they are imitated, too."""
    min_reward: float | None = None
    """Records with a smaller return are left out."""
    successes_only: bool = False
    """Leave out what did not succeed."""
    format: str = "react"
    """How an action is written as a completion."""
    max_steps: int | None = setting(None, low=1)
    """Turns of a demonstration; None: the environment's own limit."""
    max_tokens: int = setting(4096, low=1)
    """Longer episodes are left out, and counted."""
    template_date: str = DATE
    """What a chat template that prints a date is told."""
    template_options: dict[str, Any] = setting({})
    """Variables of the chat template, by its own names."""


@dataclass(kw_only=True)
class SftBatchSettings(Settings):
    """How a step's demonstrations go through the model."""

    episodes_per_microbatch: int = setting(8, low=1)
    """Padded batches only."""
    tokens_per_microbatch: int = setting(16384, low=1)
    """Packed batches only."""
    packing: str = setting("auto", choices=("auto", "on", "off"))
    """Sequences of a forward pass in one row without padding; auto: where the leak probe finds nothing."""


@dataclass(kw_only=True)
class SftEvaluationSettings(Settings):
    """Playing held-out tasks between steps."""

    every: int | None = setting(None, low=1)
    """Steps between two; None: none."""
    split: str = "dev"
    """Must share no task with `data.split`."""
    tasks: int = setting(64, low=1)
    """Held-out tasks, the first of the split."""
    temperature: float = setting(1.0, low=0.0)
    """Of sampling."""
    max_turn_tokens: int = setting(512, low=1)
    """Sampled in one turn."""
    max_steps: int | None = setting(None, low=1)
    """Turns of an episode; None: the environment's own limit."""
    stop_at: float | None = setting(None, low=0.0, high=1.0)
    """Stop as soon as success reaches this."""
    too_far: float | None = setting(None, low=0.0, high=1.0)
    """Success past this when `stop_at` is reached is an error: evaluate more often."""


@dataclass(kw_only=True)
class SftConfig(Settings):
    """Everything."""

    run: RunSettings = field(default_factory=lambda: RunSettings(dir="runs/sft", steps=None))
    model: ModelSettings = field(default_factory=ModelSettings)
    data: DemonstrationSettings = field(default_factory=DemonstrationSettings)
    episodes_per_step: int = setting(32, low=1)
    """Demonstrations in one optimizer step."""
    batch: SftBatchSettings = field(default_factory=SftBatchSettings)
    optim: OptimSettings = field(default_factory=lambda: OptimSettings(lr=1e-5))
    fsdp: FsdpSettings = field(default_factory=FsdpSettings)
    evaluation: SftEvaluationSettings = field(default_factory=SftEvaluationSettings)
    launch: LaunchSettings = field(default_factory=LaunchSettings)
    out: str | None = None
    """Folder of the exported model; None: `model` in the run's folder."""
