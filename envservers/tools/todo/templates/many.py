"""Several things are changed."""

from __future__ import annotations

from datetime import timedelta

from envservers.tools.todo import calls as c
from envservers.tools.todo.script import NoFit, Script, Slots, at_least, known, template
from envservers.tools.todo.state import Item
from envservers.tools.todo.world import names


def _leaves(s: Script, tasks: list[Item]) -> list[Item]:
    """The tasks, none of which has subtasks: what happens to those would need more words."""
    if not all(map(s.is_leaf, tasks)):
        raise NoFit
    return tasks


@template("many")
def complete_overdue(s: Script) -> Slots:
    """Complete what is overdue in a project."""
    project = s.project()
    today = s.today()
    late = [t for t in s.see_tasks(project) if t.due_date is not None and t.due_date < today]
    for task in at_least(2, _leaves(s, late)):
        s.do(c.CompleteTask(task_id=task.id))
    return {"project": project.name}


@template("many")
def postpone_today(s: Script) -> Slots:
    """What is due today in a project becomes due some days later."""
    project, days = s.project(), s.rng.randint(1, 9)
    today = s.today()
    due = [t for t in s.see_tasks(project) if t.due_date == today]
    for task in at_least(2, due):
        s.update(task, due_date=today + timedelta(days=days))
    return {"project": project.name, "days": "1 day" if days == 1 else f"{days} days"}


@template("many")
def raise_labelled(s: Script) -> Slots:
    """Give all tasks with a label one priority."""
    project, label, priority = s.project(), s.label(), s.rng.randint(2, 4)
    tasks = [t for t in s.see_tasks(project) if label in t.labels]
    for task in at_least(2, tasks):
        s.update(task, priority=priority)
    return {"project": project.name, "label": label, "priority": str(priority)}


@template("many")
def empty_section(s: Script) -> Slots:
    """Move the open tasks of one section to another one."""
    project = s.project()
    section = s.section(project)
    other = s.section(project, but=section.id)
    s.see_sections(project)
    tasks = [t for t in s.see_tasks(project) if t.section_id == section.id]
    for task in at_least(2, _leaves(s, tasks)):
        s.do(c.MoveTask(task_id=task.id, project_id=project.id, section_id=other.id))
    return {"project": project.name, "section": section.name, "other": other.name}


@template("many")
def reassign(s: Script) -> Slots:
    """Assign the tasks of one person to another."""
    project, person = s.project(), s.person()
    other = s.person(but=person.id)
    s.see_people()
    tasks = [t for t in s.see_tasks(project) if t.assignee_id == person.id]
    for task in at_least(2, tasks):
        s.update(task, assignee_id=other.id)
    return {"project": project.name, "person": person.name, "other": other.name}


@template("many")
def create_project_with(s: Script) -> Slots:
    """Create a project with two sections and a task."""
    name, priority = s.pick(names()["new"]["projects"]), s.rng.randint(2, 4)
    first, second = s.rng.sample(names()["new"]["sections"], 2)
    task = s.pick(names()["new"]["tasks"])
    project_id = s.do(c.CreateProject(name=name))["id"]
    s.do(c.CreateSection(project_id=project_id, name=first))
    section_id = s.do(c.CreateSection(project_id=project_id, name=second))["id"]
    s.do(c.CreateTask(project_id=project_id, section_id=section_id, content=task, priority=priority))
    return {"name": name, "section": first, "other": second, "task": task, "priority": str(priority)}


@template("many", held_out=True)
def complete_subtasks(s: Script) -> Slots:
    """Complete the subtasks of a task, which stays open."""
    project = s.project()
    parent = s.parent(project)
    s.see_tasks(project)
    for task in at_least(2, s.state.below(parent.id)):
        s.do(c.CompleteTask(task_id=task.id))
    return {"project": project.name, "task": parent.content}


@template("many")
def delete_completed(s: Script) -> Slots:
    """Delete the completed tasks of a project."""
    project = s.project()
    s.see_projects()
    s.read(c.GetCompletedTasks(project_id=project.id))
    for task in at_least(2, s.state.tasks_of(project.id, completed=True)):
        s.do(c.DeleteTask(task_id=task.id))
    return {"project": project.name}


@template("many", held_out=True)
def copy_task(s: Script) -> Slots:
    """Create a task like one of another project."""
    project = s.project()
    other = s.project(lambda p: p.id != project.id)
    task = s.leaf(project, lambda t: t.due_date is not None)
    if task.content in {t.content for t in s.state.tasks.values() if t.project_id == other.id}:
        raise NoFit
    s.see_tasks(project)
    s.do(c.CreateTask(project_id=other.id, content=task.content, due_date=task.due_date, priority=task.priority))
    return {"project": project.name, "other": other.name, "task": task.content}


@template("many", held_out=True)
def swap_due(s: Script) -> Slots:
    """Exchange the due dates of two tasks."""
    project = s.project()
    task = s.leaf(project, lambda t: t.due_date is not None)
    other = s.leaf(project, lambda t: t.due_date not in (None, task.due_date))
    s.see_tasks(project)
    s.update(task, due_date=known(other.due_date))
    s.update(other, due_date=known(task.due_date))
    return {"project": project.name, "task": task.content, "other": other.content}


@template("many", held_out=True)
def delete_section_with(s: Script) -> Slots:
    """Delete a section after its tasks were saved from it."""
    project = s.project()
    section = s.section(project)
    s.see_sections(project)
    done = [t for t in s.state.tasks_of(project.id, completed=True) if t.section_id == section.id]
    tasks = [t for t in s.see_tasks(project) if t.section_id == section.id]
    if done:
        raise NoFit
    for task in at_least(1, _leaves(s, tasks), most=3):
        s.do(c.MoveTask(task_id=task.id, project_id=project.id))
    s.do(c.DeleteSection(section_id=section.id))
    return {"project": project.name, "section": section.name}


@template("many")
def urgent_today(s: Script) -> Slots:
    """What somebody has to do today, in all projects, becomes urgent."""
    person = s.person()
    s.see_people()
    today = s.today()
    tasks = [t for t in s.see_all() if t.assignee_id == person.id and t.due_date == today]
    for task in at_least(1, tasks, most=4):
        s.update(task, priority=4)
    return {"person": person.name}


@template("many")
def clear_label(s: Script) -> Slots:
    """Take a label away from all open tasks."""
    label = s.label()
    tasks = [t for t in s.see_all() if label in t.labels]
    for task in at_least(2, tasks, most=5):
        s.update(task, labels=[other for other in task.labels if other != label])
    return {"label": label}


@template("many")
def add_three(s: Script) -> Slots:
    """Create three tasks in a section, due on days that follow each other."""
    project = s.project()
    section = s.section(project)
    contents = s.rng.sample(names()["new"]["tasks"], 3)
    s.see_sections(project)
    today = s.today()
    for number, content in enumerate(contents, 1):
        due = today + timedelta(days=number)
        s.do(c.CreateTask(project_id=project.id, section_id=section.id, content=content, due_date=due))
    first, second, third = contents
    return {"project": project.name, "section": section.name, "first": first, "second": second, "third": third}
