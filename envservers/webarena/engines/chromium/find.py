"""Which Chromium is there. Nothing is downloaded."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from agentenv.errors import EnvUnavailable

VARIABLE = "AGENTENV_CHROMIUM"
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""In the order of preference: 32 sessions of the headless shell take about a third of the memory."""
HINT = "apt-get install chromium-headless-shell"
_VERSION = re.compile(r"\d+(\.\d+)+")
_WAIT_S = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Chromium:
    """A browser on this machine."""

    path: Path
    version: str
    """`156.0.8078.114`; part of every record."""


def find_chromium() -> Chromium | None:
    """The browser to use: what `AGENTENV_CHROMIUM` names, else the first of `NAMES` on the PATH; None without any.

    A variable that names no working browser is an error, not a reason to look on.
    """
    named = os.environ.get(VARIABLE)
    if named:
        found = shutil.which(named)
        if found is None:
            raise EnvUnavailable(f"{VARIABLE}={named} is no program that can be run")
        return _look(Path(found))
    for name in NAMES:
        if found := shutil.which(name):
            return _look(Path(found))
    return None


def need_chromium() -> Chromium:
    """Like `find_chromium`, but its absence is an error with the command that helps."""
    found = find_chromium()
    if found is None:
        raise EnvUnavailable(f"no Chromium was found; on Debian: {HINT}; elsewhere set {VARIABLE} to the program")
    return found


def have_playwright() -> bool:
    """Whether the Python package is there."""
    import importlib.util

    return importlib.util.find_spec("playwright") is not None


@cache
def _look(path: Path) -> Chromium:
    try:
        said = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=_WAIT_S, check=True).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise EnvUnavailable(f"{path} --version failed: {error}; on Debian: {HINT}") from error
    number = _VERSION.search(said)
    if number is None:
        raise EnvUnavailable(f"{path} --version said {said.strip()[:80]!r}, no version")
    return Chromium(path=path, version=number.group())
