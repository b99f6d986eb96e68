"""One batch, one or several optimizer steps: who is in each, and the losses of their micro-batches.

Legend of dimensions: N trained tokens (or value positions) of a micro-batch, items in order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
import torch.distributed as dist

from trainers.algorithms.losses import LossPart, Totals, actor_loss, token_weights, value_loss
from trainers.batch import Episode, Floats, Segment, TokenBatch
from trainers.config import TrainConfig
from trainers.fsdp.packing import EMPTY, Item, item_of, plan
from trainers.fsdp.role import Role
from trainers.fsdp.world import World

Sums = dict[str, float]

Seen = list[tuple[Segment, torch.Tensor]]
"""Log-probabilities of a segment's trained tokens, [N], as a forward pass gave them."""


def minibatches(batch: TokenBatch, config: TrainConfig) -> Iterator[list[Episode]]:
    """The episodes of each optimizer step: whole groups, every pass in another order with `loss.shuffle`.

    The order is a function of seed, step and pass alone. Groups without a trained token are left out.
    """
    groups = [g for g in batch.groups().values() if any(e.sampled for e in g)]
    size = config.batch.tasks_per_minibatch or max(1, len(groups))
    for epoch in range(config.loss.epochs):
        order = np.arange(len(groups))
        if config.loss.shuffle and size < len(groups):
            seed = np.random.SeedSequence([config.run.seed, batch.step, epoch])
            order = np.random.Generator(np.random.PCG64(seed)).permutation(len(groups))
        for start in range(0, len(groups), size):
            yield [episode for g in order[start : start + size] for episode in groups[g]]


@dataclass(frozen=True, slots=True)
class Piece:
    """A segment on its way through a step, with what its tokens need to know of their episode."""

    segment: Segment
    item: Item
    episode_tokens: int
    env: int


def pieces_of(episodes: Sequence[Episode], envs: Sequence[str]) -> list[Piece]:
    """Every segment with a trained token."""
    return [
        Piece(segment, item_of(segment), episode.sampled, envs.index(episode.env))
        for episode in episodes
        for segment in episode.segments
        if segment.sampled
    ]


def value_pieces(pieces: Sequence[Piece]) -> list[Piece]:
    """The same segments, asked only where the critic learns."""
    found = []
    for piece in pieces:
        mask = value_positions(piece.segment)
        at = np.flatnonzero(mask) - 1
        if len(at):
            item = Item(tokens=piece.segment.tokens, at=at, targets=piece.segment.tokens[at + 1])
            found.append(Piece(piece.segment, item, piece.episode_tokens, piece.env))
    return found


def value_positions(segment: Segment) -> np.ndarray:
    """[T] where the critic learns."""
    return segment.mask if segment.value_mask is None else segment.value_mask


class Losses:
    """Backward over one optimizer step's share of this rank; gradients add up to those of the whole step's mean."""

    def __init__(self, config: TrainConfig, world: World, envs: Sequence[str]) -> None:
        self._config, self._world, self._envs = config, world, envs

    def policy(
        self,
        role: Role,
        pieces: Sequence[Piece],
        totals: Totals,
        *,
        batch: TokenBatch,
        only_step: bool,
        seen: Seen | None = None,
    ) -> Sums:
        """Gradients of the policy loss into the policy's parameters; the sums of this rank.

        `seen` gets the log-probabilities that the forward passes of this rank gave.
        """
        config, device = self._config, self._world.device
        kl_coef = config.kl.coef if batch.kl_coef is None else batch.kl_coef

        def loss(some: Sequence[Piece]) -> LossPart:
            logp_N, entropy_N = role.runner.score(
                [p.item for p in some], entropy_gradient=config.loss.entropy_coef != 0
            )
            counts = [p.segment.sampled for p in some]
            if seen is not None:
                seen.extend(zip([p.segment for p in some], logp_N.detach().split(counts), strict=True))
            sizes_N = torch.tensor(np.repeat([p.episode_tokens for p in some], counts))
            env_N = torch.tensor(np.repeat([p.env for p in some], counts), device=device)
            return actor_loss(
                logp_N,
                old_N=self._old(some, only_step=only_step),
                advantage_N=self._on(some, "advantages"),
                weight_N=token_weights(
                    sizes_N, totals, config.loss.aggregate, max_episode_tokens=config.rollout.max_episode_tokens
                ).to(device),
                loss=config.loss,
                kl=config.kl,
                kl_coef=kl_coef,
                engine_N=self._on(some, "engine_logprobs") if config.loss.tis.enabled else None,
                ref_N=self._on(some, "ref_logprobs") if config.kl.placement == "loss" else None,
                entropy_N=entropy_N,
                env_N=env_N,
                envs=self._envs,
            )

        return self._accumulate(role, pieces, loss, lambda: role.runner.score([EMPTY])[0])

    def critic(self, role: Role, pieces: Sequence[Piece], totals: Totals) -> Sums:
        """Gradients of the value loss into the critic's parameters; the sums of this rank."""

        def loss(some: Sequence[Piece]) -> LossPart:
            old_N, return_N = (
                torch.tensor(
                    np.concatenate([_array(p.segment, name)[value_positions(p.segment)] for p in some]),
                    device=self._world.device,
                )
                for name in ("values", "returns")
            )
            value_N = role.runner([p.item for p in some])
            return value_loss(
                value_N, old_N=old_N, return_N=return_N, totals=totals, clip=self._config.critic.value_clip
            )

        return self._accumulate(role, value_pieces(pieces), loss, lambda: role.runner([EMPTY]))

    def _accumulate(self, role: Role, pieces: Sequence[Piece], loss, nothing) -> Sums:  # type: ignore[no-untyped-def]
        """Backward over this rank's micro-batches; an empty one runs too, as the other ranks wait for it."""
        parts = plan([len(p.item) for p in pieces], self._world.size, role.runner.sizes(gradient=True))
        sums: dict[str, torch.Tensor] = {}
        for part in parts[self._world.rank]:
            if not part:
                (nothing().sum() * 0.0).backward()
                continue
            done = loss([pieces[i] for i in part])
            (done.loss * self._world.size).backward()  # undoes the mean over ranks of the reduction
            for name, value in done.sums.items():
                sums[name] = sums[name] + value if name in sums else value
        return {name: float(value) for name, value in sums.items()}

    def _old(self, some: Sequence[Piece], *, only_step: bool) -> torch.Tensor | None:
        """Log-probabilities that ratios are taken against; None: the policy's own, in the one step of its batch."""
        if self._config.loss.old_logprobs == "engine":
            return self._on(some, "engine_logprobs")
        if only_step and any(p.segment.old_logprobs is None for p in some):
            return None
        return self._on(some, "old_logprobs")

    def _on(self, some: Sequence[Piece], name: str) -> torch.Tensor:
        """[N] an array of the segments at their trained tokens."""
        arrays = [_array(p.segment, name)[p.segment.mask] for p in some]
        return torch.tensor(np.concatenate(arrays), dtype=torch.float32, device=self._world.device)


def seen_by_all(seen: Seen, batch: TokenBatch, world: World) -> list[Floats | None]:
    """What all ranks have seen, as [T] arrays in the order of the batch's segments; None for those that no rank saw."""
    numbers = {id(segment): number for number, segment in enumerate(batch.segments)}
    own = {numbers[id(segment)]: logp_N.float().cpu().numpy() for segment, logp_N in seen}
    gathered: list[dict[int, np.ndarray]] = [own]
    if world.control is not None:
        gathered = [{} for _ in range(world.size)]
        dist.all_gather_object(gathered, own, group=world.control)
    found = {number: array for part in gathered for number, array in part.items()}
    arrays: list[Floats | None] = [None] * len(numbers)
    for number, segment in enumerate(batch.segments):
        if number in found:
            array = np.zeros(len(segment), np.float32)
            array[segment.mask] = found[number]
            arrays[number] = array
    return arrays


def over_ranks(sums: Mapping[str, float], world: World) -> Sums:
    """Sums of all ranks; a rank without a micro-batch of its own has no entries."""
    if world.control is None:
        return dict(sums)
    gathered: list[dict[str, float]] = [{} for _ in range(world.size)]
    dist.all_gather_object(gathered, dict(sums), group=world.control)
    total: Counter[str] = Counter()
    for part in gathered:
        for name, value in part.items():
            total[name] += value  # type: ignore[assignment]
    return {name: float(value) for name, value in total.items()}


def _array(segment: Segment, name: str) -> np.ndarray:
    array: np.ndarray | None = getattr(segment, name)
    if array is None:
        raise ValueError(f"the batch has no {name}; set them before update()")
    return array
