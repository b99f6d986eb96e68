"""A form that was to be filled in and not sent."""

from __future__ import annotations

from dataclasses import dataclass

from envservers.webarena.evaluators.evidence import Evidence, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """Controls of the active page, by accessible name."""

    fields: tuple[tuple[str, str], ...]
    """Name and value: typed text (outer blanks do not count), the chosen option's text, `true` or `false`."""

    def judge(self, evidence: Evidence) -> Verdict:
        """Every named control stands once on the page, with its value."""
        wrong = 0
        for name, value in self.fields:
            found = [field.value.strip() for field in evidence.fields if field.name == name]
            if not found:
                return Verdict(check="form", passed=False, reason=f"no field {name!r} on the page")
            wrong += found != [value.strip()]
        if wrong:
            return Verdict(
                check="form", passed=False, reason=f"{wrong} of {len(self.fields)} fields hold another value"
            )
        return Verdict(check="form", passed=True, reason="the form is filled in as asked")
