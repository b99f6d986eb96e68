"""What commands print: a table for people, or JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import typer


def print_json(value: Any) -> None:
    """`value` as indented JSON on stdout."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def print_table(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """Rows as a table of `columns`; a missing value is blank. Cells are text, never markup."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column.replace("_", " "), overflow="fold")
    for row in rows:
        table.add_row(*(Text(_cell(row.get(column))) for column in columns))
    Console().print(table)


def _cell(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.4g}"
        case list() | tuple():
            return ", ".join(map(str, value))
        case _:
            return str(value)
