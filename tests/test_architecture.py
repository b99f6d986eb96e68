"""Imports point one way, and what must stay light stays light."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ALLOWED = {
    "agentenv": {"agentenv"},
    "envservers": {"agentenv", "envservers"},
    "trainers": {"agentenv", "trainers"},
    "evals": {"agentenv", "evals"},
}
HEAVY = ("torch", "vllm", "ray", "playwright", "transformers", "py4j", "jpype", "scienceworld")


def imported_packages(file: Path) -> Iterator[tuple[int, str]]:
    """Line and top-level package of every import of a file, those inside functions and `importlib` texts too."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"), str(file))):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name.partition(".")[0]) for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield node.lineno, module.partition(".")[0]
            case ast.Call(func=ast.Attribute(attr="import_module"), args=[ast.Constant(value=str(module))]):
                yield node.lineno, module.partition(".")[0]


@pytest.mark.parametrize("package", ALLOWED)
def test_imports_point_down(package):
    files = sorted((ROOT / package).rglob("*.py"))
    assert files, f"no package {package} in {ROOT}"
    wrong = [
        f"{file.relative_to(ROOT)}:{line} imports {top}"
        for file in files
        for line, top in imported_packages(file)
        if top in ALLOWED and top not in ALLOWED[package]
    ]
    assert not wrong


def test_the_import_finder_sees_every_form_of_import(tmp_path):
    file = tmp_path / "odd.py"
    file.write_text(
        "import evals.store as s\nfrom trainers import loop\nfrom . import near\n"
        "def late():\n    import envservers\n    importlib.import_module('evals.web')\n",
        encoding="utf-8",
    )
    assert list(imported_packages(file)) == [(1, "evals"), (2, "trainers"), (5, "envservers"), (6, "evals")]


@pytest.mark.parametrize(
    "code",
    [
        "import agentenv",
        "import agentenv, agentenv.registry; [spec.task_set() for spec in agentenv.registry.specs()]",
        "from agentenv.cli.main import app; app(['--help'], standalone_mode=False)",
    ],
    ids=["import", "every task set", "agentenv --help"],
)
def test_light_things_load_nothing_heavy(code):
    report = f"import sys; heavy = sorted(set({HEAVY!r}) & set(sys.modules)); print('heavy:', heavy)"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "heavy: []"


def test_the_help_of_the_command_line_loads_no_server_and_no_database():
    code = "from agentenv.cli.main import app; app(['--help'], standalone_mode=False)"
    report = "import sys; print(sorted({'aiohttp', 'uvicorn', 'sqlalchemy', 'omegaconf'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\n{report}"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.splitlines()[-1] == "[]", done.stdout + done.stderr
