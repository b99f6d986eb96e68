"""Something is asked, and nothing is changed but where the goal says so."""

from __future__ import annotations

from collections import Counter

from envservers.tools.todo import calls as c
from envservers.tools.todo.script import NoFit, Script, Slots, at_least, known, template, the_one


@template("question")
def count_overdue(s: Script) -> Slots:
    """How many tasks of a project are overdue."""
    project = s.project()
    today = s.today()
    s.ask("number", sum(t.due_date is not None and t.due_date < today for t in s.see_tasks(project)))
    return {"project": project.name}


@template("question")
def count_labelled(s: Script) -> Slots:
    """How many open tasks have a label."""
    label = s.label()
    s.ask("number", sum(label in t.labels for t in s.see_all()))
    return {"label": label}


@template("question")
def due_of(s: Script) -> Slots:
    """When a task is due."""
    project = s.project()
    task = s.leaf(project, lambda t: t.due_date is not None)
    s.see_tasks(project)
    s.ask("date", known(task.due_date).isoformat())
    return {"project": project.name, "task": task.content}


@template("question")
def duration_of(s: Script) -> Slots:
    """How long a task takes."""
    project = s.project()
    task = s.leaf(project, lambda t: t.duration_minutes is not None)
    s.see_tasks(project)
    s.ask("number", s.duration(task))
    return {"project": project.name, "task": task.content}


@template("question")
def total_duration(s: Script) -> Slots:
    """How long the tasks of a section take together."""
    project = s.project()
    section = s.section(project)
    s.see_sections(project)
    tasks = at_least(2, [t for t in s.see_tasks(project) if t.section_id == section.id])
    s.ask("number", sum(map(s.duration, tasks)))
    return {"project": project.name, "section": section.name}


@template("question")
def assignee_of(s: Script) -> Slots:
    """Who has to do a task."""
    project = s.project()
    task = s.leaf(project, lambda t: t.assignee_id is not None)
    s.see_tasks(project)
    s.see_people()
    s.ask("text", s.state.person(known(task.assignee_id)).name)
    return {"project": project.name, "task": task.content}


@template("question")
def fullest_project(s: Script) -> Slots:
    """Which project has most open tasks; a label sets the world apart."""
    label = s.label()
    counts = Counter(t.project_id for t in s.see_all() if label in t.labels)
    s.ask("text", the_one([s.state.project(id) for id in counts], lambda p: counts[p.id]).name)
    return {"label": label}


@template("question")
def next_due(s: Script) -> Slots:
    """Which task is due next after today."""
    project = s.project()
    today = s.today()
    later = [t for t in s.see_tasks(project) if t.due_date is not None and t.due_date > today]
    s.ask("text", the_one(later, lambda t: -known(t.due_date).toordinal()).content)
    return {"project": project.name}


@template("question")
def due_today(s: Script) -> Slots:
    """What somebody has to do by today, in all projects."""
    person = s.person()
    s.see_people()
    today = s.today()
    tasks = [t for t in s.see_all() if t.assignee_id == person.id and t.due_date == today]
    contents = {t.content for t in at_least(1, tasks, most=4)}
    if len(contents) < len(tasks):
        raise NoFit
    s.ask("texts", sorted(contents))
    return {"person": person.name}


@template("question", held_out=True)
def busiest(s: Script) -> Slots:
    """Who has most open tasks in a project."""
    project = s.project()
    s.see_people()
    counts = Counter(t.assignee_id for t in s.see_tasks(project) if t.assignee_id is not None)
    s.ask("text", the_one([s.state.person(id) for id in counts], lambda p: counts[p.id]).name)
    return {"project": project.name}


@template("question")
def section_of(s: Script) -> Slots:
    """In which section a task is."""
    project = s.project()
    task = s.leaf(project, lambda t: t.section_id is not None)
    s.see_tasks(project)
    s.see_sections(project)
    s.ask("text", s.state.section(known(task.section_id)).name)
    return {"project": project.name, "task": task.content}


@template("question", held_out=True)
def days_left(s: Script) -> Slots:
    """In how many days a task is due."""
    project = s.project()
    task = s.leaf(project, lambda t: t.due_date is not None and t.due_date > s.start.today)
    s.see_tasks(project)
    s.ask("number", (known(task.due_date) - s.today()).days)
    return {"project": project.name, "task": task.content}


@template("question")
def count_urgent(s: Script) -> Slots:
    """How many open tasks of two projects have at least some priority."""
    project = s.project()
    other = s.project(lambda p: p.id != project.id)
    priority = s.rng.randint(2, 3)
    tasks = [*s.see_tasks(project), *s.see_tasks(other)]
    s.ask("number", sum(t.priority >= priority for t in tasks))
    return {"project": project.name, "other": other.name, "priority": str(priority)}


@template("question", held_out=True)
def unassigned(s: Script) -> Slots:
    """Which tasks nobody has to do, among the more urgent ones."""
    project = s.project()
    tasks = [t for t in s.see_tasks(project) if t.assignee_id is None and t.priority >= 3]
    s.ask("texts", [t.content for t in at_least(1, tasks, most=5)])
    return {"project": project.name}


@template("question")
def complete_and_count(s: Script) -> Slots:
    """Complete a task and say how many are still open."""
    project = s.project()
    task = s.leaf(project)
    s.see_tasks(project)
    s.do(c.CompleteTask(task_id=task.id))
    s.ask("number", len(s.state.tasks_of(project.id)))
    return {"project": project.name, "task": task.content}
