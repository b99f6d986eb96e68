"""The tools of the task list as records of their arguments; the card's schemas are made from them."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from msgspec import UNSET, Meta, UnsetType, field

from envservers.tools.toolkit.table import Arguments

Id = Annotated[str, Meta(max_length=40, description="id of ten digits, as the service lists it")]
Text = Annotated[str, Meta(min_length=1, max_length=500)]
Long = Annotated[str, Meta(max_length=2000)]
Priority = Annotated[int, Meta(ge=1, le=4, description="1 to 4; 4 is the most urgent, 1 is normal")]
Minutes = Annotated[int, Meta(ge=1, le=1440)]
Labels = Annotated[list[Text], Meta(max_length=20, description="all labels of the task")]
Due = Annotated[date, Meta(description="YYYY-MM-DD")]


class GetUserCurrentDate(Arguments):
    """Tell the date of today."""


class GetUserCurrentLocation(Arguments):
    """Tell where the user is."""


class GetPeople(Arguments):
    """List the people to whom tasks can be assigned."""


class GetProjects(Arguments):
    """List the projects."""


class GetSections(Arguments):
    """List the sections of a project."""

    project_id: Id


class GetTasks(Arguments):
    """List the open tasks of a project, subtasks too. What a task does not have is left out."""

    project_id: Id


class GetCompletedTasks(Arguments):
    """List the completed tasks of a project."""

    project_id: Id


class GetTaskDescription(Arguments):
    """Tell the description of a task."""

    task_id: Id


class GetTaskDuration(Arguments):
    """Tell how many minutes a task takes."""

    task_id: Id


class CreateProject(Arguments):
    """Create a project."""

    name: Text


class UpdateProject(Arguments):
    """Change a project; what is not given stays."""

    project_id: Id
    name: Text | UnsetType = UNSET
    color: Text | UnsetType = UNSET
    is_favorite: bool | UnsetType = UNSET


class DeleteProject(Arguments):
    """Delete a project with all that is in it."""

    project_id: Id


class CreateSection(Arguments):
    """Create a section in a project."""

    project_id: Id
    name: Text


class UpdateSection(Arguments):
    """Rename a section."""

    section_id: Id
    name: Text


class DeleteSection(Arguments):
    """Delete a section with its tasks."""

    section_id: Id


class CreateTask(Arguments):
    """Create a task in a project; with `section_id` in that section of it, with `parent_id` below that task of it."""

    project_id: Id
    content: Text
    section_id: Id | None = None
    parent_id: Id | None = None
    description: Long = ""
    due_date: Due | None = None
    priority: Priority = 1
    labels: Labels = field(default_factory=list)
    duration_minutes: Minutes | None = None
    assignee_id: Id | None = None


class UpdateTask(Arguments):
    """Change a task; what is not given stays, null takes away. `labels` replaces all labels."""

    task_id: Id
    content: Text | UnsetType = UNSET
    description: Long | UnsetType = UNSET
    due_date: Due | UnsetType | None = UNSET
    priority: Priority | UnsetType = UNSET
    labels: Labels | UnsetType = UNSET
    duration_minutes: Minutes | UnsetType | None = UNSET
    assignee_id: Id | UnsetType | None = UNSET


class MoveTask(Arguments):
    """Move a task, with its subtasks, to a project or to one of its sections (null: to no section)."""

    task_id: Id
    project_id: Id
    section_id: Id | None = None


class CompleteTask(Arguments):
    """Complete a task; its open subtasks are completed with it."""

    task_id: Id


class ReopenTask(Arguments):
    """Open a completed task again."""

    task_id: Id


class DeleteTask(Arguments):
    """Delete a task with its subtasks."""

    task_id: Id
