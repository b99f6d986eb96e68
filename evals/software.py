"""What a run was made by: versions of packages and Python, the platform, and the git state of the source."""

from __future__ import annotations

import platform
import sqlite3
import subprocess
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import agentenv

PACKAGES = (
    "agentenv-gym", "gymnasium", "msgspec", "aiohttp", "sqlalchemy", "numpy", "psycopg", "scienceworld", "minigrid",
    "bm25s", "playwright", "torch", "transformers", "vllm",
)  # fmt: skip
"""Those that are installed; results may depend on any of them."""


def software() -> dict[str, Any]:
    """Names and versions; `git` only where the source is a checkout."""
    found: dict[str, Any] = {
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
        "sqlite": sqlite3.sqlite_version,
    }
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    state = _git(Path(agentenv.__file__).resolve().parent.parent)
    return {**found, "git": state} if state is not None else found


def software_differences(then: Mapping[str, Any]) -> list[str]:
    """In words, what a run was made by and is of another version here; the source's git state aside."""
    now = software()
    return [
        f"{name} {now[name]} here, {version} then"
        for name, version in then.items()
        if name != "git" and name in now and now[name] != version
    ]


def _git(root: Path) -> dict[str, Any] | None:
    """Commit of the checkout at `root`, and whether tracked files were changed; None where git cannot tell."""
    if not (root / ".git").exists():
        return None
    try:
        commit = _output(root, "rev-parse", "HEAD")
        changed = _output(root, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return None
    return {"commit": commit, "changed": bool(changed)}


def _output(root: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, timeout=5, check=True)
    return done.stdout.strip()
