"""What opening a database locks: it is made, migrated or refused by name, never overwritten, and many may write."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from made_runs import new_run, play_all
from sqlalchemy.engine import URL, make_url

from agentenv.errors import BadCall
from agentenv.protocol import Outcome
from evals.store.database import HEAD, MIGRATIONS, StoreError, open_database, reading
from evals.store.schema import Base
from evals.store.store import Store


def test_a_new_database_gets_its_folder_tables_views_and_log(tmp_path):
    url = URL.create("sqlite", database=str(tmp_path / "100%" / "new folder" / "runs.db"))
    with Store.open(url) as store:
        assert store.runs() == []
        db = sqlite3.connect(store.name)
        names = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
        assert {"runs", "tasks", "slots", "episodes", "turns", "v_episodes", "v_tasks", "v_leaderboard"} <= names
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert db.execute("SELECT version_num FROM alembic_version").fetchall() == [(HEAD,)]
        db.close()


def test_the_migrations_make_the_tables_that_the_models_describe(url):
    engine = open_database(url)
    with reading(engine) as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []
    engine.dispose()


def test_head_is_the_newest_migration():
    assert ScriptDirectory(str(MIGRATIONS)).get_current_head() == HEAD


def test_an_empty_file_becomes_a_database(file_url):
    Path(file_url.database).touch()
    with Store.open(file_url) as store:
        assert store.runs() == []


def test_opening_again_keeps_what_is_there(url):
    with Store.open(url) as store:
        store.add_runs([new_run()])
    with Store.open(url) as store:
        assert [run.id for run in store.runs()] == ["s-a-1"]


def test_the_default_lies_under_home_and_can_be_set(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTENV_HOME", str(tmp_path / "home"))
    with Store.open() as store:
        assert store.name == str(tmp_path / "home" / "agentenv.db")
    monkeypatch.setenv("AGENTENV_DB", f"sqlite:///{tmp_path}/elsewhere.db")
    with Store.open() as store:
        assert store.name == str(tmp_path / "elsewhere.db")


def test_a_file_that_is_no_database_is_named_and_left_alone(file_url):
    path = Path(file_url.database)
    path.write_bytes(b"a thesis, not a database\n" * 400)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"runs\.db is not an SQLite database; it was left as it is"):
        Store.open(file_url)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == ["runs.db"]


def read_everything(url):
    with Store.open(url) as store:
        list(store.trajectories("s-a-1"))
        store.tasks()


@pytest.mark.parametrize("damage", ["cut", "pages", "first page"])
def test_a_corrupt_database_is_named_and_left_alone(file_url, damage):
    with Store.open(file_url) as store:
        store.add_runs([new_run(tasks=50, attempts=4)])
        play_all(store, "s-a-1", lambda _: Outcome.SUCCESS)
    path = Path(file_url.database)
    whole = path.read_bytes()
    broken = {
        "cut": whole[: len(whole) // 2],
        "pages": whole[:8192] + b"\xff" * (len(whole) - 8192),
        "first page": whole[:100] + b"\xff" * 3996 + whole[4096:],
    }[damage]
    path.write_bytes(broken)
    with pytest.raises(StoreError, match=r"runs\.db is corrupt .*left as it is"):
        read_everything(file_url)
    assert path.read_bytes() == broken


def test_the_database_of_another_program_is_refused(file_url):
    other = sqlite3.connect(file_url.database)
    other.execute("CREATE TABLE recipes (name TEXT)")
    other.commit()
    other.close()
    with pytest.raises(StoreError, match=r"runs\.db is the database of another program"):
        Store.open(file_url)
    other = sqlite3.connect(file_url.database)
    assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("recipes",)]
    other.close()


def test_a_newer_database_is_refused_by_its_revision(file_url):
    Store.open(file_url).close()
    newer = sqlite3.connect(file_url.database)
    newer.execute("UPDATE alembic_version SET version_num = '9999'")
    newer.commit()
    newer.close()
    with pytest.raises(StoreError, match=r"runs\.db has revision 9999, newer than 0002"):
        Store.open(file_url)


def test_a_database_out_of_reach_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"file/runs\.db"):
        Store.open(URL.create("sqlite", database=str(tmp_path / "file" / "runs.db")))


@pytest.mark.parametrize(
    ("given", "message"), [("not a url", "no SQLAlchemy URL"), ("sqlite://", "in memory would be lost")]
)
def test_a_wrong_url_is_a_wrong_call(monkeypatch, given, message):
    monkeypatch.setenv("AGENTENV_DB", given)
    with pytest.raises(BadCall, match=message):
        Store.open()


def test_a_url_that_is_none_is_not_repeated_because_it_may_hold_a_password(monkeypatch):
    monkeypatch.setenv("AGENTENV_DB", "postgresql:/user:secret@host/db")
    with pytest.raises(BadCall) as refused:
        Store.open()
    assert "secret" not in str(refused.value)


def test_a_server_that_is_not_there_is_named_without_the_password(tmp_path):
    url = URL.create("postgresql", username="me", password="secret", database="d", query={"host": str(tmp_path)})
    with pytest.raises(StoreError, match=r"database postgresql.*://me:\*\*\*@") as refused:
        Store.open(url)
    assert "secret" not in str(refused.value)


def test_a_kind_of_database_that_is_not_supported_is_refused():
    with pytest.raises(StoreError, match=r"use SQLite or PostgreSQL|No module named"):
        Store.open(make_url("mysql+pymysql://host/db"))


def test_a_database_without_its_driver_says_so():
    with pytest.raises(StoreError, match="nosuch"):
        Store.open(make_url("nosuch://user:secret@host/db"))


WRITER = """
import sys
sys.path.insert(0, sys.argv[3])
from made_runs import new_run, play_all
from agentenv.protocol import Outcome
from agentenv.trajectory import Turn
from evals.store.store import Store
texts = [letter * 3000 for letter in "abcd"]  # everybody's, in orders that would lock each other out
turns = [Turn(observation=t, action="go", reward=0.0) for t in (texts if sys.argv[1] < "run4" else texts[::-1])]
sys.stdin.readline()  # all begin at once
with Store.open() as store:
    store.add_runs([new_run(sys.argv[1], tasks=20)])
    play_all(store, sys.argv[1], lambda slot: Outcome.SUCCESS if slot % 2 else Outcome.FAILURE, turns=turns)
    play_all(store, sys.argv[2], lambda slot: Outcome.SUCCESS, turns=turns)
"""


@pytest.mark.slow
def test_eight_processes_write_at_once_and_nothing_is_lost_or_doubled(url):
    """All make the database, write a run of their own, and half of them fight for the slots of their neighbour's."""
    here = str(Path(__file__).parent)
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, f"run{i}", f"run{i - i % 2}", here],
            env={**os.environ, "AGENTENV_DB": url.render_as_string(hide_password=False)},
            stdin=subprocess.PIPE,
            text=True,
        )
        for i in range(8)
    ]
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.close()
    assert [writer.wait(timeout=100) for writer in writers] == [0] * 8
    with Store.open(url) as store:
        assert sorted(run.id for run in store.runs()) == [f"run{i}" for i in range(8)]
        for i in range(8):
            episodes = store.episodes(f"run{i}")
            assert [(e.slot, e.try_) for e in episodes] == [(slot, 0) for slot in range(20)]
            assert sum(task.valid for _, task in store.tasks(run=f"run{i}")) == 20
            assert sum(task.success for _, task in store.tasks(run=f"run{i}")) == sum(e.success for e in episodes)
            assert store.progress(f"run{i}").valid == store.run(f"run{i}").tries == 20
        assert store.ask("SELECT COUNT(*) FROM blobs").rows == [(4,)]
