"""The pictures of a database, each once in a folder of its own, and for each run a list of those that it refers to.

A folder belongs to one database, so that whatever its lists do not name is nobody's and can go. The lists are files
(`runs/RUN.txt`, a sha256 a line) and no table: the folder is of one machine, also where the database is a server's for
many, and a list names a picture before any row does, so that a kill leaves nothing that a sweep would not find.
"""

from __future__ import annotations

import contextlib
import fcntl
import re
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from sqlalchemy.engine import URL

from agentenv import config
from agentenv.pictures import Keep, NotKept, Pictures, beside
from agentenv.protocol import digest_of

if TYPE_CHECKING:
    from evals.store.store import Store

POSTGRESQL_PORT = 5432


def pictures_in(store: Store) -> RunPictures:
    """The pictures of a store's database."""
    return RunPictures(folder_of(store.engine.url))


def folder_of(url: URL) -> Path:
    """Beside the file of SQLite; for a database of a server under `AGENTENV_HOME`, by where the server is."""
    if url.get_backend_name() == "sqlite":
        return beside(Path(url.database or "").resolve())
    name = re.sub(r"[^A-Za-z0-9]+", "_", url.database or "")[:40]
    place = digest_of([url.host or "localhost", url.port or POSTGRESQL_PORT, url.database])
    return config.home() / "images" / f"{name}-{place[:12]}"


class RunPictures:
    """Processes and threads may share it."""

    def __init__(self, folder: Path) -> None:
        self.pictures = Pictures(folder)

    @property
    def folder(self) -> Path:
        """Where they are; made with the first of them."""
        return self.pictures.folder

    def keep(self, run: str) -> Keep:
        """What stores a picture of that run."""
        listed = set(self.of(run))

        def keep(png: bytes) -> str:
            with self._locked(fcntl.LOCK_SH):
                sha = self.pictures.keep(png)
                if sha not in listed:
                    with self._list(run).open("a", encoding="ascii") as file:
                        file.write(f"{sha}\n")  # in one piece: other processes may play the same run
                    listed.add(sha)
                return sha

        return keep

    def of(self, run: str) -> list[str]:
        """The sha256 of every picture that the run may refer to."""
        with contextlib.suppress(OSError):  # storing one will say what is wrong
            return list(dict.fromkeys(self._list(run).read_text(encoding="ascii").split()))
        return []

    def share(self, run: str, other: str) -> None:
        """Let another run refer to all pictures of `run`."""
        found = self.of(run)
        if found:
            with self._locked(fcntl.LOCK_SH):
                self._list(other).write_text("".join(f"{sha}\n" for sha in found), encoding="ascii")

    def sweep(self, standing: Callable[[], Collection[str]]) -> int:
        """Delete the pictures that no standing run refers to, and the lists of other runs; how many pictures went.

        `standing` is asked while nobody can store a picture. What is being played at that time loses none: its run is
        in the database before its first picture is.
        """
        if not self.folder.exists():
            return 0
        with self._locked(fcntl.LOCK_EX):
            names = set(map(_list_name, standing()))
            for path in self._lists.glob("*.txt"):
                if path.name not in names:
                    path.unlink()
            wanted = {sha for path in self._lists.glob("*.txt") for sha in path.read_text(encoding="ascii").split()}
            return self.pictures.keep_only(frozenset(wanted))

    @property
    def _lists(self) -> Path:
        return self.folder / "runs"

    def _list(self, run: str) -> Path:
        return self._lists / _list_name(run)

    @contextlib.contextmanager
    def _locked(self, mode: int) -> Iterator[None]:
        """Storing is shared, a sweep is alone."""
        try:
            self._lists.mkdir(parents=True, exist_ok=True)
            with (self.folder / ".lock").open("w") as file:
                fcntl.flock(file, mode)
                yield
        except OSError as exc:
            raise NotKept(f"pictures are in {self.folder}, which cannot be used: {exc.strerror or exc}") from exc


def _list_name(run: str) -> str:
    return f"{quote(run, safe='')}.txt"
