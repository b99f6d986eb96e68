"""No environment tells an answer before it is looked up: in listings, prompt, first observation, actions, errors."""

import asyncio

import pytest
from leaks import names, told

from agentenv.errors import EnvUnavailable
from agentenv.registry import get_spec


def _search(task):
    unnamed = task.category in ("comparison", "unanswerable")  # one of the things named, or no name at all
    return [] if unnamed else task.payload["answers"]


def _todo(task):
    from envservers.tools.todo.cases import case

    answer = case(task.payload).answer
    if answer is None:
        return []
    values = answer["value"] if answer["type"] == "texts" else [answer["value"]]
    return [str(value) for value in values if len(str(value)) > 3]  # small numbers are everywhere


ANSWERS = {
    "math": lambda task: [task.payload["answer"]],
    "search": _search,
    "sql": lambda task: [task.payload["sql"]],
    "todo": _todo,
    "webshop": lambda task: [task.payload["asin"]],
}
"""Of the environments whose tasks have one. What lies where in a household, and the web's answers, have own tests."""
OPTIONS = {
    "math": {"mode": "calculator"},
    "search": {"size": "small"},
    "sql": {"mode": "multi"},
    "webshop": {"size": "small"},
}


@pytest.mark.parametrize("most", [50, pytest.param(10**9, marks=pytest.mark.slow)], ids=["some", "all"])
@pytest.mark.parametrize("env", ANSWERS)
def test_no_answer_is_told_before_it_is_looked_up(env, most):
    spec, options = get_spec(env), OPTIONS.get(env, {})

    async def read():
        splits = [split for split in spec.task_set(options).splits() if split.startswith(("dev", "test"))]
        found, looked = [], 0
        async for task, text in told(spec, splits, most=most, options=options):
            answers = ANSWERS[env](task)
            looked += bool(answers)
            found += [(task.id, answer) for answer in answers if names(answer, text)]
        return found, looked

    try:
        found, looked = asyncio.run(read())
    except EnvUnavailable as missing:
        pytest.skip(str(missing))
    assert not found
    assert looked >= 15


@pytest.mark.parametrize(
    ("answer", "text", "told"),
    [
        ("Mara Quill", "Who? mara  QUILL.", True),
        ("Mara Quill", "Maras Quills", False),
        ("cat", "a cat", False),
        ("12", "She has 12, he has 13.", True),
        ("12", "She has 112 or 1.12 or 12.5.", False),
        ("3/4", "3/4 of it", True),
    ],
)
def test_an_answer_is_found_as_words_of_its_own(answer, text, told):
    assert names(answer, text) is told
