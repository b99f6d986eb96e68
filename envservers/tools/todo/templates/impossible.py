"""What the goal names is not there; something with a similar name is. The words are those of possible tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from envservers.tools.todo import calls as c
from envservers.tools.todo.script import ABSENT, Script, Slots, template
from envservers.tools.todo.state import Project
from envservers.tools.todo.world import POOLS, names


def _theme(project: Project) -> Mapping[str, Any]:
    """Where the names in a project are from."""
    themes = [theme for pool in POOLS for theme in names()[pool]["themes"]]
    return next(theme for theme in themes if project.name in theme["projects"])


def _of_its_theme(p: Project, s: Script) -> list[Project]:
    return [other for other in s.state.projects.values() if other.name in _theme(p)["projects"]]


@template("impossible", phrasings="complete_named")
def no_task(s: Script) -> Slots:
    """The task is in the project with the similar name."""
    project = s.project(lambda p: len(_of_its_theme(p, s)) > 1)
    [other] = [p for p in _of_its_theme(project, s) if p.id != project.id]
    here = {t.content for t in s.state.tasks.values() if t.project_id == project.id}
    task = s.leaf(other, lambda t: t.content not in here)
    s.see_tasks(project)
    s.read(c.GetCompletedTasks(project_id=project.id))
    s.answer = ABSENT
    return {"project": project.name, "task": task.content}


@template("impossible", phrasings="count_overdue")
def no_project(s: Script) -> Slots:
    """A project of that name is not there, one of nearly that name is."""
    here = {p.name for p in s.state.projects.values()}
    near = [name for p in s.state.projects.values() for name in _theme(p)["projects"] if name not in here]
    s.see_projects()
    s.answer = ABSENT
    return {"project": s.pick(near)}


@template("impossible", phrasings="move_to_section")
def no_section(s: Script) -> Slots:
    """The section is one that such projects have, but not this one."""
    project = s.project()
    here = {section.name for section in s.state.sections_of(project.id)}
    section = s.pick(name for name in _theme(project)["sections"] if name not in here)
    task = s.leaf(project, lambda t: t.parent_id is None)
    s.see_tasks(project)
    s.see_sections(project)
    s.answer = ABSENT
    return {"project": project.name, "task": task.content, "section": section}


@template("impossible", phrasings="assign", held_out=True)
def no_person(s: Script) -> Slots:
    """Nobody has that name, but somebody has the first one and somebody the last one."""
    project = s.project()
    task = s.leaf(project)
    here = {person.name for person in s.state.people.values()}
    pairs = [name.split() for name in sorted(here)]
    mixed = [f"{first} {last}" for first, _ in pairs for _, last in pairs]
    person = s.pick(name for name in mixed if name not in here)
    s.see_tasks(project)
    s.see_people()
    s.answer = ABSENT
    return {"project": project.name, "task": task.content, "person": person}
