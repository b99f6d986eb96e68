"""Runs that die and go on: `python kill_runs.py SPEC OUT`.

SPEC (JSON) has `model`, `folder`, `keep` (checkpoints) and `places`, each a list of fault points at which one start
after the other of a run ends by SIGKILL (at `disk:full` no file may grow over 100 kB instead); a last start goes on to
the end. Processes are forked from one that has imported everything, which spares them seconds. OUT gets, by name, how
each start ended.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import traceback
from pathlib import Path

from train_runs import coin_config
from trainer_envs import coins

from trainers.config import TrainConfig
from trainers.faults import KILL_AT
from trainers.loop import train

STEPS = 7


def killed_config(model: Path, folder: Path, keep: int = 9) -> TrainConfig:
    """Three steps an epoch, two a stage of turns, two a checkpoint; a critic, a schedule, an adaptive controller."""
    config = coin_config(
        model, folder, run__steps=STEPS, run__deterministic=True, batch__tasks_per_step=8, batch__group_size=2,
        env__options={"turns": 3}, algorithm__estimator="gae", kl__placement="reward", kl__estimator="k1",
        kl__controller="adaptive", kl__target=0.01, kl__horizon=20, optim__schedule="linear", checkpoint__every=2,
        checkpoint__keep=keep, evaluation__before=True, evaluation__every=3, evaluation__tasks=2, optim__lr=5e-3,
    )  # fmt: skip
    config.algorithm.rounds.type, config.algorithm.rounds.values = "scaling_inter_stepwise", [1, 2, 3]
    config.algorithm.rounds.every = 2
    return config


def start(config: TrainConfig, place: str, log: Path) -> int:
    """One start of the run in a process of its own; its exit code, or minus its signal."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            if place == "disk:full":
                resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
            elif place:
                os.environ[KILL_AT] = place
            train(config)
            code = 0
        except BaseException:
            log.write_text(traceback.format_exc())
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def preload() -> None:
    """What each start would import by itself, in seconds; modules alone, since threads do not outlive a fork."""
    for name in (
        "peft", "tokenizers", "torch.distributed.checkpoint", "torch.distributed.fsdp", "trainers.engines.decoder",
        "trainers.engines.hf", "trainers.engines.push_check", "trainers.fsdp.ranks",
        "transformers.models.auto.modeling_auto", "transformers.models.auto.tokenization_auto",
        "transformers.models.qwen2.modeling_qwen2", "transformers.tokenization_utils_tokenizers",
    ):  # fmt: skip
        importlib.import_module(name)


def main(spec: dict, out: Path) -> None:
    """Every scenario, one after the other."""
    preload()
    ends: dict[str, list[int]] = {}
    with coins():
        for places in spec["places"]:
            name = " then ".join(places) or "undisturbed"
            folder = Path(spec["folder"]) / name.replace(":", "_")
            config = killed_config(Path(spec["model"]), folder, spec["keep"])
            log = Path(spec["folder"]) / f"{folder.name}.log"
            ends[name] = [start(config, place, log) for place in [*places, ""]]
    out.write_text(json.dumps(ends))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), Path(sys.argv[2]))
