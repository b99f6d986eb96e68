import sqlite3
import threading
import time

import pytest
from web_worlds import shared_world

from envservers.webarena.state import database
from envservers.webarena.state.database import Db


@pytest.fixture
def db(tmp_path):
    db = Db(shared_world(), tmp_path / "copies" / "1.db")
    yield db
    db.close()


STOCK = "SELECT stock FROM product WHERE id = 1"


def test_reading_copies_nothing(db):
    assert db.value("SELECT count(*) FROM product") == 120
    assert not db.written
    assert not db.copy.parent.exists()


def test_the_first_write_copies_and_leaves_the_world_alone(db):
    before = db.base.read_bytes()
    db.write("UPDATE product SET stock = 777 WHERE id = 1")
    assert db.value(STOCK) == 777
    assert db.written
    assert db.base.read_bytes() == before


def test_an_insert_tells_the_new_id(db):
    new = db.write("INSERT INTO subscriber (email, created_at) VALUES (?, ?)", "a@b.example", "2026-03-02 09:00:00")
    assert db.one("SELECT email FROM subscriber WHERE id = ?", new)["email"] == "a@b.example"


def test_an_id_is_not_used_again_after_its_row_is_gone(db):
    sql = "INSERT INTO subscriber (email, created_at) VALUES ('a@b.example', '2026-03-02 09:00:00')"
    first = db.write(sql)
    db.write("DELETE FROM subscriber WHERE id = ?", first)
    assert db.write(sql) == first + 1


def test_foreign_keys_hold(db):
    with pytest.raises(sqlite3.IntegrityError):
        db.write("INSERT INTO wish (customer_id, product_id, added_at) VALUES (1, 99999, '2026-03-02 09:00:00')")
    line = db.value("SELECT order_id FROM order_line")
    with pytest.raises(sqlite3.IntegrityError):
        db.write("DELETE FROM sales_order WHERE id = ?", line)


def test_the_world_cannot_be_written_through_a_read(db):
    with pytest.raises(sqlite3.OperationalError):
        db.all("UPDATE product SET stock = 1")


def test_a_reset_brings_the_world_back_within_50_ms(db):
    took = []
    for _ in range(5):  # the best of five, as others use the machine, too
        db.write("UPDATE product SET stock = 777 WHERE id = 1")
        db.scratch["logins"] = {"x": 1}
        started = time.perf_counter()
        db.reset()
        took.append(time.perf_counter() - started)
        assert (db.value(STOCK) != 777, db.scratch, db.written, db.writes) == (True, {}, False, 0)
        assert not db.copy.exists()
    assert min(took) < 0.05


def test_a_snapshot_is_restored_any_number_of_times(db):
    db.write("UPDATE product SET stock = 5 WHERE id = 1")
    db.scratch["cart"] = [1]
    saved = db.snapshot()
    for stock in (6, 7):
        db.write("UPDATE product SET stock = ? WHERE id = 1", stock)
        db.scratch["cart"].append(stock)
        db.restore(saved)
        assert (db.value(STOCK), db.scratch, db.writes) == (5, {"cart": [1]}, 1)


def test_a_snapshot_without_writes_goes_back_to_the_world(db):
    before = db.value(STOCK)
    saved = db.snapshot()
    db.write("UPDATE product SET stock = 777 WHERE id = 1")
    db.restore(saved)
    assert (db.value(STOCK), db.written) == (before, False)


def test_a_snapshot_moves_to_another_session_and_outlives_the_first(db, tmp_path):
    db.write("UPDATE product SET stock = 5 WHERE id = 1")
    saved = db.snapshot()
    db.close()
    other = Db(db.base, tmp_path / "copies" / "2.db")
    other.restore(saved)
    assert other.value(STOCK) == 5
    other.close()


def test_a_snapshot_that_nobody_holds_leaves_no_file(db):
    db.write("UPDATE product SET stock = 5 WHERE id = 1")
    saved = db.snapshot()
    assert saved.file is not None
    file = saved.file
    assert file.exists()
    del saved
    assert not file.exists()


def test_a_snapshot_of_another_world_is_refused(db, tmp_path):
    other = Db(shared_world(seed=1), tmp_path / "2.db")
    with pytest.raises(ValueError, match="cannot be restored over"):
        db.restore(other.snapshot())
    other.close()


def test_close_removes_the_copy_and_may_come_twice(db):
    db.write("UPDATE product SET stock = 5 WHERE id = 1")
    db.close()
    db.close()
    assert list(db.copy.parent.iterdir()) == []


def test_a_file_system_without_shared_blocks_gets_a_plain_copy(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "_FICLONE", 0)
    (tmp_path / "a").write_bytes(b"world")
    database.copy_file(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").read_bytes() == b"world"


def test_sixty_four_sessions_in_eight_threads_never_see_each_other(tmp_path):
    world = shared_world()
    wrong = []

    def play(thread: int) -> None:
        sessions = [(n, Db(world, tmp_path / f"{n}.db")) for n in range(thread * 8, thread * 8 + 8)]
        for round_ in range(4):
            for number, db in sessions:
                db.write("UPDATE product SET stock = ? WHERE id = 1", 1000 * round_ + number)
                db.write("INSERT INTO subscriber (email, created_at) VALUES (?, '')", f"{number}-{round_}")
                db.scratch["who"] = number
        for number, db in sessions:
            mails = db.all("SELECT email FROM subscriber WHERE created_at = '' ORDER BY id")
            expected = [f"{number}-{round_}" for round_ in range(4)]
            if db.value(STOCK) != 3000 + number or [row[0] for row in mails] != expected or db.scratch["who"] != number:
                wrong.append(number)
            db.close()

    threads = [threading.Thread(target=play, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert list(tmp_path.iterdir()) == []
