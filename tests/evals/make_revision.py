"""Write `revisions/<newest>.json`: the rows of a small database as it is now. Before a new revision is added:

python tests/evals/make_revision.py
"""

import json
import sqlite3
import tempfile
from pathlib import Path
from typing import Any

from made_runs import ended, new_run
from sqlalchemy.engine import URL

from agentenv.protocol import Outcome
from agentenv.trajectory import Turn
from evals.store.database import HEAD
from evals.store.store import Store

TABLES = ("runs", "blobs", "tasks", "slots", "episodes", "turns")
WALL = "a wall of text \N{SNOWMAN} " * 200
TOLD = {"agent": {"prompt_tokens": 7, "completion_tokens": 2}}
FIRST = (Outcome.SUCCESS, Outcome.FAILURE, Outcome.ENV_ERROR, Outcome.STEP_LIMIT)


def fill(store: Store) -> None:
    """A finished run with a slot that was lost, and one that was stopped."""
    store.add_runs([new_run("whole", tasks=2, attempts=2), new_run("part", tasks=2, agent="b", envs=("coin", "dice"))])
    for slot in store.open_slots("whole"):
        n = slot.slot
        turns = [
            Turn(observation=WALL if n % 2 else "short", action="go", reward=0.0, info=TOLD),
            Turn(
                observation="b",
                action="say",
                reward=float(n == 0),
                malformed="no action" if n == 1 else None,
                info=TOLD,
            ),
        ]
        score, error = 3.5 if n == 0 else None, "boom" if n == 2 else None
        store.record("whole", n, 0, ended(FIRST[n], slot.task, turns=turns, score=score, error=error))
    for _ in range(2):
        for slot in store.open_slots("whole"):
            again = ended(Outcome.ENV_ERROR, slot.task, turns=1, error="boom")
            store.record("whole", slot.slot, slot.tries, again)
    store.finish("whole")
    for slot, outcome in zip(store.open_slots("part"), (Outcome.INFRA_LOST, Outcome.SUCCESS), strict=False):
        store.record("part", slot.slot, 0, ended(outcome, slot.task))
    store.stop("part", "interrupted")


def rows(file: str) -> dict[str, list[dict[str, Any]]]:
    """Every table's rows; bytes as `{"hex": ...}`."""
    db = sqlite3.connect(file)
    found = {}
    for name in TABLES:
        cursor = db.execute(f"SELECT * FROM {name}")
        columns = [column[0] for column in cursor.description]
        found[name] = [dict(zip(columns, map(_plain, row), strict=True)) for row in cursor]
    db.close()
    return found


def _plain(value: Any) -> Any:
    return {"hex": value.hex()} if isinstance(value, bytes) else value


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = f"{folder}/runs.db"
        with Store.open(URL.create("sqlite", database=file)) as store:
            fill(store)
        target = Path(__file__).parent / "revisions" / f"{HEAD}.json"
        target.write_text(json.dumps(rows(file), indent=1, sort_keys=True))
        print(target)


if __name__ == "__main__":
    main()
