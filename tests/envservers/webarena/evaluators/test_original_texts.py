"""The vectors that were run on the original, and the cases on quotes, case, single characters and padded numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envservers.webarena.evaluators import strict_rules
from envservers.webarena.evaluators.original_strings import clean, includes, is_exactly
from envservers.webarena.evaluators.original_tokens import words
from envservers.webarena.evaluators.original_urls import is_at

EXACT = [
    ("N/A", "n/a", True),
    ('"A"', "'a'", True),
    ("a", " A ", True),
    ("'a", "a", False),
    ("", "", True),
    ("Paris", ' "Paris" ', True),
    ("N/A", "'n/a'", True),
    ("Paris", "Paris.", False),
    ("21", "21 inches", False),
    ("tis", "'tis'", True),
]
ALONE = [
    ("0", "$0.00", False),
    ("0", "0 orders", True),
    ("0", "0.", True),
    ("0", "10", False),
    ("10", "2010", True),
    ("5", "5/5", False),
    ("3", "3%", True),
    ("3", "(3)", True),
    ("yes", "Yes.", True),
    ("0", "There are 10 orders", False),
    ("0", "There are 0 orders", True),
    ("0", "0", True),
    ("170", "000000170", True),
]
SEVERAL = [
    (("0", "refund"), "10 refunds", True),
    (("0", "1"), "10", True),
    (("Oct 21st", "racing cars"), "Racing cars meet, oct 21st", True),
    (("a", "b"), "only a", False),
]
URLS = [
    ("h/a", "https://h/a/", True),
    ("h/a", "h/abc", True),
    ("h/", "h/zzz", True),
    ("h/A", "h/a", False),
    ("h/a?x=1", "h/a?x=1&y=2", True),
    ("h/a?x=1", "h/a", False),
    ("h/a?x=", "h/a", True),
    ("h/a#f", "h/a", True),
    ("h/a?x=1&x=2", "h/a?x=2", True),
    ("h/a?x=1 |OR| h/b?x=2", "h/a?x=2", True),
    ("h/a?x=1 |OR| h/b", "h/b", False),
]


@pytest.mark.parametrize(("reference", "answer", "same"), EXACT)
def test_exact_answers(reference, answer, same):
    assert is_exactly(reference, answer) is same


@pytest.mark.parametrize(("reference", "answer", "inside"), ALONE)
def test_the_only_reference_of_a_task(reference, answer, inside):
    assert includes(reference, answer, alone=True) is inside


@pytest.mark.parametrize(("references", "answer", "inside"), SEVERAL)
def test_several_references(references, answer, inside):
    assert all(includes(reference, answer) for reference in references) is inside


@pytest.mark.parametrize(("reference", "url", "there"), URLS)
def test_addresses(reference, url, there):
    assert is_at(reference, url) is there


@pytest.mark.parametrize("text", ["'", '"', "''", "' '", "", "'a'"])
def test_a_lone_quote_is_no_pair_to_lose_more_than_itself(text):
    assert clean(text) in ("", " ", "a")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("there are 5. that is all", False),
        ("there are 5. 3 were paid", True),
        ("a 5, or a 6", True),
        ("5:30", False),
        ("at 5:", True),
        ("5,000", False),
        ("5's", True),
        ("'5'", True),
        ("x5", False),
        ("5...", True),
        ("[5]", True),
        ("#5", True),
        ("5-6", False),
        ("5--6", True),
        ("2.5", False),
        ('say "5"', True),
    ],
)
def test_a_character_is_a_word_where_the_originals_tokenizer_has_it_as_one(text, found):
    assert ("5" in words(text)) is found


@pytest.mark.parametrize(
    ("reference", "answer", "inside"),
    [
        ("0", "$0.00", True),
        ("0", "10 refunds", False),
        ("10", "2010", False),
        ("170", "000000170", True),
        ("refund", "10 refunds", False),
        ("racing cars", "Racing cars meet", True),
        ("$1,603.69", "1603.69 dollars", True),
        ("5", "-5", False),
        ("%", "5 %", True),
    ],
)
def test_strict_finds_whole_words_and_numbers_by_value(reference, answer, inside):
    assert strict_rules.includes(reference, answer) is inside


@pytest.mark.parametrize(
    ("reference", "url", "there"),
    [
        ("http://h/a", "https://h/a/", True),
        ("http://h/a", "http://h/abc", False),
        ("http://h/", "http://h/zzz", False),
        ("http://h/a?x=1", "http://h/a?x=1&y=2", True),
        ("http://h/a?x=1", "http://h/a", False),
        ("http://h/a?x=1 |OR| http://h/b?x=2", "http://h/a?x=2", False),
        ("http://h/a?x=1 |OR| http://h/b", "http://h/b", True),
        ("http://h/a", "http://[", False),
    ],
)
def test_strict_compares_whole_addresses(reference, url, there):
    assert strict_rules.is_at(reference, url) is there


@given(reference=st.text(max_size=20), text=st.text(max_size=40))
def test_no_text_raises(reference, text):
    is_exactly(reference, text)
    includes(reference, text, alone=True)
    strict_rules.includes(reference, text)
    is_at(reference, text)
    strict_rules.is_at(reference, text)


@given(text=st.text(max_size=40))
def test_a_text_is_its_own_reference(text):
    assert is_exactly(text, text)
    assert includes(text, text)
