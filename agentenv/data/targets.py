"""Where a file goes: a path, or any URL that fsspec knows. It appears as a whole or not at all."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agentenv.errors import AgentEnvError, BadCall, EnvUnavailable, InfraError


@contextmanager
def replaced(target: str, *, force: bool = False) -> Iterator[Path]:
    """A new local file to fill, which becomes `target` when the block ends; after an error nothing has changed.

    A path is replaced in one move. A URL gets the finished file in one upload, which is as atomic as its store is.
    BadCall for a target that exists (without `force`) or that cannot be written to; InfraError for a lost upload.
    """
    store, place = _found(target)
    if store is None:
        with _moved(Path(place).expanduser(), target, force=force) as path:
            yield path
    else:
        with _uploaded(store, place, target, force=force) as path:
            yield path


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """A folder to fill, which becomes `target` when the block ends; after an error nothing is there.

    BadCall for a target that holds something, or that cannot be made.
    """
    target = target.expanduser()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise BadCall(f"--out {target} exists and holds something; name a new folder")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as aside:
            work = Path(aside) / "work"
            work.mkdir()
            yield work
            os.replace(work, target)
    except OSError as exc:
        raise BadCall(f"{target}: {exc.strerror or exc}") from exc


def local(target: str) -> Path | None:
    """The path that a target is on this machine; None for one elsewhere."""
    store, place = _found(target)
    return Path(place).expanduser() if store is None else None


def _found(target: str) -> tuple[Any, str]:
    """The file system and the path in it; None for this machine's own."""
    if "://" not in target and "::" not in target:
        return None, target
    try:
        from fsspec.core import url_to_fs
        from fsspec.implementations.local import LocalFileSystem
    except ImportError as exc:
        raise EnvUnavailable(f"{target}: {exc} (pip install 'agentenv-gym[data]')") from exc
    try:
        store, place = url_to_fs(target)
    except (ValueError, ImportError) as exc:  # an unknown protocol, or a package that its protocol needs
        raise BadCall(f"{target}: {exc}") from exc
    return (None, place) if isinstance(store, LocalFileSystem) else (store, place)


@contextmanager
def _moved(path: Path, target: str, *, force: bool) -> Iterator[Path]:
    if path.is_dir() or not path.parent.is_dir():
        raise BadCall(f"{target}: {'is a folder; name a file' if path.is_dir() else f'no folder {path.parent}'}")
    _refuse_existing(target, path.exists(), force=force)
    work = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        yield work
        os.replace(work, path)
    except OSError as exc:
        raise BadCall(f"{target}: {exc.strerror or exc}") from exc
    finally:
        work.unlink(missing_ok=True)


@contextmanager
def _uploaded(store: Any, place: str, target: str, *, force: bool) -> Iterator[Path]:
    with _reaching(target):
        _refuse_existing(target, store.exists(place), force=force)
    with tempfile.TemporaryDirectory(prefix="agentenv-data-") as folder:
        work = Path(folder) / "part"
        yield work
        with _reaching(target):
            store.put_file(str(work), place)


@contextmanager
def _reaching(target: str) -> Iterator[None]:
    """A store raises what its own client raises."""
    try:
        yield
    except AgentEnvError:
        raise
    except Exception as exc:
        raise InfraError(f"{target}: {type(exc).__name__}: {exc}") from exc


def _refuse_existing(target: str, exists: bool, *, force: bool) -> None:
    if exists and not force:
        raise BadCall(f"--out {target} exists; --force overwrites it")
