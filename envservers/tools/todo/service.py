"""What the tools do: each a function from a state and its arguments to the state afterwards and a reply."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec

from agentenv.functions.table import Refused
from envservers.tools.todo import calls as c
from envservers.tools.todo.state import MAX_DEPTH, Item, Project, Section, State
from envservers.tools.toolkit.table import Arguments, Tool, Toolkit

Result = tuple[State, object]
COLOR = "charcoal"
"""Of a new project."""
_HIDDEN = frozenset({"project_id", "description", "duration_minutes", "is_completed"})
"""What a listing of tasks leaves to other tools, or is the same for all of them."""


def current_date(state: State, _: c.GetUserCurrentDate) -> Result:
    """Today, with the day of the week."""
    return state, {"date": state.today.isoformat(), "weekday": f"{state.today:%A}"}


def current_location(state: State, _: c.GetUserCurrentLocation) -> Result:
    """A city."""
    return state, {"location": state.location}


def people(state: State, _: c.GetPeople) -> Result:
    """All of them."""
    return state, [_row(person) for person in state.people.values()]


def projects(state: State, _: c.GetProjects) -> Result:
    """All of them."""
    return state, [_row(project) for project in state.projects.values()]


def sections(state: State, call: c.GetSections) -> Result:
    """Of one project."""
    project = state.project(call.project_id)
    return state, [{"id": s.id, "name": s.name} for s in state.sections_of(project.id)]


def open_tasks(state: State, call: c.GetTasks) -> Result:
    """Of one project."""
    project = state.project(call.project_id)
    return state, [_task_row(task) for task in state.tasks_of(project.id)]


def completed_tasks(state: State, call: c.GetCompletedTasks) -> Result:
    """Of one project."""
    project = state.project(call.project_id)
    return state, [_task_row(task) for task in state.tasks_of(project.id, completed=True)]


def description(state: State, call: c.GetTaskDescription) -> Result:
    """Of one task."""
    return state, {"description": state.task(call.task_id).description}


def duration(state: State, call: c.GetTaskDuration) -> Result:
    """Of one task; null where nobody has said."""
    return state, {"duration_minutes": state.task(call.task_id).duration_minutes}


def create_project(state: State, call: c.CreateProject) -> Result:
    """Its id."""
    state, id = state.next_id()
    return state.put(Project(id=id, name=call.name, color=COLOR)), {"id": id}


def update_project(state: State, call: c.UpdateProject) -> Result:
    """The project as it is now."""
    project = replace(state.project(call.project_id), **_given(call, "project_id"))
    return state.put(project), _row(project)


def delete_project(state: State, call: c.DeleteProject) -> Result:
    """How many tasks went with it."""
    project = state.project(call.project_id)
    tasks = {t.id for t in state.tasks.values() if t.project_id == project.id}
    inside = tasks | {s.id for s in state.sections_of(project.id)}
    return state.without({project.id, *inside}), {"deleted_tasks": len(tasks)}


def create_section(state: State, call: c.CreateSection) -> Result:
    """Its id."""
    project = state.project(call.project_id)
    state, id = state.next_id()
    return state.put(Section(id=id, project_id=project.id, name=call.name)), {"id": id}


def update_section(state: State, call: c.UpdateSection) -> Result:
    """The section as it is now."""
    section = replace(state.section(call.section_id), name=call.name)
    return state.put(section), _row(section)


def delete_section(state: State, call: c.DeleteSection) -> Result:
    """How many tasks went with it."""
    section = state.section(call.section_id)
    tasks = {t.id for t in state.tasks.values() if t.section_id == section.id}
    return state.without({section.id, *tasks}), {"deleted_tasks": len(tasks)}


def create_task(state: State, call: c.CreateTask) -> Result:
    """Its id."""
    project = state.project(call.project_id)
    section_id = call.section_id
    if call.parent_id is not None:
        parent = state.task(call.parent_id)
        if parent.project_id != project.id:
            raise Refused("the parent task is in another project")
        if section_id not in (None, parent.section_id):
            raise Refused("the parent task is not in that section")
        if state.depth(parent.id) >= MAX_DEPTH:
            raise Refused(f"subtasks go {MAX_DEPTH} levels deep")
        section_id = parent.section_id
    _check_section(state, project, section_id)
    if call.assignee_id is not None:
        state.person(call.assignee_id)
    state, id = state.next_id()
    fields = {**_given(call), "section_id": section_id, "labels": _labels(call.labels)}
    return state.put(Item(id=id, **fields)), {"id": id}


def update_task(state: State, call: c.UpdateTask) -> Result:
    """The task as it is now."""
    fields = _given(call, "task_id")
    if fields.get("assignee_id") is not None:
        state.person(fields["assignee_id"])
    if "labels" in fields:
        fields["labels"] = _labels(fields["labels"])
    task = replace(state.task(call.task_id), **fields)
    return state.put(task), _task_row(task)


def move_task(state: State, call: c.MoveTask) -> Result:
    """The task as it is now. A subtask that is moved is no subtask any more."""
    task, project = state.task(call.task_id), state.project(call.project_id)
    _check_section(state, project, call.section_id)
    place: dict[str, Any] = {"project_id": project.id, "section_id": call.section_id}
    moved = replace(task, parent_id=None, **place)
    return state.put(moved, *(replace(t, **place) for t in state.below(task.id))), _task_row(moved)


def complete_task(state: State, call: c.CompleteTask) -> Result:
    """How many were completed."""
    task = state.task(call.task_id)
    if task.is_completed:
        raise Refused("the task is already completed")
    ends = [t for t in (task, *state.below(task.id)) if not t.is_completed]
    return state.put(*(replace(t, is_completed=True) for t in ends)), {"completed": len(ends)}


def reopen_task(state: State, call: c.ReopenTask) -> Result:
    """The task as it is now."""
    task = state.task(call.task_id)
    if not task.is_completed:
        raise Refused("the task is open")
    task = replace(task, is_completed=False)
    return state.put(task), _task_row(task)


def delete_task(state: State, call: c.DeleteTask) -> Result:
    """How many were deleted."""
    task = state.task(call.task_id)
    gone = {task.id, *(t.id for t in state.below(task.id))}
    return state.without(gone), {"deleted": len(gone)}


TOOLKIT: Toolkit[State] = Toolkit(
    (
        Tool(arguments=c.GetUserCurrentDate, run=current_date),
        Tool(arguments=c.GetUserCurrentLocation, run=current_location),
        Tool(arguments=c.GetPeople, run=people),
        Tool(arguments=c.GetProjects, run=projects),
        Tool(arguments=c.GetSections, run=sections),
        Tool(arguments=c.GetTasks, run=open_tasks),
        Tool(arguments=c.GetCompletedTasks, run=completed_tasks),
        Tool(arguments=c.GetTaskDescription, run=description),
        Tool(arguments=c.GetTaskDuration, run=duration),
        Tool(arguments=c.CreateProject, run=create_project, writes=True),
        Tool(arguments=c.UpdateProject, run=update_project, writes=True),
        Tool(arguments=c.DeleteProject, run=delete_project, writes=True),
        Tool(arguments=c.CreateSection, run=create_section, writes=True),
        Tool(arguments=c.UpdateSection, run=update_section, writes=True),
        Tool(arguments=c.DeleteSection, run=delete_section, writes=True),
        Tool(arguments=c.CreateTask, run=create_task, writes=True),
        Tool(arguments=c.UpdateTask, run=update_task, writes=True),
        Tool(arguments=c.MoveTask, run=move_task, writes=True),
        Tool(arguments=c.CompleteTask, run=complete_task, writes=True),
        Tool(arguments=c.ReopenTask, run=reopen_task, writes=True),
        Tool(arguments=c.DeleteTask, run=delete_task, writes=True),
    )
)


def _check_section(state: State, project: Project, section_id: str | None) -> None:
    if section_id is not None and state.section(section_id).project_id != project.id:
        raise Refused("the section is in another project")


def _given(call: Arguments, *but: str) -> dict[str, Any]:
    """The arguments that were given, but not these."""
    values = {name: getattr(call, name) for name in call.__struct_fields__}
    return {name: value for name, value in values.items() if value is not msgspec.UNSET and name not in but}


def _labels(labels: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(labels))


def _row(thing: object) -> Mapping[str, Any]:
    row: dict[str, Any] = msgspec.to_builtins(thing)
    return row


def _task_row(task: Item) -> Mapping[str, Any]:
    """Without what it does not have."""
    return {n: v for n, v in _row(task).items() if n not in _HIDDEN and v not in (None, "", ())}
