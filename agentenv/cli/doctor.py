"""`agentenv doctor`: what this installation is made of, and what is wrong with it."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

NAMES = ("agentenv", "envservers", "evals", "trainers")
"""The import names of this distribution."""
GROUPS = ("envs", "agents", "commands", "engines", "trainers", "suites", "web")
BACKENDS = ("engines", "trainers")
"""Groups whose members need an extra of ours (torch and more), which few machines have."""
PORT = 8000
CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM_VARIABLE = "AGENTENV_CHROMIUM"
"""Where it is set, it names the browser, and nothing else is looked for."""

Finding = dict[str, Any]
"""`check`, `status` (ok, note, problem) and `detail`. A note is something that only some envs need."""


def doctor(json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Check the installation. Exit code 1 when something is wrong.

    \b
    Example:
      agentenv doctor --json
    """
    from agentenv.cli.tables import print_json, print_table

    findings = list(examine())
    if json:
        print_json(findings)
    else:
        print_table(findings, ("check", "status", "detail"))
    if any(f["status"] == "problem" for f in findings):
        raise typer.Exit(1)


def examine() -> Iterator[Finding]:
    """Every finding, in reading order."""
    from agentenv import __file__, __version__

    yield _finding("python", "ok", f"{sys.version.split()[0]} at {sys.executable}")
    yield _finding("agentenv", "ok", f"{__version__} at {Path(__file__).parent}")
    yield from names()
    yield from plugins()
    yield _program("java", ("java",), "on Debian: apt-get install openjdk-17-jre-headless")
    named = os.environ.get(CHROMIUM_VARIABLE)
    missing = f"{CHROMIUM_VARIABLE}={named} is no program" if named else "on Debian: apt-get install " + CHROMIUM[0]
    yield _program("chromium", (named,) if named else CHROMIUM, missing)
    yield home_folder()
    yield database()
    yield port()


def names() -> Iterator[Finding]:
    """Whether each import name belongs to this project alone."""
    from agentenv.plugins import DISTRIBUTION, owners

    for name in NAMES:
        others = [owner for owner in owners(name) if owner != DISTRIBUTION]
        if others:
            detail = f"also brought by {', '.join(others)}; one of them hides the other: uninstall one"
            yield _finding(f"import {name}", "problem", detail)
        else:
            yield _finding(f"import {name}", "ok", DISTRIBUTION)


def plugins() -> Iterator[Finding]:
    """What each group of entry points offers, and each plug-in that cannot be loaded."""
    from agentenv.plugins import Broken, entry_points, load_group

    for group in GROUPS:
        points = entry_points(f"agentenv.{group}")
        if not points:
            continue
        loaded = load_group(f"agentenv.{group}")
        broken = {name: found for name, found in loaded.items() if isinstance(found, Broken)}
        usable = [f"{name} ({points[name][1].name})" for name in loaded if name not in broken]
        yield _finding(f"plug-ins: {group}", "ok", ", ".join(usable) or "none")
        for name, found in broken.items():
            optional = group in BACKENDS and found.reason.startswith("ModuleNotFoundError")
            detail = f"of {points[name][1].name}: unavailable: {found.reason}"
            yield _finding(f"plug-in {name}", "note" if optional else "problem", detail)


def home_folder() -> Finding:
    """Whether the home can be written, made or not yet."""
    from agentenv.config import home

    folder = home().absolute()
    existing = next(p for p in (folder, *folder.parents) if p.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        return _finding("AGENTENV_HOME", "problem", f"{folder}: {existing} cannot be written")
    return _finding("AGENTENV_HOME", "ok", f"{folder}{'' if folder.exists() else ' (made when first used)'}")


def database() -> Finding:
    """Whether the database answers; a SQLite file that does not exist yet is fine."""
    import sqlalchemy

    from agentenv.config import database_url

    try:
        url = sqlalchemy.make_url(database_url())
        shown = url.render_as_string(hide_password=True)
        if url.get_backend_name() == "sqlite" and url.database and not Path(url.database).exists():
            return _finding("database", "ok", f"{shown} (made when first used)")
        engine = sqlalchemy.create_engine(url)
        try:
            with engine.connect() as connection:
                connection.execute(sqlalchemy.text("SELECT 1"))
                tables = len(sqlalchemy.inspect(connection).get_table_names())
        finally:
            engine.dispose()
    except (sqlalchemy.exc.SQLAlchemyError, ImportError) as exc:
        reason = str(getattr(exc, "orig", None) or exc).splitlines()[0]
        return _finding("database", "problem", f"{type(exc).__name__}: {reason}")
    return _finding("database", "ok", f"{shown}: {tables} tables")


def port() -> Finding:
    """Whether the default port of `serve` is free."""
    from agentenv.errors import AgentEnvError
    from agentenv.server.serve import bind

    try:
        bind("127.0.0.1", PORT).close()
    except AgentEnvError as exc:
        return _finding(f"port {PORT}", "note", exc.message)
    return _finding(f"port {PORT}", "ok", "free")


def _program(name: str, commands: tuple[str, ...], hint: str) -> Finding:
    for command in commands:
        if path := shutil.which(command):
            return _finding(name, "ok", path)
    return _finding(name, "note", f"not found, so environments that need {name} cannot run here; {hint}")


def _finding(check: str, status: str, detail: str) -> Finding:
    return {"check": check, "status": status, "detail": detail}
