"""Plays TextCraft directly, without a session."""

from agentenv.protocol import Action, StepResult, Task
from envservers.games.textcraft.env import TextCraft
from envservers.games.textcraft.spec import SPEC

STICK_WORLD = "craft 4 oak planks using 1 oak logs\ncraft 4 stick using 2 planks"


def env_with(task: Task, **options: object) -> TextCraft:
    """A fresh env at the start of `task`."""
    env = SPEC.make(options)
    assert isinstance(env, TextCraft)
    env.last = env.reset(task)
    return env


def fixed(goal: str, commands: str = "", **options: object) -> TextCraft:
    """A fresh env whose world and goal are given."""
    task = SPEC.task_set({"commands": commands, "goal": goal, **options}).get("fixed", 0)
    return env_with(task, commands=commands, goal=goal, **options)


def say(env: TextCraft, *texts: str) -> list[StepResult]:
    """Each action in turn."""
    return [env.step(Action(text=text)) for text in texts]


def seen(env: TextCraft, *texts: str) -> list[str]:
    """The observations of each action in turn."""
    return [result.observation for result in say(env, *texts)]


def solved(env: TextCraft, task: Task) -> list[StepResult]:
    """The results of the scripted solution."""
    env.last = env.reset(task)
    results = []
    solution = env.solve(task)
    action = next(solution)
    while True:
        env.last = env.step(action)
        results.append(env.last)
        if env.last.terminated or len(results) == task.max_steps:
            return results
        action = solution.send(env.last)
