"""Rows as a parquet file, written in groups, so that memory stays small."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from agentenv.errors import BadCall, EnvUnavailable

GROUP = 1_000
"""Rows of one group of the file."""


def write_rows(
    path: Path,
    rows: Iterable[Mapping[str, Any]],
    *,
    on_row: Callable[[], None] = lambda: None,
    schema: Callable[[], Any] | None = None,
) -> int:
    """Write rows of one form, that of the first group or of a `schema`; how many. BadCall for rows that do not fit."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as exc:
        raise EnvUnavailable(f"parquet files need pyarrow: {exc} (pip install 'agentenv-gym[data]')") from exc

    def noted() -> Iterator[Mapping[str, Any]]:
        for row in rows:
            yield row
            on_row()

    left, count = noted(), 0
    first = list(islice(left, GROUP))
    if not first:
        raise BadCall("there is no row to write")
    group = first
    try:
        form = pa.Table.from_pylist(first).schema if schema is None else schema()
        with pq.ParquetWriter(path, form, compression="zstd") as writer:
            while group:
                writer.write_table(pa.Table.from_pylist(group, schema=form))
                count += len(group)
                group = list(islice(left, GROUP))
    except pa.ArrowException as exc:
        raise BadCall(f"rows {count} to {count + len(group) - 1} are not of the form of the first ones: {exc}") from exc
    return count
