"""Where things lie: settings of the process environment that more than one part reads."""

from __future__ import annotations

import os
from pathlib import Path


def home() -> Path:
    """Folder of data, worlds and databases: `AGENTENV_HOME`, by default `~/.agentenv`. Absolute; not created here."""
    return Path(os.environ.get("AGENTENV_HOME") or "~/.agentenv").expanduser().absolute()


def database_url() -> str:
    """SQLAlchemy URL of the database: `AGENTENV_DB`, by default SQLite under the home."""
    return os.environ.get("AGENTENV_DB") or f"sqlite:///{home() / 'agentenv.db'}"
