"""When two results are the same, on the four rows of a small table."""

import random

import pytest
from fruit_folder import spider, write_fruits
from http_play import replies

from envservers.sql.compare import has_order, same
from envservers.sql.guard import Reader, Refused
from envservers.sql.spec import SPEC

NAMES = "SELECT name FROM f"
KIWI = "SELECT name FROM f WHERE name = 'kiwi'"
CASES = [
    # gold, prediction, equal as sets, equal strictly
    ("SELECT DISTINCT name FROM f", NAMES, True, False),
    (f"{NAMES} ORDER BY price DESC, name", f"{NAMES} ORDER BY price", True, False),
    (NAMES, f"{NAMES} ORDER BY qty DESC", True, True),
    ("SELECT name, price FROM f WHERE qty = 3", "SELECT price, name FROM f WHERE qty = 3", False, False),
    ("SELECT 1", "SELECT 1.0", True, True),
    ("SELECT 1", "SELECT '1'", False, False),
    ("SELECT 0.1 + 0.2", "SELECT 0.3", False, True),
    ("SELECT NULL", "SELECT NULL", True, True),
    ("SELECT COUNT(*) FROM f WHERE name = 'kiwi'", "SELECT SUM(qty) FROM f WHERE name = 'kiwi'", False, False),
    (KIWI, "SELECT qty FROM f WHERE qty > 100", True, True),
    ("SELECT AVG(qty) FROM f", "SELECT ROUND(AVG(qty), 2) FROM f", False, False),
    ("SELECT name, 1 FROM f", "SELECT name, '1' FROM f", False, False),
    ("SELECT qty FROM f", "SELECT qty FROM f WHERE qty IS NOT NULL", False, False),
]


@pytest.fixture
def fruits(tmp_path):
    write_fruits(tmp_path / "fruit.sqlite")
    reader = Reader(tmp_path / "fruit.sqlite")
    yield reader
    reader.close()


@pytest.mark.parametrize(("gold", "given", "as_sets", "strictly"), CASES)
def test_both_ways_to_compare_give_their_column_of_the_table(fruits, gold, given, as_sets, strictly):
    first, second = fruits.run(gold).rows, fruits.run(given).rows
    assert same(first, second, ordered=has_order(gold), match="set") is as_sets
    assert same(first, second, ordered=has_order(gold)) is strictly


def test_a_statement_that_fails_is_no_empty_result(fruits):
    with pytest.raises(Refused, match="no such column"):
        fruits.run("SELECT kiwi FROM f")


def test_values_of_all_kinds_are_compared_in_any_order_without_an_exception():
    rows = [(None, 1), ("a", 2.5), (b"\x00", None), (3, "b"), (2.0, "b"), (2, "b"), (float("inf"), 1)]
    shuffled = [*rows]
    random.Random(1).shuffle(shuffled)
    assert same(rows, shuffled, ordered=False)
    assert not same(rows, shuffled, ordered=True)
    assert not same(rows, [*shuffled[:-1], shuffled[0]], ordered=False)


def test_sums_that_differ_in_the_last_digit_find_their_partners_whatever_the_order():
    gold = [(0.1 + 0.2, 5), (0.3, 7)]
    assert same(gold, [(0.3, 5), (0.1 + 0.2, 7)], ordered=False)
    assert not same(gold, [(0.3, 5), (0.3, 5)], ordered=False)


def test_large_whole_numbers_are_compared_to_the_last_digit():
    assert not same([(10**15,)], [(10**15 + 1,)], ordered=False)


@pytest.mark.parametrize(
    ("sql", "fixed"),
    [
        ("SELECT a FROM t ORDER BY a", True),
        ("select a from t order\n by a limit 1", True),
        ("SELECT a FROM (SELECT a FROM t ORDER BY a)", False),
        ("SELECT RANK() OVER (ORDER BY a) FROM t", False),
        ("SELECT 'order by' FROM t -- order by", False),
        ('SELECT "order by" FROM t', False),
    ],
)
def test_only_an_order_of_the_whole_result_fixes_it(sql, fixed):
    assert has_order(sql) is fixed


@pytest.mark.parametrize("case", [0, 1, 6], ids=lambda n: CASES[n][0])
def test_the_table_holds_over_http_too(tmp_path, case):
    gold, given, as_sets, strictly = CASES[case]
    for match, right in (("strict", strictly), ("set", as_sets)):
        served = {"folder": str(spider(tmp_path / match, gold)), "match": match}
        _, reply = replies(SPEC, "sql/dev/0", [given], served=served)
        found = reply.json()
        assert (found["success"], found["reward"], found["info"]["match"]) == (right, float(right), match)


def test_over_http_a_long_value_is_cut_and_an_error_names_no_path(tmp_path):
    served = {"folder": str(spider(tmp_path / "secret-place", "SELECT 1"))}
    long = "SELECT printf('%05000d', 7) AS wide FROM f"
    for given, told in ((long, "(and 4,800 characters more)"), ("SELECT FROM f", "Error: ")):
        created, reply = replies(SPEC, "sql/dev/0", [given], served=served)
        assert told in reply.json()["observation"]
        assert "secret-place" not in created.text + reply.text


def test_over_http_a_note_in_a_fence_and_a_gold_without_rows_are_what_they_are(tmp_path):
    _, noted = replies(
        SPEC,
        "sql/dev/0",
        ["```sql\n-- note\nSELECT 6\n```"],
        served={"folder": str(spider(tmp_path / "a", "SELECT 6"))},
    )
    assert noted.json()["success"]
    assert "empty_gold" not in noted.json()["info"]
    served = {"folder": str(spider(tmp_path / "b", KIWI))}
    for given, right in (("SELECT qty FROM f WHERE qty > 100", True), ("SELECT kiwi FROM f", False)):
        _, reply = replies(SPEC, "sql/dev/0", [given], served=served)
        assert (reply.json()["success"], reply.json()["info"]["empty_gold"]) == (right, True)
