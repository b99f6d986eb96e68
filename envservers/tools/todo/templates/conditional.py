"""What is changed depends on what the list says."""

from __future__ import annotations

from datetime import timedelta

from envservers.tools.todo import calls as c
from envservers.tools.todo.script import NoFit, Script, Slots, at_least, known, template, the_one
from envservers.tools.todo.world import names


@template("conditional")
def if_overdue(s: Script) -> Slots:
    """An overdue task becomes due today, another one urgent."""
    project = s.project()
    task = s.leaf(project, lambda t: t.due_date is not None and t.due_date != s.start.today)
    s.see_tasks(project)
    today = s.today()
    if known(task.due_date) < today:
        s.update(task, due_date=today)
    else:
        s.update(task, priority=4)
    return {"project": project.name, "task": task.content}


@template("conditional")
def if_many_open(s: Script) -> Slots:
    """In a full project a task is completed, else deleted."""
    project = s.project()
    task = s.leaf(project)
    count = len(s.see_tasks(project))
    limit = count + s.rng.choice((-2, -1, 0, 1))
    if count > limit:
        s.do(c.CompleteTask(task_id=task.id))
    else:
        s.do(c.DeleteTask(task_id=task.id))
    return {"project": project.name, "task": task.content, "count": str(limit)}


@template("conditional")
def if_described(s: Script) -> Slots:
    """What the description says decides between a label and a priority."""
    project, label = s.project(), s.label()
    task = s.leaf(project, lambda t: t.description != "" and label not in t.labels)
    detail = s.pick([task.description, s.pick(names()["details"])])
    s.see_tasks(project)
    s.read(c.GetTaskDescription(task_id=task.id))
    if task.description == detail:
        s.update(task, labels=[*task.labels, label])
    else:
        s.update(task, priority=4)
    return {"project": project.name, "task": task.content, "text": detail, "label": label}


@template("conditional", held_out=True)
def if_long(s: Script) -> Slots:
    """A long task is put off, a short one is for today."""
    project = s.project()
    task = s.leaf(project, lambda t: t.duration_minutes is not None)
    limit = known(task.duration_minutes) + s.rng.choice((-20, -10, 10, 20))
    if limit <= 0:
        raise NoFit
    s.see_tasks(project)
    today = s.today()
    s.update(task, due_date=today + timedelta(days=7 if s.duration(task) > limit else 0))
    return {"project": project.name, "task": task.content, "minutes": str(limit)}


@template("conditional")
def if_assigned(s: Script) -> Slots:
    """A task of somebody goes to another, any other task is completed."""
    project = s.project()
    task = s.leaf(project, lambda t: t.assignee_id is not None)
    person = s.pick([s.state.person(known(task.assignee_id)), s.person(but=task.assignee_id)])
    other = s.person(but=person.id)
    s.see_tasks(project)
    s.see_people()
    if task.assignee_id == person.id:
        s.update(task, assignee_id=other.id)
    else:
        s.do(c.CompleteTask(task_id=task.id))
    return {"project": project.name, "task": task.content, "person": person.name, "other": other.name}


@template("conditional")
def complete_longest(s: Script) -> Slots:
    """Complete the task of a section that takes longest."""
    project = s.project()
    section = s.section(project)
    s.see_sections(project)
    tasks = [t for t in s.see_tasks(project) if t.section_id == section.id]
    if not all(map(s.is_leaf, tasks)):
        raise NoFit
    task = the_one(at_least(2, tasks, most=5), s.duration)
    s.do(c.CompleteTask(task_id=task.id))
    return {"project": project.name, "section": section.name}


@template("conditional")
def raise_earliest(s: Script) -> Slots:
    """The task that is due first becomes urgent."""
    project = s.project()
    dated = [t for t in s.see_tasks(project) if t.due_date is not None]
    task = the_one(dated, lambda t: -known(t.due_date).toordinal())
    s.update(task, priority=4)
    return {"project": project.name}


@template("conditional")
def move_from_fuller(s: Script) -> Slots:
    """The fuller of two projects gets a section, the other one a task."""
    project = s.project()
    other = s.project(lambda p: p.id != project.id)
    name, task = s.pick(names()["new"]["sections"]), s.pick(names()["new"]["tasks"])
    full, empty = len(s.see_tasks(project)), len(s.see_tasks(other))
    if full == empty:
        raise NoFit
    fuller, emptier = (project, other) if full > empty else (other, project)
    s.do(c.CreateSection(project_id=fuller.id, name=name))
    s.do(c.CreateTask(project_id=emptier.id, content=task))
    return {"project": project.name, "other": other.name, "name": name, "task": task}
