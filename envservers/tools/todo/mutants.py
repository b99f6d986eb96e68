"""Wrong ways of doing a task, made by machine: what is checked has to refuse each of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Any

import msgspec

from envservers.tools.todo import calls as c
from envservers.tools.todo.service import TOOLKIT
from envservers.tools.todo.state import State
from envservers.tools.toolkit.answers import IMPOSSIBLE
from envservers.tools.toolkit.env import Case
from envservers.tools.toolkit.table import Arguments, given

Mutant = tuple[Sequence[Arguments], object]


def mutants(case: Case[State]) -> dict[str, Mutant]:
    """By name: writes left out, done to the wrong thing, with the wrong value, one too many; wrong answers."""
    value = None if case.answer is None else case.answer["value"]
    writes = [call for call in case.calls if TOOLKIT.writes(call)]
    found: dict[str, Mutant] = {}
    if writes:
        found["nothing"] = [], value
    for at, call in enumerate(writes):
        rest = writes[:at], writes[at + 1 :]
        found[f"without {at}"] = [*rest[0], *rest[1]], value
        for name, wrong in _wrong(call, case.start):
            found[f"{name} of {at}"] = [*rest[0], wrong, *rest[1]], value
    for name, extra in _extra(case).items():
        found[name] = [*writes, extra], value
    if case.answer is not None:
        for number, answer in enumerate(_answers(case.answer)):
            found[f"answer {number}"] = writes, answer
    return found


def _wrong(call: Arguments, start: State) -> Iterator[tuple[str, Arguments]]:
    """The call with one argument changed."""
    for name, value in given(call).items():
        for other in _others(name, value, start):
            yield f"{name}={other}", msgspec.structs.replace(call, **{name: other})


def _others(name: str, value: Any, start: State) -> Iterator[Any]:
    """Values that are near and wrong."""
    if name.endswith("_id"):
        yield from _neighbors(value, start)
    elif isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield value - 1 if value > 1 else value + 1
    elif isinstance(value, date):
        yield value + timedelta(days=1)
        yield value - timedelta(days=1)
    elif isinstance(value, str):
        yield f"{value} 2"
    elif isinstance(value, list):
        yield [*value, "other"]
        if value:
            yield value[:-1]
    elif value is None:
        yield start.today


def _neighbors(id: str, start: State) -> Iterator[str]:
    """The things before and after in its table, and one of the same name elsewhere; None of a thing that is new."""
    for table in (start.people, start.projects, start.sections, start.tasks):
        ids = list(table)
        if id in table:
            at = ids.index(id)
            yield ids[at - 1]
            yield ids[(at + 1) % len(ids)]
    if id in start.tasks:
        yield from [t.id for t in start.tasks.values() if t.content == start.tasks[id].content and t.id != id][:1]


def _extra(case: Case[State]) -> Mapping[str, Arguments]:
    """Writes that nobody asked for."""
    end = case.expected
    project, task = next(iter(end.projects.values())), next(t for t in end.tasks.values() if not t.is_completed)
    return {
        "completes one more": c.CompleteTask(task_id=task.id),
        "deletes one more": c.DeleteTask(task_id=task.id),
        "changes one more": c.UpdateTask(task_id=task.id, priority=task.priority % 4 + 1),
        "describes one more": c.UpdateTask(task_id=task.id, description=f"{task.description} done"),
        "creates one more": c.CreateTask(project_id=project.id, content=task.content),
        "marks a project": c.UpdateProject(project_id=project.id, is_favorite=not project.is_favorite),
        "creates a section": c.CreateSection(project_id=project.id, name="Done"),
    }


def _answers(answer: Mapping[str, Any]) -> Iterator[object]:
    """Wrong ones."""
    value = answer["value"]
    yield None
    yield "done"
    if value != IMPOSSIBLE:
        yield IMPOSSIBLE
    match answer["type"]:
        case "number":
            yield from (value + 1, value - 1, str(value + 1), [str(value)], value == 1)
        case "date":
            yield (date.fromisoformat(value) + timedelta(days=1)).isoformat()
        case "text":
            yield from (f"{value} 2", value[:-2])
        case "texts":
            yield from ([*value, "other"], value[:-1], [*value, value[0]])
