"""What is known of a pair is not asked again, and what is found anew is the same beside whatever was known."""

import random

import numpy as np

from evals.statistics.ranking import Attempts
from evals.statistics.tables import Played, table_ranges


def made(count: int, *, tasks: int = 40) -> dict[str, dict[str, Attempts]]:
    """Rows over two envs, by key."""
    rng = random.Random(count)
    return {
        f"k{row}": {
            env: Attempts(
                success=np.array([int(rng.random() < (row + 1) / (count + 1)) for _ in range(tasks)]),
                valid=np.ones(tasks, dtype=np.int64),
            )
            for env in ("coin", "dice")
        }
        for row in range(count)
    }


def sections(rows: dict[str, dict[str, Attempts]]) -> dict[str, dict[str, Played]]:
    return {
        name: {
            f"run-{key}": Played(key=key, score=sum(float(own[env].success.mean()) for env in envs), envs=envs)
            for key, own in rows.items()
        }
        for name, envs in (("all", ["coin", "dice"]), ("coin", ["coin"]), ("dice", ["dice"]))
    }


def test_attempts_are_asked_for_where_a_claim_is_not_known_and_the_claims_come_out_the_same():
    rows = made(6)
    whole = table_ranges(sections(rows), attempts=rows.__getitem__, seed=["t"], known={})
    assert len(whole.claims) == 3 * 15
    asked = []

    def attempts(key: str) -> dict[str, Attempts]:
        asked.append(key)
        return rows[key]

    assert table_ranges(sections(rows), attempts=attempts, seed=["t"], known=whole.claims) == whole
    assert asked == []
    known = {claim: p for claim, p in whole.claims.items() if "k4" not in claim}
    assert table_ranges(sections(rows), attempts=attempts, seed=["t"], known=known) == whole
    assert len(asked) == 3 * 6  # k4 and the five others, in each section
    asked.clear()
    other = {claim: p for claim, p in whole.claims.items() if not {"k1", "k2"} <= set(claim)}
    assert table_ranges(sections(rows), attempts=attempts, seed=["t"], known=other) == whole
    assert set(asked) == {"k1", "k2"}


def test_claims_on_rows_that_have_left_are_dropped():
    rows = made(5)
    whole = table_ranges(sections(rows), attempts=rows.__getitem__, seed=["t"], known={})
    del rows["k3"]
    left = table_ranges(sections(rows), attempts=rows.__getitem__, seed=["t"], known=whole.claims)
    assert left.claims == {claim: p for claim, p in whole.claims.items() if "k3" not in claim}
    assert left == table_ranges(sections(rows), attempts=rows.__getitem__, seed=["t"], known={})
