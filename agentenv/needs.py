"""Packages that an env cannot do without, looked for and never imported: a listing stays light."""

from __future__ import annotations

import importlib.util

from agentenv.errors import EnvUnavailable


def need_packages(env: str, extra: str, *packages: str) -> None:
    """Raise EnvUnavailable where one of `packages` is missing, with the one command that brings them all."""
    missing = missing_packages(*packages)
    if missing:
        named = f"the Python package{'s' * (len(missing) > 1)} {' and '.join(missing)}"
        raise EnvUnavailable(f"{env} needs {named}: {pip_of(extra)}")


def missing_packages(*packages: str) -> list[str]:
    """Those that cannot be found."""
    return [package for package in packages if importlib.util.find_spec(package) is None]


def pip_of(extra: str) -> str:
    """The command that brings what the extra names."""
    return f"pip install 'agentenv-gym[{extra}]'"
