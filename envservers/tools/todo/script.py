"""What a template writes: it chooses things of a world, looks up what the goal does not say, and does the change.

The calls are played on the world while they are written, so that a script is a solution and its end state the expected
one. A read is not repeated: who has seen a listing knows it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, TypeVar

from envservers.tools.todo import calls as c
from envservers.tools.todo.service import TOOLKIT
from envservers.tools.todo.state import Item, Person, Project, Section, State
from envservers.tools.toolkit.answers import IMPOSSIBLE
from envservers.tools.toolkit.table import Arguments

T = TypeVar("T")
Slots = Mapping[str, str]
ABSENT: Mapping[str, Any] = {"type": "text", "value": IMPOSSIBLE}


class NoFit(Exception):
    """This world has nothing that the template can ask for; another one has."""


class Script:
    """One task in the making."""

    def __init__(self, start: State, rng: random.Random) -> None:
        self.start = self.state = start
        self.rng = rng
        self.calls: list[Arguments] = []
        self.answer: Mapping[str, Any] | None = None

    # Writing

    def do(self, call: Arguments) -> Any:
        """Add a call; returns what it replied."""
        self.state, reply = TOOLKIT.run(self.state, call)
        self.calls.append(call)
        return reply

    def read(self, call: Arguments) -> None:
        """Add a call unless it was made before."""
        if call not in self.calls:
            self.do(call)

    def today(self) -> date:
        """Look up the date."""
        self.read(c.GetUserCurrentDate())
        return self.state.today

    def see_people(self) -> None:
        """List the people."""
        self.read(c.GetPeople())

    def see_projects(self) -> None:
        """List the projects."""
        self.read(c.GetProjects())

    def see_sections(self, project: Project) -> None:
        """List the sections of a project."""
        self.see_projects()
        self.read(c.GetSections(project_id=project.id))

    def see_tasks(self, project: Project) -> list[Item]:
        """List the open tasks of a project."""
        self.see_projects()
        self.read(c.GetTasks(project_id=project.id))
        return self.state.tasks_of(project.id)

    def see_all(self) -> list[Item]:
        """List the open tasks of all projects."""
        return [task for project in self.state.projects.values() for task in self.see_tasks(project)]

    def duration(self, task: Item) -> int:
        """Look up how long a task takes; NoFit where nobody has said."""
        self.read(c.GetTaskDuration(task_id=task.id))
        return known(task.duration_minutes)

    def update(self, task: Item, **fields: Any) -> None:
        """Change a task; NoFit when that changes nothing."""
        before = self.state
        self.do(c.UpdateTask(task_id=task.id, **fields))
        if before.tasks[task.id] == self.state.tasks[task.id]:
            raise NoFit

    def ask(self, type: str, value: Any) -> None:
        """Set what the answer is."""
        self.answer = {"type": type, "value": value}

    # Choosing

    def pick(self, things: Iterable[T]) -> T:
        """Any of them."""
        found = list(things)
        if not found:
            raise NoFit
        return self.rng.choice(found)

    def project(self, fits: Callable[[Project], bool] = lambda _: True) -> Project:
        """Any that fits."""
        return self.pick(filter(fits, self.state.projects.values()))

    def section(self, project: Project, *, but: str | None = None) -> Section:
        """Any of the project but one."""
        return self.pick(s for s in self.state.sections_of(project.id) if s.id != but)

    def person(self, *, but: str | None = None) -> Person:
        """Anybody but one."""
        return self.pick(p for p in self.state.people.values() if p.id != but)

    def leaf(self, project: Project, fits: Callable[[Item], bool] = lambda _: True) -> Item:
        """An open task without subtasks that fits."""
        return self.pick(t for t in self.state.tasks_of(project.id) if self.is_leaf(t) and fits(t))

    def is_leaf(self, task: Item) -> bool:
        """Whether a task has no subtasks."""
        return not self.state.below(task.id)

    def parent(self, project: Project) -> Item:
        """An open task with subtasks."""
        return self.pick(t for t in self.state.tasks_of(project.id) if not self.is_leaf(t))

    def label(self) -> str:
        """Any that a task of the list has."""
        return self.pick(sorted({label for task in self.state.tasks.values() for label in task.labels}))

    def day(self) -> tuple[str, date]:
        """A day to come, in words; where the words need it, today is looked up."""
        form, days = self.rng.randrange(4), self.rng.randint(2, 24)
        if form == 0:
            day = self.state.today + timedelta(days=days)
            return f"{day.day} {day:%B %Y}", day
        today = self.today()
        if form == 1:
            return "tomorrow", today + timedelta(days=1)
        if form == 2:
            return f"{days} days from today", today + timedelta(days=days)
        day = today + timedelta(days=self.rng.randint(1, 7))
        return f"the first {day:%A} after today", day


def known(value: T | None) -> T:
    """A value that is there; NoFit when it is not."""
    if value is None:
        raise NoFit
    return value


def at_least(count: int, things: Sequence[T], *, most: int = 6) -> Sequence[T]:
    """Things of a good number; NoFit otherwise."""
    if not count <= len(things) <= most:
        raise NoFit
    return things


def the_one(things: Sequence[T], size: Callable[[T], Any]) -> T:
    """The thing with the greatest size; NoFit when two share it."""
    ranked = sorted(things, key=size)
    if len(ranked) < 2 or size(ranked[-1]) == size(ranked[-2]):
        raise NoFit
    return ranked[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A kind of task."""

    name: str
    category: str
    write: Callable[[Script], Slots]
    """Writes the script and names what the phrasing mentions; NoFit in a world that has nothing of the kind."""
    phrasings: str
    """Whose phrasings it uses; an impossible task has those of a possible one, so that words give nothing away."""
    held_out: bool
    """Only in test_ood."""


TEMPLATES: dict[str, Template] = {}
"""Filled by the modules of `templates`."""


def template(
    category: str, *, held_out: bool = False, phrasings: str = ""
) -> Callable[[Callable[[Script], Slots]], Callable[[Script], Slots]]:
    """Make a function a template of its name."""

    def register(write: Callable[[Script], Slots]) -> Callable[[Script], Slots]:
        name = write.__name__
        TEMPLATES[name] = Template(
            name=name, category=category, write=write, phrasings=phrasings or name, held_out=held_out
        )
        return write

    return register
