"""Make the word lists in `data/` from an unpacked SCOWL (Debian package `scowl`, folder /usr/share/dict/scowl).

    python -m envservers.games.wordle.build_lists /usr/share/dict/scowl

Only a change of the lists needs this; the lists themselves are in the repository.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

DATA = Path(__file__).parent / "data"
ANSWER_LEVELS = (10, 20, 35)
"""SCOWL's sizes that everybody knows the words of."""
GUESS_LEVELS = (*ANSWER_LEVELS, 40, 50, 55, 60)
"""SCOWL's sizes up to those of an ordinary dictionary."""
PARTS = ("english", "american")
WORD = re.compile(r"[a-z]+")


def read_levels(folder: Path, levels: tuple[int, ...]) -> set[str]:
    """Plain lower-case words of any length; names, abbreviations and contractions are in other files."""
    files = [folder / f"{part}-words.{level}" for part in PARTS for level in levels]
    lines = [line for file in files for line in file.read_text(encoding="latin-1").splitlines()]
    return {line for line in lines if WORD.fullmatch(line)}


def is_inflected(word: str, known: set[str]) -> bool:
    """Whether `word` is the plain plural, third person, past or -ing form of another word in `known`."""
    stems: list[str] = []
    if word.endswith("s") and not word.endswith("ss"):
        stems.append(word[:-1])
    if word.endswith("es"):
        stems.append(word[:-2])
    if word.endswith("ed"):
        stems += [word[:-1], word[:-2]]  # baked, added
    if word.endswith("ing"):
        stems += [word[:-3], word[:-3] + "e"]
    if word.endswith(("ies", "ied")):
        stems.append(word[:-3] + "y")
    return any(stem in known for stem in stems)


def build(folder: Path, removed: set[str]) -> tuple[list[str], list[str]]:
    """The answers and the allowed guesses, each sorted."""
    common, wide = read_levels(folder, ANSWER_LEVELS), read_levels(folder, GUESS_LEVELS)
    answers = {w for w in common if len(w) == 5 and not is_inflected(w, common)} - removed
    guesses = {w for w in wide if len(w) == 5} - removed
    return sorted(answers), sorted(guesses)


def main(folder: str) -> None:
    """Write both lists."""
    removed = {line for line in (DATA / "removed.txt").read_text().splitlines() if WORD.fullmatch(line)}
    for name, words in zip(("answers.txt", "guesses.txt"), build(Path(folder), removed), strict=True):
        (DATA / name).write_text("\n".join(words) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
