"""Folders that take long to make and are kept: made once, moved into place as a whole, checked when first used."""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

log = logging.getLogger("agentenv.search")

STAMP = "stamp.json"
_checked: set[tuple[Path, int]] = set()


def kept(folder: Path, key: str, write: Callable[[Path], None]) -> Path:
    """`folder`, filled by `write` unless it already holds what `key` names, undamaged; safe from many processes."""
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
        mark = (folder, (folder / STAMP).stat().st_mtime_ns)
        stamp = json.loads((folder / STAMP).read_text(encoding="utf-8"))
        if stamp["key"] != key:
            return False
        if mark not in _checked and stamp["files"] != _digests(folder):
            return False
    except (OSError, ValueError, KeyError, TypeError):
        return False
    _checked.add(mark)
    return True


def _digests(folder: Path) -> dict[str, str]:
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p.name != STAMP)
    return {str(p.relative_to(folder)): file_digest(p) for p in files}


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
