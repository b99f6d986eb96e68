"""What people write: reviews that agree with their stars, descriptions, notes, messages."""

from __future__ import annotations

import re
from collections import Counter
from typing import Protocol

from envservers.webarena.world.draw import Draw
from envservers.webarena.world.grammar.load import Leaf, words

TYPOS = 0.05
"""Share of the texts with a slip of the fingers."""
_WITH_CLAUSE = frozenset({"praise", "complaint", "minor", "concession"})
_PLAIN = frozenset(
    ["after", "without", "enough", "never", "really", "there", "where", "every", "still", "their", "about"]
)
_ONCE = ("time", "when", "person", "old", "often")
"""Slots that mean the same throughout one text."""
_COUNTED = {
    "pair": ("headphones", "earbuds", "trainers", "shoes", "boots", "shears"),
    "packet": ("seeds",),
    "volume": ("stories",),
    "set": ("tiles", "bands", "lights"),
}
_ARTICLE = re.compile(r"\b([Aa]) (?=[aeiou]|hon)(?!one\b|us|uni|eu)")
_SLOT = re.compile(r"\{(\w+)\}")


class Subject(Protocol):
    """What a review is about."""

    leaf: Leaf
    noun: str
    qualifier: str
    good: list[str]
    bad: list[str]
    broken: list[str]


class Voice:
    """Sentences from frames. No sentence is used in more than one text in a hundred (`at_most` times)."""

    def __init__(self, draw: Draw, *, at_most: int) -> None:
        self._draw = draw
        self._at_most = at_most
        self._uses: Counter[str] = Counter()

    def description(self, kind: Subject, brand: str, specs: list[tuple[str, str]]) -> str:
        """Two or three paragraphs of a product page."""
        draw = self._draw
        leaf = kind.leaf
        slots = self._once() | {"brand": brand, "noun": one_of(kind.noun), "category": leaf.name.lower()}
        slots["qualifier"] = kind.qualifier.lower()
        uses = draw.some(leaf.uses, 2)
        slots |= {"use": uses[0], "use2": uses[-1]}
        name, value = draw.pick(specs)
        slots |= {"spec": name.lower(), "value": value}
        feature, second = draw.some(leaf.features, 2)
        opening = self._sentence("description_open", slots)
        body = " ".join(
            [self._sentence("description_spec", slots)]
            + [_lower_into(self._sentence("description_feature", slots | {"feature": f}), f) for f in (feature, second)]
        )
        closing = self._sentence("description_close", slots)
        return f"{opening}\n\n{body}" + (f"\n\n{closing}" if draw.chance(0.8) else "")

    def features(self, leaf: Leaf) -> list[str]:
        """The list on a product page."""
        return self._draw.some(leaf.features, self._draw.between(3, 5))

    def review(self, kind: Subject, brand: str, stars: int) -> tuple[str, str]:
        """Title and body for that many stars."""
        draw = self._draw
        uses = draw.some(kind.leaf.uses, 2)
        slots = self._once() | {"noun": one_of(kind.noun), "brand": brand, "use": uses[0], "use2": uses[-1]}
        praise = _leaning(draw, kind.good)
        faults = _leaning(draw, kind.bad if stars > 3 else [*kind.broken, *kind.bad])
        match stars:
            case 5:
                plan = ["praise"] * draw.between(1, 3) + ["verdict_good"]
            case 4:
                plan = ["praise"] * draw.between(1, 2) + (["minor"] if draw.chance(0.7) else []) + ["verdict_good"]
            case 3:
                plan = ["praise", "complaint", "verdict_mixed"]
            case 2:
                plan = (
                    ["complaint"] * draw.between(1, 2) + (["concession"] if draw.chance(0.5) else []) + ["verdict_bad"]
                )
            case _:
                plan = ["complaint"] * draw.between(1, 3) + ["verdict_bad"]
        if draw.chance(0.55):
            plan.insert(0, "context")
        if draw.chance(0.25) and len(plan) > 2:
            plan.pop()
        sentences: list[str] = []
        said: set[str] = set()
        frames: set[str] = set()
        for part in plan:
            clause = ""
            if part in _WITH_CLAUSE:
                clause = _unsaid(faults if part in ("complaint", "minor") else praise, said)
                if not clause:
                    continue
            sentences.append(self._sentence(part, slots | {"clause": clause}, frames))
        title = self._sentence(("title_bad", "title_bad", "title_mixed", "title_good", "title_good")[stars - 1], slots)
        return title, " ".join(sentences)

    def line(self, kind: str, **slots: str) -> str:
        """One sentence of a kind."""
        return self._sentence(kind, self._once() | slots)

    def _once(self) -> dict[str, str]:
        lists = words("frames")["slots"]
        slots = {name: self._draw.pick(lists[name]) for name in _ONCE}
        return slots | {"fellow": slots["person"][:1].upper() + slots["person"][1:]}

    def _sentence(self, kind: str, slots: dict[str, str], taken: set[str] | None = None) -> str:
        """`taken`: frames that this text has already; the new one is added."""
        frames: tuple[str, ...] = words("frames")[kind]
        taken = set() if taken is None else taken
        sentence = frame = ""
        for _ in range(60):
            frame = self._draw.pick(frames)
            sentence = self._fill(frame, slots)
            if self._uses[sentence] < self._at_most and frame not in taken:
                break
        taken.add(frame)
        self._uses[sentence] += 1
        return sentence

    def _fill(self, frame: str, slots: dict[str, str]) -> str:
        sentence = _SLOT.sub(lambda match: self._slot(match[1], slots), frame)
        return _ARTICLE.sub(r"\1n ", sentence[:1].upper() + sentence[1:])

    def _slot(self, name: str, slots: dict[str, str]) -> str:
        if name == "Clause":
            return slots["clause"][:1].upper() + slots["clause"][1:]
        if name in slots:
            return slots[name]
        choices: tuple[str, ...] = words("frames")["slots"][name]
        return self._draw.pick(choices)


def _unsaid(clauses: list[str], said: set[str]) -> str:
    """Takes the first clause that speaks of nothing that was spoken of before; empty if there is none."""
    for place, clause in enumerate(clauses):
        topics = {word for word in re.findall(r"[a-z]+", clause) if len(word) > 4} - _PLAIN
        if not topics & said:
            said |= topics
            return clauses.pop(place)
    return ""


def _lower_into(sentence: str, feature: str) -> str:
    """The feature's capital goes when it stands inside a sentence."""
    if sentence.startswith(feature):
        return sentence
    return sentence.replace(feature, feature[:1].lower() + feature[1:])


def one_of(noun: str) -> str:
    """In lower case, so that `a` fits before it: `pair of hiking boots`."""
    lower = noun.lower()
    unit = next((unit for unit, ends in _COUNTED.items() if lower.endswith(ends)), "")
    return f"{unit} of {lower}" if unit else lower


def _leaning(draw: Draw, clauses: list[str]) -> list[str]:
    """All of them; those in front tend to stay there."""
    keyed = sorted((place + draw.random() * 2.5, clause) for place, clause in enumerate(clauses))
    return [clause for _, clause in keyed]


def with_typo(draw: Draw, body: str) -> str:
    """One slip of the fingers in a word of four letters or more: two letters swapped, one lost, one doubled."""
    places = [match.span() for match in re.finditer(r"[a-z]{4,}", body)]
    if not places:
        return body
    start, end = draw.pick(places)
    at = draw.between(start, end - 2)
    match draw.below(3):
        case 0 if body[at] != body[at + 1]:
            return body[:at] + body[at + 1] + body[at] + body[at + 2 :]
        case 1:
            return body[:at] + body[at + 1 :]
        case _:
            return body[:at] + body[at] + body[at:]
