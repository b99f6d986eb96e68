"""Where the agent stands when it stops."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

from envservers.webarena.evaluators.evidence import Evidence, Verdict
from envservers.webarena.evaluators.paths import Pairs, has_pairs, path_matches

FIRST_PAGE = ("page", "1")
"""Says no more than an address without it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Url:
    """The page of the active tab, or of any."""

    host: str
    path: str
    """`*` stands for one segment."""
    query: tuple[tuple[str, str], ...] = ()
    """Must be among the page's."""
    without: tuple[str, ...] = ()
    """Names that the page's query must not have with a value: another filter, a later page."""
    any_tab: bool = False

    def judge(self, evidence: Evidence) -> Verdict:
        """Scheme, host and path as wanted, the query's pairs among the page's."""
        urls = [tab.url for tab in evidence.tabs] if self.any_tab else [evidence.url]
        reasons = [self._problem(url) for url in urls]
        if "" in reasons:
            return Verdict(check="url", passed=True, reason="on the page asked for")
        return Verdict(check="url", passed=False, reason=reasons[0] if len(reasons) == 1 else "no tab is on the page")

    def _problem(self, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme != "http" or parts.netloc != self.host:
            return "on another site"
        if not path_matches(self.path, unquote(parts.path)):
            return "on another page"
        pairs = parse_qsl(parts.query)  # leaves blank values out: an empty filter is none
        if not has_pairs(pairs, self.query) or _says_twice(parts.query, self.query):
            return "on the page, with another filter or order"
        if any(name in self.without and (name, value) != FIRST_PAGE for name, value in pairs):
            return "on the page, with a filter that was not asked for"
        return ""


def _says_twice(query: str, wanted: Pairs) -> bool:
    """Whether a query has more values of a wanted name, blank ones too: a page goes by one of them."""
    names = [name for name, _ in parse_qsl(query, keep_blank_values=True)]
    return any(names.count(name) > sum(name == other for other, _ in wanted) for name, _ in wanted)
