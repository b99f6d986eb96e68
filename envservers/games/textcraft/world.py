"""A crafting world: what is made from what, how deep it lies, what a player must be shown, and a plan for a goal."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from envservers.games.textcraft.recipes import MAX_COUNT, Recipe, Slot

DISTRACTORS = 10
"""At most so many recipes are shown beside the needed ones."""

MAX_STEPS = 60
"""A goal whose plan takes more steps makes no task."""


class Graph:
    """Which name is made from which: the part of a world that counts and yields do not touch.

    A recipe that would close a cycle with those before it is dropped, so each name is either got or made, never both.
    """

    def __init__(self, recipes: Sequence[Recipe]) -> None:
        results = {recipe.result for recipe in recipes}
        self._members: dict[str, list[str]] = {}
        for recipe in recipes:
            if recipe.kind and recipe.kind not in results:
                members = self._members.setdefault(recipe.kind, [])
                if recipe.result not in members:
                    members.append(recipe.result)
        self._parts: dict[str, list[tuple[str, ...]]] = {}
        makes: dict[str, list[int]] = {}
        uses: dict[str, list[int]] = {}
        for place, recipe in enumerate(recipes):
            names = tuple(slot.name for slot in recipe.slots)
            if recipe.result in names or self._reaches(names, recipe.result):
                continue
            self._parts.setdefault(recipe.result, []).append(names)
            makes.setdefault(recipe.result, []).append(place)
            for name in names:
                uses.setdefault(name, []).append(place)
        self.makes = {name: tuple(places) for name, places in makes.items()}
        """Places of the recipes that make an item; its keys are the goals."""
        self.uses = {name: tuple(places) for name, places in uses.items()}
        """Places of the recipes that need a name."""
        self.members = {
            kind: made for kind, items in self._members.items() if (made := tuple(i for i in items if i in makes))
        }
        """The items that fill a kind; only kinds that some recipe's group names."""
        self.raw = frozenset(name for name in uses if name not in makes and name not in self.members)
        """What `get` gives: used somewhere, made nowhere. A tag that no group names is among them."""
        self.depth: dict[str, int] = {}
        """Crafts from raw to a name, by the shortest way; 0 is raw."""
        for name in (*makes, *self.members, *uses):
            self._measure(name)

    def _reaches(self, names: Iterable[str], target: str) -> bool:
        """Whether `target` goes into one of `names`, directly or not."""
        seen, todo = set(names), list(names)
        while todo:
            name = todo.pop()
            below = [*self._members.get(name, ()), *(part for parts in self._parts.get(name, ()) for part in parts)]
            for part in below:
                if part == target:
                    return True
                if part not in seen:
                    seen.add(part)
                    todo.append(part)
        return False

    def _measure(self, name: str) -> int:
        if name not in self.depth:
            if name in self.members:
                self.depth[name] = min(self._measure(member) for member in self.members[name])
            elif name in self._parts:
                self.depth[name] = min(1 + max(map(self._measure, parts)) for parts in self._parts[name])
            else:
                self.depth[name] = 0
        return self.depth[name]


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to a goal: a recipe for every item on it, and a member for every kind."""

    recipes: Mapping[str, int]
    """Item to the place of its recipe; the goal comes first."""
    members: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Plan:
    """How a goal is made: raw materials first, then crafts in the order of dependence."""

    gets: tuple[Slot, ...]
    crafts: tuple[tuple[int, Recipe], ...]
    """How often, and what; every ingredient is an item."""

    @property
    def steps(self) -> int:
        """Number of actions. May be astronomical in a strange world, so ask before listing them."""
        return len(self.gets) + sum(times for times, _ in self.crafts)

    @property
    def fits(self) -> bool:
        """Whether every raw material can be got by one action, and all within `MAX_STEPS`."""
        return self.steps <= MAX_STEPS and all(slot.count <= MAX_COUNT for slot in self.gets)

    def actions(self) -> Iterator[str]:
        """The actions in their order."""
        for slot in self.gets:
            yield f"get {slot}"
        for times, recipe in self.crafts:
            for _ in range(times):
                yield str(recipe)


class World:
    """A graph with the counts and yields of one world."""

    def __init__(self, graph: Graph, recipes: Sequence[Recipe]) -> None:
        self.graph, self.recipes = graph, recipes

    def makers(self, item: str) -> list[Recipe]:
        """The recipes that make `item`; empty for what cannot be made."""
        return [self.recipes[place] for place in self.graph.makes.get(item, ())]

    def fills(self, item: str, name: str) -> bool:
        """Whether `item` may stand where a recipe says `name`: itself, or a member of that kind."""
        return item == name or item in self.graph.members.get(name, ())

    def choose(self, goal: str, seed: int) -> Choice:
        """The shallowest recipes towards `goal`; a kind's member is one already on the way, else drawn by `seed`."""
        recipes: dict[str, int] = {}
        members: dict[str, str] = {}
        items, kinds = [goal], list[str]()
        while items or kinds:
            if items:
                item = items.pop(0)
            else:
                kind = kinds.pop(0)
                members[kind] = item = self._member(kind, recipes, seed)
            if item in recipes or item not in self.graph.makes:
                continue
            recipes[item] = place = min(self.graph.makes[item], key=self._depth_of)
            for slot in self.recipes[place].slots:
                queue = kinds if slot.name in self.graph.members else items
                if slot.name not in members and slot.name not in queue:
                    queue.append(slot.name)
        return Choice(recipes, members)

    def _depth_of(self, place: int) -> int:
        return max(self.graph.depth[slot.name] for slot in self.recipes[place].slots)

    def _member(self, kind: str, chosen: Mapping[str, int], seed: int) -> str:
        """Of the shallowest members: one that is made anyway, else whose parts are, else by the seed."""
        depth = self.graph.depth[kind]
        known = set(chosen) | {slot.name for place in chosen.values() for slot in self.recipes[place].slots}

        def missing(item: str) -> int:
            place = min(self.graph.makes[item], key=self._depth_of)
            return (item not in chosen) + sum(slot.name not in known for slot in self.recipes[place].slots)

        shallow = [item for item in self.graph.members[kind] if self.graph.depth[item] == depth]
        return min(shallow, key=lambda item: (missing(item), _draw(seed, item)))

    def shown(self, goal: str, seed: int) -> list[Recipe]:
        """The recipes of the observation: the chosen ones and distractors, in an order drawn by `seed`."""
        choice = self.choose(goal, seed)
        needed = list(choice.recipes.values())
        places = [*needed, *self._distractors(needed, choice, seed)]
        return [self.recipes[place] for place in sorted(places, key=lambda place: _draw(seed, place))]

    def _distractors(self, needed: Sequence[int], choice: Choice, seed: int) -> list[int]:
        """Recipes that share an ingredient or a result with the needed ones, one of a shape; then any others."""
        graph = self.graph
        names = dict.fromkeys(slot.name for place in needed for slot in self.recipes[place].slots)
        near = [place for name in names for place in graph.uses[name]]
        near += [place for kind in choice.members for item in graph.members[kind] for place in graph.makes[item]]
        near += [place for item in choice.recipes for place in graph.makes[item]]
        taken = set(needed)
        shapes: dict[str, int] = {}
        for place in sorted(set(near) - taken, key=lambda place: _draw(seed, ("near", place))):
            shapes.setdefault(self.recipes[place].shape, place)
        picked = list(shapes.values())[:DISTRACTORS]
        for offset in range(min(len(self.recipes), 20 * DISTRACTORS)):
            if len(picked) == DISTRACTORS:
                break
            place = (seed + 7919 * offset) % len(self.recipes)
            recipe = self.recipes[place]
            if place not in taken and recipe.shape not in shapes and place in graph.makes.get(recipe.result, ()):
                shapes[recipe.shape] = place
                picked.append(place)
        return picked

    def plan(self, goal: str, seed: int) -> Plan:
        """The way that `choose` chose, in numbers. Only recipes that `shown` shows are needed.

        Demand is added up over the whole way before batches are counted, so leftovers are used.
        """
        choice = self.choose(goal, seed)
        order = sorted(choice.recipes, key=lambda item: (-self.graph.depth[item], item))
        demand = {goal: 1}
        crafts: list[tuple[int, Recipe]] = []
        for item in order:
            recipe = self.recipes[choice.recipes[item]]
            slots = tuple(Slot(slot.count, choice.members.get(slot.name, slot.name)) for slot in recipe.slots)
            batches = -(-demand[item] // recipe.count)
            crafts.append((batches, replace(recipe, slots=slots)))
            for slot in slots:
                demand[slot.name] = demand.get(slot.name, 0) + batches * slot.count
        raw = sorted(name for name in demand if name not in choice.recipes)
        return Plan(gets=tuple(Slot(demand[name], name) for name in raw), crafts=tuple(reversed(crafts)))


def _draw(seed: int, what: object) -> bytes:
    """Bytes that order things as by chance, equal in every process."""
    return hashlib.sha256(f"{seed}:{what}".encode()).digest()[:8]
