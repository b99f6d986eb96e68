"""Small plays for the tests of WebShop."""

from agentenv.protocol import Action, StepResult, Task
from envservers.shop.webshop.env import WebShop
from envservers.shop.webshop.pages import SEPARATOR
from envservers.shop.webshop.products import Goal, Product

SPLITS = ("train", "dev", "test", "test_ood")


def every_task(world, *splits: str) -> list[Task]:
    return [world.get(split, index) for split in splits or SPLITS for index in range(world.count(split))]


def do(env: WebShop, *texts: str) -> StepResult:
    for text in texts:
        env.last = env.step(Action(text=text))
    return env.last


def solution(env: WebShop, task: Task) -> list[tuple[str, StepResult]]:
    """Each action of the scripted solution with what came of it; reset's result first."""
    env.last = env.reset(task)
    played = [("", env.last)]
    solving = env.solve(task)
    try:
        action = next(solving)
        while True:
            env.last = env.step(action)
            played.append((action.text, env.last))
            action = solving.send(env.last)
    except StopIteration:
        return played


def parts(result: StepResult) -> list[str]:
    return result.observation.split(SEPARATOR)


def product(**given) -> Product:
    values = {
        "asin": "B000000001",
        "title": "Norvella Cotton Shirt",
        "query": "shirt",
        "category": "fashion › men › shirts",
        "price": 59.99,
        "price_tag": "$59.99",
        "options": {"color": ("red", "blue"), "size": ("s", "m")},
    }
    return Product(**{**values, **given})


def goal(**given) -> Goal:
    values = {
        "name": "Norvella Cotton Shirt",
        "query": "shirt",
        "category": "fashion › men › shirts",
        "attributes": ("machine washable", "slim fit", "long sleeve"),
        "options": ("red", "m"),
        "price_upper": 60.0,
    }
    return Goal(**{**values, **given})
