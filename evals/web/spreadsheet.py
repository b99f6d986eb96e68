"""CSV for spreadsheets, which run what begins like a formula: such texts get an apostrophe in front."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%", "＝", "＋", "－", "＠")


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """The rows under a line of names; numbers stay numbers, None is an empty cell."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow(columns)
    writer.writerows([cell(value) for value in row] for row in rows)
    return file.getvalue()


def cell(value: Any) -> Any:
    """A text that a spreadsheet would calculate, as a text; everything else as it is."""
    if not isinstance(value, str):
        return value
    value = value.replace("\x00", "\N{REPLACEMENT CHARACTER}")
    return "'" + value if value.lstrip(" ").startswith(_FORMULA) else value
