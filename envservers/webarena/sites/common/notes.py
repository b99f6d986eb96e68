"""What waits in scratch for the next page of a site: messages shown once, and drafts of refused forms."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

from envservers.webarena.sites.common import tokens
from envservers.webarena.sites.common.forms import Draft, Form
from envservers.webarena.state.database import Db

Kind = Literal["success", "error", "notice"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flash:
    """A message shown once at the top of the next page."""

    kind: Kind
    text: str
    link: str = ""
    """A path that the message ends with, named `label`."""
    label: str = ""


def put_flash(db: Db, host: str, flash: Flash) -> None:
    """Show a message on the site's next page."""
    db.scratch.setdefault("flash", {}).setdefault(host, []).append(asdict(flash))


def take_flashes(db: Db, host: str) -> list[Flash]:
    """The messages that wait; they are gone then."""
    waiting = db.scratch.get("flash", {}).pop(host, [])
    return [Flash(**one) for one in waiting]


def put_draft(db: Db, place: str, form: Form) -> None:
    """Keep what was typed, passwords and tokens left out."""
    kept = {name: text for name, text in form.values.items() if name not in form.secret and name != tokens.FIELD}
    db.scratch.setdefault("drafts", {})[place] = {"values": kept, "errors": dict(form.errors)}


def take_draft(db: Db, place: str) -> Draft:
    """The draft for a place, empty without one; it is gone then."""
    kept = db.scratch.get("drafts", {}).pop(place, None)
    return Draft() if kept is None else Draft(**kept)
