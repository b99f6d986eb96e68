"""Folders that take long to make and are kept: made once, moved into place as a whole, checked before use.

A world, a corpus or an index lies under `agentenv.config.home()` and is made by the first process that needs it; others
wait for it. A folder of another version, or one that was damaged, is made anew.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

log = logging.getLogger("agentenv.keep")

STAMP = "stamp.json"
Files = tuple[tuple[str, int, int], ...]
"""Name, size in bytes and time of the last change in ns of each."""

_checked: set[tuple[Path, Files]] = set()


def kept(folder: Path, key: str, write: Callable[[Path], None]) -> Path:
    """`folder`, filled by `write` unless it already holds what `key` names, undamaged; safe from many processes.

    key: of everything that decides the contents, such as `sources_digest` and versions of libraries.
    write: fills the empty folder that it is given; what it raises leaves nothing behind.
    """
    if not _usable(folder, key):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _lock(folder.with_name(f".{folder.name}.lock")):
            if not _usable(folder, key):
                _replace(folder, key, write)
    return folder


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sources_digest(*packages: str) -> str:
    """SHA-256 of the code and data files of packages: what they make is kept as long as they stay equal."""
    digest = hashlib.sha256()
    for package in packages:
        for file in sorted(Path(str(files(package))).iterdir()):
            if file.is_file() and file.suffix != ".pyc":
                digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


@contextmanager
def stages(title: str, names: Sequence[str]) -> Iterator[Iterator[str]]:
    """A bar on the terminal's stderr, silent elsewhere; each `next` of what it gives begins the next of `names`."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=len(names))

        def begun() -> Iterator[str]:
            for place, name in enumerate(names):
                bar.update(task, completed=place, description=f"{title}: {name}")
                yield name

        yield begun()
        bar.update(task, completed=len(names), description=title)


def _replace(folder: Path, key: str, write: Callable[[Path], None]) -> None:
    work = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        write(work)
        stamp = {"key": key, "files": _digests(work)}
        (work / STAMP).write_text(json.dumps(stamp), encoding="utf-8")
        work.chmod(0o755)
        if folder.exists():
            log.warning("%s is of another version or damaged; it is replaced", folder)
            shutil.rmtree(folder)
        os.rename(work, folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _usable(folder: Path, key: str) -> bool:
    try:
        mark = (folder, _files(folder))
        stamp = json.loads((folder / STAMP).read_text(encoding="utf-8"))
        if stamp["key"] != key or (mark not in _checked and stamp["files"] != _digests(folder)):
            return False
    except (OSError, ValueError, KeyError, TypeError):
        return False
    _checked.add(mark)
    return True


def _files(folder: Path) -> Files:
    found = ((str(p.relative_to(folder)), p.stat()) for p in sorted(folder.rglob("*")) if p.is_file())
    return tuple((name, stat.st_size, stat.st_mtime_ns) for name, stat in found)


def _digests(folder: Path) -> dict[str, str]:
    made = sorted(p for p in folder.rglob("*") if p.is_file() and p.name != STAMP)
    return {str(p.relative_to(folder)): file_digest(p) for p in made}


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
