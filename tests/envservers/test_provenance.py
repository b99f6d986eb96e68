"""Every data file of an environment stands, with its licence, in a text beside it or above it."""

import re
from fnmatch import fnmatch
from pathlib import Path

import envservers

ROOT = Path(envservers.__file__).parent
CODE = {".py", ".pyc", ".md", ".html", ".css", ".js", ".sh"}
"""Endings of code and of texts."""


def told(file: Path) -> bool:
    """Whether a name or a pattern in ticks, in a text with a licence in a folder above, is the file's."""
    for folder in file.parents:
        if folder == ROOT.parent:
            return False
        for page in (folder / "PROVENANCE.md", folder / "README.md"):
            text = page.read_text(encoding="utf-8") if page.exists() else ""
            names = re.findall(r"`([^`]+)`", text)
            if re.search("licen[cs]e|Apache|MIT", text, re.IGNORECASE) and any(
                fnmatch(str(file.relative_to(folder)), name) or fnmatch(file.name, name) for name in names
            ):
                return True
    return False


def test_every_data_file_is_told_with_its_licence():
    files = [file for file in ROOT.rglob("*") if file.is_file() and "__pycache__" not in file.parts]
    data = [file for file in files if file.suffix not in CODE and not file.name.startswith(("COPYRIGHT", "LICENSE"))]
    assert len(data) > 60
    assert [str(file.relative_to(ROOT)) for file in data if not told(file)] == []
