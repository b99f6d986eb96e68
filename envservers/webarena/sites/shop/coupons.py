"""Whether a coupon holds for a basket."""

from __future__ import annotations

from envservers.webarena.sites.common.formats import day, money
from envservers.webarena.state.database import Row

UNKNOWN = "The coupon code “{code}” is not valid."


def refusal(coupon: Row, subtotal_cents: int, today: str) -> str:
    """Why the coupon does not hold, in the words for the customer; empty when it does."""
    code = coupon["code"]
    if not coupon["active"]:
        return UNKNOWN.format(code=code)
    if today < coupon["starts_on"]:
        return f"The coupon code “{code}” is valid from {day(coupon['starts_on'])}."
    if today > coupon["ends_on"]:
        return f"The coupon code “{code}” expired on {day(coupon['ends_on'])}."
    if coupon["use_limit"] is not None and coupon["uses"] >= coupon["use_limit"]:
        return f"The coupon code “{code}” has been used up."
    if subtotal_cents < coupon["min_cents"]:
        return f"The coupon code “{code}” needs a subtotal of at least {money(coupon['min_cents'])}."
    return ""
