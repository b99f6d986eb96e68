"""The simulator of this process: one Java machine for every test of a module, none where there is no Java."""

from collections.abc import Callable, Iterator

import pytest

from agentenv.errors import EnvUnavailable
from agentenv.protocol import Action, StepResult, Task
from envservers.science.sciworld.needs import check_needs
from envservers.science.sciworld.tasks import catalog

HEAP_MB = 192
"""The default, so that `SciWorld(jvms=1)` has the machine of `pool`."""


@pytest.fixture(scope="session")
def needs() -> None:
    try:
        check_needs()
    except EnvUnavailable as exc:
        pytest.skip(exc.message)


@pytest.fixture
def pool(needs):
    from envservers.science.sciworld.pool import pool_of

    return pool_of(jvms=1, heap_mb=HEAP_MB)


@pytest.fixture
def new_pool(needs) -> Iterator[Callable]:
    """Makes pools of their own, whose machines end with the test."""
    from envservers.science.sciworld.pool import Pool

    made = []

    def make(**settings):
        made.append(Pool(**{"jvms": 1, "heap_mb": HEAP_MB, **settings}))
        return made[-1]

    yield make
    for pool in made:
        pool.close()


@pytest.fixture
def env(needs) -> Iterator:
    from envservers.science.sciworld.env import SciWorld

    env = SciWorld(jvms=1, heap_mb=HEAP_MB)
    yield env
    env.close()


def _task_of(kind: str, variation: int = 0) -> Task:
    """A task of the simulator, wherever it stands."""
    found = next(k for k in catalog() if k.name == kind)
    return Task(
        id=f"sciworld/fixed/{variation}",
        env="sciworld",
        split="fixed",
        index=variation,
        category=kind,
        max_steps=found.max_steps,
        payload={"task": kind, "variation": variation},
    )


@pytest.fixture
def task_of() -> Callable[..., Task]:
    """Makes the task of a kind and a variation."""
    return _task_of


@pytest.fixture
def begin(env):
    """Reset the env to a task and do actions; the last result."""

    def begin(kind: str, *actions: str, variation: int = 0) -> StepResult:
        result = env.reset(_task_of(kind, variation))
        for text in actions:
            result = env.step(Action(text=text))
        return result

    return begin
