"""How far the browser can be shut in on this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from enum import StrEnum
from functools import cache
from pathlib import Path

SCRIPT = Path(__file__).with_name("confine.sh")
_WAIT_S = 20


class Confinement(StrEnum):
    """ROOT and USER: mounts and processes of its own, the hidden folder empty. NONE: neither is to be had here."""

    ROOT = "root"
    USER = "user"
    NONE = "none"


@cache
def confinement() -> Confinement:
    """The strongest way that works here, found by trying."""
    if shutil.which("unshare") is None or shutil.which("setpriv") is None:
        return Confinement.NONE
    mode = Confinement.ROOT if os.geteuid() == 0 else Confinement.USER
    return mode if _works(mode) else Confinement.NONE


def confined_environment(mode: Confinement, binary: Path, hide: Path) -> dict[str, str]:
    """What `confine.sh` reads."""
    return {"CONFINE_MODE": mode.value, "CONFINE_BINARY": str(binary), "CONFINE_HIDE": str(hide)}


def _works(mode: Confinement) -> bool:
    """Whether a file in the hidden folder cannot be seen by a program started so."""
    with tempfile.TemporaryDirectory(prefix="agentenv-confine-") as folder:
        (Path(folder) / "seen").touch()
        environment = os.environ | confined_environment(mode, Path("/bin/ls"), Path(folder))
        try:
            ran = subprocess.run(
                ["/bin/sh", SCRIPT, folder], env=environment, capture_output=True, text=True, timeout=_WAIT_S
            )
        except (OSError, subprocess.SubprocessError):
            return False
        # Without rights on an empty folder `ls` fails for a user and prints nothing for root.
        return "seen" not in ran.stdout and "mount" not in ran.stderr and "unshare" not in ran.stderr
