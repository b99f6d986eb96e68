"""A bare env and the smallest episode loop, so that agents are tested without sessions or servers."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Generator

from agentenv.agents import AgentSpec, Move, Seat
from agentenv.env import Env
from agentenv.protocol import Action, StepResult, Task
from agentenv.registry import Concurrency, EnvSpec

DOORS = ("open left", "open right")


class Doors(Env):
    """Three rooms; in each, the door that the task names is the right one."""

    def reset(self, task: Task) -> StepResult:
        self._way = list(task.payload["way"])
        return StepResult(observation=f"Two doors, {len(self._way)} rooms to go.")

    def step(self, action: Action) -> StepResult:
        if action.text not in DOORS:
            return StepResult(observation=f"You cannot {action.text!r}.")
        if action.text != f"open {self._way[0]}":
            return StepResult(observation="A wall.")
        self._way.pop(0)
        if self._way:
            return StepResult(observation=f"Two doors, {len(self._way)} rooms to go.")
        return StepResult(observation="Out!", reward=1.0, terminated=True, success=True)

    def available_actions(self) -> list[str] | None:
        return list(DOORS)

    def solve(self, task: Task) -> Generator[Action, StepResult, None]:
        for side in task.payload["way"]:
            yield Action(text=f"open {side}")


class OpenDoors(Doors):
    """The same without a list of actions."""

    def available_actions(self) -> list[str] | None:
        return None


class BricksOnly(Doors):
    """The same with nothing to choose from."""

    def available_actions(self) -> list[str] | None:
        return []


SPEC = EnvSpec(
    id="doors",
    version="1",
    gym_name="Doors-v0",
    title="Three rooms with two doors each",
    entry="agent_play:Doors",
    tasks="agent_play:none",
    concurrency=Concurrency.INLINE,
    max_steps=8,
    success_rule="The last room is left.",
    action_grammar="open left\nopen right",
)
TASK = Task(id="doors/test/0", env="doors", split="test", index=0, payload={"way": ["left", "right", "left"]})


class BareView:
    """What an agent may ask, answered by the env itself."""

    def __init__(self, env: Env, task: Task) -> None:
        self._env, self._solution = env, env.solve(task)

    async def available_actions(self) -> list[str] | None:
        return self._env.available_actions()

    async def oracle(self) -> Action:
        return next(self._solution)


def play(
    agent: AgentSpec, *, env: Env | None = None, spec: EnvSpec = SPEC, steps: int = 8, seed: int = 0
) -> list[Move]:
    """Every move of one episode; a malformed action is answered as a session would."""
    return asyncio.run(play_async(agent, env=env, spec=spec, steps=steps, seed=seed))


async def play_async(
    agent: AgentSpec, *, env: Env | None = None, spec: EnvSpec = SPEC, steps: int = 8, seed: int = 0
) -> list[Move]:
    """See `play`; inside a running event loop."""
    env = env or Doors()
    seat = Seat(spec=spec, task=TASK.ref(), view=BareView(env, TASK), max_steps=steps, rng=random.Random(seed))
    player = agent.make()
    await player.start(seat)
    env.last, moves = env.reset(TASK), list[Move]()
    while len(moves) < steps and not env.last.terminated:
        move = await player.act(env.last.observation)
        moves.append(move)
        if move.action.malformed is not None:
            env.last = StepResult(observation=spec.malformed_text.format(reason=move.action.malformed))
        else:
            env.last = env.step(move.action)
    return moves
