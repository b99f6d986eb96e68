"""Tasks of Wordle: one hidden word each, under an index that does not give it away."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from typing import Any

from agentenv.errors import UnknownOption
from agentenv.protocol import Task
from agentenv.registry import TableTasks
from envservers.games.wordle.words import answers, guess_set

VERSION = "1"
"""Of the order and the split of the words; part of every task's seed."""
TEST, DEV = 300, 200
"""Number of test and dev tasks; all other answers are for training."""
SPLITS = ("train", "dev", "test")


def make_tasks(options: Mapping[str, Any]) -> TableTasks:
    """Every answer once, in one of the splits; or, with the option `word`, that word alone in each of them."""
    if options["word"] is not None:
        return _fixed(options["word"], options)
    order = sorted(answers(), key=_seed)
    words = {"train": order[TEST + DEV :], "dev": order[TEST : TEST + DEV], "test": order[:TEST]}
    neighbours = _neighbours()
    tables = {s: [_task(s, i, w, neighbours[w]) for i, w in enumerate(words[s])] for s in SPLITS}
    return TableTasks(tables=tables, version=VERSION, options=options)


def _fixed(word: str, options: Mapping[str, Any]) -> TableTasks:
    word = word.lower()
    if word not in guess_set():
        raise UnknownOption(f"option word={word!r}: not in the list of words that may be guessed")
    return TableTasks(tables={s: [_task(s, 0, word, 0)] for s in SPLITS}, version=VERSION, options=options)


def _task(split: str, index: int, word: str, neighbours: int) -> Task:
    return Task(
        id=f"wordle/{split}/{index}",
        env="wordle",
        split=split,
        index=index,
        category="distinct" if len(set(word)) == len(word) else "repeated",
        difficulty=1 + (neighbours > 0) + (neighbours > 2) + (neighbours > 4),
        seed=_seed(word),
        payload={"word": word},
    )


def _seed(word: str) -> int:
    """A hash as the seed, and as the order: words that are close in the dictionary lie far apart."""
    return int.from_bytes(hashlib.sha256(f"wordle {VERSION} {word}".encode()).digest()[:6], "big")


def _neighbours() -> dict[str, int]:
    """For each answer, the number of other answers that differ in one letter; these are what makes a word hard."""
    shapes = Counter(shape for word in answers() for shape in _shapes(word))
    return {word: sum(shapes[shape] - 1 for shape in _shapes(word)) for word in answers()}


def _shapes(word: str) -> list[str]:
    return [f"{word[:i]}_{word[i + 1 :]}" for i in range(len(word))]
