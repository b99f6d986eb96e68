import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from web_worlds import shared_world

from agentenv.config import home
from envservers.webarena.world import build
from envservers.webarena.world.build import build_world, content_digest, write_world
from envservers.webarena.world.sizes import SIZES, VERSION

GOLDEN = {  # (seed, size): a change of these is a change of every task's world, and asks for another VERSION
    (0, "small"): "f705ffdcce6bf873272012a88576c3a746f5012451715e6ec6406937b7b36632",
    (0, "medium"): "14bc14a5963f97c99a1fe9bc26a0f60b85dab62f98639aa769da04486c13f18e",
}


@pytest.mark.parametrize("key", GOLDEN, ids=str)
def test_the_world_of_a_seed_is_the_recorded_one(key):
    assert content_digest(shared_world(*key)) == GOLDEN[key]


def test_another_hash_seed_and_process_give_the_same_bytes(tmp_path):
    code = (
        "import sys; from pathlib import Path; from envservers.webarena.world.build import write_world; "
        "from envservers.webarena.world.sizes import SIZES; write_world(Path(sys.argv[1]), 0, SIZES['small'])"
    )
    path = tmp_path / "other.db"
    subprocess.run([sys.executable, "-c", code, str(path)], env=os.environ | {"PYTHONHASHSEED": "7"}, check=True)
    assert path.read_bytes() == shared_world().read_bytes()


def test_seeds_give_different_worlds():
    assert content_digest(shared_world(0)) != content_digest(shared_world(1))


def test_a_world_is_built_once_into_home():
    path = build_world(0, "small")
    assert path == home() / "worlds" / f"{VERSION}-0-small" / "shop.db"
    stat = path.stat()
    assert build_world(0, "small").stat().st_ino == stat.st_ino
    assert sorted(entry.name for entry in path.parent.parent.iterdir()) == [".1-0-small.lock", "1-0-small"]


def test_an_unknown_size_is_refused():
    with pytest.raises(KeyError, match="huge"):
        build_world(0, "huge")


def test_half_a_file_is_never_used():
    path = build_world(0, "small")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert build_world(0, "small").read_bytes() == whole


def test_a_file_that_somebody_changed_is_built_anew():
    path = build_world(0, "small")
    whole = path.read_bytes()
    path.write_bytes(whole[:-4096] + bytes(4096))
    assert build_world(0, "small").read_bytes() == whole


def test_a_world_of_other_sources_is_built_anew():
    path = build_world(0, "small")
    stamp = path.with_name("stamp.json")
    stamp.write_text(json.dumps(json.loads(stamp.read_text()) | {"key": "older"}))
    inode = path.stat().st_ino
    assert build_world(0, "small").stat().st_ino != inode


def test_a_build_that_fails_leaves_nothing(monkeypatch):
    def fail(*args):
        raise OSError("disk full")

    monkeypatch.setattr(build, "write_world", fail)
    with pytest.raises(OSError, match="disk full"):
        build_world(0, "small")
    assert [entry.name for entry in (home() / "worlds").iterdir()] == [".1-0-small.lock"]


def _build(folder: str) -> bytes:
    return build_world(0, "small", worlds=Path(folder)).read_bytes()


def test_many_builders_at_a_time_agree(tmp_path):
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        found = pool.map(_build, [str(tmp_path)] * 8)
    assert len(set(found)) == 1
    assert len([entry for entry in tmp_path.iterdir() if entry.is_dir()]) == 1


def test_open_files_of_a_replaced_world_stay_readable():
    import sqlite3

    path = build_world(0, "small")
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)
    shutil.rmtree(path.parent)
    build_world(0, "small")
    assert connection.execute("SELECT count(*) FROM product").fetchone()[0] == SIZES["small"].products
    connection.close()


def test_a_medium_world_takes_less_than_ten_seconds_of_processor_time(tmp_path):
    started = time.process_time()
    write_world(tmp_path / "shop.db", 5, SIZES["medium"])
    assert time.process_time() - started < 10
    assert 4e6 < (tmp_path / "shop.db").stat().st_size < 12e6
