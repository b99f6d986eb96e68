"""Players that must not win: what they score, any agent gets without understanding a task.

Each takes the texts of observations and gives texts of actions, as an agent does. `oracle.solve` is the one that wins.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Generator, Sequence

from envservers.webarena.tasks.observed import Line, read_lines
from envservers.webarena.tasks.oracle import solve
from envservers.webarena.tasks.plan import Go, Plan, Stop

Acting = Generator[str, str, None]
OBJECTIVE = re.compile(r"^OBJECTIVE: (.*)$", re.MULTILINE)
WALK = 12
"""Steps of a random walk before it stops."""


def stop_at_once(observation: str) -> Acting:
    """Says that it is done."""
    yield "stop []"


def not_available(observation: str) -> Acting:
    """Says that it cannot be done."""
    yield "stop [N/A]"


def start_page(observation: str) -> Acting:
    """Answers with the first amount or number that the start page shows."""
    names = (line.name for line in read_lines(observation) if line.role != "RootWebArea")
    found = next((m.group() for name in names if (m := re.search(r"\$?\d[\d,.]*\d|\d", name))), "0")
    yield f"stop [{found}]"


def random_walk(rng: random.Random) -> Callable[[str], Acting]:
    """Clicks whatever link, button or box comes up, then answers with a text that it saw."""

    def walk(observation: str) -> Acting:
        lines = read_lines(observation)
        for _ in range(WALK):
            choices = [line for line in lines if line.id and line.role in ("link", "button", "checkbox", "radio")]
            action = f"click [{rng.choice(choices).id}]" if choices and rng.random() < 0.9 else "scroll [down]"
            lines = read_lines((yield action))
        texts = [line.name for line in lines if line.name.strip()]
        yield f"stop [{rng.choice(texts) if texts else ''}]"

    return walk


def nearest_words(observation: str) -> Acting:
    """Clicks the link or button that shares most words with the objective, then stops with what comes behind it."""
    objective = OBJECTIVE.search(observation)
    wanted = _words(objective[1] if objective else "")
    choices = [line for line in read_lines(observation) if line.id and line.role in ("link", "button")]
    best = max(choices, key=lambda line: (len(_words(line.name) & wanted), -line.id), default=None)
    if best is not None:
        observation = yield f"click [{best.id}]"
    yield f"stop [{_first_value(read_lines(observation), wanted)}]"


def _first_value(lines: Sequence[Line], wanted: set[str]) -> str:
    """The text behind the line of the page that shares most words with the objective."""
    if not lines:
        return ""
    best = max(range(len(lines)), key=lambda place: (len(_words(lines[place].name) & wanted), -place))
    return next((line.name for line in lines[best + 1 :] if line.name.strip()), "")


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.lower()) if len(word) > 2}


def over_answer(plan: Plan) -> Callable[[str], Acting]:
    """Solves the task, and answers with the right value and a wrong one."""

    def play(observation: str) -> Acting:
        steps = solve(observation, plan)
        action = next(steps)
        while not action.startswith("stop ["):
            action = steps.send((yield action))
        answer = action[6:-1]
        yield f"stop [{answer}; {_other(answer)}]"

    return play


def _other(answer: str) -> str:
    """A value of the same form."""
    if re.search(r"\d", answer):
        return re.sub(r"\d", lambda digit: str((int(digit.group()) + 1) % 10), answer, count=1)
    return f"{answer} too"


def twice(plan: Plan, start: str) -> Callable[[str], Acting]:
    """Does what is asked, from the start page once more, and stops."""
    work = [step for step in plan if not isinstance(step, Stop)]
    return lambda observation: solve(observation, [*work, Go(start), *work, Stop()])


def near_miss(other: Plan) -> Callable[[str], Acting]:
    """Does what another task of the template asks."""
    return lambda observation: solve(observation, other)
