import unicodedata

import pytest

from envservers.search.scoring import exact_match, f1

CLASSIC = [
    ("The Beatles!", "beatles", True),
    ("Beatles, The", "The Beatles", True),
    ("U.S.A.", "USA", True),
    ("Spider-Man", "spider man", False),
    ("don’t", "don't", False),
    ("1990–1995", "1990-1995", False),
    ("3.14", "314", True),
    ("3,000", "3000", True),
    ("Vitamin A", "vitamin", True),
    ("an hour a day", "hour day", True),
    ("Beyoncé", "Beyonce", False),
    (unicodedata.normalize("NFD", "José"), unicodedata.normalize("NFC", "José"), False),
    ("St. John's", "St Johns", True),
    ("", "A", False),
    ("A", "A", True),
    ("anthem", "them", False),
]
ROBUST = {"don’t": True, "1990–1995": True, "3.14": False, "Vitamin A": False, CLASSIC[11][0]: True}


@pytest.mark.parametrize(("answer", "gold", "same"), CLASSIC)
def test_exact_match_is_the_classic_one_and_nothing_never_matches(answer, gold, same):
    assert exact_match(answer, [gold]) is same


@pytest.mark.parametrize("row", [row for row in CLASSIC if row[0] in ROBUST])
def test_the_robust_match_differs_where_typography_and_numbers_do(row):
    answer, gold, _ = row
    assert exact_match(answer, [gold], robust=True) is ROBUST[answer]


def test_any_accepted_answer_will_do():
    assert exact_match("Paris", ["Lyon", "paris"])
    assert not exact_match("Paris", [])
    assert not exact_match("", [""])


def test_f1_counts_the_words_that_are_shared_with_the_best_gold():
    assert f1("the red house", ["red house", "barn"]) == 1.0
    assert f1("red house on a hill", ["red house"]) == pytest.approx(2 * 2 / (4 + 2))
    assert f1("blue", ["red"]) == 0.0
    assert f1("", ["red"]) == 0.0


def test_yes_no_and_unanswerable_earn_nothing_inside_a_longer_answer():
    assert f1("yes or no", ["yes"]) == 0.0
    assert f1("no", ["no"]) == 1.0
    assert f1("it is unanswerable", ["unanswerable"]) == 0.0
