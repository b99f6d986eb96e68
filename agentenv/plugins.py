"""Entry points of this and other packages, loaded by distribution and checked against shadowing.

The import names of the parts (`evals`, `trainers`) are common words. A file `evals.py` beside a user's script would be
imported in their place, so each loaded module must lie where its distribution put it; else the error names both files.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from importlib.metadata import Distribution, EntryPoint, distributions, packages_distributions
from pathlib import Path
from typing import Any

import agentenv
from agentenv.errors import AgentEnvError

DISTRIBUTION = "agentenv-gym"


class ShadowedPackage(AgentEnvError, ImportError):
    """Another file is imported under a package's name."""

    code = "shadowed_package"


@dataclass(frozen=True, slots=True)
class Broken:
    """A plug-in that could not be loaded, and why."""

    name: str
    reason: str


def entry_points(group: str) -> dict[str, tuple[EntryPoint, Distribution]]:
    """Every entry point of `group` by name, this project's first; the first of a name wins."""
    found: dict[str, tuple[EntryPoint, Distribution]] = {}
    dists = sorted(distributions(), key=lambda d: (d.name != DISTRIBUTION, d.name or ""))
    for dist in dists:
        for point in dist.entry_points:
            if point.group == group:
                found.setdefault(point.name, (point, dist))
    return found


def load_point(point: EntryPoint, dist: Distribution) -> Any:
    """The object of an entry point; ShadowedPackage when another file stands in the way."""
    check_not_shadowed(point.module.partition(".")[0], dist)
    return point.load()


def load_group(group: str) -> dict[str, Any | Broken]:
    """Each object of `group` by name; what cannot be loaded is a `Broken`, never an exception."""
    loaded: dict[str, Any | Broken] = {}
    for name, (point, dist) in sorted(entry_points(group).items()):
        try:
            loaded[name] = load_point(point, dist)
        except Exception as exc:  # a stranger's module may raise anything at import
            loaded[name] = Broken(name, f"{type(exc).__name__}: {exc}")
    return loaded


def check_not_shadowed(package: str, dist: Distribution) -> None:
    """Raise ShadowedPackage when `import package` would find another file than the one of `dist`."""
    expected = _home(package, dist)
    if expected is None:
        return
    spec = importlib.util.find_spec(package)
    origin = Path(spec.origin).resolve() if spec and spec.origin else None
    if origin is not None and origin != expected:
        raise ShadowedPackage(
            f"`import {package}` finds {origin}, which hides {expected} of {dist.name}; "
            f"rename the first file, or run Python from another folder"
        )


def owners(package: str) -> list[str]:
    """Names of the installed distributions that bring a top-level `package`; more than one is a clash."""
    return sorted(set(packages_distributions().get(package, [])))


def _home(package: str, dist: Distribution) -> Path | None:
    """The `__init__.py` of `package` in `dist`, where that can be told."""
    if dist.name == DISTRIBUTION:  # also in an editable install, whose RECORD lists no modules
        roots = [Path(agentenv.__file__).resolve().parent.parent]
    else:
        roots = [Path(str(dist.locate_file("")))]
    for root in roots:
        for candidate in (root / package / "__init__.py", root / f"{package}.py"):
            if candidate.is_file():
                return candidate.resolve()
    return None
