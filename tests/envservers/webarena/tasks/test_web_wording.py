"""Whether the words of an objective give away that it cannot be done to a reader that knows nothing else."""

import re

import numpy as np
import pytest

from agentenv.protocol import Task
from envservers.webarena.spec import SPEC

MOST = 0.6
"""Area under the curve, on tasks that the reader has not learned from."""


def twins(size: str, *splits: str) -> list[Task]:
    """Tasks of the templates that have such ones and such others."""
    tasks = SPEC.task_set({"size": size})
    found = [tasks.get(split, index) for split in splits for index in range(tasks.count(split))]
    both = {task.template for task in found if task.category == "unachievable"}
    return [task for task in found if task.template in both]


def words(task: Task) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", task.payload["intent"].lower()))


def matrix(tasks: list[Task], known: dict[str, int]) -> tuple[np.ndarray, np.ndarray]:
    """[tasks, words + 1] of zeros and ones, and [tasks] whether each cannot be done."""
    bag = np.zeros((len(tasks), len(known) + 1))
    bag[:, -1] = 1
    for row, task in enumerate(tasks):
        bag[row, [known[word] for word in words(task) if word in known]] = 1
    return bag, np.array([task.category == "unachievable" for task in tasks], float)


def fitted(bag: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Weights of a logistic regression by gradient descent."""
    weights = np.zeros(bag.shape[1])
    for _ in range(500):
        weights -= bag.T @ (1 / (1 + np.exp(-bag @ weights)) - label) / len(label) + 1e-3 * weights
    return weights


def area(score: np.ndarray, label: np.ndarray) -> float:
    """Share of pairs of one of each kind that the score puts right; ties count half."""
    higher = score[label == 1][:, None] - score[label == 0][None, :]
    return float((higher > 0).mean() + (higher == 0).mean() / 2)


@pytest.mark.parametrize("size", ["small", pytest.param("medium", marks=pytest.mark.slow)])
def test_words_do_not_tell_what_cannot_be_done(size: str) -> None:
    learned, unseen = twins(size, "train"), twins(size, "test", "dev")
    known = {word: place for place, word in enumerate(sorted(set().union(*map(words, learned))))}
    bag, label = matrix(learned, known)
    weights = fitted(bag, label)
    assert area(bag @ weights, label) > 0.7, "the reader has learned nothing, so what it fails at says nothing"
    bag, label = matrix(unseen, known)
    assert min(label.sum(), (1 - label).sum()) >= 20
    assert area(bag @ weights, label) <= MOST


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_at_most_a_tenth_cannot_be_done_and_about_half_of_their_templates(split: str) -> None:
    tasks = SPEC.task_set({"size": "small"})
    found = twins("small", split)
    absent = sum(task.category == "unachievable" for task in found)
    assert 0 < absent <= 0.1 * tasks.count(split)
    assert 0.35 <= absent / len(found) <= 0.65
