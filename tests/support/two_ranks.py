"""What two ranks under torchrun compute; `python -m torch.distributed.run --nproc-per-node 2 two_ranks.py SPEC OUT`.

SPEC (JSON) has `model`, `cuts` (settings), `load` (a checkpoint of one rank), `folder` to write in. Rank 0 saves what
it found in OUT.
"""

import json
import sys
from pathlib import Path

import torch
from token_batches import gradients, learner_config, made_batch, with_values

from trainers.fsdp.learner import FsdpLearner
from trainers.fsdp.ranks import RankedLearner, make
from trainers.learner import NonFiniteLoss

LEARN = {"algorithm__estimator": "gae", "optim__lr": 1e-2, "critic__optim__lr": 1e-2}
"""Settings of the learner that is saved and loaded."""


def main(spec: dict, out: Path) -> None:
    found: dict = {"gradients": []}
    first = None  # holds the process group while others come and go
    for cut in spec["cuts"]:
        learner = FsdpLearner(learner_config(Path(spec["model"]), **cut))
        first = first or learner
        batch = with_values(made_batch())
        roles = ("policy", "critic") if "algorithm__estimator" in cut else ("policy",)
        found["gradients"].append({role: gradients(learner, batch, role) for role in roles})
        if learner is not first:
            learner.close()
    led = make(learner_config(Path(spec["model"]), **LEARN))
    assert isinstance(led, RankedLearner)
    if led.leads:
        found |= lead(led, spec)
        torch.save(found, out)
    else:
        led.follow()
    first.close()


def lead(learner: RankedLearner, spec: dict) -> dict:
    """The calls of a loop, all on rank 0."""
    folder = Path(spec["folder"])
    batch = with_values(made_batch())
    found: dict = {"logprobs": learner.logprobs(batch), "values": learner.values(batch)}
    found["reference"] = learner.logprobs(batch, reference=True)
    found["stats"] = learner.update(batch)
    found["reference_after"] = learner.logprobs(batch, reference=True)
    control = learner._world.control
    found["control"] = (control.name(), control._get_backend(torch.device("cpu")).options._timeout)
    found["weights"] = {name: tensor.clone() for name, tensor in learner.weights()}
    for _ in learner.weights():
        break  # the followers go on to the end by themselves
    learner.save(folder / "by_two")
    broken = with_values(made_batch())
    next(broken.segments).advantages[:] = float("nan")
    try:
        learner.update(broken)
    except NonFiniteLoss as exc:
        found["refused"] = str(exc)
    try:
        learner.load(folder / "nowhere")
    except OSError as exc:
        found["missing"] = str(exc)
    learner.load(Path(spec["load"]))
    batch.step = 2
    learner.update(batch)
    found["resumed"] = {name: tensor.clone() for name, tensor in learner.weights()}
    learner.export(folder / "exported")
    learner.close()
    return found


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), Path(sys.argv[2]))
