"""The original's comparison of addresses, "GOLD in PRED": a substring for the path, a merged query."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

OR = " |OR| "


def is_at(reference: str, url: str) -> bool:
    """Whether any alternative's host and path is part of the page's, and the page has a value for each name.

    Scheme and fragment do not count. The alternatives' queries are merged, so one may be satisfied with the path of
    another, and one without a query is bound by those of the others.
    """
    alternatives = [_split(part) for part in reference.split(OR)]
    page, page_query = _split(url)
    wanted: dict[str, set[str]] = {}
    for _, query in alternatives:
        for name, values in query.items():
            wanted.setdefault(name, set()).update(values)
    on_path = any(base in page for base, _ in alternatives)
    return on_path and all(values & set(page_query.get(name, [])) for name, values in wanted.items())


def _split(url: str) -> tuple[str, dict[str, list[str]]]:
    """Host and path without a slash at the end, and the query without blank values; of nonsense an empty one."""
    try:
        parts = urlsplit(url.rstrip("/"))
        query = parse_qs(parts.query)
    except ValueError:
        return url, {}
    return (parts.netloc + parts.path).rstrip("/"), query
