"""A backend as somebody else would write it: one process, one segment at a time, no critic."""

from pathlib import Path

import numpy as np
import torch
from transformers import AutoModelForCausalLM

from agentenv.errors import BadCall
from trainers.learner import NonFiniteLoss, UpdateStats


class AbacusLearner:
    def __init__(self, config):
        self.config = config
        self.model = self._load()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=config.optim.lr, weight_decay=0.0)

    def _load(self):
        return AutoModelForCausalLM.from_pretrained(self.config.model.path, dtype=torch.float32)

    def _logp(self, model, segment):
        ids = torch.tensor(segment.tokens)
        logits = model(ids[None]).logits[0, :-1] / self.config.rollout.temperature
        logp = logits.log_softmax(-1).gather(-1, ids[1:, None])[:, 0]
        return torch.cat([torch.zeros(1), logp]) * torch.tensor(segment.mask)

    def logprobs(self, batch, *, reference=False):
        model = self._load() if reference else self.model
        with torch.no_grad():
            return [self._logp(model, segment).numpy() for segment in batch.segments]

    def values(self, batch):
        raise BadCall("the abacus has no critic")

    def update(self, batch):
        size = len(batch.episodes) * self.config.rollout.max_episode_tokens
        total = 0.0
        for segment in batch.segments:
            logp = self._logp(self.model, segment)
            old = logp.detach() if segment.old_logprobs is None else torch.tensor(segment.old_logprobs)
            ratio = (logp - old).exp()
            clipped = ratio.clamp(1 - self.config.loss.clip_low, 1 + self.config.loss.clip_high)
            advantage = torch.tensor(np.where(segment.mask, segment.advantages, 0))
            loss = -torch.minimum(ratio * advantage, clipped * advantage).sum() / size
            loss.backward()
            total += float(loss)
        if not np.isfinite(total):
            self.optimizer.zero_grad()
            raise NonFiniteLoss(f"step {batch.step}: the loss is {total}")
        self.optimizer.step()
        self.optimizer.zero_grad()
        return UpdateStats(optimizer_steps=1, metrics={"loss/policy": total})

    def weights(self):
        yield from self.model.named_parameters()

    def save(self, folder: Path):
        folder.mkdir(parents=True)
        torch.save([self.model.state_dict(), self.optimizer.state_dict()], folder / "all.pt")

    def load(self, folder: Path):
        model, optimizer = torch.load(folder / "all.pt")
        self.model.load_state_dict(model)
        self.optimizer.load_state_dict(optimizer)

    def export(self, folder: Path):
        self.model.save_pretrained(folder)

    def close(self):
        pass
