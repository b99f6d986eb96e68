"""When repeats say nothing new."""

from evals.statistics.independence import repeats


def test_attempts_that_took_the_same_actions_in_every_task_are_dependent():
    same = [(task, 10 * task + n, word) for task in range(3) for n in range(2) for word in ("look", "go")]
    assert repeats(same, greedy=False).dependent
    assert not repeats([*same, (3, 30, "look"), (3, 31, "go")], greedy=False).dependent


def test_the_border_between_two_actions_counts():
    found = repeats([(0, 1, "ab"), (0, 1, "c"), (0, 2, "a"), (0, 2, "bc")], greedy=False)
    assert (found.tasks, found.same) == (1, 0)


def test_one_attempt_each_depends_on_nothing_and_temperature_0_on_itself():
    assert not repeats([(0, 1, "a"), (1, 2, "a")], greedy=True).dependent
    assert repeats([(0, 1, "a"), (0, 2, "b")], greedy=True).dependent
    assert not repeats([], greedy=False).dependent
