"""One thing is changed."""

from __future__ import annotations

from datetime import timedelta

from envservers.tools.todo import calls as c
from envservers.tools.todo.script import NoFit, Script, Slots, known, template
from envservers.tools.todo.world import names


@template("change")
def complete_named(s: Script) -> Slots:
    """Complete a task."""
    project = s.project()
    task = s.leaf(project)
    s.see_tasks(project)
    s.do(c.CompleteTask(task_id=task.id))
    return {"project": project.name, "task": task.content}


@template("change")
def reopen_named(s: Script) -> Slots:
    """Open a completed task again."""
    project = s.project()
    task = s.pick(s.state.tasks_of(project.id, completed=True))
    s.see_projects()
    s.read(c.GetCompletedTasks(project_id=project.id))
    s.do(c.ReopenTask(task_id=task.id))
    return {"project": project.name, "task": task.content}


@template("change")
def delete_named(s: Script) -> Slots:
    """Delete a task."""
    project = s.project()
    task = s.leaf(project)
    s.see_tasks(project)
    s.do(c.DeleteTask(task_id=task.id))
    return {"project": project.name, "task": task.content}


@template("change")
def set_priority(s: Script) -> Slots:
    """Give a task a priority."""
    project = s.project()
    task, priority = s.leaf(project), s.rng.randint(1, 4)
    s.see_tasks(project)
    s.update(task, priority=priority)
    return {"project": project.name, "task": task.content, "priority": str(priority)}


@template("change")
def set_due(s: Script) -> Slots:
    """Give a task a due date."""
    project = s.project()
    task = s.leaf(project)
    s.see_tasks(project)
    words, day = s.day()
    s.update(task, due_date=day)
    return {"project": project.name, "task": task.content, "day": words}


@template("change")
def clear_due(s: Script) -> Slots:
    """Take a due date away."""
    project = s.project()
    task = s.leaf(project, lambda t: t.due_date is not None)
    s.see_tasks(project)
    s.update(task, due_date=None)
    return {"project": project.name, "task": task.content}


@template("change")
def postpone(s: Script) -> Slots:
    """Move a due date by some days."""
    project = s.project()
    task, days = s.leaf(project, lambda t: t.due_date is not None), s.rng.randint(2, 14)
    s.see_tasks(project)
    s.update(task, due_date=known(task.due_date) + timedelta(days=days))
    return {"project": project.name, "task": task.content, "days": str(days)}


@template("change")
def rename_task(s: Script) -> Slots:
    """Give a task another name."""
    project = s.project()
    task, name = s.leaf(project), s.pick(names()["new"]["tasks"])
    s.see_tasks(project)
    s.update(task, content=name)
    return {"project": project.name, "task": task.content, "name": name}


@template("change")
def add_label(s: Script) -> Slots:
    """Give a task one more label."""
    project, label = s.project(), s.label()
    task = s.leaf(project, lambda t: label not in t.labels)
    s.see_tasks(project)
    s.update(task, labels=[*task.labels, label])
    return {"project": project.name, "task": task.content, "label": label}


@template("change", held_out=True)
def remove_label(s: Script) -> Slots:
    """Take one label away from a task."""
    project = s.project()
    task = s.leaf(project, lambda t: len(t.labels) > 0)
    label = s.pick(task.labels)
    s.see_tasks(project)
    s.update(task, labels=[other for other in task.labels if other != label])
    return {"project": project.name, "task": task.content, "label": label}


@template("change")
def assign(s: Script) -> Slots:
    """Assign a task to somebody."""
    project = s.project()
    task = s.leaf(project)
    person = s.person(but=task.assignee_id)
    s.see_tasks(project)
    s.see_people()
    s.update(task, assignee_id=person.id)
    return {"project": project.name, "task": task.content, "person": person.name}


@template("change")
def move_to_section(s: Script) -> Slots:
    """Move a task inside its project."""
    project = s.project()
    task = s.leaf(project, lambda t: t.parent_id is None)
    section = s.section(project, but=task.section_id)
    s.see_tasks(project)
    s.see_sections(project)
    s.do(c.MoveTask(task_id=task.id, project_id=project.id, section_id=section.id))
    return {"project": project.name, "task": task.content, "section": section.name}


@template("change", held_out=True)
def move_to_project(s: Script) -> Slots:
    """Move a task to another project."""
    project = s.project()
    other = s.project(lambda p: p.id != project.id)
    task = s.leaf(project, lambda t: t.parent_id is None)
    s.see_tasks(project)
    s.do(c.MoveTask(task_id=task.id, project_id=other.id))
    return {"project": project.name, "task": task.content, "other": other.name}


@template("change")
def create_simple(s: Script) -> Slots:
    """Create a task with a date and a priority."""
    project, name, priority = s.project(), s.pick(names()["new"]["tasks"]), s.rng.randint(2, 4)
    s.see_projects()
    words, day = s.day()
    s.do(c.CreateTask(project_id=project.id, content=name, due_date=day, priority=priority))
    return {"project": project.name, "name": name, "day": words, "priority": str(priority)}


@template("change")
def create_in_section(s: Script) -> Slots:
    """Create a task in a section, with a label."""
    project, name, label = s.project(), s.pick(names()["new"]["tasks"]), s.label()
    section = s.section(project)
    s.see_sections(project)
    s.do(c.CreateTask(project_id=project.id, content=name, section_id=section.id, labels=[label]))
    return {"project": project.name, "name": name, "section": section.name, "label": label}


@template("change", held_out=True)
def create_subtask(s: Script) -> Slots:
    """Create a task below another one."""
    project, name = s.project(), s.pick(names()["new"]["tasks"])
    task = s.leaf(project, lambda t: t.parent_id is None)
    s.see_tasks(project)
    s.do(c.CreateTask(project_id=project.id, content=name, parent_id=task.id))
    return {"project": project.name, "task": task.content, "name": name}


@template("change")
def describe(s: Script) -> Slots:
    """Write the description of a task."""
    project, text = s.project(), s.pick(names()["new"]["descriptions"])
    task = s.leaf(project)
    s.see_tasks(project)
    s.update(task, description=text)
    return {"project": project.name, "task": task.content, "text": text}


@template("change", held_out=True)
def set_duration(s: Script) -> Slots:
    """Say how long a task takes."""
    project, minutes = s.project(), 5 * s.rng.randint(2, 36)
    task = s.leaf(project)
    s.see_tasks(project)
    s.update(task, duration_minutes=minutes)
    return {"project": project.name, "task": task.content, "minutes": str(minutes)}


@template("change")
def rename_project(s: Script) -> Slots:
    """Give a project another name."""
    project, name = s.project(), s.pick(names()["new"]["projects"])
    s.see_projects()
    s.do(c.UpdateProject(project_id=project.id, name=name))
    return {"project": project.name, "name": name}


@template("change")
def favorite_project(s: Script) -> Slots:
    """Make a project a favorite and give it a color."""
    project, color = s.project(lambda p: not p.is_favorite), s.pick(names()["colors"])
    if color == project.color:
        raise NoFit
    s.see_projects()
    s.do(c.UpdateProject(project_id=project.id, is_favorite=True, color=color))
    return {"project": project.name, "color": color}


@template("change")
def add_section(s: Script) -> Slots:
    """Create a section."""
    project, name = s.project(), s.pick(names()["new"]["sections"])
    s.see_projects()
    s.do(c.CreateSection(project_id=project.id, name=name))
    return {"project": project.name, "name": name}


@template("change")
def rename_section(s: Script) -> Slots:
    """Give a section another name."""
    project, name = s.project(), s.pick(names()["new"]["sections"])
    section = s.section(project)
    s.see_sections(project)
    s.do(c.UpdateSection(section_id=section.id, name=name))
    return {"project": project.name, "section": section.name, "name": name}
