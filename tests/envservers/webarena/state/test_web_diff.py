import random
import sqlite3
from typing import Any

import pytest
from web_worlds import shared_world

from envservers.webarena.state.database import Db
from envservers.webarena.state.diff import Change, changes_of


@pytest.fixture
def db(tmp_path):
    db = Db(shared_world(), tmp_path / "1.db")
    yield db
    db.close()


Tables = dict[str, dict[int, dict[str, Any]]]


def read(db: Db) -> Tables:
    """Every ordinary table as plain dictionaries by id."""
    names = [row[0] for row in db.all("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    kept = [name for name in names if not name.startswith(("sqlite_", "product_search"))]
    return {name: {row["id"]: dict(row) for row in db.all(f"SELECT * FROM {name}")} for name in kept}


def compared(before: Tables, after: Tables) -> list[Change]:
    """The same difference, the plain way."""
    changes = []
    for table in sorted(before):
        old, new = before[table], after[table]
        for kind, ids in (
            ("insert", new.keys() - old.keys()),
            ("update", {id for id in old.keys() & new.keys() if old[id] != new[id]}),
            ("delete", old.keys() - new.keys()),
        ):
            changes += [
                Change(table=table, kind=kind, id=id, before=old.get(id), after=new.get(id)) for id in sorted(ids)
            ]
    return changes


def test_an_unwritten_session_has_no_changes(db):
    assert changes_of(db) == ()
    assert not db.written


def test_a_write_that_changes_nothing_is_no_change(db):
    db.write("UPDATE product SET stock = stock")
    assert changes_of(db) == ()


def test_a_row_put_back_is_no_change(db):
    stock = db.value("SELECT stock FROM product WHERE id = 1")
    db.write("UPDATE product SET stock = 999 WHERE id = 1")
    db.write("UPDATE product SET stock = ? WHERE id = 1", stock)
    assert changes_of(db) == ()


def test_each_kind_of_change_is_told_with_its_rows(db):
    gone = dict(db.one("SELECT * FROM wish WHERE id = 2"))
    was = dict(db.one("SELECT * FROM product WHERE id = 3"))
    db.write("UPDATE product SET stock = 999, special_cents = 1 WHERE id = 3")
    new = db.write("INSERT INTO subscriber (email, created_at) VALUES ('a@b.example', '')")
    db.write("DELETE FROM wish WHERE id = 2")
    row = {"id": new, "email": "a@b.example", "created_at": ""}
    product, subscriber, wish = changes_of(db)
    assert (product.kind, product.before, product.after) == ("update", was, was | {"stock": 999, "special_cents": 1})
    assert product.columns == ("special_cents", "stock")
    assert subscriber == Change(table="subscriber", kind="insert", id=new, before=None, after=row)
    assert subscriber.columns == ("id", "email", "created_at")
    assert wish == Change(table="wish", kind="delete", id=2, before=gone, after=None)


def test_null_differs_from_empty_and_text_from_number(db):
    row = db.one("SELECT id FROM product WHERE special_cents IS NULL")
    db.write("UPDATE product SET special_cents = 0 WHERE id = ?", row["id"])
    (change,) = changes_of(db)
    assert change.columns == ("special_cents",)
    assert (change.before or {})["special_cents"] is None


def test_what_a_foreign_key_takes_along_is_told(db):
    lines = db.value("SELECT count(*) FROM cart_line JOIN cart ON cart.id = cart_id WHERE customer_id = 1")
    db.write("DELETE FROM cart WHERE customer_id = 1")
    changes = changes_of(db)
    assert [(change.table, change.kind) for change in changes] == [("cart", "delete")] + [
        ("cart_line", "delete")
    ] * lines
    assert lines > 1


def test_a_write_that_was_refused_touches_nothing_that_differs(db):
    with pytest.raises(sqlite3.IntegrityError):
        db.write("DELETE FROM sales_order WHERE id = 1")
    assert changes_of(db) == ()


def test_changes_are_known_after_a_snapshot_is_restored(db, tmp_path):
    db.write("DELETE FROM cart WHERE customer_id = 1")
    saved, before = db.snapshot(), changes_of(db)
    db.reset()
    assert changes_of(db) == ()
    other = Db(db.base, tmp_path / "2.db")
    for session in (db, other):
        session.restore(saved)
        session.write("UPDATE product SET stock = 999 WHERE id = 1")
        assert [c for c in changes_of(session) if c.table != "product"] == list(before)
        assert len(changes_of(session)) == len(before) + 1
    other.close()


def test_the_search_index_does_not_count(db):
    db.write("INSERT INTO product_search (rowid, name, brand, category, description) VALUES (999, 'a', 'b', 'c', 'd')")
    assert changes_of(db) == ()


def test_the_difference_is_told_again_and_again(db):
    db.write("UPDATE product SET stock = 999 WHERE id = 3")
    assert changes_of(db) == changes_of(db)
    db.write("UPDATE product SET stock = 998 WHERE id = 3")
    assert len(changes_of(db)) == 1


@pytest.mark.parametrize("seed", range(8))
def test_random_writes_give_what_a_plain_comparison_gives(db, seed):
    rng = random.Random(seed)
    before = read(db)
    for _ in range(40):
        table = rng.choice(sorted(before))
        columns = [name for name in before[table][min(before[table])] if name != "id"] if before[table] else []
        ids = [row[0] for row in db.all(f"SELECT id FROM {table}")]
        try:
            match rng.randrange(3):
                case 0 if ids and columns:
                    column = rng.choice(columns)
                    other = db.value(f"SELECT {column} FROM {table} WHERE id = ?", rng.choice(ids))
                    db.write(f"UPDATE {table} SET {column} = ? WHERE id = ?", other, rng.choice(ids))
                case 1 if ids:
                    db.write(f"DELETE FROM {table} WHERE id = ?", rng.choice(ids))
                case _ if ids and columns:
                    names = ", ".join(columns)
                    db.write(f"INSERT INTO {table} ({names}) SELECT {names} FROM {table} WHERE id = ?", rng.choice(ids))
        except sqlite3.IntegrityError:
            continue  # keys and checks hold here as in the shop
    found = list(changes_of(db))
    assert found == compared(before, read(db))
    assert found
