"""What a person sent in a form, read and checked; what is wrong is collected in the words the page will show."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

_EMAIL = re.compile(r"[^@\s<>]+@[^@\s<>]+\.[a-z]{2,}", re.IGNORECASE)
_MONEY = re.compile(r"\$?\s*([0-9]{1,7}(?:,[0-9]{3})*)(?:\.([0-9]{1,2}))?")
_DAY = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")


@dataclass(slots=True, kw_only=True)
class Draft:
    """A refused form: what was typed, and the message under each field."""

    values: dict[str, str] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)

    def value(self, name: str, otherwise: object = "") -> str:
        """What was typed, else `otherwise`."""
        return self.values.get(name, str(otherwise))

    def error(self, name: str) -> str:
        """The message for a field, empty without one."""
        return self.errors.get(name, "")

    def checked(self, name: str, otherwise: object = False) -> bool:
        """Whether a checkbox was ticked; a form that was never sent says nothing about it."""
        return name in self.values if self.values else bool(otherwise)


class Form:
    """Reads fields by name. A field that fails leaves a message in `errors` and gives an empty or zero value."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self.values: dict[str, str] = {}
        for name, value in pairs:
            self.values.setdefault(name, value)
        self.errors: dict[str, str] = {}
        self.secret: set[str] = set()
        """Fields that a draft never keeps."""

    def text(self, name: str, label: str, *, limit: int = 120, needed: bool = True, lines: bool = False) -> str:
        """A line, or with `lines` several, without white space around it."""
        text = self.values.get(name, "").strip()
        text = text.replace("\r\n", "\n") if lines else " ".join(text.split())
        if needed and not text:
            self.errors[name] = f"{label}: this is a required field."
        elif len(text) > limit:
            self.errors[name] = f"{label}: please use at most {limit} characters."
        return text

    def email(self, name: str = "email", label: str = "Email", *, needed: bool = True) -> str:
        """An e-mail address."""
        text = self.text(name, label, limit=100, needed=needed)
        if text and name not in self.errors and not _EMAIL.fullmatch(text):
            self.errors[name] = "Please enter a valid email address, for example name@example.com."
        return text

    def password(self, name: str, label: str, *, at_least: int = 1) -> str:
        """A password as it was typed."""
        self.secret.add(name)
        text = self.values.get(name, "")
        if not text:
            self.errors[name] = f"{label}: this is a required field."
        elif len(text) < at_least:
            self.errors[name] = f"{label}: please use at least {at_least} characters."
        return text

    def choice(self, name: str, label: str, options: Collection[str], *, needed: bool = True) -> str:
        """One of the options; what no option offers is refused."""
        text = self.values.get(name, "")
        if text in options and text:
            return text
        if needed or text:
            self.errors[name] = f"{label}: please choose an option."
        return ""

    def number(
        self, name: str, label: str, *, low: int = 0, high: int = 1_000_000, otherwise: int | None = None
    ) -> int:
        """A whole number between `low` and `high`; `otherwise` when the field is empty."""
        text = self.values.get(name, "").strip()
        if not text and otherwise is not None:
            return otherwise
        if not re.fullmatch(r"-?[0-9]{1,9}", text, re.ASCII):
            self.errors[name] = f"{label}: please enter a whole number."
            return 0
        if not low <= int(text) <= high:
            self.errors[name] = f"{label}: please enter a number from {low} to {high}."
            return 0
        return int(text)

    def cents(self, name: str, label: str, *, needed: bool = True) -> int | None:
        """An amount of money as `12`, `12.5`, `1,299.00` or `$12.50`, in cents; None when empty."""
        text = self.values.get(name, "").strip()
        if not text and not needed:
            return None
        amount = _MONEY.fullmatch(text)
        if amount is None:
            self.errors[name] = f"{label}: please enter an amount such as 12.50."
            return None
        return int(amount[1].replace(",", "")) * 100 + int((amount[2] or "0").ljust(2, "0"))

    def day(self, name: str, label: str, *, needed: bool = True) -> str:
        """A day as `YYYY-MM-DD`, empty when nothing was typed."""
        import datetime

        text = self.values.get(name, "").strip()
        if not text and not needed:
            return ""
        try:
            if not _DAY.fullmatch(text):
                raise ValueError
            datetime.date.fromisoformat(text)
        except ValueError:
            self.errors[name] = f"{label}: please enter a date as YYYY-MM-DD."
            return ""
        return text

    def ticked(self, name: str) -> bool:
        """Whether a checkbox was ticked."""
        return name in self.values
