"""Worlds for tests: built once in a folder that all tests and runs share, lent to a test's own home by a copy."""

from __future__ import annotations

import getpass
import os
import shutil
import tempfile
from pathlib import Path

from envservers.webarena.world.build import build_world

SHARED = Path(tempfile.gettempdir()) / f"agentenv-test-worlds-{getpass.getuser()}"


def shared_world(seed: int = 0, size: str = "small") -> Path:
    """A world's file, to read; nobody writes to it."""
    return build_world(seed, size, worlds=SHARED)


def lend_world(seed: int = 0, size: str = "small") -> Path:
    """The same world in this test's AGENTENV_HOME, where `build_world` finds it without building."""
    folder = shared_world(seed, size).parent
    own = Path(os.environ["AGENTENV_HOME"]) / "worlds" / folder.name
    if not own.exists():
        shutil.copytree(folder, own)
    return own / "shop.db"
