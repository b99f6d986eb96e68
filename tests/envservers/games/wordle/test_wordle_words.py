import re
from pathlib import Path

from envservers.games.wordle import words
from envservers.games.wordle.build_lists import DATA, build, is_inflected

REMOVED = {line for line in (DATA / "removed.txt").read_text().splitlines() if not line.startswith("#")}


def test_lists_hold_sorted_unique_words_of_five_plain_letters():
    for listed in (words.answers(), words.guesses()):
        assert list(listed) == sorted(set(listed))
        assert all(re.fullmatch("[a-z]{5}", word) for word in listed)


def test_every_answer_may_be_guessed():
    assert set(words.answers()) <= words.guess_set()


def test_removed_words_are_in_no_list():
    assert REMOVED
    assert not REMOVED & words.guess_set()


def test_the_licence_of_the_lists_lies_beside_them():
    text = (DATA / "COPYRIGHT.scowl").read_text()
    assert "Permission to use, copy, modify, distribute and sell these word" in text
    readme = (DATA / "README.md").read_text()
    assert f"{len(words.answers()):,}" in readme
    assert f"{len(words.guesses()):,}" in readme
    assert f"| {len(REMOVED)} |" in readme


def test_inflections_are_told_by_their_stem():
    known = {"boat", "pry", "bake", "add", "using", "use", "glass", "bring"}
    told = ["boats", "pried", "baked", "added", "using"]
    assert [w for w in [*told, "glass", "bring", "dress"] if is_inflected(w, known)] == told


def test_the_builder_takes_levels_apart_and_leaves_removed_words_out(tmp_path: Path):
    for part in ("english", "american"):
        for level in (10, 20, 35, 40, 50, 55, 60):
            (tmp_path / f"{part}-words.{level}").write_text("")
    (tmp_path / "english-words.10").write_text("boat\nboats\nhouse\nit's\nHouse\n", encoding="latin-1")
    (tmp_path / "american-words.35").write_text("bitch\nfavor\n")
    (tmp_path / "english-words.60").write_text("zesty\ncaf\xe9s\n", encoding="latin-1")
    assert build(tmp_path, {"bitch"}) == (["favor", "house"], ["boats", "favor", "house", "zesty"])
