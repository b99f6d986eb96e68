"""The TextCraft engine: an inventory, three actions, and a goal."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product

from agentenv.env import Env
from agentenv.errors import EpisodeOver, ResetNeeded
from agentenv.protocol import Action, Outcome, StepResult, Task
from envservers.command import command
from envservers.games.textcraft.recipes import MAX_COUNT, Recipe, Slot, item_id, parse_craft, parse_slot
from envservers.games.textcraft.table import WORLDS
from envservers.games.textcraft.tasks import table_world, world_of
from envservers.games.textcraft.world import World

MAX_ECHO = 200
"""Characters of an action that a reply repeats, and of the reason that follows them."""

MAX_SPELLINGS = 64
"""Of one shown recipe in `available_actions`."""

FORMS = "the actions are get N ITEM, inventory, and craft N ITEM using N ITEM, N ITEM"
COUNTED = f"every ingredient needs a count, 1 to {MAX_COUNT}, before its name"
GET_FORM = f"write get, then a count from 1 to {MAX_COUNT}, then one item"

_GET = re.compile(r"get ([0-9]+) (.+)", re.DOTALL)
_CRAFT = re.compile(r"craft (?:craft )?(.+ using .+)", re.DOTALL)
"""The word may come twice: a call's argument is often copied from the list with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """All that changes in an episode."""

    task: Task
    held: tuple[tuple[str, int], ...] = ()
    """Item and count, in the order of first getting; counts are at least 1."""
    over: bool = False


class TextCraft(Env):
    """One episode is one goal item. Success is crafting it; reward 1.0 then, else 0.0.

    `commands` and `goal` take effect through the task that they make; the env itself needs `recipes` alone.
    """

    def __init__(self, *, recipes: str | None = None, commands: str = "", goal: str = "") -> None:
        self.recipes = recipes
        self._state: State | None = None  # None until reset()
        for number in range(WORLDS):
            table_world(number)  # once in a process; made now, so that no reset has to
        self._world: World = table_world(0)
        self._shown: Sequence[Recipe] = ()

    def reset(self, task: Task) -> StepResult:
        """Start with nothing in hand."""
        self._enter(State(task=task))
        lines = "\n".join(map(str, self._shown))
        return StepResult(observation=f"Crafting commands:\n{lines}\n\nGoal: craft {task.payload['goal']}.")

    def _enter(self, state: State) -> None:
        payload = state.task.payload
        self._world = world_of(self.recipes, payload)
        if "commands" in payload:
            self._shown = self._world.recipes
        else:
            self._shown = self._world.shown(payload["goal"], state.task.seed)
        self._state = state

    def step(self, action: Action) -> StepResult:
        """Do one action; one that cannot be done changes nothing."""
        state = self._running()
        text = command(action.text)
        if text == "inventory":
            return StepResult(observation=_inventory(state))
        if match := _GET.fullmatch(text):
            return self._get(state, text, match[1], match[2])
        if match := _CRAFT.fullmatch(text):
            wanted = parse_craft(match[1])
            return self._craft(state, wanted) if wanted else _refused(f"Could not execute {text}", COUNTED)
        return _refused(f"Could not execute {text}", GET_FORM if text.startswith("get ") else FORMS)

    def _running(self) -> State:
        if self._state is None:
            raise ResetNeeded("TextCraft.step() before reset(); call reset(task) first")
        if self._state.over:
            raise EpisodeOver("the goal has been crafted; call reset(task)", outcome=str(Outcome.SUCCESS))
        return self._state

    def _get(self, state: State, text: str, count: str, rest: str) -> StepResult:
        slot = parse_slot(f"{count} {rest}")
        if slot is None:
            return _refused(f"Could not execute {text}", GET_FORM)
        if slot.name not in self._world.graph.raw:
            return _refused(f"Could not find {rest}", self._not_raw(slot.name))
        held = dict(state.held)
        if held.get(slot.name, 0) + slot.count > MAX_COUNT:
            return _refused(f"Could not execute {text}", f"you cannot hold more than {MAX_COUNT} of an item")
        held[slot.name] = held.get(slot.name, 0) + slot.count
        self._state = replace(state, held=tuple(held.items()))
        return StepResult(observation=f"Got {slot}")

    def _not_raw(self, name: str) -> str:
        if name in self._world.graph.members:
            return "it is a kind of item, and those of the kind must be crafted"
        if name in self._world.graph.makes:
            return "it must be crafted"
        return "there is no raw material of that name"

    def _craft(self, state: State, wanted: Recipe) -> StepResult:
        held = dict(state.held)
        spent: Counter[str] = Counter()
        for slot in wanted.slots:
            spent[slot.name] += slot.count
        for name, count in spent.items():
            if held.get(name, 0) < count:
                why = f"you hold {held.get(name, 0)} of {count} {name}"
                if name in self._world.graph.members:
                    why += ", a kind of item; write the name of one that you hold"
                return _refused(f"Could not find enough items to craft {item_id(wanted.result)}", why)
        recipe = next((r for r in self._world.makers(wanted.result) if self._fits(wanted, r)), None)
        if recipe is None:
            known = "no command makes it with exactly these counts and ingredients"
            why = known if self._world.makers(wanted.result) else "no command makes an item of that name"
            return _refused(f"Could not find a valid recipe for {wanted.result}", why)
        for name, count in spent.items():
            held[name] -= count
        held[recipe.result] = held.get(recipe.result, 0) + recipe.count
        done = recipe.result == state.task.payload["goal"]
        self._state = replace(state, held=tuple((n, c) for n, c in held.items() if c), over=done)
        text = f"Crafted {recipe.count} {item_id(recipe.result)}"
        return StepResult(observation=text, reward=float(done), terminated=done, success=True if done else None)

    def _fits(self, wanted: Recipe, recipe: Recipe) -> bool:
        """Whether `wanted` names exactly this recipe's yield and fills each of its slots with one entry."""
        if wanted.count not in (0, recipe.count) or len(wanted.slots) != len(recipe.slots):
            return False
        return _matched(self._world, wanted.slots, recipe.slots)

    def available_actions(self) -> list[str] | None:
        """`inventory`, a `get` for each ingredient count shown, and each craft shown, generic ones spelled out."""
        if self._state is not None and self._state.over:
            return []
        self._running()
        gets = dict.fromkeys(f"get {slot}" for recipe in self._shown for slot in recipe.slots)
        crafts = dict.fromkeys(text for recipe in self._shown for text in self._spelled(recipe))
        return ["inventory", *gets, *crafts]

    def _spelled(self, recipe: Recipe) -> Iterator[str]:
        """The recipe with each kind filled by each member that the shown recipes make."""
        made = dict.fromkeys(shown.result for shown in self._shown)
        kinds = self._world.graph.members
        options = [
            [Slot(s.count, item) for item in made if item in kinds[s.name]] if s.name in kinds else [s]
            for s in recipe.slots
        ]
        for slots in islice(product(*options), MAX_SPELLINGS):
            yield str(Recipe(recipe.count, recipe.result, slots))

    def solve(self, task: Task) -> Generator[Action, StepResult, None]:
        """Get the raw materials, then craft in the order of dependence."""
        world = world_of(self.recipes, task.payload)
        for text in world.plan(task.payload["goal"], task.seed).actions():
            yield Action(text=text)

    def snapshot(self) -> object:
        """The state; it never changes in place."""
        return self._running() if self._state is None else self._state

    def restore(self, snapshot: object) -> None:
        """Go on from a state that `snapshot` returned."""
        if not isinstance(snapshot, State):
            raise TypeError(f"TextCraft.restore() takes what snapshot() returned, not {type(snapshot).__name__}")
        self._enter(snapshot)


def _inventory(state: State) -> str:
    if not state.held:
        return "Inventory: You are not carrying anything."
    return "Inventory: " + "".join(f"[{name}] ({count}) " for name, count in state.held)


def _refused(text: str, why: str) -> StepResult:
    return StepResult(observation=f"{_cut(text)}: {_cut(why)}.")


def _cut(text: str) -> str:
    return text if len(text) <= MAX_ECHO else text[:MAX_ECHO] + "..."


def _matched(world: World, entries: Sequence[Slot], slots: Sequence[Slot]) -> bool:
    """Whether the entries fill the slots one to one, in any order, by exact counts (augmenting paths)."""
    taken: dict[int, int] = {}

    def place(entry: int, tried: set[int]) -> bool:
        for index, slot in enumerate(slots):
            fits = slot.count == entries[entry].count and world.fills(entries[entry].name, slot.name)
            if fits and index not in tried:
                tried.add(index)
                if index not in taken or place(taken[index], tried):
                    taken[index] = entry
                    return True
        return False

    return all(place(entry, set()) for entry in range(len(entries)))
