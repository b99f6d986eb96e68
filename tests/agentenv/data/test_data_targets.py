"""A target appears as a whole or not at all."""

import sys

import pytest

pytest.importorskip("fsspec")

import fsspec

from agentenv.data.targets import replaced
from agentenv.errors import BadCall, EnvUnavailable, InfraError


@pytest.fixture
def memory():
    """The store behind `memory://`, empty before and after."""
    store = fsspec.filesystem("memory")
    store.store.clear()
    yield store
    store.store.clear()


def write(target, text="new", **how):
    with replaced(str(target), **how) as path:
        path.write_text(text)


def break_off(target, error, **how):
    with replaced(str(target), **how) as path:
        path.write_text("half")
        raise error


@pytest.mark.parametrize("form", ["{}", "file://{}", "local://{}"])
def test_a_path_gets_the_file_and_nothing_else_lies_beside_it(tmp_path, form):
    write(form.format(tmp_path / "a.txt"))
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "new"


def test_while_it_is_being_written_the_old_file_stays(tmp_path):
    target = tmp_path / "a.txt"
    target.write_text("old")
    with replaced(str(target), force=True) as path:
        path.write_text("half")
        assert target.read_text() == "old"
    assert target.read_text() == "half"


@pytest.mark.parametrize("form", ["{}", "file://{}"])
def test_after_an_error_nothing_has_changed(tmp_path, form):
    target = tmp_path / "a.txt"
    target.write_text("old")
    with pytest.raises(RuntimeError):
        break_off(form.format(target), RuntimeError(), force=True)
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]
    assert target.read_text() == "old"


def test_after_an_interrupt_nothing_lies_about(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        break_off(tmp_path / "a.txt", KeyboardInterrupt())
    assert list(tmp_path.iterdir()) == []


def test_a_url_gets_the_finished_file(memory):
    write("memory://folder/a.txt")
    assert memory.cat("/folder/a.txt") == b"new"


def test_a_url_gets_nothing_after_an_error(memory):
    with pytest.raises(RuntimeError):
        break_off("memory://folder/a.txt", RuntimeError())
    assert not memory.exists("/folder/a.txt")


def test_what_exists_is_only_overwritten_by_force(tmp_path, memory):
    for target in (str(tmp_path / "a.txt"), f"file://{tmp_path / 'b.txt'}", "memory://a.txt"):
        write(target, "old")
        with pytest.raises(BadCall, match="exists; --force overwrites it"):
            write(target)
        write(target, "newer", force=True)
    assert (tmp_path / "a.txt").read_text() == (tmp_path / "b.txt").read_text() == "newer"
    assert memory.cat("/a.txt") == b"newer"


def test_a_wrong_target_is_a_wrong_call(tmp_path):
    with pytest.raises(BadCall, match="no folder"):
        write(tmp_path / "nowhere" / "a.txt")
    with pytest.raises(BadCall, match="is a folder"):
        write(tmp_path)
    with pytest.raises(BadCall, match="nosuch"):
        write("nosuch://a.txt")


def test_a_package_that_a_protocol_needs_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "paramiko", None)
    with pytest.raises(BadCall, match="paramiko"):
        write("sftp://host/a.txt")


def test_without_fsspec_paths_still_work_and_urls_name_the_extra(tmp_path, monkeypatch):
    for name in [n for n in sys.modules if n == "fsspec" or n.startswith("fsspec.")]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "fsspec", None)
    write(tmp_path / "a.txt")
    with pytest.raises(EnvUnavailable, match=r"pip install 'agentenv-gym\[data\]'"):
        write("memory://a.txt")


def test_a_store_that_fails_is_nobodys_fault():
    class Broken(fsspec.AbstractFileSystem):
        protocol = "broken"
        cachable = False

        def exists(self, path, **kwargs):
            return False

        def put_file(self, lpath, rpath, **kwargs):
            raise ConnectionError("gone")

    fsspec.register_implementation("broken", Broken, clobber=True)
    with pytest.raises(InfraError, match=r"broken://a\.txt: ConnectionError: gone"):
        write("broken://a.txt")
