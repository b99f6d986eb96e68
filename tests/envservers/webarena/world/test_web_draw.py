import pytest

from envservers.webarena.world.draw import Draw, Weighted, split_evenly, zipf
from envservers.webarena.world.totals import coupon_discount, order_totals, percent_of, shipping_price
from envservers.webarena.world.voices import one_of, with_typo


def test_a_stream_depends_on_its_whole_key():
    streams = [Draw("1", seed, size, part).random() for seed in (0, 1) for size in ("s", "m") for part in ("a", "b")]
    assert len(set(streams)) == 8
    assert Draw("1", 0, "s", "a").random() == streams[0]


def test_the_first_draws_are_recorded():
    """Python promises this sequence; if it breaks, every world changes."""
    draw = Draw("1", 0, "small", "products")
    assert [draw.below(1000) for _ in range(5)] == [852, 841, 173, 854, 639]


def test_whole_numbers_reach_both_ends():
    draw = Draw("ends")
    assert {draw.between(3, 5) for _ in range(200)} == {3, 4, 5}
    assert {draw.below(2) for _ in range(50)} == {0, 1}


def test_some_draws_different_things_and_no_more_than_there_are():
    draw = Draw("some")
    assert sorted(draw.some("abc", 5)) == ["a", "b", "c"]
    assert len(set(draw.some(range(100), 10))) == 10


def test_weights_hold():
    draw, weighted = Draw("weights"), Weighted([0, 3, 1])
    counts = [0, 0, 0]
    for _ in range(4000):
        counts[weighted.draw(draw)] += 1
    assert counts[0] == 0
    assert counts[1] == pytest.approx(3000, abs=120)


def test_zipf_falls():
    weights = zipf(50)
    assert weights == sorted(weights, reverse=True)
    assert weights[0] > 10 * weights[-1]


@pytest.mark.parametrize(("total", "weights"), [(100, [1, 2, 3]), (7, [1, 0, 5]), (3, [1, 1, 1000])])
def test_shares_sum_to_the_total_and_none_is_empty(total, weights):
    counts = split_evenly(Draw("split"), total, weights)
    assert sum(counts) == total
    assert all((count >= 1) == (weight > 0) for count, weight in zip(counts, weights, strict=True))


def test_a_slip_changes_one_place():
    body = "The handle stays cool and the lid closes."
    for seed in range(30):
        slipped = with_typo(Draw("slip", seed), body)
        assert slipped != body
        assert abs(len(slipped) - len(body)) <= 1
    assert with_typo(Draw("slip"), "So so.") == "So so."


@pytest.mark.parametrize(
    ("noun", "one"),
    [("Hiking Boots", "pair of hiking boots"), ("Tomato Seeds", "packet of tomato seeds"), ("Mug", "mug")],
)
def test_plural_goods_are_counted(noun, one):
    assert one_of(noun) == one


# Totals


@pytest.mark.parametrize(("cents", "percent", "expected"), [(999, 10, 100), (995, 10, 100), (994, 10, 99), (0, 10, 0)])
def test_percents_round_half_up(cents, percent, expected):
    assert percent_of(cents, percent) == expected


def test_a_fixed_coupon_is_worth_no_more_than_the_goods():
    assert coupon_discount("fixed", 1000, 700) == 700
    assert coupon_discount("percent", 10, 700) == 70
    assert coupon_discount("free_shipping", 0, 700) == 0


def test_shipping_is_free_from_the_limit_on():
    assert shipping_price(490, 6000, 5999) == 490
    assert shipping_price(490, 6000, 6000) == 0
    assert shipping_price(490, None, 99999) == 490
    assert shipping_price(490, 6000, 1, free=True) == 0


def test_the_better_of_group_and_coupon_holds():
    assert order_totals(10000, group_percent=5, coupon=("percent", 10)).discount == 1000
    assert order_totals(10000, group_percent=15, coupon=("percent", 10)).discount == 1500


def test_the_discount_counts_before_free_shipping():
    totals = order_totals(6200, coupon=("fixed", 500), rate=(490, 6000))
    assert (totals.discount, totals.shipping, totals.total) == (500, 490, 6190)
    assert order_totals(1000, coupon=("free_shipping", 0), rate=(490, 6000)).total == 1000
