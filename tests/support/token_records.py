"""Recorded episodes with tokens, made by a scripted engine or by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from scripted_engine import ScriptedEngine

from agentenv.agents import Move
from agentenv.agents.tokens import TokenPolicy
from agentenv.policy import Sampling
from agentenv.protocol import Action, Outcome, TaskRef
from agentenv.render import Renderer
from agentenv.rollout import turn_of
from agentenv.trajectory import Trajectory, Turn


def record(turns: Sequence[Turn], *, outcome: Outcome = Outcome.FAILURE, final: str = "", index: int = 0) -> Trajectory:
    """A trajectory of these turns."""
    task = TaskRef(id=f"toy/train/{index}", env="toy", split="train", index=index, digest="")
    return Trajectory(
        task=task,
        env="toy",
        env_version="1",
        agent={"name": "react"},
        outcome=outcome,
        success=outcome is Outcome.SUCCESS,
        reward=sum(t.reward for t in turns),
        last_reward=turns[-1].reward if turns else 0.0,
        score=None,
        steps=len(turns),
        turns=list(turns),
        final_observation=final,
    )


def token_turn(added: Sequence[int], sampled: Sequence[int], *, fresh: bool = False, **other: Any) -> Turn:
    """A turn by its ids alone."""
    known = {"logprobs": [-0.5] * len(sampled), "policy_version": 0, "observation": "", "action": "", "reward": 0.0}
    return Turn(prompt_ids=list(added), token_ids=list(sampled), fresh=fresh, **{**known, **other})


def played(
    renderer: Renderer,
    observations: Sequence[str],
    sampled: Sequence[Sequence[int]],
    *,
    stops: Sequence[int] | None = None,
    version: int = 0,
    outcome: Outcome = Outcome.FAILURE,
    final: str = "the end",
    index: int = 0,
) -> Trajectory:
    """An episode in which the engine returns `sampled`, as the rollout records it."""

    async def run() -> list[Turn]:
        engine = ScriptedEngine(sampled, stops=renderer.stop_ids if stops is None else stops)
        engine.version = version
        policy = TokenPolicy(engine, renderer, Sampling(), max_prompt_tokens=2000, max_episode_tokens=4000)
        said: list[dict[str, Any]] = []
        turns = []
        for observation in observations:
            added = [{"role": "user", "content": observation}]
            completion = await policy.complete([*said, *added], seed=0)
            added.append({"role": "assistant", "content": completion.text})
            said += added
            move = Move(action=Action(text=completion.text), completion=completion, messages=added)
            turns.append(turn_of(observation, move, 0.0, {}))
        return turns

    return record(asyncio.run(run()), outcome=outcome, final=final, index=index)
