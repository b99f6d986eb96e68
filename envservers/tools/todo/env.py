"""The task-list service as an environment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

from agentenv.protocol import Task
from envservers.tools.todo import calls as c
from envservers.tools.todo.cases import case
from envservers.tools.todo.compare import same
from envservers.tools.todo.mutants import mutants
from envservers.tools.todo.service import TOOLKIT
from envservers.tools.todo.state import Item, Person, Project, Section, State
from envservers.tools.toolkit.answers import IMPOSSIBLE
from envservers.tools.toolkit.env import Case, ToolEnv
from envservers.tools.toolkit.table import Arguments, Finish


class TodoEnv(ToolEnv[State]):
    """A goal in words, 21 tools, and a list whose end state is compared as a whole."""

    toolkit = TOOLKIT

    def case_of(self, task: Task) -> Case[State]:
        """The world and the goal of a task."""
        return case(task.payload)

    def same(self, end: State, case: Case[State]) -> bool:
        """Whether everything is as expected; ids of new things do not matter."""
        return same(end, case.expected, case.start)

    def mutants(self, case: Case[State]) -> Mapping[str, tuple[Sequence[Arguments], object]]:
        """Wrong ways of doing it."""
        return mutants(case)

    def candidates(self, state: State, shown: frozenset[str]) -> list[Arguments]:
        """Every read, and writes with a few values, of what was shown."""
        found: list[Arguments] = [c.GetUserCurrentDate(), c.GetUserCurrentLocation(), c.GetPeople(), c.GetProjects()]
        found.append(c.CreateProject(name="New project"))
        for project in (p for p in state.projects.values() if p.id in shown):
            found += [
                c.GetSections(project_id=project.id),
                c.GetTasks(project_id=project.id),
                c.GetCompletedTasks(project_id=project.id),
                c.UpdateProject(project_id=project.id, is_favorite=not project.is_favorite),
                c.DeleteProject(project_id=project.id),
                c.CreateSection(project_id=project.id, name="New section"),
                c.CreateTask(project_id=project.id, content="New task"),
            ]
        for section in (s for s in state.sections.values() if s.id in shown):
            found += [c.UpdateSection(section_id=section.id, name="Section"), c.DeleteSection(section_id=section.id)]
        for task in (t for t in state.tasks.values() if t.id in shown):
            found += _of_task(task, state, shown)
        return found + list(map(_finish, _answers(state, shown)))


def _finish(answer: str | int | None) -> Finish:
    return Finish(answer=answer)


def _answers(state: State, shown: frozenset[str]) -> Iterator[str | int | None]:
    """Once a project was shown: nothing, that it is impossible, small numbers, and every name that was shown."""
    if shown.isdisjoint(state.projects):
        return
    yield from (None, IMPOSSIBLE, *range(10))
    tables: tuple[Mapping[str, Person | Project | Section], ...] = (state.people, state.projects, state.sections)
    named = {id: thing.name for table in tables for id, thing in table.items()}
    named |= {id: task.content for id, task in state.tasks.items()}
    yield from dict.fromkeys(name for id, name in named.items() if id in shown)


def _of_task(task: Item, state: State, shown: frozenset[str]) -> Iterator[Arguments]:
    yield c.GetTaskDescription(task_id=task.id)
    yield c.GetTaskDuration(task_id=task.id)
    yield c.DeleteTask(task_id=task.id)
    yield c.ReopenTask(task_id=task.id) if task.is_completed else c.CompleteTask(task_id=task.id)
    for priority in range(1, 5):
        if priority != task.priority:
            yield c.UpdateTask(task_id=task.id, priority=priority)
    for due in (None, state.today, state.today + timedelta(days=1)):
        if due != task.due_date:
            yield c.UpdateTask(task_id=task.id, due_date=due)
    for person in state.people:
        if person in shown and person != task.assignee_id:
            yield c.UpdateTask(task_id=task.id, assignee_id=person)
    for section in state.sections_of(task.project_id):
        if section.id in shown and section.id != task.section_id:
            yield c.MoveTask(task_id=task.id, project_id=task.project_id, section_id=section.id)
