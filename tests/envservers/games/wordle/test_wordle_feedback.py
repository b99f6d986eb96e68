import random

import pytest

from envservers.games.wordle.feedback import answer_index, mark, members
from envservers.games.wordle.words import answers, guesses


@pytest.mark.parametrize(
    ("hidden", "guess", "marks"),
    [
        ("those", "geese", "b b b g g"),
        ("dread", "added", "y y b y g"),
        ("spree", "spare", "g g b y g"),
        ("funky", "fluff", "g b y b b"),
        ("funky", "bluff", "b b y y b"),
        ("apple", "panda", "y y b b b"),
        ("apple", "aroma", "g b b b b"),
        ("maxim", "mamma", "g g y b b"),
        ("sugar", "shush", "g b y b b"),
        ("steep", "eerie", "y y b b b"),
        ("eerie", "steep", "b b y y b"),
        ("llama", "allay", "y g y y b"),
        ("mamma", "maxim", "g g b b y"),
        ("abbey", "babes", "y y g g b"),
        ("robot", "floor", "b b y g y"),
    ],
)
def test_each_letter_of_the_hidden_word_is_used_once(hidden, guess, marks):
    assert mark(hidden, guess) == marks


def test_a_mark_counts_each_letter_as_often_as_both_words_have_it():
    rng = random.Random(1)
    for _ in range(2000):
        hidden, guess = rng.choice(answers()), rng.choice(guesses())
        marks = mark(hidden, guess).split()
        assert [m == "g" for m in marks] == [h == g for h, g in zip(hidden, guess, strict=True)]
        for letter in set(guess):
            coloured = sum(m != "b" for m, g in zip(marks, guess, strict=True) if g == letter)
            assert coloured == min(hidden.count(letter), guess.count(letter))


def test_consistent_words_are_exactly_those_that_would_be_marked_so():
    rng = random.Random(2)
    pairs = [(rng.choice(answers()), rng.choice(guesses())) for _ in range(60)]
    for hidden, guess in [*pairs, ("those", "geese"), ("mamma", "maxim"), ("llama", "allay")]:
        marks = mark(hidden, guess)
        brute = [word for word in answers() if mark(word, guess) == marks]
        assert members(answer_index().consistent(guess, marks)) == brute
