"""What the seeded catalogue promises: near misses, hidden attributes, close prices, splits that share nothing."""

import itertools
import sqlite3
from collections import Counter
from contextlib import closing

import pytest
from shop_play import SPLITS, every_task, parts, solution

from agentenv.agents.prompts import opening_of
from agentenv.protocol import digest_of
from envservers.shop.webshop.matching import alike, nouns
from envservers.shop.webshop.products import Goal
from envservers.shop.webshop.reward import score
from envservers.shop.webshop.spec import SPEC
from envservers.shop.webshop.store import HITS, PER_PAGE, match_text
from envservers.shop.webshop.tasks import COUNTS, canonical_task
from envservers.shop.webshop.world.build import world_file
from envservers.shop.webshop.world.catalogue import IN_LINE, LINES
from envservers.shop.webshop.world.goals import HELD_SHAPES, SHAPES
from envservers.shop.webshop.world.language import attributes, kinds, phrasings, several, words
from envservers.shop.webshop.world.ranks import Ranks

GOLDEN = {
    "train": "6aad26a64e486c421eff3d9efaff63f207ddf93fd697f99bf699fa2066d639dc",
    "dev": "6c7fa9774404beddbf1b1d1cfb6097a5bfb111006bccfa14d36ba8114a5bfbc8",
    "test": "8b960bcddd75aa51aaa2e85e383dc6b810406d0b7bad723ff516a62157b7d2c7",
    "test_ood": "e7910808e54ff1d7cd118674cb6965913baab1212c7ce752feda54e73736075c",
}


@pytest.fixture
def tasks(world):
    return every_task(world)


@pytest.fixture
def products(store):
    return [store.product(number) for number in range(1, len(kinds()) * LINES["small"] * IN_LINE + 1)]


def goal_of(task):
    return Goal.from_json(task.payload)


def buyable(product, task):
    """What can be chosen of what the wish names."""
    return {
        name: value
        for name, value in task.payload["options"].items()
        if value in product.options.get(name, ()) and value not in product.sold_out
    }


@pytest.mark.parametrize("split", SPLITS)
def test_equal_seeds_make_equal_tasks(world, split):
    assert digest_of([task.digest for task in every_task(world, split)]) == GOLDEN[split]


def test_the_full_catalogue_is_as_large_as_promised():
    assert len(kinds()) * LINES["full"] * IN_LINE == 12_000
    assert dict(COUNTS["full"]) == {"train": 5_000, "dev": 200, "test": 200, "test_ood": 200}


def test_no_value_and_no_attribute_is_taken_for_another():
    for kind in kinds():
        for pool in kind.options:
            assert not [pair for pair in itertools.combinations(pool.values, 2) if alike(*pair)]
        values = [value for pool in kind.options for value in pool.values]
        assert len(set(values)) == len(values)
    assert not [pair for pair in itertools.combinations(attributes(), 2) if alike(*pair)]


def test_no_sentence_names_another_attribute():
    for name, says in attributes().items():
        others = [other for other in attributes() if other != name]
        assert not [(name, other) for said in says for other in others if other in said.lower()]


RULED_OUT = (
    ({"scent"}, {"fragrance free"}),
    ({"volume"}, {"travel size"}),
    ({"material"}, {"solid wood", "stainless steel", "faux leather"}),
)
"""Names of options, and attributes that one of their values would rule out."""


def test_no_attribute_of_a_kind_is_ruled_out_by_its_options_or_by_another():
    for kind in kinds():
        has, offers = set(kind.attributes), {pool.name for pool in kind.options}
        assert len(has) == len(kind.attributes) == 10
        assert not [pair for pair in RULED_OUT if pair[0] & offers and pair[1] & has], kind.noun
        assert not {"stainless steel", "faux leather"} <= has
        values = {value for pool in kind.options for value in pool.values}
        assert "nut free" not in has or not {"hazelnut", "almond"} & values


def test_what_is_said_of_every_product_of_a_department_names_no_attribute():
    said = [*words()["about"], *words()["styles"]]
    said += [text for name in ("uses", "extras") for texts in words()[name].values() for text in texts]
    assert set(words()["uses"]) == set(words()["extras"]) == {kind.path[0] for kind in kinds()}
    assert not [(text, name) for text in said for name in attributes() if name in text.lower()]


def test_acronyms_keep_their_capitals(products):
    shown = " ".join(text for p in products for text in (p.title, p.description, *p.features))
    assert "USB Port" in shown
    assert "USB port: " in shown
    assert "Usb" not in shown


def test_no_wish_comes_twice_and_splits_share_none(tasks):
    assert len({canonical_task(task) for task in tasks}) == len(tasks)


def test_every_goal_has_five_products_or_more_that_fail_exactly_one_wish(tasks, products):
    of_kind = {noun: [p for p in products if p.query == noun] for noun in {p.query for p in products}}
    for task in tasks[::3]:
        found = [score(p, buyable(p, task), goal_of(task)) for p in of_kind[task.payload["query"]]]
        assert sum(s.wanted - s.hit == 1 for s in found) >= 5, task.id
        assert any(s.success for s in found)


def test_limits_lie_between_the_meant_product_and_a_rival_that_costs_little_more(tasks, products):
    for task in tasks[::3]:
        limit = task.payload["price_upper"]
        if limit is None:
            continue
        any_price = goal_of(task)
        rivals = [
            p.price
            for p in products
            if p.query == task.payload["query"]
            and score(p, buyable(p, task), any_price).wanted - score(p, buyable(p, task), any_price).hit
            == (p.price > limit)
        ]
        assert min(price for price in rivals if price > limit) <= 1.25 * limit, task.id


@pytest.mark.parametrize("split", SPLITS)
def test_half_of_the_goals_have_an_attribute_that_no_title_tells(world, products, split):
    by_asin = {p.asin: p for p in products}
    some = every_task(world, split)
    hidden = [
        task
        for task in some
        if any(name not in by_asin[task.payload["asin"]].title.lower() for name in task.payload["attributes"])
    ]
    assert len(hidden) >= 0.5 * len(some)
    assert all(task.payload["tabs"] for task in hidden)


@pytest.mark.parametrize("split", SPLITS)
def test_three_goals_of_ten_need_the_second_page_or_other_words(world, store, split):
    some = every_task(world, split)[:100]
    hard = 0
    for task in some:
        shown = [store.product(n) for n in store.search(task.payload["instruction"], PER_PAGE)]
        hard += not any(score(p, buyable(p, task), goal_of(task)).success for p in shown)
    assert hard >= 0.3 * len(some)


@pytest.mark.parametrize("split", SPLITS)
def test_no_level_fills_more_than_two_fifths(world, split):
    levels = Counter(task.difficulty for task in every_task(world, split))
    assert set(levels) == {1, 2, 3, 4}
    assert max(levels.values()) <= 0.4 * levels.total()


def test_shapes_phrasings_and_kinds_are_kept_for_test_ood(tasks):
    ordinary, held = {shape.name for shape in SHAPES}, {shape.name for shape in HELD_SHAPES}
    assert len(held) >= 0.2 * len(ordinary | held)
    assert len(phrasings(held_out=False)) >= 5
    assert len(phrasings(held_out=True)) >= 2
    assert sum(kind.held for kind in kinds()) >= 0.2 * len(kinds())
    seen = {split: {t.template for t in tasks if t.split == split} for split in SPLITS}
    assert seen["train"] | seen["dev"] | seen["test"] <= ordinary
    assert held & seen["test_ood"]
    kept = {kind.noun for kind in kinds() if kind.held}
    for task in tasks:
        own = any(
            style.text(
                several()[task.payload["query"]],
                task.payload["attributes"],
                task.payload["options"],
                task.payload["price_upper"],
            )
            == task.payload["instruction"]
            for style in phrasings(held_out=task.split == "test_ood")
        )
        assert own
        assert task.split == "test_ood" or task.payload["query"] not in kept
    assert {t.payload["query"] for t in tasks if t.split == "test_ood"} & kept


def test_every_product_of_a_kind_is_of_its_kind_to_the_reward(products):
    for one, other in itertools.pairwise(sorted(products, key=lambda p: p.query)):
        if one.query == other.query:
            assert nouns(one.title) & nouns(other.title)


def test_wishes_are_drawn_by_the_ranking_that_searches_have(tasks, store, world):
    ranks = Ranks(world_file("small"))
    for task in tasks[::9]:
        for query in (task.payload["instruction"], task.payload["name"], f"{task.payload['query']} {task.category}"):
            assert ranks.search(query) == store.search(query)


def test_ties_of_a_search_are_broken_by_the_product_id(store, products):
    with closing(sqlite3.connect(world_file("small"))) as db:
        wanted = (match_text("coffee"),)
        ranked = db.execute("select rowid, round(bm25(words, 3, 1, 1), 6) from words where words match ?", wanted)
        ranked = ranked.fetchall()
    expected = sorted((rank, products[number - 1].asin, number) for number, rank in ranked)
    assert store.search("coffee") == [number for _, _, number in expected[:HITS]]
    assert len({rank for rank, _, _ in expected[:HITS]}) < HITS  # there are ties


def test_the_place_of_the_wanted_value_on_its_page_is_chance(tasks, products):
    """Chi-square; 16.27 is p = 0.001 at three degrees of freedom."""
    by_asin = {p.asin: p for p in products}
    counts: Counter[int] = Counter()
    for task in tasks:
        product = by_asin[task.payload["asin"]]
        for name, value in task.payload["options"].items():
            values = [v for v in product.options[name] if v not in product.sold_out]
            if len(values) == 4:
                counts[values.index(value)] += 1
    expected = counts.total() / 4
    assert counts.total() > 80
    assert sum((counts[place] - expected) ** 2 / expected for place in range(4)) < 16.27


def test_nothing_that_is_told_before_the_results_names_the_meant_product(tasks, env):
    prompt = repr(opening_of(SPEC).prompt.messages)
    for task in tasks:
        asin = task.payload["asin"]
        assert asin not in repr(task.ref()) + prompt
        if task.split in ("dev", "test"):
            told = env.reset(task).observation + repr(env.available_actions()) + repr(env.last.info)
            assert asin not in told


def test_the_solution_sees_each_step_before_it_takes_it(world, env):
    for task in every_task(world, "dev", "test", "test_ood"):
        played = solution(env, task)
        for (_, before), (text, _) in itertools.pairwise(played):
            if text.startswith("click["):
                assert text[6:-1] in parts(before)
        assert played[-1][1].success
        assert played[-1][1].reward == 1.0
        assert len(played) - 1 <= 14
