"""What the goal names is not there; something with a similar name is. The words are those of possible tasks."""

from __future__ import annotations

from envservers.tools.todo import calls as c
from envservers.tools.todo.script import ABSENT, Script, Slots, template
from envservers.tools.todo.world import names


@template("impossible", phrasings="complete_named")
def no_task(s: Script) -> Slots:
    """The task is in another project."""
    project = s.project()
    other = s.project(lambda p: p.id != project.id)
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
    near = [
        name
        for pool in (names()["main"], names()["held_out"])
        for theme in pool["themes"]
        if here.intersection(theme["projects"])
        for name in theme["projects"]
        if name not in here
    ]
    s.see_projects()
    s.answer = ABSENT
    return {"project": s.pick(near)}


@template("impossible", phrasings="move_to_section")
def no_section(s: Script) -> Slots:
    """The section is in another project."""
    project = s.project()
    here = {section.name for section in s.state.sections_of(project.id)}
    section = s.pick(x for x in s.state.sections.values() if x.name not in here)
    task = s.leaf(project, lambda t: t.parent_id is None)
    s.see_tasks(project)
    s.see_sections(project)
    s.answer = ABSENT
    return {"project": project.name, "task": task.content, "section": section.name}


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
