"""What a rate was measured on, for whoever reads it later."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("aiohttp", "msgspec", "starlette", "uvicorn", "uvloop", "websockets")


def describe(packages: Iterable[str] = PACKAGES) -> dict[str, Any]:
    """CPU, cores that this process may use, Python, versions, and the load average of now."""
    return {
        "cpu": cpu_model(),
        "cores": cores(),
        "python": platform.python_version(),
        "system": platform.system(),
        "load_1m": round(os.getloadavg()[0], 2),
        "versions": {name: found for name in packages if (found := _version(name))},
    }


def cpu_model() -> str:
    """The CPU's name as the system tells it."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def cores() -> int:
    """Cores that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
