"""Small plays for the tests of Search."""

from agentenv.protocol import Task
from envservers.search.env import SearchEnv


def first_of(world, split: str, category: str) -> Task:
    tasks = (world.get(split, index) for index in range(world.count(split)))
    return next(task for task in tasks if task.category == category)


def solved(env: SearchEnv, task: Task) -> bool:
    env.last = env.reset(task)
    solution = env.solve(task)
    try:
        action = next(solution)
        while not (result := env.step(action)).terminated:
            action = solution.send(result)
    except StopIteration:
        return False
    return bool(result.success)
