"""One token for each row of a batch, drawn so that a row does not depend on its neighbours.

Legend: B rows, V vocabulary.
"""

from __future__ import annotations

import torch
from torch import Tensor


def generator_of(seed: int) -> torch.Generator:
    """Random numbers of one request; on the CPU whatever the device, so that a seed means the same everywhere."""
    return torch.Generator().manual_seed(seed % 2**63)


def uniform(generator: torch.Generator) -> float:
    """The next number in [0, 1) of a request."""
    return torch.rand((), generator=generator, dtype=torch.float64).item()


def logprobs_of(logits: Tensor, temperature_B: Tensor) -> Tensor:
    """log_softmax(float32 logits / temperature) over the last dimension; temperature 0 counts as 1."""
    scale_B = torch.where(temperature_B > 0, temperature_B, 1.0)
    return torch.log_softmax(logits.float() / scale_B.unsqueeze(-1), dim=-1)


def sample(
    logits_BV: Tensor, temperature_B: Tensor, top_p_B: Tensor, top_k_B: Tensor, uniform_B: Tensor
) -> tuple[Tensor, Tensor]:
    """Token and its log-probability for each row.

    The log-probability is over the whole vocabulary, also where top_p or top_k cut it. Temperature 0 takes the
    likeliest token.
    """
    logprob_BV = logprobs_of(logits_BV, temperature_B)
    weight_BV = logprob_BV.exp().double()
    if (top_p_B < 1).any() or (top_k_B > 0).any():
        weight_BV = _truncated(weight_BV, top_p_B, top_k_B)
    cumulative_BV = weight_BV.cumsum(-1)
    target_B1 = uniform_B.unsqueeze(-1) * cumulative_BV[:, -1:]
    drawn_B = torch.searchsorted(cumulative_BV, target_B1, right=True).squeeze(-1).clamp(max=logits_BV.shape[-1] - 1)
    token_B = torch.where(temperature_B > 0, drawn_B, logits_BV.argmax(-1))
    return token_B, logprob_BV.gather(-1, token_B.unsqueeze(-1)).squeeze(-1)


def _truncated(weight_BV: Tensor, top_p_B: Tensor, top_k_B: Tensor) -> Tensor:
    """Zero outside the `top_k` likeliest tokens, then outside the fewest of them that reach `top_p` together."""
    sorted_BV, order_BV = weight_BV.sort(dim=-1, descending=True, stable=True)
    rank_V = torch.arange(weight_BV.shape[-1], device=weight_BV.device)
    limit_B = torch.where(top_k_B > 0, top_k_B, weight_BV.shape[-1])
    sorted_BV = sorted_BV * (rank_V < limit_B.unsqueeze(-1))
    share_BV = sorted_BV.cumsum(-1) / sorted_BV.sum(-1, keepdim=True)
    before_BV = share_BV - sorted_BV / sorted_BV.sum(-1, keepdim=True)
    # The likeliest token stays, whatever top_p is.
    keep_BV = (before_BV < top_p_B.unsqueeze(-1)) | (rank_V == 0)
    return torch.zeros_like(weight_BV).scatter(-1, order_BV, sorted_BV * keep_BV)
