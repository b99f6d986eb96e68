"""Rows as a parquet file, written in groups, so that memory stays small."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from agentenv.errors import BadCall, EnvUnavailable

GROUP = 1_000
"""Rows of one group of the file."""


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]], *, on_row: Callable[[], None] = lambda: None) -> int:
    """Write rows of one form, that of the first group; how many there were. BadCall for rows that do not fit it."""
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
    group, schema = first, None
    try:
        schema = pa.Table.from_pylist(first).schema
        with pq.ParquetWriter(path, schema, compression="zstd") as writer:
            while group:
                writer.write_table(pa.Table.from_pylist(group, schema=schema))
                count += len(group)
                group = list(islice(left, GROUP))
    except pa.ArrowException as exc:
        raise BadCall(f"rows {count} to {count + len(group) - 1} are not of the form of the first ones: {exc}") from exc
    return count
