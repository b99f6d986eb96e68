"""Tasks that cannot be done: saying so counts only with the pages that reveal it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from envservers.webarena.evaluators.evidence import Evidence, Verdict
from envservers.webarena.evaluators.log import Request
from envservers.webarena.evaluators.replies import text_of

LONGEST = 500
"""Characters of the reply."""
STATUSES = frozenset({"n/a", "not_found", "not_allowed", "permission_denied", "unachievable", "not_possible"})
_SAYS_NO = re.compile(r"^[\"'`]?n/a[\"'`]?(?=$|[\s.,:;!()\-–—])", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unachievable:
    """`N/A`, with or without a reason, or JSON with a status; after each of the pages was seen."""

    reveals: tuple[Request, ...]
    """Requests that an episode must have made to know."""
    or_one: tuple[Request, ...] = ()
    """Other requests, of which each tells it alone."""

    def judge(self, evidence: Evidence) -> Verdict:
        """The words first, then the pages."""
        if evidence.answer is None:
            return Verdict(check="status", passed=False, reason="the episode ended without stop")
        if not says_no(evidence.answer):
            return Verdict(check="status", passed=False, reason="the answer does not say N/A")
        unseen = sum(not _seen(page, evidence) for page in self.reveals)
        if unseen and not any(_seen(page, evidence) for page in self.or_one):
            return Verdict(
                check="status", passed=False, reason=f"{unseen} of the pages that reveal it were not visited"
            )
        return Verdict(check="status", passed=True, reason="N/A, after the pages that reveal it")


def _seen(page: Request, evidence: Evidence) -> bool:
    return any(page.matches(entry) for entry in evidence.log)


def says_no(answer: str) -> bool:
    """Whether an answer reports that the task cannot be done."""
    text = answer.strip()
    if not text or len(text) > LONGEST:
        return False
    if _SAYS_NO.match(text) or text_of(text) == "n/a":
        return True
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    status = value.get("status") if isinstance(value, dict) else None
    return isinstance(status, str) and status.strip().lower().replace(" ", "_") in STATUSES
