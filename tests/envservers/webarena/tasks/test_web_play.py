"""Tasks played: the oracle wins by texts alone, everybody else does not."""

import json
import random
from collections import Counter, defaultdict
from collections.abc import Callable
from functools import cache

import pytest
from web_tasks import Acting, Played, by_oracle, plan_of, play_all, small, split

from agentenv.protocol import Task
from envservers.webarena.tasks import controls
from envservers.webarena.tasks.catalog import by_name
from envservers.webarena.tasks.oracle import solve
from envservers.webarena.tasks.signature import part, signature

REPEATABLE = {
    "shop.add_to_wish_list": "a second time says that it is there already",
    "shop.subscribe": "a second time says that the address is subscribed",
    "shop.register": "a second time says that there is an account",
    "shop.check_out": "the cart is empty then",
    "shop.compare_anew": "the comparison is cleared first",
    "shop.request_return": "an item whose return was asked for is offered no more",
    "admin.invoice_order": "an invoiced order is not pending",
    "admin.ship_order": "a shipped order is not to be shipped",
    "admin.add_coupon": "a second time says that the code is taken",
    "admin.add_customer": "a second time says that the address is taken",
    "admin.add_product": "a second time says that the SKU is taken",
    "admin.add_user": "a second time says that the name is taken",
}
"""Templates whose site refuses to do a new thing twice; whoever tries changes nothing and has still done the task."""


@cache
def solved() -> tuple[Played, ...]:
    return tuple(play_all(split("mini"), by_oracle))


def test_the_oracle_solves_mini_within_the_steps_allowed() -> None:
    for played in solved():
        told = played.last.info.get("checks")
        assert played.solved, (played.task.id, played.task.template, told)
        assert played.last.reward == 1.0
        assert len(played.sent) <= (played.task.max_steps or 0), played.task.template


def test_no_near_miss_of_the_database_passes() -> None:
    mutated = [played for played in solved() if played.task.category == "mutate"]
    assert len(mutated) >= 20
    for played in mutated:
        assert played.survivors == [], (played.task.id, played.task.template)


def test_the_oracle_needs_nothing_but_texts() -> None:
    for played in solved():
        acting = solve(played.seen[0], plan_of(played.task))
        again = [next(acting)]
        for text in played.seen[1:]:
            again.append(acting.send(text))
        assert again == played.sent


def test_what_it_answers_stands_in_an_observation_or_is_worked_out() -> None:
    worked_out = {"shop.orders_with_status", "shop.spent_in_month", "home.total_of_two", "shop.one_star_titles"}
    for played in solved():
        if played.task.category == "retrieve" and played.task.template not in worked_out:
            answer = played.sent[-1][6:-1]
            assert any(answer in text for text in played.seen), (played.task.template, answer)


def test_episodes_are_the_same_bytes_again() -> None:
    tasks = split("smoke")
    first, second = play_all(tasks, by_oracle), play_all(tasks, by_oracle)
    assert [p.seen for p in first] == [p.seen for p in second]


def score(tasks: list[Task], player: Callable[[Task], Callable[[str], Acting]]) -> float:
    return sum(played.solved for played in play_all(tasks, player)) / len(tasks)


@pytest.mark.parametrize("player", [controls.stop_at_once, controls.not_available])
def test_controls_that_do_nothing_win_nothing(player: Callable[[str], Acting]) -> None:
    assert score([*split("mini"), *split("test")[::9]], lambda task: player) == 0


def test_the_start_page_answers_next_to_nothing() -> None:
    tasks = [task for task in [*split("mini"), *split("test")[::5]] if task.category == "retrieve"]
    assert len(tasks) >= 80
    assert score(tasks, lambda task: controls.start_page) <= 0.05


def test_naming_more_than_asked_wins_nothing() -> None:
    tasks = [task for task in split("mini") if task.category == "retrieve"]
    assert score(tasks, lambda task: controls.over_answer(plan_of(task))) == 0


def test_doing_a_new_thing_twice_wins_nothing() -> None:
    tasks = [
        task
        for task in split("mini")
        if task.template not in REPEATABLE and any(check.get("inserts") for check in task.payload["checks"])
    ]
    assert len(tasks) >= 6
    lost = play_all(tasks, lambda task: lenient(controls.twice(plan_of(task), task.payload["start"][0])))
    assert [p.task.template for p in lost if p.solved] == []


def test_doing_what_another_task_asks_wins_nothing() -> None:
    can = defaultdict(list)
    for task in split("test"):
        if task.category != "unachievable":
            can[task.template].append(task)
    tasks, plans = [], {}
    for task, *others in can.values():
        other = next((o for o in others if answered(o) != answered(task)), None)
        if other is not None:
            tasks.append(task)
            plans[task.id] = plan_of(other)
    assert len(tasks) >= 60
    lost = play_all(tasks, lambda task: lenient(controls.near_miss(plans[task.id])))
    assert [p.task.template for p in lost if p.solved] == []


def answered(task: Task) -> str:
    return json.dumps(task.payload["checks"], sort_keys=True)


def lenient(player: Callable[[str], Acting]) -> Callable[[str], Acting]:
    """Gives up where the page has nothing of the other task's."""
    from envservers.webarena.tasks.oracle import PlanFailed

    def play(observation: str) -> Acting:
        try:
            yield from player(observation)
        except PlanFailed:
            yield "stop []"

    return play


@pytest.mark.parametrize(
    ("name", "every"), [("mini", 1), pytest.param("test", 5, marks=[pytest.mark.slow, pytest.mark.timeout(900)])]
)
def test_random_walks_and_clicks_on_the_nearest_words_win_next_to_nothing(name: str, every: int) -> None:
    tasks = split(name)[::every]
    walks = score(tasks, lambda task: controls.random_walk(random.Random(task.seed)))
    words = score(tasks, lambda task: controls.nearest_words)
    assert walks <= 0.01
    assert words <= 0.08


@pytest.mark.slow
def test_solutions_of_templates_differ_in_what_they_do_and_where() -> None:
    chosen: dict[str, Task] = {}
    for task in [*split("test_ood"), *split("test"), *split("dev")]:
        if task.category != "unachievable":
            chosen.setdefault(task.template, task)
    found = Counter(
        signature([part(seen, sent) for seen, sent in zip(played.seen, played.sent, strict=True)])
        for played in play_all(list(chosen.values()), by_oracle)
    )
    assert len(chosen) >= len(by_name()) - 4
    assert len(found) >= len(chosen) - 1
    assert len(found) >= 40


def test_smoke_is_solved_through_a_session() -> None:
    import asyncio

    from agentenv.registry import get_spec
    from agentenv.server.host import AsyncEnvHost

    async def run() -> list[bool]:
        spec = get_spec("webarena")
        host = AsyncEnvHost(spec, spec.resolve_options({"engine": "lite", "size": "small"}))
        ends = []
        for index in range(3):
            result = await host.reset(small().get("smoke", index))
            while not result.terminated:
                result = await host.step(await host.oracle())
            ends.append(bool(result.success))
        await host.close()
        return ends

    assert asyncio.run(run()) == [True] * 3
