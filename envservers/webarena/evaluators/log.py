"""Requests that an episode must, or must not, have made."""

from __future__ import annotations

from dataclasses import dataclass

from envservers.webarena.evaluators.evidence import Evidence, Verdict
from envservers.webarena.evaluators.paths import has_pairs, path_matches
from envservers.webarena.state.session import Logged

NOT_FOUND = 404


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A pattern of requests."""

    host: str
    path: str
    """`*` stands for one segment."""
    method: str = "GET"
    query: tuple[tuple[str, str], ...] = ()
    """Must be among the request's."""
    form: tuple[tuple[str, str], ...] = ()
    contains: tuple[tuple[str, str], ...] = ()
    """Query values that must contain a text, in any case: searches in other words."""
    missing: bool = False
    """Answered by "not found", in place of by a page."""

    def matches(self, entry: Logged) -> bool:
        """Whether a logged request is of the pattern, and was answered as it says."""
        return (
            entry.method == self.method
            and entry.host == self.host
            and (entry.status == NOT_FOUND if self.missing else entry.status < 400)
            and path_matches(self.path, entry.path)
            and has_pairs(entry.query, self.query)
            and has_pairs(entry.form, self.form)
            and all(_contains(entry.query, name, text) for name, text in self.contains)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """Conditions on the request log."""

    must: tuple[Request, ...] = ()
    must_not: tuple[Request, ...] = ()

    def judge(self, evidence: Evidence) -> Verdict:
        """Each of `must` was made, none of `must_not`."""
        for wanted in self.must:
            if not any(wanted.matches(entry) for entry in evidence.log):
                return Verdict(check="log", passed=False, reason=f"no {wanted.method} {wanted.host}{wanted.path}")
        for unwanted in self.must_not:
            if any(unwanted.matches(entry) for entry in evidence.log):
                return Verdict(check="log", passed=False, reason=f"a {unwanted.method} {unwanted.host}{unwanted.path}")
        return Verdict(check="log", passed=True, reason="the requests are as expected")


def _contains(query: tuple[tuple[str, str], ...], name: str, text: str) -> bool:
    return any(key == name and text.casefold() in value.casefold() for key, value in query)
