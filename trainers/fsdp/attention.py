"""Attention over sequences that lie in one row, without a mask of all tokens against all.

On CUDA the flash kernel for ragged sequences; elsewhere one causal call for each sequence. A model gets it by
`set_attn_implementation(PACKED)` and each forward pass by the arguments of `packed_arguments`.

Legend of dimensions: B rows, H heads, K heads of keys and values, T tokens of a row, D size of a head.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F

PACKED = "agentenv_packed"

REFUSED = ("softcap", "s_aux", "position_bias")
"""What some models ask of attention and these kernels do not do; such a model runs padded, with its own attention."""


class UnfitAttention(RuntimeError):
    """This model's attention is more than a softmax over a causal window."""


def packed_arguments(lengths: tuple[int, ...], device: torch.device) -> dict[str, Any]:
    """What the model's forward hands on to every layer, by the names that transformers uses for ragged kernels."""
    ends = torch.tensor((0, *lengths), dtype=torch.int32, device=device).cumsum(0, dtype=torch.int32)
    longest = max(lengths)
    return {
        "cu_seq_lens_q": ends, "cu_seq_lens_k": ends, "max_length_q": longest, "max_length_k": longest,
        "segment_lengths": lengths,
    }  # fmt: skip


def packed_attention(
    module: torch.nn.Module,
    query_BHTD: torch.Tensor,
    key_BKTD: torch.Tensor,
    value_BKTD: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    sliding_window: int | None = None,
    segment_lengths: tuple[int, ...] | None = None,
    **others: Any,
) -> tuple[torch.Tensor, None]:
    """Causal attention inside each sequence of the row; dropout is never applied. Gives [B, T, H, D]."""
    asked = [name for name in REFUSED if others.get(name) is not None]
    if asked or attention_mask is not None or segment_lengths is None or others.get("is_causal") is False:
        raise UnfitAttention(f"{type(module).__name__} asks for {', '.join(asked) or 'attention that is not packed'}")
    if query_BHTD.is_cuda and query_BHTD.dtype in (torch.bfloat16, torch.float16):
        return _ragged_kernel(query_BHTD, key_BKTD, value_BKTD, scaling, sliding_window, others), None
    gqa = query_BHTD.shape[1] != key_BKTD.shape[1]
    outputs = [
        _causal(q, k, v, scaling, sliding_window, gqa)
        for q, k, v in zip(*(t.split(segment_lengths, dim=2) for t in (query_BHTD, key_BKTD, value_BKTD)), strict=True)
    ]
    return torch.cat(outputs, dim=2).transpose(1, 2), None


def _ragged_kernel(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scaling: float | None, window: int | None, ragged: Any
) -> torch.Tensor:
    from torch.nn.attention.varlen import varlen_attn

    query_THD, key_TKD, value_TKD = (t[0].transpose(0, 1).contiguous() for t in (query, key, value))
    out_THD = varlen_attn(
        query_THD,
        key_TKD,
        value_TKD,
        ragged["cu_seq_lens_q"],
        ragged["cu_seq_lens_k"],
        ragged["max_length_q"],
        ragged["max_length_k"],
        scale=scaling,
        window_size=(window - 1 if window else -1, 0),
        enable_gqa=query.shape[1] != key.shape[1],
    )
    assert isinstance(out_THD, torch.Tensor)  # a tuple only where more was asked for
    return out_THD[None]


def _causal(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scaling: float | None, window: int | None, gqa: bool
) -> torch.Tensor:
    """Attention inside one sequence; over a sliding window in strips of a window's length, each sees two at most."""
    length = query.shape[2]
    if window is None or length <= window:
        return F.scaled_dot_product_attention(query, key, value, is_causal=True, scale=scaling, enable_gqa=gqa)
    strips = []
    for start in range(0, length, window):
        stop, first = min(start + window, length), max(0, start - window + 1)
        rows = torch.arange(start, stop, device=query.device)[:, None]
        columns = torch.arange(first, stop, device=query.device)[None, :]
        seen = (columns <= rows) & (columns > rows - window)
        strips.append(
            F.scaled_dot_product_attention(
                query[:, :, start:stop], key[:, :, first:stop], value[:, :, first:stop],
                attn_mask=seen, scale=scaling, enable_gqa=gqa,
            )
        )  # fmt: skip
    return torch.cat(strips, dim=2)


def register() -> None:
    """Make `PACKED` known to transformers; doing it again changes nothing."""
    from transformers import AttentionInterface

    AttentionInterface.register(PACKED, packed_attention)
