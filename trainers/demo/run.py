"""The demo from end to end: warm start, training over a real environment server, the gain judged on held-out mazes.

Everything is judged on the test split at temperature 1 with fixed seeds: the same 256 mazes, once before and once
after, by the exact paired test.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentenv.env import Env
from agentenv.errors import AgentEnvError
from agentenv.intervals import Interval, wilson
from agentenv.paired import Paired, compare
from agentenv.registry import get_spec
from trainers.config import (
    AlgorithmSettings,
    BatchSettings,
    CheckpointSettings,
    CriticSettings,
    EnvironmentSettings,
    EvaluationSettings,
    ModelSettings,
    OptimSettings,
    RolloutSettings,
    RunSettings,
    TrainConfig,
)
from trainers.demo.model import make_model
from trainers.sft.config import DemonstrationSettings, SftBatchSettings, SftConfig, SftEvaluationSettings

ENV = "maze"
OPTIONS: dict[str, Any] = {"size": 4, "path": "short", "observation": "relative"}
DEV_GOAL = 0.60
"""Success on dev at which the gain is plain and the run ends; the warm start ends near 0.3."""
TEXTS_OF = 200
"""Mazes whose texts the tokenizer is made from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoSettings:
    """What a demo does; `quick` is its form for continuous integration."""

    folder: Path
    algo: str = "grpo"
    seed: int = 0
    quick: bool = False

    @property
    def steps(self) -> int:
        """Training steps at most."""
        return 4 if self.quick else 60

    @property
    def test_tasks(self) -> int:
        """Held-out mazes that judge the gain."""
        return 64 if self.quick else 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a demo found."""

    before: float
    after: float
    before_interval: Interval
    after_interval: Interval
    paired: Paired
    """After beside before."""
    steps: int
    seconds: dict[str, float]

    def to_json(self) -> dict[str, Any]:
        """Stable keys."""
        return {
            "before": self.before,
            "before_ci": [self.before_interval.low, self.before_interval.high],
            "after": self.after,
            "after_ci": [self.after_interval.low, self.after_interval.high],
            "tasks": self.paired.tasks,
            "gain": self.paired.difference,
            "gain_ci": [self.paired.interval.low, self.paired.interval.high],
            "p_value": self.paired.p_value,
            "steps": self.steps,
            "seconds": {name: round(s, 1) for name, s in self.seconds.items()},
        }


class NoServer(AgentEnvError):
    """The demo's environment server did not start."""

    code = "no_server"


def texts(count: int = TEXTS_OF) -> list[str]:
    """What the world says: observations and actions of scripted walks in train mazes."""
    spec = get_spec(ENV)
    env, tasks = spec.make(OPTIONS), spec.task_set(OPTIONS)
    assert isinstance(env, Env)
    found: list[str] = []
    for index in range(count):
        task = tasks.get("train", index)
        env.last = env.reset(task)
        found.append(env.last.observation)
        for action in env.solve(task):
            env.last = env.step(action)
            found += [action.text, env.last.observation]
    return found


def sft_config(settings: DemoSettings, model: Path) -> SftConfig:
    """The warm start: an oracle with a fifth of random actions, stopped as soon as it is good enough to learn from.

    The quick form is not judged, so it takes a few steps and no more.
    """
    evaluation = SftEvaluationSettings(every=5, tasks=64, max_turn_tokens=4, stop_at=0.30, too_far=0.50)
    return SftConfig(
        run=RunSettings(
            dir=str(settings.folder / "sft"), steps=15 if settings.quick else 200, seed=settings.seed, threads=1
        ),
        model=ModelSettings(path=str(model)),
        data=DemonstrationSettings(env=ENV, options=OPTIONS, noise=0.2, format="plain", tasks=1000, max_tokens=1024),
        batch=SftBatchSettings(tokens_per_microbatch=8192),
        optim=OptimSettings(lr=1e-3),
        evaluation=SftEvaluationSettings(max_turn_tokens=4) if settings.quick else evaluation,
        episodes_per_step=32,
    )


def train_config(settings: DemoSettings, model: Path, server: str) -> TrainConfig:
    """The training run."""
    gae = settings.algo == "gae"
    algorithm = AlgorithmSettings(estimator=settings.algo)
    if gae:
        # Discounted: an episode that the step limit cuts is worth its last state's value, so that without a discount
        # walking in circles would be worth as much as reaching the goal.
        algorithm.gae_unit, algorithm.lam, algorithm.gamma = "turn", 0.95, 0.9
    return TrainConfig(
        run=RunSettings(
            dir=str(settings.folder / settings.algo),
            steps=settings.steps,
            seed=settings.seed,
            threads=1,
            trackers=["console", "jsonl"],
        ),
        model=ModelSettings(path=str(model)),
        environments=[EnvironmentSettings(env=ENV, base_url=server, options=OPTIONS, format="plain")],
        rollout=RolloutSettings(max_prompt_tokens=256, max_episode_tokens=1024, max_turn_tokens=4, concurrency=128),
        batch=BatchSettings(tasks_per_step=16, group_size=8, tasks_per_minibatch=4, tokens_per_microbatch=16384),
        algorithm=algorithm,
        critic=CriticSettings(optim=OptimSettings(lr=3e-3)) if gae else CriticSettings(),
        optim=OptimSettings(lr=2e-4),
        checkpoint=CheckpointSettings(keep=1),
        evaluation=EvaluationSettings(
            before=True,
            every=2 if settings.quick else 5,
            split="dev",
            tasks=32 if settings.quick else 100,
            stop_at=None if settings.quick else DEV_GOAL,
        ),
    )


def test_config(settings: DemoSettings, model: Path, server: str) -> TrainConfig:
    """One evaluation on the test split."""
    config = train_config(settings, model, server)
    config.evaluation = EvaluationSettings(only=True, split="test", tasks=settings.test_tasks)
    config.run.dir = str(settings.folder / "test" / model.name)
    return config


def run(settings: DemoSettings, server: str) -> Result:
    """The whole demo against a running server; writes `result.json` and the plots."""
    from trainers.loop import train
    from trainers.sft.loop import sft

    began = time.monotonic()
    raw = make_model(settings.folder / "raw", texts(), seed=settings.seed)
    sft(sft_config(settings, raw))
    warm = settings.folder / "sft" / "model"
    warmed = time.monotonic()
    before = judged(test_config(settings, warm, server))
    judged_at = time.monotonic()
    summary = train(train_config(settings, warm, server))
    assert summary is not None
    trained = time.monotonic()
    after = judged(test_config(settings, export(settings), server))
    result = result_of(
        before,
        after,
        steps=summary.step,
        seconds={
            "warm start": warmed - began,
            "training": trained - judged_at,
            "judging": judged_at - warmed + time.monotonic() - trained,
            "together": time.monotonic() - began,
        },
    )
    (settings.folder / "result.json").write_text(json.dumps(result.to_json(), indent=1), encoding="utf-8")
    return result


def export(settings: DemoSettings) -> Path:
    """The trained model as a Hugging Face folder."""
    from trainers.checkpoints import Checkpoints
    from trainers.fsdp.export import export_checkpoint

    checkpoints = Checkpoints(settings.folder / settings.algo / "checkpoints", keep=1)
    latest = checkpoints.latest()
    assert latest is not None
    out = settings.folder / f"trained-{settings.algo}"
    export_checkpoint(latest, out, model=None, dtype="float32")
    return out


def judged(config: TrainConfig) -> dict[str, bool]:
    """Success by task on the test split."""
    from agentenv.trajectory import read_jsonl
    from trainers.loop import train

    train(config)
    records = list(read_jsonl(Path(config.run.dir) / "rollouts" / "evaluation-00000000.jsonl"))
    return {record.task.id: record.success for record in records if record.outcome.valid}


def result_of(before: dict[str, bool], after: dict[str, bool], *, steps: int, seconds: dict[str, float]) -> Result:
    """The paired comparison over the tasks that both played."""
    shared = sorted(before.keys() & after.keys())
    a, b = [after[t] for t in shared], [before[t] for t in shared]
    intervals = [_interval(b), _interval(a)]
    return Result(
        before=sum(b) / len(b),
        after=sum(a) / len(a),
        before_interval=intervals[0],
        after_interval=intervals[1],
        paired=compare(a, b),
        steps=steps,
        seconds=seconds,
    )


def _interval(results: Sequence[bool]) -> Interval:
    found = wilson(sum(results), len(results))
    assert found is not None
    return found
