"""A seeded task list: somebody's projects on some day, with things that are easily mistaken for each other."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from importlib import resources
from typing import Any

import yaml

from envservers.tools.todo.state import Item, Person, Project, Section, State, id_of

POOLS = ("main", "held_out")
PRIORITIES = (1, 1, 1, 2, 2, 3, 3, 4)
DAYS = range(8_000)
"""Possible days after FIRST_DAY."""
FIRST_DAY = date(2020, 1, 1)


@functools.cache
def names() -> Mapping[str, Any]:
    """The names that worlds are made of."""
    text = resources.files(__package__).joinpath("names.yaml").read_text(encoding="utf-8")
    found: Mapping[str, Any] = yaml.safe_load(text)
    return found


def world(key: str, pool: str) -> State:
    """The list of this key, with names of this pool.

    Six projects, two of them with nearly the same name and tasks of the same names. In each project names are unique.
    """
    return _Maker(key, pool).made()


class _Maker:
    """Makes one world; every choice comes from the key."""

    def __init__(self, key: str, pool: str) -> None:
        self.rng = random.Random(f"todo/{pool}/{key}")
        self.key, self.pool = f"{pool}/{key}", names()[pool]
        self.count = 0
        self.today = FIRST_DAY + timedelta(days=self.rng.choice(DAYS))
        self.people = self._people()
        self.labels = self.rng.sample(self.pool["labels"], 6)

    def made(self) -> State:
        """The whole."""
        projects: list[Project] = []
        sections: list[Section] = []
        tasks: list[Item] = []
        for theme, name in self._project_names():
            project = Project(id=self._id(), name=name, color=self.rng.choice(names()["colors"]))
            projects.append(replace(project, is_favorite=self.rng.random() < 0.25))
            own = [
                Section(id=self._id(), project_id=project.id, name=name)
                for name in self.rng.sample(theme["sections"], self.rng.choice((2, 3, 3)))
            ]
            sections += own
            tasks += self._tasks(project, own, theme["tasks"])
        return State(
            key=self.key,
            made=self.count,
            today=self.today,
            location=self.rng.choice(self.pool["cities"]),
            people={p.id: p for p in self.people},
            projects={p.id: p for p in projects},
            sections={s.id: s for s in sections},
            tasks={t.id: t for t in tasks},
        )

    def _id(self) -> str:
        self.count += 1
        return id_of(self.key, self.count - 1)

    def _people(self) -> list[Person]:
        """Five, of whom two share a surname."""
        first = self.rng.sample(self.pool["people"]["first"], 5)
        last = self.rng.sample(self.pool["people"]["last"], 4)
        pairs = list(zip(first, [*last, last[0]], strict=True))
        self.rng.shuffle(pairs)
        return [Person(id=self._id(), name=f"{a} {b}") for a, b in pairs]

    def _project_names(self) -> list[tuple[Mapping[str, Any], str]]:
        themes = self.rng.sample(self.pool["themes"], 5)
        found = [(theme, self.rng.choice(theme["projects"])) for theme in themes[1:]]
        found += [(themes[0], name) for name in self.rng.sample(themes[0]["projects"], 2)]
        self.rng.shuffle(found)
        return found

    def _tasks(self, project: Project, sections: Sequence[Section], contents: Sequence[str]) -> Iterator[Item]:
        """Six to nine on top, some completed, one or two of them with subtasks."""
        wanted = self.rng.sample(contents, self.rng.randint(9, 12))
        subtasks = [wanted.pop() for _ in range(self.rng.randint(2, 3))]
        top = [self._task(project, self.rng.choice([*sections, None]), content) for content in wanted]
        done = set(self.rng.sample(range(len(top)), self.rng.randint(1, 2)))
        top = [replace(task, is_completed=n in done) for n, task in enumerate(top)]
        parent = self.rng.choice([task for task in top if not task.is_completed])
        for task in top:
            yield task
            if task is parent:
                for content in subtasks:
                    child = self._task(project, None, content)
                    yield replace(child, section_id=task.section_id, parent_id=task.id)

    def _task(self, project: Project, section: Section | None, content: str) -> Item:
        rng = self.rng
        return Item(
            id=self._id(),
            project_id=project.id,
            content=content,
            section_id=section.id if section else None,
            description=rng.choice(names()["details"]) if rng.random() < 0.5 else "",
            due_date=self._due(),
            priority=rng.choice(PRIORITIES),
            labels=tuple(rng.sample(self.labels, rng.choice((0, 0, 1, 1, 2)))),
            duration_minutes=5 * rng.randint(1, 48) if rng.random() < 0.75 else None,
            assignee_id=rng.choice(self.people).id if rng.random() < 0.5 else None,
        )

    def _due(self) -> date | None:
        """A quarter overdue, a few today, some later, some never."""
        chance = self.rng.random()
        if chance < 0.25:
            return self.today - timedelta(days=self.rng.randint(1, 20))
        if chance < 0.40:
            return self.today
        if chance < 0.80:
            return self.today + timedelta(days=self.rng.randint(1, 30))
        return None
