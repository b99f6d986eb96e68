"""One-use tokens of forms: HMAC of the session's secret over the step and the form's address.

A form's token is that of the step in which its page was made, so equal requests give equal bytes; what was spent is
remembered in scratch. A second submit of one page is recognised and changes nothing.
"""

from __future__ import annotations

import hashlib
import hmac
from enum import StrEnum

from envservers.webarena.site import Now
from envservers.webarena.state.database import Db

FIELD = "form_key"


class Verdict(StrEnum):
    """What a token is worth."""

    FRESH = "fresh"
    SPENT = "spent"
    UNKNOWN = "unknown"


def issue(now: Now, action: str) -> str:
    """The token for a form that is sent to the path `action`."""
    return f"{now.step}.{_seal(now, action, now.step)}"


def spend(db: Db, now: Now, action: str, token: str) -> Verdict:
    """Use a token up; FRESH once, SPENT after that."""
    step, _, _ = token.partition(".")
    if not step.isdecimal() or not step.isascii() or len(step) > 9 or int(step) > now.step:
        return Verdict.UNKNOWN
    if not hmac.compare_digest(token.encode(), f"{int(step)}.{_seal(now, action, int(step))}".encode()):
        return Verdict.UNKNOWN
    spent: list[str] = db.scratch.setdefault("spent_tokens", [])
    if token in spent:
        return Verdict.SPENT
    spent.append(token)
    return Verdict.FRESH


def _seal(now: Now, action: str, step: int) -> str:
    return hmac.new(now.secret, f"form:{step}:{action}".encode(), hashlib.sha256).hexdigest()[:16]
