import os
import subprocess
import sys
from pathlib import Path

from agentenv.config import home
from envservers.webarena.state.copies import new_copy, sweep

HOLD = """
import sys
from envservers.webarena.state.copies import new_copy
path = new_copy()
path.write_text("copy")
print(path, flush=True)
sys.stdin.readline()
"""


def started() -> tuple[subprocess.Popen[str], Path]:
    """A process that holds a copy until it reads a line."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def ended(process: subprocess.Popen[str]) -> None:
    process.communicate("\n", timeout=30)


def test_paths_differ_and_lie_in_one_folder_of_the_process():
    paths = [new_copy() for _ in range(5)]
    assert len(set(paths)) == 5
    assert {path.parent for path in paths} == {paths[0].parent}
    assert paths[0].parent.name.startswith(f"{os.getpid()}-")
    assert paths[0].parent.parent == home() / "sessions"


def test_a_living_process_keeps_its_copies():
    process, copy = started()
    try:
        assert sweep(home() / "sessions") == []
        assert copy.read_text() == "copy"
    finally:
        ended(process)


def test_a_process_that_ends_takes_its_folder_along():
    process, copy = started()
    ended(process)
    assert not copy.parent.exists()


def test_what_a_killed_process_left_is_swept_by_the_next():
    process, copy = started()
    process.kill()
    process.communicate(timeout=30)
    assert copy.exists()
    own = new_copy()
    assert not copy.parent.exists()
    assert own.parent.exists()


def test_a_folder_of_somebody_else_is_left_alone(tmp_path):
    (tmp_path / "1234-notes").mkdir()
    (tmp_path / "readme").mkdir()
    assert sweep(tmp_path) == []
    assert len(list(tmp_path.iterdir())) == 2


def test_a_forked_child_writes_to_a_folder_of_its_own():
    own = new_copy()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, str(new_copy().parent).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert Path(os.read(read, 4096).decode()) != own.parent
    os.close(read)
    os.close(write)
