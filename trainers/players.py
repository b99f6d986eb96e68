"""The agents of a run: who plays which episode, with which seed, at which temperature."""

from __future__ import annotations

from collections.abc import Callable

from agentenv.agents.base import AgentSpec
from agentenv.agents.tokens import sampling_seed, token_agent
from agentenv.policy import Engine, Sampling
from agentenv.render import Renderer
from trainers.collect import GREEDY, MakeAgent, Place
from trainers.config import TrainConfig
from trainers.rooms import Room

VALIDATION_STEP = 0
"""In the seeds of validation: the same at every validation of a run."""


def training_players(engine: Engine, renderer: Renderer, config: TrainConfig, step: int) -> MakeAgent:
    """Agents that sample for training; the greedy member of a group samples at temperature 0."""
    settings = config.rollout

    def sampling(place: Place) -> Sampling:
        temperature = 0.0 if place.member == GREEDY else settings.temperature
        return Sampling(temperature=temperature, max_tokens=settings.max_turn_tokens)

    return _players(engine, renderer, config, step, sampling)


def validation_players(engine: Engine, renderer: Renderer, config: TrainConfig) -> MakeAgent:
    """Agents of a validation. Their seeds do not depend on the step: two validations differ by weights alone."""
    settings = config.rollout
    same = Sampling(
        temperature=config.evaluation.temperature,
        top_p=settings.top_p,
        top_k=settings.top_k,
        max_tokens=settings.max_turn_tokens,
    )
    return _players(engine, renderer, config, VALIDATION_STEP, lambda place: same)


def _players(
    engine: Engine, renderer: Renderer, config: TrainConfig, step: int, sampling: Callable[[Place], Sampling]
) -> MakeAgent:
    settings = config.rollout

    def make(room: Room, place: Place, attempt: int) -> AgentSpec:
        def seed_of(turn: int) -> int:
            return sampling_seed(
                run_seed=config.run.seed,
                step=step,
                task=place.slot.task.id,
                member=place.member,
                attempt=attempt,
                turn=turn,
            )

        return token_agent(
            engine,
            renderer,
            format=room.settings.format,
            sampling=sampling(place),
            max_prompt_tokens=settings.max_prompt_tokens,
            max_episode_tokens=settings.max_episode_tokens,
            max_turn_tokens=settings.max_turn_tokens,
            model=config.model.path,
            seed_of=seed_of,
        )

    return make
