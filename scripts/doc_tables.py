"""Tables of the pages about training, made from the code. `python scripts/doc_tables.py` writes them; a test compares.

A page marks where a table stands: `<!-- table: NAME -->` and `<!-- end of table -->`; the lines between are made here.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import Field, fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_type_hints

from trainers.backend_rules import RULES
from trainers.config import TrainConfig
from trainers.engines.hf import HfOptions
from trainers.engines.vllm import VllmOptions
from trainers.foreign import FOREIGN
from trainers.settings import REQUIRED, plain
from trainers.sft.config import SftConfig

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGES = ("training.md", "write-a-trainer.md")
TABLE = re.compile(r"(<!-- table: (?P<name>[\w-]+) -->\n).*?(\n<!-- end of table -->)", re.DOTALL)


def main() -> None:
    """Write every table into its page."""
    for name in PAGES:
        page = DOCS / name
        page.write_text(with_tables(page.read_text(encoding="utf-8")), encoding="utf-8")


def with_tables(text: str) -> str:
    """A page with its tables as the code has them now."""
    return TABLE.sub(lambda found: f"{found[1]}\n{TABLES[found['name']]().strip()}\n{found[3]}", text)


def settings() -> str:
    """Every section of TrainConfig."""
    return "\n".join(_sections(TrainConfig, skip=()))


def sft_settings() -> str:
    """The sections that only `agentenv sft` has."""
    hints = get_type_hints(SftConfig)
    own = [f for f in fields(SftConfig) if not _is_section(hints[f.name])]
    lines = [*_head(), *_rows(own, SftConfig, plain(SftConfig()), ""), ""]
    shared = {f.name for f in fields(TrainConfig)} - {"evaluation"}
    return "\n".join([*lines, *_sections(SftConfig, skip=tuple(shared))])


def options(cls: type[Any]) -> str:
    """Options of an engine."""
    return "\n".join([*_head(), *_rows(fields(cls), cls, plain(cls()), "")])


def foreign() -> str:
    """Names of other trainers beside ours."""
    rows = [f"| `{theirs}` | {_coded(ours)} |" for theirs, ours in FOREIGN.items()]
    return "\n".join(["| verl, AgentGym-RL | here |", "|---|---|", *rows])


def rules() -> str:
    """What check_backend holds a backend to."""
    return "\n".join(["| rule | what must hold |", "|---|---|", *(f"| `{r.__name__}` | {r.__doc__} |" for r in RULES)])


TABLES: dict[str, Callable[[], str]] = {
    "settings": settings,
    "sft": sft_settings,
    "hf": lambda: options(HfOptions),
    "vllm": lambda: options(VllmOptions),
    "foreign": foreign,
    "rules": rules,
}


def _sections(cls: type[Any], *, skip: tuple[str, ...]) -> Iterator[str]:
    hints, defaults = get_type_hints(cls), plain(cls())
    for f in fields(cls):
        section = _dataclass_in(hints[f.name])
        if section is None or f.name in skip:
            continue
        listed = "list" in str(hints[f.name])
        prefix = f"{f.name}[]." if listed else f"{f.name}."
        default = plain(section()) if listed else defaults[f.name]
        about = inspect.getdoc(section) or ""
        yield f"**{f.name}{'[]' if listed else ''}**: {about[0].lower()}{about[1:]}"
        yield from ["", *_head(), *_rows(fields(section), section, default, prefix), ""]


def _head() -> list[str]:
    return ["| setting | default | meaning |", "|---|---|---|"]


def _rows(some: tuple[Field[Any], ...] | list[Field[Any]], cls: type[Any], default: Any, prefix: str) -> list[str]:
    hints, meanings, rows = get_type_hints(cls), docstrings(cls), []
    for f in some:
        inner = _dataclass_in(hints[f.name])
        if inner is not None:
            rows += _rows(fields(inner), inner, default[f.name], f"{prefix}{f.name}.")
            continue
        meaning = " ".join(filter(None, (meanings.get(f.name, ""), _bounds(f))))
        meaning = meaning.replace("|", "\\|")
        rows.append(f"| `{prefix}{f.name}` | {_shown(default[f.name])} | {meaning} |")
    return rows


@cache
def docstrings(cls: type[Any]) -> dict[str, str]:
    """The docstring below each field of a dataclass."""
    [tree] = ast.parse(inspect.getsource(cls)).body
    assert isinstance(tree, ast.ClassDef)
    found = {}
    for before, after in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(before, ast.AnnAssign) and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
            found[before.target.id] = " ".join(str(after.value.value).split())  # type: ignore[union-attr]
    return found


def _bounds(f: Field[Any]) -> str:
    choices, low, high = (f.metadata.get(name) for name in ("choices", "low", "high"))
    if choices:
        return f"One of {', '.join(f'`{c}`' for c in choices)}."
    if low is not None and high is not None:
        return f"From {low:g} to {high:g}."
    return f"At least {low:g}." if low else ""


def _shown(value: Any) -> str:
    if value == REQUIRED:
        return "required"
    if value is None:
        return "none"
    return f"`{value if isinstance(value, str) else json.dumps(value)}`"


def _coded(ours: str) -> str:
    """The setting's name as code, what is said about it as text."""
    name, space, rest = ours.partition(" ")
    return f"`{name}`{space}{rest}" if "." in name else ours


def _is_section(kind: Any) -> bool:
    return _dataclass_in(kind) is not None


def _dataclass_in(kind: Any) -> type[Any] | None:
    return next((a for a in (kind, *get_args(kind)) if is_dataclass(a) and isinstance(a, type)), None)


if __name__ == "__main__":
    sys.exit(main())
