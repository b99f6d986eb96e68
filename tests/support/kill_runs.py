"""Runs that die and go on: `python kill_runs.py SPEC OUT`.

SPEC (JSON) has `model`, `folder` and `places`, each a list of fault points at which one start after the other of a run
ends by SIGKILL; a last start goes on to the end. Processes are forked from one that has imported everything, so that
each start takes a second. OUT gets, by name, how each start ended; `limit` in SPEC is the size that no file may pass.
"""

from __future__ import annotations

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


def killed_config(model: Path, folder: Path) -> TrainConfig:
    """Three steps an epoch, two a stage of turns, two a checkpoint; a critic, a schedule, an adaptive controller."""
    config = coin_config(
        model, folder, run__steps=STEPS, run__deterministic=True, batch__tasks_per_step=8, batch__group_size=2,
        env__options={"turns": 3}, algorithm__estimator="gae", kl__placement="reward", kl__estimator="k1",
        kl__controller="adaptive", kl__target=0.01, kl__horizon=20, optim__schedule="linear", checkpoint__every=2,
        checkpoint__keep=9, evaluation__before=True, evaluation__every=3, evaluation__tasks=2, optim__lr=5e-3,
    )  # fmt: skip
    config.algorithm.rounds.type, config.algorithm.rounds.values = "scaling_inter_stepwise", [1, 2, 3]
    config.algorithm.rounds.every = 2
    return config


def start(config: TrainConfig, kill_at: str, log: Path, limit: int | None) -> int:
    """One start of the run in a process of its own; its exit code, or minus its signal."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            if kill_at:
                os.environ[KILL_AT] = kill_at
            train(config)
            code = 0
        except BaseException:
            log.write_text(traceback.format_exc())
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main(spec: dict, out: Path) -> None:
    """Every scenario, one after the other."""
    ends: dict[str, list[int]] = {}
    with coins():
        for places in spec["places"]:
            name = " then ".join(places) or "undisturbed"
            folder = Path(spec["folder"]) / name.replace(":", "_")
            config = killed_config(Path(spec["model"]), folder)
            log = Path(spec["folder"]) / f"{folder.name}.log"
            ends[name] = [start(config, place, log, spec.get("limit")) for place in [*places, ""]]
    out.write_text(json.dumps(ends))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), Path(sys.argv[2]))
