"""The pages, and what clicks and searches do."""

import json

import pytest
from shop_play import do, every_task, parts, solution

from agentenv.errors import EpisodeOver, ResetNeeded
from agentenv.protocol import Action
from envservers.shop.webshop.env import WebShop
from envservers.shop.webshop.store import SQLITE, query_words


@pytest.fixture
def task(world):
    """A wish with an option, found on the first page."""
    return next(
        t for t in every_task(world, "test") if t.payload["options"] and t.payload["search"] == t.payload["instruction"]
    )


def opened(env, task):
    """On the page of the product that is meant."""
    env.reset(task)
    result = do(env, f"search[{task.payload['search']}]")
    while task.payload["asin"] not in result.observation:
        result = do(env, "click[Next >]")
    return do(env, f"click[{task.payload['asin']}]")


def test_the_search_page_shows_the_instruction(env, task):
    result = env.reset(task)
    assert result.observation == f"WebShop [SEP] Instruction: [SEP] {task.payload['instruction']} [SEP] Search"
    assert result.info == {"sqlite": SQLITE}
    words = query_words(task.payload["instruction"])
    assert env.available_actions() == sorted(f"search[{word}]" for word in words)


def test_a_page_of_results_lists_ten_products_with_title_and_price(env, store, task):
    env.reset(task)
    broad = f"{task.payload['query']} warranty"  # many products have one
    shown = parts(do(env, f"search[{broad}]"))
    assert shown[:5] == [
        "Instruction:",
        task.payload["instruction"],
        "Back to Search",
        "Page 1 (Total results: 50)",
        "Next >",
    ]
    products = [store.product(number) for number in store.search(broad)]
    assert shown[5:] == [text for p in products[:10] for text in (p.asin, p.title, p.price_tag)]
    asins = [f"click[{p.asin}]" for p in products[:10]]
    assert env.available_actions() == sorted([*asins, "click[Back to Search]", "click[Next >]"])


def test_five_pages_hold_fifty_results_and_the_last_has_no_next(env, task):
    env.reset(task)
    first = do(env, f"search[{task.payload['query']} warranty]")
    seen = [parts(do(env, "click[Next >]")) for _ in range(4)]
    assert [page[3] for page in seen] == [f"Page {n} (Total results: 50)" for n in (2, 3, 4, 5)]
    assert seen[0][4:6] == ["< Prev", "Next >"]
    assert "Next >" not in seen[-1]
    assert "nothing of that name" in do(env, "click[Next >]").observation
    assert do(env, *["click[< Prev]"] * 4).observation == first.observation


@pytest.mark.parametrize("query", ["zzzzqqq", "the of and", "!!!", '" OR ""', "title:*", "NEAR("])
def test_a_search_without_results_says_so_and_can_be_repeated(env, task, query):
    env.reset(task)
    shown = parts(do(env, f"search[{query}]"))
    if "Total results: 0" in shown[3]:
        assert shown[2:] == ["Back to Search", "Page 1 (Total results: 0)", "No products found"]
        assert env.available_actions() == ["click[Back to Search]"]
    assert "Page 1" in do(env, f"search[{task.payload['query']}]").observation


def test_the_page_of_a_product_shows_options_price_and_tabs(env, store, task):
    shown = parts(opened(env, task))
    meant = next(p for p in map(store.product, range(1, 2001)) if p.asin == task.payload["asin"])
    values = [
        text
        for name, some in meant.options.items()
        for text in (name, *(f"{v} (sold out)" if v in meant.sold_out else v for v in some))
    ]
    about = [meant.title, f"Price: {meant.price_tag}", f"Rating: {meant.rating}"]
    buttons = ["Description", "Features", "Reviews", "Buy Now"]
    assert shown[2:] == ["Back to Search", "< Prev", *values, *about, *buttons]
    assert parts(do(env, "click[Description]"))[2:] == ["Back to Search", "< Prev", meant.description]
    assert parts(do(env, "click[< prev]"))[2:] == shown[2:]
    assert parts(do(env, "click[FEATURES]"))[4:] == list(meant.features)


def test_a_chosen_option_is_told_and_kept_on_the_tabs_but_not_on_another_product(env, task):
    opened(env, task)
    value = next(iter(task.payload["options"].values()))
    assert parts(do(env, f"click[{value.upper()}]"))[0] == f"You have clicked {value}."
    assert parts(do(env, "click[Features]", "click[< Prev]"))[0] == f"You have clicked {value}."
    assert parts(do(env, "click[< Prev]", f"click[{task.payload['asin']}]"))[0] == "Instruction:"


def test_another_value_of_an_option_takes_the_place_of_the_first(env, store, task):
    opened(env, task)
    meant = next(p for p in map(store.product, range(1, 2001)) if p.asin == task.payload["asin"])
    name, values = next((n, v) for n, v in meant.options.items() if len(set(v) - meant.sold_out) > 1)
    one, other = [value for value in values if value not in meant.sold_out][:2]
    result = do(env, f"click[{one}]", f"click[{other}]", "click[Buy Now]")
    assert result.info["options"] == {name: other}


def test_what_is_sold_out_is_shown_and_cannot_be_chosen(env, store, task):
    product = next(p for p in map(store.product, range(1, 2001)) if p.sold_out)
    value = min(product.sold_out)
    env.reset(task)
    result = do(env, f"search[{product.title}]")
    while product.asin not in result.observation:
        result = do(env, "click[Next >]")
    before = do(env, f"click[{product.asin}]")
    assert f"{value} (sold out)" in parts(before)
    assert f"click[{value}]" not in env.available_actions()
    after = do(env, f"click[{value}]")
    assert after.observation == f"Invalid action: this is sold out. {ANSWER}\n\n{before.observation}"
    assert do(env, f"click[{value} (sold out)]").observation.startswith("Invalid action")


ANSWER = "Answer with search[keywords] or click[value]."


@pytest.mark.parametrize("text", ["", "click[nothing]", "click[WebShop]", "click[Search]", "buy now", "click[Buy Now]"])
def test_what_cannot_be_done_changes_nothing(env, task, text):
    page = env.reset(task).observation
    result = do(env, text)
    assert result.observation.startswith("Invalid action: ")
    assert result.observation.endswith(f"{ANSWER}\n\n{page}")
    assert (result.reward, result.terminated) == (0.0, False)
    assert all(action.startswith("search[") for action in env.available_actions())


def test_the_purchase_ends_the_episode_and_a_second_one_is_refused(env, task):
    [*_, (text, result)] = solution(env, task)
    assert text == "click[Buy Now]"
    assert (result.reward, result.success, result.terminated) == (1.0, True, True)
    assert parts(result)[-2:] == ["Your score (min 0.0, max 1.0)", "1.0"]
    assert json.loads(parts(result)[5]) == result.info["options"]
    assert env.available_actions() == []
    with pytest.raises(EpisodeOver, match="reset"):
        env.step(Action(text="click[Buy Now]"))


def test_buying_without_the_options_gives_a_part_of_the_reward_and_no_success(env, task):
    opened(env, task)
    result = do(env, "click[Buy Now]")
    wanted = len(task.payload["attributes"]) + len(task.payload["options"]) + (task.payload["price_upper"] is not None)
    assert result.reward == pytest.approx(1 - len(task.payload["options"]) / wanted)
    assert (result.terminated, result.success) == (True, False)


def test_no_reward_comes_before_the_purchase(env, task):
    assert [result.reward for _, result in solution(env, task)[:-1]] == [0.0] * (len(solution(env, task)) - 1)


def test_a_search_from_any_page_leads_to_its_results(env, task):
    opened(env, task)
    assert "Page 1 (Total results:" in do(env, "search[coffee]").observation


def test_the_rich_text_marks_buttons_and_what_was_clicked(world, task):
    env = WebShop(size="small", observation="text_rich")
    assert env.reset(task).observation.splitlines()[-1] == "[button] Search [button_]"
    result = opened(env, task)
    value = next(iter(task.payload["options"].values()))
    assert f"  [button] {value} [button_]" in result.observation.splitlines()
    chosen = do(env, f"click[{value}]").observation.splitlines()
    assert chosen[0] == f"You have clicked {value}."
    assert f"  [clicked button] {value} [clicked button_]" in chosen
    assert f"[clicked button] {task.payload['asin']} [clicked button_]" in do(env, "click[< Prev]").observation


def test_step_before_reset_says_what_to_do(env):
    with pytest.raises(ResetNeeded, match=r"call reset\(task\) first"):
        env.step(Action(text="search[a]"))


def test_a_snapshot_goes_on_where_it_was_taken(env, task):
    opened(env, task)
    fresh = WebShop(size="small")
    fresh.restore(env.snapshot())
    assert do(fresh, "click[Features]") == do(env, "click[Features]")
    with pytest.raises(TypeError):
        fresh.restore("a state")
