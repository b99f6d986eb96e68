"""What strangers' queries may do."""

import sqlite3
import threading

import pytest
from fruit_folder import write_fruits

from agentenv.errors import EnvFailed
from envservers.sql import guard
from envservers.sql.guard import MAX_ROWS, MAX_SQL, Reader, Refused


@pytest.fixture
def fruits(tmp_path):
    write_fruits(tmp_path / "fruit.sqlite")
    reader = Reader(tmp_path / "fruit.sqlite")
    yield reader
    reader.close()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT random()",
        "SELECT hex(randomblob(4))",
        "SELECT name FROM f ORDER BY random()",
        "SELECT date('now')",
        "SELECT date('n' || 'ow')",
        "SELECT datetime(' NOW ')",
        "SELECT date()",
        "SELECT strftime('%s')",
        "SELECT strftime('%Y', 'now')",
        "SELECT date('2023-01-01', 'localtime')",
        "SELECT CURRENT_DATE",
        "SELECT CURRENT_TIME",
        "SELECT CURRENT_TIMESTAMP",
        "SELECT load_extension('x')",
        "SELECT changes(), last_insert_rowid()",
        "SELECT zeroblob(1000000000)",
        "SELECT * FROM pragma_table_info('f')",
        "SELECT * FROM dbstat",
        "SELECT readfile('/etc/passwd')",
    ],
)
def test_what_differs_from_run_to_run_or_reaches_out_is_denied(fruits, sql):
    with pytest.raises(Refused, match=r"not allowed|only reading|no such|stated time"):
        fruits.run(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "DROP TABLE f",
        "DELETE FROM f",
        "UPDATE f SET qty = 1",
        "INSERT INTO f VALUES ('x', 1, 1)",
        "WITH a AS (SELECT 1) INSERT INTO f SELECT 'x', 1, 1",
        "CREATE TEMP TABLE t (a)",
        "ATTACH 'x.sqlite' AS x",
        "PRAGMA query_only = 0",
        "BEGIN",
        "VACUUM INTO 'copy.sqlite'",
        "REPLACE INTO f VALUES ('x', 1, 1)",
        "SELECT 1; DROP TABLE f",
        "EXPLAIN SELECT 1",
    ],
)
def test_nothing_but_one_select_is_carried_out(fruits, sql, tmp_path):
    before = (tmp_path / "fruit.sqlite").read_bytes()
    with pytest.raises(Refused):
        fruits.run(sql)
    assert (tmp_path / "fruit.sqlite").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fruit.sqlite"]


def test_ordinary_queries_work_dates_and_windows_among_them(fruits):
    assert fruits.run("SELECT date('2023-01-31', '+1 month'), strftime('%Y', '2023-05-06')").rows == (
        ("2023-03-03", "2023"),
    )
    assert fruits.run("SELECT name, RANK() OVER (ORDER BY qty DESC) FROM f LIMIT 1;  -- note").rows == (("fig", 1),)
    assert fruits.run("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5) SELECT * FROM n").rows
    assert fruits.run("SELECT sql FROM sqlite_master").rows
    assert fruits.run("VALUES (1)").rows == ((1,),)


TEXTS = "a.name || b.name || c.name || d.name || e.name || g.name"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n"


def test_an_endless_query_ends_after_so_many_instructions_each_time_alike(fruits):
    left = []
    for _ in range(2):
        with pytest.raises(Refused, match="more than 5,000,000 instructions"):
            fruits.run(ENDLESS)
        left.append(fruits._left)
    assert left == [0, 0]
    assert fruits.run("SELECT 1").rows == ((1,),)


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        (f"SELECT '{'x' * MAX_SQL}'", "longer than"),
        ("SELECT a.qty FROM f a, f b, f c, f d, f e, f g, f h, f i", f"more than {MAX_ROWS:,} rows"),
        ("SELECT 1\0", "a character that is none"),
        ("SELECT '\ud800'", "a character that is none"),
        ("SELECT ?", "variable"),
        ("", "empty"),
        (" ; -- nothing", "only a SELECT"),
        ("/* never closed", "empty"),
        (f"SELECT {'(' * 500}1{')' * 500}", "."),
        (f"SELECT group_concat({TEXTS}) FROM f a, f b, f c, f d, f e, f g", "too big"),
    ],
)
def test_what_is_too_much_is_refused_with_the_reason(fruits, sql, reason):
    with pytest.raises(Refused, match=reason):
        fruits.run(sql)


def test_text_that_is_broken_in_files_of_others_is_shown(tmp_path):
    write_fruits(tmp_path / "fruit.sqlite")
    reader = Reader(tmp_path / "fruit.sqlite", foreign=True)
    assert reader.run("SELECT CAST(x'6162ff' AS TEXT)").rows == (("ab\ufffd",),)
    reader.close()


def test_text_that_a_query_breaks_is_refused(fruits):
    with pytest.raises(Refused, match="UTF-8"):
        fruits.run("SELECT CAST(x'6162ff' AS TEXT)")


def test_connections_are_lent_to_one_caller_at_a_time(tmp_path):
    from envservers.sql.databases import reader

    write_fruits(tmp_path / "fruit.sqlite")
    wrong = []

    def play(number: int) -> None:
        for _ in range(20):
            with reader(tmp_path / "fruit.sqlite") as lent:
                if lent.run(f"SELECT {number}, COUNT(*) FROM f").rows != ((number, 4),):
                    wrong.append(number)

    threads = [threading.Thread(target=play, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_query_over_files_of_others_is_broken_off_before_the_disk_is_full(tmp_path, monkeypatch):
    """It is no fault of the query: the episode is no failure but an error of the environment."""
    path = tmp_path / "f.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE f (a INTEGER)")
        connection.executemany("INSERT INTO f VALUES (?)", ((n,) for n in range(1, 901)))
    connection.close()
    spills = "SELECT COUNT(*) FROM (SELECT DISTINCT printf('%0500d', a.a * 1000 + b.a) FROM f a, f b WHERE a.a < 50)"
    reader = Reader(path, foreign=True)
    try:
        assert reader.run(spills).rows == ((49 * 900,),)
        monkeypatch.setattr(guard, "LEAST_FREE", 10**18)
        with pytest.raises(EnvFailed, match="bytes are free in"):
            reader.run(spills)
    finally:
        reader.close()
    own = Reader(path)
    assert own.run(spills).rows == ((49 * 900,),)  # bounded by the length of its texts
    with pytest.raises(Refused, match="too big"):
        own.run("SELECT printf('%0600d', a) || printf('%0600d', a) FROM f")
    own.close()
