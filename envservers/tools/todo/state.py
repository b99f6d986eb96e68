"""The task list as plain immutable records."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date

from agentenv.functions.table import Refused

MAX_THINGS = 500
"""Projects, sections or tasks that a list holds at most, of each."""
MAX_DEPTH = 4
"""Levels of subtasks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody to whom tasks are assigned."""

    id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A list of tasks, in sections or without."""

    id: str
    name: str
    color: str
    is_favorite: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A part of a project."""

    id: str
    project_id: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A task of the list, or a subtask when it has a parent."""

    id: str
    project_id: str
    content: str
    section_id: str | None = None
    parent_id: str | None = None
    description: str = ""
    due_date: date | None = None
    priority: int = 1
    """1 to 4; 4 is the most urgent."""
    labels: tuple[str, ...] = ()
    duration_minutes: int | None = None
    assignee_id: str | None = None
    is_completed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Everything that the service knows. The mappings are in the order of creation and are never changed in place."""

    key: str
    """What the ids of new things are made from."""
    made: int = 0
    """How many things were made so far."""
    today: date
    location: str
    people: Mapping[str, Person]
    projects: Mapping[str, Project]
    sections: Mapping[str, Section]
    tasks: Mapping[str, Item]

    def project(self, id: str) -> Project:
        """The project of an id; Refused when there is none."""
        if id not in self.projects:
            raise Refused(f"there is no project with id {id[:40]}")
        return self.projects[id]

    def section(self, id: str) -> Section:
        """The section of an id; Refused when there is none."""
        if id not in self.sections:
            raise Refused(f"there is no section with id {id[:40]}")
        return self.sections[id]

    def task(self, id: str) -> Item:
        """The task of an id; Refused when there is none."""
        if id not in self.tasks:
            raise Refused(f"there is no task with id {id[:40]}")
        return self.tasks[id]

    def person(self, id: str) -> Person:
        """The person of an id; Refused when there is none."""
        if id not in self.people:
            raise Refused(f"there is no person with id {id[:40]}")
        return self.people[id]

    def tasks_of(self, project: str, *, completed: bool = False) -> list[Item]:
        """The open tasks of a project, or the completed ones."""
        return [t for t in self.tasks.values() if t.project_id == project and t.is_completed == completed]

    def sections_of(self, project: str) -> list[Section]:
        """The sections of a project."""
        return [s for s in self.sections.values() if s.project_id == project]

    def below(self, task: str) -> list[Item]:
        """The subtasks of a task, theirs too."""
        found = [t for t in self.tasks.values() if t.parent_id == task]
        for child in found:  # grows while it is read
            found += [t for t in self.tasks.values() if t.parent_id == child.id]
        return found

    def depth(self, task: str) -> int:
        """How many tasks a task is below."""
        parent = self.tasks[task].parent_id
        return 0 if parent is None else 1 + self.depth(parent)

    def put(self, *things: Project | Section | Item) -> State:
        """With these things new or in place of those with their ids."""
        projects, sections, tasks = dict(self.projects), dict(self.sections), dict(self.tasks)
        for thing in things:
            match thing:
                case Project():
                    projects[thing.id] = thing
                case Section():
                    sections[thing.id] = thing
                case Item():
                    tasks[thing.id] = thing
        for name, table in (("projects", projects), ("sections", sections), ("tasks", tasks)):
            if len(table) > MAX_THINGS:
                raise Refused(f"the service holds at most {MAX_THINGS} {name}")
        return replace(self, projects=projects, sections=sections, tasks=tasks)

    def without(self, ids: set[str]) -> State:
        """Without the projects, sections and tasks of these ids."""
        projects = {id: p for id, p in self.projects.items() if id not in ids}
        sections = {id: s for id, s in self.sections.items() if id not in ids}
        tasks = {id: t for id, t in self.tasks.items() if id not in ids}
        return replace(self, projects=projects, sections=sections, tasks=tasks)

    def next_id(self) -> tuple[State, str]:
        """The id of the next new thing: ten digits that say nothing of its place."""
        return replace(self, made=self.made + 1), id_of(self.key, self.made)


def id_of(key: str, number: int) -> str:
    """Ten digits; the first is never 0."""
    value = int.from_bytes(hashlib.sha256(f"{key}:{number}".encode()).digest()[:8], "big")
    return str(10**9 + value % (9 * 10**9))
