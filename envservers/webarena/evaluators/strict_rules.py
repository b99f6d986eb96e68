"""Rules beside the original's that mend its known defects. Each has a name, which stands in the record."""

from __future__ import annotations

from urllib.parse import parse_qs, unquote, urlsplit

from envservers.webarena.evaluators.judge_words import has_run, tokens
from envservers.webarena.evaluators.original_strings import clean
from envservers.webarena.evaluators.original_urls import OR

VARIANTS = (
    "whole_words",  # a reference is found as whole words and numbers by value, not as part of other ones
    "whole_address",  # paths are compared by segments; each alternative is taken with its own query
    "null_is_empty",  # a script that finds nothing gives no text, not the word None
    "reason_for_na",  # N/A alone earns nothing; the reason must be told
    "own_stop",  # an episode that was cut is not answered by where it happened to stand
)


def includes(reference: str, text: str, *, alone: bool = False) -> bool:
    """The reference's words and numbers in a row: 0 is in $0.00, and not in 10."""
    wanted = tokens(clean(reference))
    return has_run(tokens(clean(text)), wanted) if wanted else clean(reference) in clean(text)


def is_at(reference: str, url: str) -> bool:
    """Whether one alternative has the page's host and path, and values of its own query among the page's."""
    return any(_is_one(part, url) for part in reference.split(OR))


def _is_one(reference: str, url: str) -> bool:
    try:
        wanted, page = urlsplit(reference.strip()), urlsplit(url.strip())
        wanted_query, page_query = parse_qs(wanted.query), parse_qs(page.query)
    except ValueError:
        return False
    if wanted.netloc.lower() != page.netloc.lower() or _segments(wanted.path) != _segments(page.path):
        return False
    return all(set(values) & set(page_query.get(name, [])) for name, values in wanted_query.items())


def _segments(path: str) -> list[str]:
    return [unquote(part) for part in path.split("/") if part]
