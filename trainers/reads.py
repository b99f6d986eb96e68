"""Which settings a process reads: noted only with `AGENTENV_CONFIG_READS=FOLDER`, one file a process.

`make check-config` unites the notes of a test run and fails on a setting that nothing reads. A read counts when code of
this project outside of the tests makes it; generated code of dataclasses (repr, comparison) does not count.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import FrameType

FOLDER = os.environ.get("AGENTENV_CONFIG_READS")
PACKAGES = ("trainers", "agentenv")

noted: set[str] = set()
"""`module.Class.field` of everything that was read in this process."""


def note(cls: type, name: str, reader: FrameType) -> None:
    """Take note that `reader` read the field `name` of `cls`; written at once, as a process may be killed."""
    key = f"{cls.__module__}.{cls.__qualname__}.{name}"
    if key in noted or reader.f_code.co_filename == "<string>":
        return
    if str(reader.f_globals.get("__name__")).partition(".")[0] not in PACKAGES:
        return
    noted.add(key)
    folder = Path(FOLDER or ".")
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{os.getpid()}.txt").open("a", encoding="utf-8") as file:
        file.write(key + "\n")


def united(folder: Path) -> set[str]:
    """The reads of every process that wrote into `folder`."""
    return {line for file in sorted(folder.glob("*.txt")) for line in file.read_text(encoding="utf-8").splitlines()}
