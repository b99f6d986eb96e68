"""Where sessions put their copies of a world: a folder of this process, which others remove once the process is gone.

The folder is named by process id and holds a file that its process keeps locked. The lock ends with the process,
however that ends: no id that was used again and no shifted clock can make a living folder look dead.
"""

from __future__ import annotations

import atexit
import fcntl
import itertools
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

from agentenv.config import home

_LOCK = "lock"
_numbers = itertools.count(1)


def new_copy() -> Path:
    """A path that no session of any process has; nothing is there yet."""
    return _folder_of(os.getpid(), home() / "sessions") / f"{next(_numbers)}.db"


def sweep(parent: Path) -> list[Path]:
    """Remove the folders of processes that are gone; what was removed."""
    gone = [folder for folder in sorted(parent.glob("[0-9]*-*")) if _left(folder)]
    for folder in gone:
        shutil.rmtree(folder, ignore_errors=True)
    return gone


@cache
def _folder_of(pid: int, parent: Path) -> Path:
    """By process id, as a forked child inherits this cache and must not write to its parent's folder."""
    parent.mkdir(parents=True, exist_ok=True)
    sweep(parent)
    made = Path(tempfile.mkdtemp(prefix=".new-", dir=parent))
    lock = os.open(made / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)  # open until the process ends
    fcntl.flock(lock, fcntl.LOCK_EX)
    folder = parent / f"{pid}-{made.name.removeprefix('.new-')}"  # a name that is swept only now that it is locked
    made.rename(folder)
    atexit.register(_remove, folder, pid)
    return folder


def _remove(folder: Path, pid: int) -> None:
    if os.getpid() == pid:
        shutil.rmtree(folder, ignore_errors=True)


def _left(folder: Path) -> bool:
    """Whether nobody holds the lock any more."""
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR)
    except OSError:  # being removed by somebody else, or not of ours
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True
