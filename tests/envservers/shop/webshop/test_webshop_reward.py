"""The formula of the reward, term by term."""

import pytest
from shop_play import goal, product

from envservers.shop.webshop.matching import nouns, token_set_ratio
from envservers.shop.webshop.reward import score, type_factor

ALL = ("machine washable", "slim fit", "long sleeve")
CHOSEN = {"color": "red", "size": "m"}


@pytest.mark.parametrize(
    ("bought", "chosen", "wished", "reward"),
    [
        pytest.param(product(attributes=ALL), CHOSEN, goal(), 1.0, id="everything"),
        pytest.param(product(attributes=ALL[:2]), {"color": "red"}, goal(), 4 / 6, id="two attributes, one option"),
        pytest.param(product(attributes=ALL, price=60.01), CHOSEN, goal(), 5 / 6, id="too dear by a cent"),
        pytest.param(product(attributes=ALL, price=60.00), CHOSEN, goal(), 1.0, id="exactly the limit"),
        pytest.param(product(attributes=ALL[:1]), {}, goal(attributes=ALL[:2], options=()), 2 / 3, id="no options"),
        pytest.param(product(attributes=ALL, price=999.0), CHOSEN, goal(price_upper=None), 1.0, id="any price"),
        pytest.param(product(), {}, goal(price_upper=None), 0.0, id="nothing but the kind"),
    ],
)
def test_the_reward_is_the_share_of_wishes_that_are_met(bought, chosen, wished, reward):
    found = score(bought, chosen, wished)
    assert found.reward == pytest.approx(reward, abs=1e-12)
    assert found.success == (reward == 1.0)


TEN = "Norvella Cotton Shirt Collar Pocket Button Stitch Thread Fabric Yoke"
FAR = {"query": "lamp", "category": "garden › lamps"}


@pytest.mark.parametrize(
    ("title", "given", "factor"),
    [
        ("Norvella Cotton Shirt", {}, 1.0),
        ("Brook Shirt", {}, 1.0),
        ("Brook Shirt", FAR, 0.5),  # one noun of ten; neither query nor category
        ("Brook Shirt Collar Pocket", FAR, 1.0),  # three of ten
        ("Brook Shirt", {"query": "lamp"}, 1.0),  # by its category
        ("Brook Lamp", {}, 0.0),  # no noun in common: even of the same query
    ],
)
def test_the_kind_is_judged_by_the_nouns_of_titles_and_by_query_and_category(title, given, factor):
    assert type_factor(product(title=title, **given), goal(name=TEN)) == factor


def test_fewer_than_a_tenth_of_the_nouns_is_a_tenth_of_the_reward():
    eleven = f"{TEN} Hem"
    assert type_factor(product(title="Brook Shirt", **FAR), goal(name=eleven)) == 0.1
    found = score(product(title="Brook Shirt", attributes=ALL), CHOSEN, goal(name=eleven))
    assert found.reward == pytest.approx(0.1)
    assert not found.success


def test_an_attribute_may_also_stand_in_title_features_or_description():
    for told in (
        {"title": "Norvella Long Sleeve Shirt"},
        {"features": ("Comes with a LONG SLEEVE",)},
        {"description": "a long sleeve."},
    ):
        assert score(product(**told), {}, goal(attributes=("long sleeve",))).attributes == 1


def test_options_count_by_their_values_wherever_they_were_chosen():
    assert score(product(), {"size": "red"}, goal()).options == 1
    assert score(product(), {"color": "dark red"}, goal()).options == 1  # its words hold the wanted one
    assert score(product(), {"color": "blue"}, goal()).options == 0


@pytest.mark.parametrize(
    ("one", "other", "ratio"),
    [
        ("machine wash", "wash machine", 100),
        ("red", "dark red", 100),
        ("Red!", "red", 100),
        ("3 pack", "6 pack", 83),
        ("10", "12", 50),
        ("usb-c", "lightning", 0),
        ("cotton", "coton", 91),
        ("", "", 0),
        ("---", "red", 0),
    ],
)
def test_likeness_does_not_look_at_the_order_of_words(one, other, ratio):
    assert token_set_ratio(one, other) == token_set_ratio(other, one) == ratio


def test_nouns_are_what_is_neither_listed_nor_ends_like_another_kind_of_word():
    title = "Norvella Women's Running Shoes, Water Resistant, Machine Washable, for Travel - Size 10 Black"
    assert nouns(title) == {"norvella", "shoes", "water", "machine", "travel", "size"}
