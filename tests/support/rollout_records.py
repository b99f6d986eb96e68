"""Records of episodes in their places, for tests of what a controller makes of them."""

from __future__ import annotations

from types import SimpleNamespace

from trainer_envs import COIN, coin_tasks

from agentenv.protocol import Outcome, TaskRef
from agentenv.trajectory import Trajectory, Turn
from trainers.collect import Collected, Place, Played
from trainers.config import EnvironmentSettings
from trainers.rooms import Room
from trainers.tasks import Slot


def coin_refs() -> list[TaskRef]:
    return [task.ref() for task in coin_tasks({}).tables["train"]]


def coin_room(name: str = "coin", **settings: object) -> Room:
    """A room whose pool knows its spec and nothing more."""
    return Room(
        name=name,
        settings=EnvironmentSettings(env="coin", **settings),
        pool=SimpleNamespace(spec=COIN),
        tasks=coin_refs(),
        validation=[],
    )


def played(
    group: int = 0,
    member: int = 0,
    outcome: str = "success",
    *,
    rewards: tuple[float, ...] = (1.0,),
    version: int = 0,
    env: int = 0,
    attempt: int = 0,
) -> Played:
    """An episode with one sampled token in each turn; none at all for an outcome that was lost before."""
    turns = [
        Turn(
            observation="o", action="a", reward=reward, prompt_ids=[5, 6] if n == 0 else [7], fresh=n == 0,
            prompt_len=2 + 2 * n, token_ids=[8], logprobs=[-0.5], policy_version=version,
        )
        for n, reward in enumerate(rewards)
    ]  # fmt: skip
    task = coin_refs()[group]
    record = Trajectory(
        task=task, env="coin", env_version="1", agent={"name": "a"}, outcome=Outcome(outcome),
        success=outcome == "success", reward=sum(rewards), last_reward=rewards[-1] if rewards else 0.0, score=None,
        steps=len(turns), turns=turns, final_observation="end",
    )  # fmt: skip
    return Played(
        place=Place(slot=Slot(env=env, task=task, group=group), member=member), attempt=attempt, trajectory=record
    )


def phase(*episodes: Played, cancelled: int = 0) -> Collected:
    """What a phase of these episodes collects."""
    lost = [p for p in episodes if p.trajectory.outcome.value in ("env_error", "infra_lost", "agent_error")]
    return Collected(played=[p for p in episodes if p not in lost], lost=lost, cancelled=cancelled)
