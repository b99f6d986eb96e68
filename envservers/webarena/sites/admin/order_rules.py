"""What can be done with an order, and what becomes of it. The one place that says so.

    invoice       of pending                              makes it processing
    ship          of processing                           makes it shipped
    complete      of shipped                              makes it complete
    hold          of pending, processing                  makes it on_hold
    unhold        of on_hold                              makes it processing if it was invoiced, else pending
    cancel        of pending                              makes it canceled; its goods go back into stock
    refund        of processing, shipped, complete        makes it closed once all that was paid is refunded
    edit_address  of pending, processing, on_hold         changes no status

Canceled and closed orders stay as they are. Notes can always be written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Deed = Literal["invoice", "ship", "complete", "hold", "unhold", "cancel", "refund", "edit_address"]

_FROM: dict[Deed, tuple[str, ...]] = {
    "edit_address": ("pending", "processing", "on_hold"),
    "cancel": ("pending",),
    "hold": ("pending", "processing"),
    "unhold": ("on_hold",),
    "invoice": ("pending",),
    "ship": ("processing",),
    "complete": ("shipped",),
    "refund": ("processing", "shipped", "complete"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderState:
    """What the rules look at."""

    status: str
    invoiced: bool
    left_cents: int
    """Paid and not refunded yet."""


def allowed(state: OrderState) -> tuple[Deed, ...]:
    """What can be done, in the order in which buttons show it."""
    return tuple(
        deed for deed, statuses in _FROM.items() if state.status in statuses and (deed != "refund" or state.left_cents)
    )


def status_after(state: OrderState, deed: Deed, refunded_cents: int = 0) -> str:
    """The status once an allowed deed is done; `refunded_cents`: of this refund."""
    match deed:
        case "invoice":
            return "processing"
        case "ship":
            return "shipped"
        case "complete":
            return "complete"
        case "hold":
            return "on_hold"
        case "unhold":
            return "processing" if state.invoiced else "pending"
        case "cancel":
            return "canceled"
        case "refund" if refunded_cents >= state.left_cents:
            return "closed"
        case _:
            return state.status
