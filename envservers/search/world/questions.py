"""Questions drawn from the graph, each with its only answer, the passages that prove it and a way to find them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any

from envservers.search.retrieve.bm25 import tokens
from envservers.search.scoring import normalise
from envservers.search.world.graph import VERSION, Entity
from envservers.search.world.language import HELD_OUT, PHRASINGS, YEAR, relations, words
from envservers.search.world.templates import CATEGORY, DIFFICULTY, SHARES, Template, templates
from envservers.search.world.text import Written

NEAR_MISSES = 3
"""Other passages, at least, that share a word of the subject's name and state the relation asked for."""
OVERLAP = 0.3
"""Share of a gold passage's content words that its question may have."""
UNANSWERABLE = ("unanswerable", "not answerable", "no answer", "unknown")
BY_ALIAS = 0.75
"""Share of subjects with an alias that the question calls by it."""
LONGEST = 9
"""Searches of a solution, so that an answer fits into the step limit."""
Row = dict[str, Any]


class NoQuestion(Exception):
    """This draw makes no question; another will."""


def content_words(text: str) -> set[str]:
    """Words that carry meaning."""
    return set(tokens(text))


class Questions:
    """Draws the questions of one split from its world."""

    def __init__(self, graph: Sequence[Entity], passages: Sequence[Written], order: Sequence[int], split: str) -> None:
        """`order`: the passage id of each entity."""
        self._graph, self._passages, self._order, self._split = graph, passages, order, split
        self._by_kind: dict[str, list[Entity]] = {}
        self._sharing: dict[tuple[str, str], list[int]] = {}
        self._having: dict[tuple[str, int], list[Entity]] = {}
        for entity in graph:
            for word in content_words(entity.name):
                self._sharing.setdefault((entity.kind, word), []).append(entity.id)
            if entity.world == split:
                self._by_kind.setdefault(entity.kind, []).append(entity)
                for name, fact in entity.facts.items():
                    if fact.object is not None:
                        self._having.setdefault((name, fact.object), []).append(entity)
        self._words: dict[int, set[str]] = {}

    def draw(self, seed: int, count: int, query_of: Callable[[Row], str | None]) -> Iterator[Row]:
        """`count` questions; no two ask for the same path from the same subject.

        query_of: a query that shows a step's passage, None where there is none: the question is then dropped.
        """
        rng = random.Random(f"questions {VERSION} {seed} {self._split}")
        ood = self._split == "test_ood"
        seen: set[str] = set()
        kinds = [kind for kind, share in SHARES.items() for _ in range(share)]
        for place in range(count):
            if place % len(kinds) == 0:
                rng.shuffle(kinds)
            kind, coin = kinds[place % len(kinds)], rng.random() < 0.5
            while True:
                # Half of test_ood asks what the other splits ask, in unseen words of an unseen world.
                template = rng.choice(templates(ood=ood and rng.random() < 0.5)[kind])
                phrasing = rng.randrange(*((PHRASINGS - HELD_OUT, PHRASINGS) if ood else (0, PHRASINGS - HELD_OUT)))
                try:
                    row = self._make(template, phrasing, rng, coin)
                except NoQuestion:
                    continue
                if (key := row["canonical"]) not in seen and _found(row["steps"], query_of):
                    seen.add(key)
                    break
            yield row | {
                "kind": kind,
                "category": CATEGORY[kind],
                "difficulty": DIFFICULTY[kind],
                "template": template.name,
                "phrasing": phrasing,
            }

    def _make(self, template: Template, phrasing: int, rng: random.Random, coin: bool) -> Row:
        """`coin`: whether a question of yes or no is to be answered by yes, whatever draws fail on the way."""
        subject = rng.choice(self._by_kind[template.domain])
        if len(list(islice(self._near(subject, template.path[0]), NEAR_MISSES))) < NEAR_MISSES:
            raise NoQuestion
        match template.kind:
            case "earlier":
                row = self._compared(template, phrasing, rng, subject, via=False)
            case "via":
                row = self._compared(template, phrasing, rng, subject, via=True)
            case "same":
                row = self._same(template, phrasing, rng, subject, coin)
            case "missing1" | "missing2":
                row = self._chain(template, phrasing, rng, subject, missing=True)
            case _:
                row = self._chain(template, phrasing, rng, subject, missing=False)
        asked = content_words(row["question"])
        for step in row["steps"]:
            told = self._told(step["entity"])
            if len(asked & told) > OVERLAP * len(told):
                raise NoQuestion
        return row

    def _near(self, subject: Entity, relation: str) -> Iterator[int]:
        """Namesakes of the subject whose passages state the relation."""
        found: set[int] = {subject.id}
        for word in content_words(subject.name):
            for other in self._sharing[subject.kind, word]:
                if other not in found and relation in self._graph[other].facts:
                    found.add(other)
                    yield other

    def _told(self, entity: int) -> set[str]:
        if entity not in self._words:
            self._words[entity] = content_words(self._passages[entity].text)
        return self._words[entity]

    def _chain(self, template: Template, phrasing: int, rng: random.Random, subject: Entity, *, missing: bool) -> Row:
        called = _called(subject, rng)
        steps: list[Row] = []
        passed, here, find = [subject.id], subject, called
        for place, name in enumerate(template.path):
            last = place == len(template.path) - 1
            fact = here.facts.get(name)
            if missing and last:
                if fact is not None:
                    raise NoQuestion
                steps.append(self._page(here, find, ""))
                break
            if fact is None or fact.object in passed:
                raise NoQuestion
            steps += self._steps(here, find, name)
            if fact.object is not None:
                passed.append(fact.object)
                here, find = self._graph[fact.object], fact.mention
        phrase = called
        for name in template.path[:-1]:
            phrase = relations()[name].nouns[phrasing].format(x=phrase)
        question = _sentence(relations()[template.path[-1]].asks[phrasing].format(x=phrase))
        if template.kind == "single" and len(steps) > 1:
            raise NoQuestion  # by an alias that another passage must resolve
        asks_year = relations()[template.path[-1]].range == YEAR
        answers = list(UNANSWERABLE) if missing else [steps[-1]["read"]] if asks_year else list(here.names)
        self._check_hidden(question, [] if missing else answers, passed[1:])
        return _row(template, [subject], question, answers, steps, missing=missing)

    def _compared(self, template: Template, phrasing: int, rng: random.Random, one: Entity, *, via: bool) -> Row:
        other = rng.choice(self._by_kind[one.kind])
        sides: list[tuple[str, Entity, int]] = []
        steps: list[Row] = []
        relation = relations()[template.path[-1]]
        for subject in (one, other):
            called = _called(subject, rng)
            phrase, entity, find = called, subject, called
            if via:
                fact = subject.facts.get(template.path[0])
                if fact is None or fact.object is None:
                    raise NoQuestion
                steps += self._steps(subject, called, template.path[0])
                phrase = relations()[template.path[0]].nouns[phrasing].format(x=called)
                entity, find = self._graph[fact.object], fact.mention
            dated = entity.facts.get(relation.name)
            if dated is None:
                raise NoQuestion
            steps += self._steps(entity, find, relation.name)
            sides.append((phrase, entity, int(dated.mention)))
        (a, first, year), (b, second, other_year) = sides
        if len({one.id, other.id, first.id, second.id}) != (4 if via else 2) or abs(year - other_year) < 2:
            raise NoQuestion
        question = _sentence(relation.earlier[phrasing].format(a=a, b=b))
        right = first if year < other_year else second
        if via:
            self._check_hidden(question, [], [first.id, second.id])
        return _row(template, sorted([one, other], key=lambda e: e.id), question, list(right.names), steps)

    def _same(self, template: Template, phrasing: int, rng: random.Random, one: Entity, wanted: bool) -> Row:
        relation = relations()[template.path[0]]
        fact = one.facts.get(relation.name)
        if fact is None or fact.object is None:
            raise NoQuestion
        other = rng.choice(self._having[relation.name, fact.object] if wanted else self._by_kind[one.kind])
        second = other.facts.get(relation.name)
        if other is one or second is None or (second.object == fact.object) != wanted:
            raise NoQuestion
        names = [_called(e, rng) for e in (one, other)]
        steps = self._steps(one, names[0], relation.name) + self._steps(other, names[1], relation.name)
        if wanted and fact.mention != second.mention:  # two names of one object: its own passage says so
            steps.append(self._page(self._graph[fact.object], fact.mention, ""))
        question = _sentence(words()["same"][phrasing].format(a=names[0], b=names[1], label=relation.label))
        self._check_hidden(question, [], [fact.object])
        pair = sorted([one, other], key=lambda e: e.id)
        return _row(template, pair, question, ["yes" if wanted else "no"], steps)

    def _steps(self, subject: Entity, find: str, relation: str) -> list[Row]:
        """From the name `find` of a subject to the sentence that states the relation."""
        fact = subject.facts[relation]
        if fact.told_by == subject.id or find == subject.name:
            return [self._step(subject.id, fact.told_by, find, relation, fact.mention)]
        # Other passages use the name alone, so the subject's own has to resolve the alias.
        return [
            self._page(subject, find, subject.name),
            self._step(subject.id, fact.told_by, subject.name, relation, fact.mention),
        ]

    def _page(self, entity: Entity, find: str, read: str) -> Row:
        """The passage of an entity itself, known by its opening sentence."""
        return self._step(entity.id, entity.id, find, "", read)

    def _step(self, subject: int, told_by: int, find: str, relation: str, read: str) -> Row:
        """Read `read` in the evidence, a sentence of the passage that `find` leads to."""
        return {
            "entity": told_by,
            "passage": self._order[told_by],
            "title": self._graph[told_by].name,
            "find": find,
            "evidence": self._passages[told_by].sentences[subject, relation],
            "read": read,
        }

    def _check_hidden(self, question: str, answers: Sequence[str], bridges: Sequence[int]) -> None:
        """Neither an answer nor what lies on the way to it may stand in the question."""
        said = f" {normalise(question)} "
        hidden = [*answers, *(name for bridge in bridges for name in self._graph[bridge].names)]
        if any(f" {normalise(text)} " in said for text in hidden):
            raise NoQuestion


def _found(steps: Sequence[Row], query_of: Callable[[Row], str | None]) -> bool:
    """Give each step its query; whether all have one."""
    for step in steps:
        if (query := query_of(step)) is None:
            return False
        step["query"] = query
    return len(steps) <= LONGEST


def _called(subject: Entity, rng: random.Random) -> str:
    return rng.choice(subject.aliases) if subject.aliases and rng.random() < BY_ALIAS else subject.name


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def _row(
    template: Template,
    subjects: Sequence[Entity],
    question: str,
    answers: list[str],
    steps: list[Row],
    *,
    missing: bool = False,
) -> Row:
    """`canonical`: path and subjects, whatever the words."""
    way = "missing" if missing else template.kind
    return {
        "question": question,
        "answers": answers,
        "steps": steps,
        "canonical": f"{way}:{'.'.join(template.path)}:{'.'.join(str(s.id) for s in subjects)}",
    }
