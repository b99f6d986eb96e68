"""The folder of one process's browsers: profiles and what the driver writes. It says whose it is, so that one left
behind by a killed process is found and removed by the next."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import psutil

PREFIX = "agentenv-chromium-"
RECORD = "processes.json"


def make_folder() -> Path:
    """A fresh folder that names this process as its owner."""
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    _write(folder, owner=_stamp(psutil.Process()), browsers=[])
    return folder


def record_browsers(folder: Path, pids: list[int]) -> None:
    """Note the browsers that run on this folder."""
    stamps = []
    for pid in pids:
        with contextlib.suppress(psutil.NoSuchProcess):
            stamps.append(_stamp(psutil.Process(pid)))
    _write(folder, owner=_stamp(psutil.Process()), browsers=stamps)


def sweep(parent: Path | None = None) -> list[Path]:
    """Remove folders whose owner is gone, and end browsers that were recorded in them; what was removed."""
    swept = []
    for folder in sorted((parent or Path(tempfile.gettempdir())).glob(f"{PREFIX}*")):
        record = _read(folder)
        if record is None or _alive(record["owner"]):
            continue
        for stamp in record["browsers"]:
            if _alive(stamp):
                end_tree(stamp["pid"])
        shutil.rmtree(folder, ignore_errors=True)
        swept.append(folder)
    return swept


def end_tree(pid: int) -> None:
    """Kill a process and all below it."""
    try:
        root = psutil.Process(pid)
        family = [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return
    for process in family:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(family, timeout=5)


def browsers_below(folder: Path) -> list[int]:
    """Browsers started by this process on that folder: the topmost processes that carry its name."""
    found: dict[int, int] = {}
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if any(part.startswith(f"--user-data-dir={folder}") for part in process.cmdline()):
                found[process.pid] = process.ppid()
    return [pid for pid, parent in found.items() if parent not in found]


def _stamp(process: psutil.Process) -> dict[str, float]:
    # A process id comes again; with the time of its start it is one process.
    return {"pid": process.pid, "started": process.create_time()}


def _alive(stamp: dict[str, float]) -> bool:
    try:
        process = psutil.Process(int(stamp["pid"]))
        return process.create_time() == stamp["started"] and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _write(folder: Path, *, owner: dict[str, float], browsers: list[dict[str, float]]) -> None:
    part = folder / f"{RECORD}.{os.getpid()}"
    part.write_text(json.dumps({"owner": owner, "browsers": browsers}), encoding="utf-8")
    part.replace(folder / RECORD)


def _read(folder: Path) -> dict[str, Any] | None:
    try:
        record: dict[str, Any] = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        return record
    except (OSError, ValueError):
        return None  # just being made, or not ours
