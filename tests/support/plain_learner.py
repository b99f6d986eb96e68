"""A learner that cannot be wrong: one transformers pass for each segment."""

from pathlib import Path

import numpy as np
import torch
from transformers import AutoModelForCausalLM


class PlainLearner:
    """Weights and log-probabilities, as the push check wants them."""

    def __init__(self, path: Path, temperature: float = 1.0) -> None:
        self.model = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32)
        self.temperature = temperature

    def weights(self):
        return iter(self.model.named_parameters())

    @torch.no_grad()
    def logprobs(self, batch, *, reference=False):
        found = []
        for segment in batch.segments:
            chosen = self.logprobs_of(segment.tokens.tolist(), 1, self.temperature)
            found.append(np.where(segment.mask, np.asarray([0.0, *chosen]), 0.0).astype(np.float32))
        return found

    @torch.no_grad()
    def logprobs_of(self, tokens: list[int], start: int, temperature: float = 1.0) -> list[float]:
        """Of `tokens[start:]`; temperature 0 counts as 1."""
        ids = torch.tensor([tokens])
        logits = self.model(ids).logits[0, start - 1 : -1].float() / (temperature or 1.0)
        return logits.log_softmax(-1).gather(-1, ids[0, start:, None])[:, 0].tolist()

    def greedy(self, prompt: list[int], count: int) -> list[int]:
        """What transformers generates."""
        ids = torch.tensor([prompt])
        found = self.model.generate(ids, attention_mask=torch.ones_like(ids), max_new_tokens=count, do_sample=False)
        return found[0, len(prompt) :].tolist()

    @torch.no_grad()
    def learn(self, size: float = 0.1) -> None:
        """As a large update would: every parameter times its own random factor."""
        generator = torch.Generator().manual_seed(1)
        for parameter in self.model.parameters():
            parameter.mul_(1 + size * torch.randn(parameter.shape, generator=generator))
