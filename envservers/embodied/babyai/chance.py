"""How far chance gets on each level: `python -m envservers.embodied.babyai.chance` prints a table for the documents."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence

from agentenv.protocol import Action, Task
from envservers.embodied.babyai.env import BabyAI
from envservers.embodied.babyai.tasks import make_tasks

PLAYS = 3
"""Of each task."""
SPLITS = ("test", "test_ood")


def succeeds(task: Task, attempt: int) -> bool:
    """Draw from the available actions until the task's limit of steps."""
    rng = random.Random(f"{task.id} {attempt}")
    env = BabyAI(list_actions=False)
    env.reset(task)
    for _ in range(task.max_steps or 0):
        result = env.step(Action(text=rng.choice(env.available_actions() or [])))
        if result.terminated:
            return bool(result.success)
    return False


def rates(splits: Sequence[str] = SPLITS) -> Iterator[tuple[str, str, int, float]]:
    """Split, level, number of its tasks, and the share of plays that succeeded."""
    tasks = make_tasks({})
    for split in splits:
        found: dict[str, list[bool]] = defaultdict(list)
        for index in range(tasks.count(split)):
            task = tasks.get(split, index)
            found[task.template] += [succeeds(task, attempt) for attempt in range(PLAYS)]
        for level, plays in found.items():
            yield split, level, len(plays) // PLAYS, sum(plays) / len(plays)


def main() -> None:
    """Print the table."""
    print("| split | level | tasks | random |\n|---|---|---|---|")
    for split, level, count, rate in rates():
        print(f"| {split} | {level} | {count} | {rate:.0%} |")


if __name__ == "__main__":
    main()
