"""A PostgreSQL of the tests' own, from Debian's packages: in a temporary folder, reached by a Unix socket alone."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlalchemy.engine import URL

DEBIAN = Path("/usr/lib/postgresql")
USERS = ("postgres", "nobody")
"""Root may not run a PostgreSQL; the first of these that there is does it then."""
START_S = 100.0
QUICK = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "shared_buffers": "32MB"}


def binaries() -> Path | None:
    """Where `initdb` and `postgres` lie, the newest version's."""
    versions = sorted(DEBIAN.glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    if versions:
        return versions[-1].parent
    found = shutil.which("initdb")
    return Path(found).resolve().parent if found else None


def missing() -> str | None:
    """Why no PostgreSQL can be started here; None where one can."""
    try:
        import psycopg  # noqa: F401
    except ImportError as exc:
        return f"no psycopg ({exc}); pip install -e '.[postgres]'"
    if binaries() is None:
        return "no PostgreSQL; make postgres"
    if os.geteuid() == 0 and _user() is None:
        return f"none of the users {', '.join(USERS)}, and root may not run a PostgreSQL"
    return None


class Postgres:
    """One server. Whatever it holds is gone with it, so it need not wait for disks, unless the settings say so."""

    def __init__(self, settings: Mapping[str, str] = QUICK) -> None:
        found = binaries()
        assert found is not None
        self.folder = Path(tempfile.mkdtemp(prefix="agentenv-pg-"))  # short: a socket's path may have 107 bytes
        self._as: dict[str, Any] = {}
        user = _user() if os.geteuid() == 0 else None
        if user is not None:
            os.chown(self.folder, user.pw_uid, user.pw_gid)
            self._as = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        data = str(self.folder / "data")
        initdb = [
            found / "initdb",
            "-D",
            data,
            "-A",
            "trust",
            "-U",
            "postgres",
            "-E",
            "UTF8",
            "--no-sync",
            "--locale=C",
        ]
        subprocess.run(initdb, check=True, cwd=self.folder, stdout=subprocess.DEVNULL, **self._as)
        settings = {"listen_addresses": "", "unix_socket_directories": str(self.folder), **settings}
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("wb") as log:
            self.server = subprocess.Popen(
                [found / "postgres", "-D", data, *options], cwd=self.folder, stdout=log, stderr=log, **self._as
            )
        self._numbers = 0
        self._wait(found / "pg_isready")

    def new(self, *, like: URL | None = None) -> URL:
        """A database with nothing in it, or a copy of one that nobody is connected to."""
        self._numbers += 1
        name = f"runs{self._numbers}"
        self._command(f"CREATE DATABASE {name} TEMPLATE {'template1' if like is None else like.database}")
        return self.url(name)

    def drop(self, url: URL) -> None:
        """Remove it, whoever is connected."""
        self._command(f"DROP DATABASE {url.database} WITH (FORCE)")

    def url(self, name: str) -> URL:
        """Of the database `name`."""
        return URL.create("postgresql", username="postgres", database=name, query={"host": str(self.folder)})

    def close(self) -> None:
        """End the server and remove its files."""
        self.server.terminate()
        try:
            self.server.wait(10)
        except subprocess.TimeoutExpired:
            self.server.kill()
            self.server.wait()
        shutil.rmtree(self.folder)

    def _wait(self, ready: Path) -> None:
        until = time.monotonic() + START_S
        while subprocess.run([ready, "-q", "-h", str(self.folder)], check=False).returncode != 0:
            if self.server.poll() is not None or time.monotonic() > until:
                raise RuntimeError((self.folder / "log").read_text())
            time.sleep(0.05)

    def _command(self, words: str) -> None:
        import psycopg

        with psycopg.connect(host=str(self.folder), user="postgres", dbname="postgres", autocommit=True) as connection:
            connection.execute(words)


def _user() -> pwd.struct_passwd | None:
    for name in USERS:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    return None
