"""A model that learns: its AdamW, its schedule, its clip."""

from __future__ import annotations

import math

import torch
from torch.distributed.tensor import DTensor

from trainers.algorithms.schedule import learning_rate
from trainers.config import OptimSettings
from trainers.fsdp.runner import Runner


class Role:
    """The optimizer of one model, with state from the start, so that every checkpoint has the same entries."""

    def __init__(self, runner: Runner, optim: OptimSettings) -> None:
        self.runner, self._optim = runner, optim
        self.parameters = {n: p for n, p in runner.model.named_parameters() if p.requires_grad}
        self.optimizer = torch.optim.AdamW(
            self.parameters.values(),
            lr=optim.lr,
            betas=(optim.beta1, optim.beta2),
            weight_decay=optim.weight_decay,
            fused=True,
        )
        for parameter in self.parameters.values():
            self.optimizer.state[parameter] = {
                "step": torch.zeros((), dtype=torch.float32, device=parameter.device),
                "exp_avg": torch.zeros_like(parameter, requires_grad=False),
                "exp_avg_sq": torch.zeros_like(parameter, requires_grad=False),
            }

    def gradient_norm(self) -> float:
        """Of all gradients together, over all ranks; not finite when one of them is not."""
        norm = torch.nn.utils.get_total_norm([p.grad for p in self.parameters.values() if p.grad is not None])
        return float(norm.full_tensor() if isinstance(norm, DTensor) else norm)

    def step(self, *, norm: float, lr: float) -> None:
        """Clip by `norm` (of `gradient_norm`; `max_grad_norm: 0` never clips) and change the parameters."""
        limit = self._optim.max_grad_norm
        if limit and norm > limit:
            torch._foreach_mul_([p.grad for p in self.parameters.values() if p.grad is not None], limit / norm)
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        self.optimizer.step()
        self.drop_gradients()

    def drop_gradients(self) -> None:
        """Forget what backward left."""
        self.optimizer.zero_grad(set_to_none=True)

    def lr(self, step: int, steps: int | None) -> float:
        """At a training step, counted from 1."""
        return learning_rate(step, self._optim, steps=steps or 1)


def finite(*numbers: float) -> bool:
    """Neither infinite nor NaN, any of them."""
    return all(math.isfinite(n) for n in numbers)
