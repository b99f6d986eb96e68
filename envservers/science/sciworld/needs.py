"""What the simulator needs beside this package: Java and two Python packages, found here and never imported."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
from pathlib import Path

from agentenv.errors import EnvUnavailable
from agentenv.needs import missing_packages, pip_of

JAVA_PACKAGE = "openjdk-17-jre-headless"
PIP = pip_of("science")
APT = f"apt-get install {JAVA_PACKAGE}"
LEAST_JAVA = 11

SIMULATOR = "1.2.3"
"""The version of the package `scienceworld` whose texts the tasks and the tests are about."""
JAR_SHA256 = "f4e1fdce0cdabe1bab7128a7e78ea820210d9db3c28d7272bcbbc3f3a1c5f0d7"
"""Of the simulator in that package."""


def check_needs() -> None:
    """Raise EnvUnavailable with the one command that brings everything that is missing."""
    missing = [f"the Python package {package}" for package in missing_packages("scienceworld", "py4j")]
    commands = [PIP] if missing else []
    if find_java() is None:
        missing.append(f"Java {LEAST_JAVA} or newer")
        commands.append(APT)
    if missing:
        raise EnvUnavailable(f"sciworld needs {' and '.join(missing)}: {' && '.join(commands)}")


def find_java() -> str | None:
    """The program `java`: of JAVA_HOME, else of the path."""
    home = os.environ.get("JAVA_HOME")
    if home and (java := shutil.which(str(Path(home) / "bin" / "java"))):
        return java
    return shutil.which("java")


def find_jar() -> Path:
    """The simulator's archive in the package `scienceworld`; EnvUnavailable for another version's."""
    check_needs()
    spec = importlib.util.find_spec("scienceworld")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    jar = Path(spec.submodule_search_locations[0]) / "scienceworld.jar"
    found = hashlib.sha256(jar.read_bytes()).hexdigest() if jar.is_file() else "missing"
    if found != JAR_SHA256:
        raise EnvUnavailable(f"{jar} is not the simulator of scienceworld {SIMULATOR} (sha256 {found[:12]}): {PIP}")
    return jar
