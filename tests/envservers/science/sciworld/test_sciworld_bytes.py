"""Equal tasks and actions give equal bytes: in a fresh machine, in a used one, and on whoever's computer this runs.

The digests of `proof.tsv` are over every action, answer and score of a whole solution, and so is what is played here.
"""

import pytest

from envservers.science.sciworld.proof import play, proof
from envservers.science.sciworld.tasks import catalog

QUICK = ("find-non-living-thing", "power-component", "identify-life-stages-2")
BUSY = (("boil", 3), ("grow-fruit", 7), ("test-conductivity", 11))
"""What a machine has done before."""


def use(pool) -> None:
    """Leave traces in a machine: worlds half played, actions listed."""
    for task, variation in BUSY:
        world = pool.load(task, variation, "easy")
        for text in ("look around", "wait", "open door", "0", "teleport to kitchen", "objects"):
            world.step(text)
        world.actions()


@pytest.mark.parametrize("kind", QUICK)
def test_a_whole_solution_is_the_same_in_a_used_machine_and_as_it_was_recorded(pool, kind):
    use(pool)
    actions = pool.solution(kind, 0, "")
    recorded = proof()[kind, 0]
    assert play(pool, kind, 0, actions) == recorded
    use(pool)
    assert play(pool, kind, 0, actions) == recorded


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", [kind.name for kind in catalog()])
def test_whole_solutions_of_every_kind_are_the_same_in_a_fresh_and_in_a_used_machine(pool, new_pool, kind):
    actions = pool.solution(kind, 0, "")
    use(pool)
    recorded = proof()[kind, 0]
    assert play(pool, kind, 0, actions) == recorded
    assert play(new_pool(), kind, 0, actions) == recorded
