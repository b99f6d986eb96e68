"""The episode: search, look around, choose options, buy once."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field, replace
from typing import Any

from agentenv.env import Env
from agentenv.errors import EpisodeOver, ResetNeeded
from agentenv.protocol import Action, Outcome, StepResult, Task
from envservers.shop.webshop import pages
from envservers.shop.webshop.actions import Verb, read_action
from envservers.shop.webshop.pages import Part
from envservers.shop.webshop.products import Goal, Product
from envservers.shop.webshop.reward import score
from envservers.shop.webshop.sources import store_of
from envservers.shop.webshop.spec import SPEC
from envservers.shop.webshop.store import PER_PAGE, SQLITE, Store, query_words


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """All that changes in an episode. Where one is follows from what is set: a tab, else a product, else results."""

    instruction: str
    goal: Goal
    hits: tuple[int, ...] | None = None
    """Numbers of the products found, best first; None on the search page."""
    page: int = 1
    product: Product | None = None
    tab: str = ""
    chosen: tuple[tuple[str, str], ...] = ()
    """Name and value of options of the product."""
    looked_at: frozenset[str] = field(default_factory=frozenset)
    outcome: str = ""
    """`success` or `failure` once bought."""


class WebShop(Env):
    """Success is a purchase with reward 1; the first purchase ends the episode."""

    def __init__(
        self, *, observation: str = "text", size: str = "full", items: str = "", attributes: str = "", goals: str = ""
    ) -> None:
        self.observation = observation
        self._source = {"size": size, "items": items, "attributes": attributes, "goals": goals}
        self._state: State | None = None  # None until reset()

    def reset(self, task: Task) -> StepResult:
        """Stand on the search page."""
        self._store()  # built or opened now, so that a search is quick
        self._state = State(instruction=task.payload["instruction"], goal=Goal.from_json(task.payload))
        return StepResult(observation=self._shown(self._parts(self._state)), info={"sqlite": SQLITE})

    def step(self, action: Action) -> StepResult:
        """One search or click; what cannot be done changes nothing."""
        state = self._running()
        command = read_action(action.text)
        if isinstance(command, str):
            return self._refused(state, command)
        if command.verb is Verb.SEARCH:
            hits = tuple(self._store().search(command.argument))
            return self._at(replace(state, hits=hits, page=1, product=None, tab="", chosen=()))
        wanted = command.argument.casefold()
        shown = self._parts(state)
        part = next((p for p in shown if p.clickable and p.text.casefold() == wanted), None)
        if part is None or part.text == pages.SEARCH:
            return self._refused(state, self._why_not(shown, wanted))
        if part.text == pages.BUY and part.kind is pages.Is.BUTTON:
            return self._buy(state)
        return self._at(self._clicked(state, part))

    def available_actions(self) -> list[str] | None:
        """Every click that the page offers, sorted; on the search page a search for each word of the instruction."""
        if self._state is not None and self._state.outcome:
            return []
        state = self._running()
        if state.hits is None:
            return sorted(f"search[{word}]" for word in query_words(state.instruction))
        return sorted({f"click[{part.text}]" for part in self._parts(state) if part.clickable})

    def solve(self, task: Task) -> Generator[Action, StepResult, None]:
        """Search, turn pages to the product, read what its title does not say, choose the options, buy.

        It buys only what a page of results really showed.
        """
        payload = task.payload
        result = yield Action(text=f"search[{payload['search']}]")
        while payload["asin"] not in result.observation:
            if pages.NEXT not in result.observation:
                return
            result = yield Action(text=f"click[{pages.NEXT}]")
        yield Action(text=f"click[{payload['asin']}]")
        for tab in payload["tabs"]:
            yield Action(text=f"click[{tab}]")
            yield Action(text=f"click[{pages.PREV}]")
        for value in payload["clicks"]:
            yield Action(text=f"click[{value}]")
        yield Action(text=f"click[{pages.BUY}]")

    def snapshot(self) -> State | None:
        """The whole state; immutable."""
        return self._state

    def restore(self, snapshot: object) -> None:
        """Take over a state."""
        if snapshot is not None and not isinstance(snapshot, State):
            raise TypeError(f"WebShop.restore() takes what snapshot() returned, not {type(snapshot).__name__}")
        self._state = snapshot

    def _parts(self, state: State) -> list[Part]:
        if state.product is not None and state.tab:
            return pages.tab_page(state.instruction, state.product, state.tab)
        if state.product is not None:
            return pages.item_page(state.instruction, state.product, dict(state.chosen))
        if state.hits is None:
            return pages.start_page(state.instruction)
        first, last = (state.page - 1) * PER_PAGE, state.page * PER_PAGE
        return pages.results_page(
            state.instruction,
            [self._store().product(number) for number in state.hits[first:last]],
            page=state.page,
            total=len(state.hits),
            last=last >= len(state.hits),
            looked_at=state.looked_at,
        )

    def _clicked(self, state: State, part: Part) -> State:
        if part.kind is pages.Is.PRODUCT:
            return self._opened(state, part.text)
        if part.kind is pages.Is.OPTION:
            return _chosen(state, part.text)
        match part.text:
            case pages.BACK:
                return replace(state, hits=None, page=1, product=None, tab="", chosen=())
            case pages.NEXT:
                return replace(state, page=state.page + 1)
            case pages.PREV if state.tab:
                return replace(state, tab="")
            case pages.PREV if state.product is not None:
                return replace(state, product=None, chosen=())
            case pages.PREV:
                return replace(state, page=state.page - 1)
        return replace(state, tab=part.text)

    def _opened(self, state: State, asin: str) -> State:
        store, hits = self._store(), state.hits or ()
        shown = map(store.product, hits[(state.page - 1) * PER_PAGE : state.page * PER_PAGE])
        product = next(product for product in shown if product.asin == asin)
        return replace(state, product=product, chosen=(), looked_at=state.looked_at | {asin})

    def _buy(self, state: State) -> StepResult:
        assert state.product is not None
        chosen = dict(state.chosen)
        found = score(state.product, chosen, state.goal)
        self._state = replace(state, outcome=str(Outcome.SUCCESS if found.success else Outcome.FAILURE))
        info: dict[str, Any] = {
            "bought": state.product.asin,
            "options": chosen,
            "type": found.type,
            "attributes_hit": found.attributes,
            "options_hit": found.options,
            "price_ok": found.price,
        }
        return StepResult(
            observation=self._shown(pages.done_page(state.product, chosen, found.reward)),
            reward=found.reward,
            terminated=True,
            success=found.success,
            score=found.reward,
            info=info,
        )

    def _at(self, state: State) -> StepResult:
        self._state = state
        return StepResult(observation=self._shown(self._parts(state)))

    def _refused(self, state: State, reason: str) -> StepResult:
        text = SPEC.malformed_text.format(reason=reason)
        return StepResult(observation=f"{text}\n\n{self._shown(self._parts(state))}", info={"refused": reason})

    def _why_not(self, shown: list[Part], wanted: str) -> str:
        if any(part.text.casefold() == wanted + pages.SOLD_OUT for part in shown):
            return "this is sold out"
        return "the page has nothing of that name to click"

    def _shown(self, parts: list[Part]) -> str:
        return pages.rich(parts) if self.observation == "text_rich" else pages.plain(parts)

    def _store(self) -> Store:
        return store_of(**self._source)

    def _running(self) -> State:
        if self._state is None:
            raise ResetNeeded("WebShop.step() before reset(); call reset(task) first")
        if self._state.outcome:
            raise EpisodeOver("the purchase is made; reset or close", outcome=self._state.outcome)
        return self._state


def _chosen(state: State, value: str) -> State:
    """With the value chosen; where two options have it, for the first that does not have it chosen yet."""
    assert state.product is not None
    chosen = dict(state.chosen)
    names = [name for name, values in state.product.options.items() if value in values]
    name = next((name for name in names if chosen.get(name) != value), names[0])
    return replace(state, chosen=tuple({**chosen, name: value}.items()))
