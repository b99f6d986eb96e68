"""Upgrades keep what a database of every earlier revision holds; `revisions/` has a small one of each, never edited.

Who adds a revision runs `make_revision.py` first: it writes the one that was the newest.
"""

import json
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from make_revision import TABLES, fill, rows
from sqlalchemy import MetaData, create_engine, insert, text

from agentenv.protocol import Outcome
from evals.store.counters import counted
from evals.store.database import HEAD, MIGRATIONS, open_database, reading
from evals.store.store import Store

REVISIONS = [script.revision for script in ScriptDirectory(str(MIGRATIONS)).walk_revisions()][::-1]
DATA = Path(__file__).parent / "revisions"


def at_revision(url, revision):
    """A database of that revision with the rows of `revisions/`."""
    engine = create_engine(url if url.get_backend_name() == "sqlite" else url.set(drivername="postgresql+psycopg"))
    alembic = Config()
    alembic.set_main_option("script_location", str(MIGRATIONS))
    with engine.begin() as connection:
        alembic.attributes["connection"] = connection
        command.upgrade(alembic, revision)
        metadata = MetaData()
        metadata.reflect(connection)
        kept = json.loads((DATA / f"{revision}.json").read_text(), object_hook=bytes_back)
        for name in TABLES:
            table = metadata.tables[name]
            connection.execute(insert(table), [plain(row, table) for row in kept[name]])
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT setval('episodes_id_seq', (SELECT MAX(id) FROM episodes))"))
    engine.dispose()


def bytes_back(value):
    return bytes.fromhex(value["hex"]) if set(value) == {"hex"} else value


def plain(row, table):
    """SQLite has written truth values as numbers and JSON as text."""
    kinds = {"BOOLEAN": bool, "JSON": json.loads}
    return {
        name: value if value is None else kinds.get(str(table.c[name].type), lambda v: v)(value)
        for name, value in row.items()
    }


def test_every_revision_but_the_newest_has_its_rows():
    assert {path.stem for path in DATA.glob("*.json")} | {HEAD} == set(REVISIONS)


def test_the_rows_of_the_next_revision_can_be_made(file_url):
    with Store.open(file_url) as store:
        fill(store)
    made = rows(file_url.database)
    first = json.loads((DATA / f"{REVISIONS[0]}.json").read_text())
    assert {name: len(found) for name, found in made.items()} == {name: len(found) for name, found in first.items()}


@pytest.mark.parametrize("revision", [r for r in REVISIONS if r != HEAD])
def test_an_upgrade_keeps_every_row_and_counts_what_is_new(url, revision):
    at_revision(url, revision)
    with Store.open(url) as store:
        whole, part = store.run("whole"), store.run("part")
        assert (whole.valid, whole.lost, whole.tries, whole.prompt_tokens, whole.completion_tokens) == (3, 1, 6, 56, 16)
        assert (part.valid, part.lost, part.tries, part.finished_at, part.stopped) == (1, 0, 2, None, "interrupted")
        episodes = list(store.trajectories("whole"))
        assert [(e.outcome, len(e.turns)) for e in episodes] == [
            (Outcome.SUCCESS, 2), (Outcome.FAILURE, 2), (Outcome.ENV_ERROR, 2), (Outcome.ENV_ERROR, 1),
            (Outcome.ENV_ERROR, 1), (Outcome.STEP_LIMIT, 2),
        ]  # fmt: skip
        assert episodes[1].turns[0].observation == "a wall of text \N{SNOWMAN} " * 200
        assert (episodes[0].score, episodes[1].turns[1].malformed, episodes[2].error) == (3.5, "no action", "boom")
        rows = [(t.valid, t.success, t.lost, t.told, t.tokens_sum, t.seconds_sum) for _, t in store.tasks(run="whole")]
        assert rows == [(1, 1, 1, 1, 18, 0.5), (2, 0, 0, 2, 36, 1.0)]
        assert store.breaking_tasks("whole") == [("coin", "coin/test/0", "boom")]


@pytest.mark.parametrize("revision", [r for r in REVISIONS if r != HEAD])
def test_after_an_upgrade_counters_agree_with_episodes_and_the_run_goes_on(url, revision):
    at_revision(url, revision)
    with Store.open(url) as store:
        [again, *_] = [slot for slot in store.open_slots("part") if slot.tries == 1]
        assert (again.slot, again.left) == (0, 2)
        [old] = [e for e in store.trajectories("part") if e.outcome is Outcome.SUCCESS]
        assert store.record("part", 0, 1, old)
        assert store.progress("part").valid == 2
    engine = open_database(url)
    with reading(engine) as connection:
        for run in ("whole", "part"):
            for row in connection.execute(counted(run)).mappings():
                mine = text("SELECT * FROM tasks WHERE run_id = :run AND position = :position")
                kept = connection.execute(mine, {"run": run, "position": row["position"]}).mappings().one()
                assert {name: kept[name] for name in row} == dict(row)
    engine.dispose()
