"""Batched decoding of transformers models: rows join between two tokens and leave when they end. No asyncio here.

Legend: B rows, N tokens fed at once, S slots of the cache, V vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from transformers.cache_utils import Cache

from agentenv.policy import Sampling
from trainers.engines import kv_cache, sampling
from trainers.engines.kv_cache import Block, PrefixStore


@dataclass(kw_only=True, eq=False)
class Row:
    """One request under way."""

    tokens: list[int]
    """Prompt, then what was sampled."""
    prompt_len: int
    limit: int
    """Tokens to sample at most."""
    sampling: Sampling
    generator: torch.Generator
    logprobs: list[float] = field(default_factory=list)
    finish_reason: str = ""
    """Empty while it goes on."""
    abandoned: bool = False
    """Nobody waits for it any more; set from another thread."""

    @property
    def over(self) -> bool:
        """Whether its place can go to another."""
        return self.abandoned or bool(self.finish_reason)


class Decoder:
    """A model, the rows that it works on, and their cache."""

    def __init__(self, model: Any, stop_ids: Sequence[int], store: PrefixStore) -> None:
        self.model = model
        self.device: torch.device = model.device
        self.stop_ids = frozenset(stop_ids)
        self.store = store
        self.rows: list[Row] = []
        self._cache: Cache = kv_cache.empty_cache()

    @torch.inference_mode()
    def step(self, new: Sequence[Row]) -> list[Row]:
        """Take in `new` rows, sample one token for every row; return those that have ended."""
        self._keep([i for i, row in enumerate(self.rows) if not row.over])
        logits: list[Tensor] = []
        if self.rows:
            logits.append(self._forward(self.rows, self._cache, 1))
        for group, fed, past in _prefills([row for row in new if not row.over], self.store):
            cache = _joined_past(past)
            logits.append(self._forward(group, cache, fed))
            self._join(group, cache)
        if not self.rows:
            return []
        self._sample(torch.cat(logits))
        ended = [row for row in self.rows if row.finish_reason]
        self._remember(ended)
        self._keep([i for i, row in enumerate(self.rows) if not row.over])
        return ended

    @torch.inference_mode()
    def score(self, tokens: Sequence[int], start: int, temperature: float) -> list[float]:
        """Log-probabilities of `tokens[start:]` by one pass without a cache."""
        ids_1N = torch.tensor([tokens], device=self.device)
        kept = len(tokens) - start + 1
        logits_NV = self.model(input_ids=ids_1N, use_cache=False, logits_to_keep=kept).logits[0, :-1]
        scale_N = torch.full((len(logits_NV),), temperature, device=self.device)
        logprob_NV = sampling.logprobs_of(logits_NV, scale_N)
        scores: list[float] = logprob_NV.gather(-1, ids_1N[0, start:].unsqueeze(-1)).squeeze(-1).tolist()
        return scores

    def clear(self) -> None:
        """Forget rows and caches."""
        self.rows = []
        self._cache = kv_cache.empty_cache()
        self.store.clear()

    def _forward(self, rows: Sequence[Row], cache: Cache, fed: int) -> Tensor:
        """Logits [B, V] after the last token of each row; feeds the last `fed` tokens, all before them are cached."""
        slots = cache.get_seq_length() + fed
        pad = [slots - len(row.tokens) for row in rows]
        ids = [[0] * (fed - len(row.tokens)) + row.tokens[-fed:] for row in rows]
        first_B1 = torch.tensor(pad, device=self.device).unsqueeze(-1)
        slot_S = torch.arange(slots, device=self.device)
        logits_BNV: Tensor = self.model(
            input_ids=torch.tensor(ids, device=self.device),
            # Without padding no mask is needed, and the faster kernels run.
            attention_mask=(slot_S >= first_B1).long() if any(pad) else None,
            position_ids=(slot_S[-fed:] - first_B1).clamp(min=0),
            past_key_values=cache,
            use_cache=True,
            logits_to_keep=1,
        ).logits
        return logits_BNV[:, -1]

    def _sample(self, logits_BV: Tensor) -> None:
        """Append a token to every row, and say which have ended."""
        wanted = [row.sampling for row in self.rows]

        def column(values: list[float], dtype: torch.dtype = torch.float32) -> Tensor:
            return torch.tensor(values, dtype=dtype, device=self.device)

        token_B, logprob_B = sampling.sample(
            logits_BV,
            column([s.temperature for s in wanted]),
            column([s.top_p for s in wanted], torch.float64),
            column([s.top_k for s in wanted], torch.int64),
            column([sampling.uniform(row.generator) for row in self.rows], torch.float64),
        )
        if not logprob_B.isfinite().all():
            raise FloatingPointError("the model gave logits that are not finite")
        for row, token, logprob in zip(self.rows, token_B.tolist(), logprob_B.tolist(), strict=True):
            row.tokens.append(token)
            row.logprobs.append(logprob)
            if token in self.stop_ids:
                row.finish_reason = "stop"
            elif len(row.logprobs) >= row.limit:
                row.finish_reason = "length"

    def _join(self, group: Sequence[Row], cache: Cache) -> None:
        """Rows whose prompts are in `cache` go on beside the others."""
        if self.rows:
            parts = [(self._cache, len(self.rows)), (cache, len(group))]
            blocks = [kv_cache.all_of(c) for c, _ in parts]
            self._cache = kv_cache.join(blocks, [n for _, n in parts], max(c.get_seq_length() for c, _ in parts))
        else:
            self._cache = cache
        self.rows = [*self.rows, *group]

    def _keep(self, kept: list[int]) -> None:
        """Drop the other rows, and the slots that only they needed."""
        if len(kept) == len(self.rows):
            return
        self.rows = [self.rows[i] for i in kept]
        if not kept:
            self._cache = kv_cache.empty_cache()
            return
        # The last token of a row is not in the cache yet.
        slots = max(len(row.tokens) for row in self.rows) - 1
        self._cache = kv_cache.join([kv_cache.block_of(self._cache, kept, slots)], [len(kept)], slots)

    def _remember(self, ended: Sequence[Row]) -> None:
        """Put the caches of rows into the store, for the episode's next turn."""
        if self.store.max_bytes == 0:
            return
        at = {id(row): i for i, row in enumerate(self.rows)}
        for row in ended:
            cached = row.tokens[:-1]
            self.store.add(cached, kv_cache.block_of(self._cache, [at[id(row)]], len(cached)))


def _prefills(new: Sequence[Row], store: PrefixStore) -> list[tuple[list[Row], int, list[Block]]]:
    """New rows in groups that share a pass: rows, tokens to feed, and what is cached before those.

    Every row of a group feeds as many tokens as the one that needs most; a row with more in the cache computes some
    anew, in the place of padding. Needs within a group differ at most twofold.
    """
    found = [(row, *store.longest(row.tokens[:-1])) for row in new]
    found.sort(key=lambda item: item[1] - len(item[0].tokens))  # most to feed first; equal needs keep their order
    groups: list[list[tuple[Row, int, Block]]] = []
    for item in found:
        need = len(item[0].tokens) - item[1]
        if groups and 2 * need >= len(groups[-1][0][0].tokens) - groups[-1][0][1]:
            groups[-1].append(item)
        else:
            groups.append([item])
    prefills = []
    for group in groups:
        fed = len(group[0][0].tokens) - group[0][1]
        past = [kv_cache.part(block, max(0, len(row.tokens) - fed)) for row, _, block in group]
        prefills.append(([row for row, _, _ in group], fed, past))
    return prefills


def _joined_past(past: Sequence[Block]) -> Cache:
    return kv_cache.join(past, [1] * len(past), max(kv_cache.slots_of(b) for b in past))
