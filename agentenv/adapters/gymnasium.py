"""Any gymnasium environment as a text environment: `agentenv serve gym:FrozenLake-v1`.

What differs from playing it in gymnasium:

- Observations are JSON text, actions are read from JSON text; one that is no action costs a step and changes nothing.
- The wrapped time limit is off; it is the card's `max_steps` instead (1,000 where gymnasium sets none).
- Success is a return of at least `success_return` when the env terminates. At its own time limit (CartPole's 500) the
  return counts too, provided that every step of it was played: steps lost to bad text, or a smaller `max_steps`, make
  it a plain failure, since a return of few steps may look better than it is (MountainCar loses 1 a step).
- An env that truncates by itself, without gymnasium's time limit, has terminated: the same rule decides.
- Tasks are seeds: `train` 0-9999, `dev` 10000-10999, `test` 11000-11999.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentenv.env import Env
from agentenv.errors import BadCall, EnvUnavailable, EpisodeOver, ResetNeeded, UnknownEnv, UnknownOption
from agentenv.functions import function
from agentenv.protocol import Action, Outcome, StepResult, Task, digest_of
from agentenv.registry import Concurrency, EnvSpec, Option

if TYPE_CHECKING:
    import gymnasium
    from gymnasium.envs.registration import EnvSpec as GymSpec

PREFIX = "gym:"
SEEDS: dict[str, tuple[int, int]] = {"train": (0, 10_000), "dev": (10_000, 11_000), "test": (11_000, 12_000)}
DEFAULT_MAX_STEPS = 1000
ANY_FINITE = 1e12
"""Gymnasium declares no range of rewards; this one refuses only what is not finite."""
MOST_LISTED = 1000
"""A discrete space up to this size lists its actions."""
VERSION = "1"


def wire_id(gym_id: str) -> str:
    """`FrozenLake-v1` -> `gym_frozenlake_v1`."""
    return "gym_" + re.sub(r"[^a-z0-9]+", "_", gym_id.lower()).strip("_")


def spec_for(name: str, success_return: float | str | None = None) -> EnvSpec:
    """The spec of `gym:ID`.

    `success_return` is the return from which an episode is a success; None takes gymnasium's own reward threshold, and
    an env that has none is refused (UnknownOption).
    """
    import gymnasium

    gym_id = name.removeprefix(PREFIX)
    known = _gym_spec(gym_id)
    threshold = known.reward_threshold if success_return is None else _number(success_return)
    id = wire_id(gym_id)
    if threshold is None:
        raise UnknownOption(
            f"{name} declares no reward threshold, so nothing says what success is; "
            f"set the option success_return (`--env-option success_return=1.0`, "
            f"or `{id}.success_return=1.0` for `agentenv serve`)"
        )
    grammar, schema, max_steps = _probe(gym_id)
    return EnvSpec(
        id=id,
        version=f"{VERSION}+gymnasium.{gymnasium.__version__}",
        gym_name=gym_id.replace("/", "_").replace(":", "_"),
        title=f"{gym_id} of gymnasium, as text",
        entry="agentenv.adapters.gymnasium:GymText",
        tasks="agentenv.adapters.gymnasium:seed_tasks",
        concurrency=Concurrency.ANY_THREAD,
        max_steps=max_steps,
        success_rule="the return is at least success_return when the env terminates or its whole time limit is played",
        action_grammar=grammar,
        functions=(function("act", "Do one action.", "{action}", action=schema),),
        options=(
            Option(
                name="success_return",
                type=float,
                default=float(threshold),
                help="return from which an episode is a success",
                scope="server",
            ),
            Option(
                name="gym_id",
                type=str,
                default=gym_id,
                help="gymnasium's id of the env",
                scope="server",
                choices=(gym_id,),
            ),
        ),
        reward_range=(-ANY_FINITE, ANY_FINITE),
        return_range=(-ANY_FINITE, ANY_FINITE),
        solvable=False,
        licence="that of the wrapped env",
    )


def _number(text: float | str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UnknownOption(f"option success_return={text!r}: must be a number") from None


def _gym_spec(gym_id: str) -> GymSpec:
    """Gymnasium's own spec; EnvUnavailable when the `module:` before the id cannot be imported."""
    import gymnasium

    module, _, plain_id = gym_id.rpartition(":")
    try:
        if module:
            __import__(module)
        return gymnasium.spec(plain_id)
    except ImportError as exc:
        raise EnvUnavailable(f"{PREFIX}{gym_id} is unavailable: {exc}") from exc
    except gymnasium.error.Error as exc:
        versions = [name for name in gymnasium.registry if name.rpartition("-v")[0] == plain_id]
        hint = f"; write {PREFIX}{versions[-1]}" if versions else ""
        raise UnknownEnv(f"no environment {PREFIX}{gym_id}: {exc}{hint}") from exc


def _make(gym_id: str) -> gymnasium.Env[Any, Any]:
    """The env without gymnasium's time limit and checker."""
    import gymnasium

    try:
        return gymnasium.make(gym_id, max_episode_steps=-1, disable_env_checker=True)
    except (ImportError, gymnasium.error.Error) as exc:
        raise EnvUnavailable(f"{PREFIX}{gym_id} is unavailable: {exc}") from exc


def _probe(gym_id: str) -> tuple[str, Mapping[str, Any], int]:
    """The grammar of its actions, their JSON Schema, and its time limit in steps."""
    from agentenv.adapters.gym_text import grammar, schema, supported

    env = _make(gym_id)
    try:
        if not supported(env.action_space):
            raise BadCall(f"{PREFIX}{gym_id}: actions of the space {env.action_space} have no text form")
        limit = _gym_spec(gym_id).max_episode_steps or DEFAULT_MAX_STEPS
        return grammar(env.action_space), schema(env.action_space), limit
    finally:
        env.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedTasks:
    """A task is a seed; the splits are ranges of seeds that do not meet."""

    env: str
    options: Mapping[str, Any]

    @property
    def digest(self) -> str:
        """Over the ranges and the options: the seeds say nothing else."""
        return digest_of([VERSION, SEEDS, dict(self.options)])

    def splits(self) -> tuple[str, ...]:
        """Names of the splits."""
        return tuple(SEEDS)

    def count(self, split: str) -> int:
        """Number of seeds of `split`."""
        first, end = SEEDS[split]
        return end - first

    def get(self, split: str, index: int) -> Task:
        """The task whose seed is the split's first plus `index`."""
        return Task(
            id=f"{self.env}/{split}/{index}", env=self.env, split=split, index=index, seed=SEEDS[split][0] + index
        )


def seed_tasks(options: dict[str, Any]) -> SeedTasks:
    """The tasks of the env that `options["gym_id"]` names."""
    return SeedTasks(env=wire_id(options["gym_id"]), options=options)


class GymText(Env):
    """One gymnasium env; see the module's text for the rules."""

    def __init__(self, *, gym_id: str, success_return: float) -> None:
        self.gym_id, self.success_return = gym_id, success_return
        self._env = _make(gym_id)
        self._time_limit = _gym_spec(gym_id).max_episode_steps
        self._running: bool | None = None  # None until the first reset
        self._played = 0
        self._return = 0.0

    def reset(self, task: Task) -> StepResult:
        """Seed and reset the wrapped env; the first observation says what an action and the goal are."""
        from agentenv.adapters.gym_text import grammar, render

        observation, info = self._env.reset(seed=task.seed)
        self._running, self._played, self._return = True, 0, 0.0
        head = (
            f"Environment: {self.gym_id}. An action is {grammar(self._env.action_space)}. "
            f"The goal is a sum of rewards of at least {self.success_return:g}.\n"
        )
        return StepResult(observation=head + f"Observation: {render(observation)}", info=_json_only(info))

    def step(self, action: Action) -> StepResult:
        """Do the action that the text names; a text that names none leaves the env as it is."""
        from agentenv.adapters.gym_text import BadText, parse_action, render

        if self._running is None:
            raise ResetNeeded("step() before reset(); call reset(task) first")
        if not self._running:
            raise EpisodeOver("the episode has ended; call reset(task)")
        try:
            value = parse_action(self._env.action_space, action.text.strip())
        except BadText as exc:
            return StepResult(observation=f"Invalid action: {exc}.")
        observation, reward, terminated, truncated, info = self._env.step(value)
        self._played += 1
        self._return += float(reward)
        text = f"Observation: {render(observation)}\nReward: {float(reward):g}"
        if not (terminated or truncated):
            return StepResult(observation=text, reward=float(reward), info=_json_only(info))
        self._running = False
        return StepResult(
            observation=f"{text}\nThe episode has ended.",
            reward=float(reward),
            terminated=True,
            success=self._return >= self.success_return,
            score=self._return,
            info=_json_only(info),
        )

    def available_actions(self) -> list[str] | None:
        """Every integer of a discrete space; None for the others."""
        from gymnasium import spaces

        match self._env.action_space:
            case spaces.Discrete() as space if space.n <= MOST_LISTED:
                return [str(int(space.start) + i) for i in range(int(space.n))]
            case _:
                return None

    def finish(self, reason: Outcome) -> StepResult | None:
        """The env's own time limit, played in full, ends an episode by its return; any other cut is a failure."""
        whole = reason is Outcome.STEP_LIMIT and self._played == self._time_limit
        return StepResult(
            observation=self.last.observation,
            success=whole and self._return >= self.success_return,
            score=self._return,
        )

    def close(self) -> None:
        """Close the wrapped env; gymnasium allows it twice."""
        self._env.close()


def _json_only(info: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of an info that JSON can hold."""
    from agentenv.adapters.gym_text import plain

    kept = {}
    for key, value in info.items():
        value = plain(value)
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError):
            continue
        kept[str(key)] = value
    return kept
