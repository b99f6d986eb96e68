"""What an order costs: one rule for the world's history and for the shop's checkout. All amounts in cents."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """total = subtotal - discount + shipping."""

    subtotal: int
    discount: int
    shipping: int

    @property
    def total(self) -> int:
        """What the customer pays."""
        return self.subtotal - self.discount + self.shipping


def percent_of(cents: int, percent: int) -> int:
    """Rounded to the cent, half up."""
    return (cents * percent + 50) // 100


def coupon_discount(kind: str, amount: int, subtotal: int) -> int:
    """Of the columns `coupon.kind` and `coupon.amount`; free shipping is no discount of goods."""
    match kind:
        case "percent":
            return percent_of(subtotal, amount)
        case "fixed":
            return min(amount, subtotal)
        case _:
            return 0


def shipping_price(price: int, free_over: int | None, goods: int, *, free: bool = False) -> int:
    """Of `shipping_rate`; goods: subtotal less discount, free from `free_over` on."""
    return 0 if free or (free_over is not None and goods >= free_over) else price


def order_totals(
    subtotal: int,
    *,
    group_percent: int = 0,
    coupon: tuple[str, int] | None = None,
    rate: tuple[int, int | None] = (0, None),
) -> Totals:
    """Totals of a basket: coupon as (kind, amount), rate as (price, free over). The better of group and coupon holds.

    That the coupon is valid (dates, limit, smallest basket) is for the caller to check.
    """
    kind, amount = coupon or ("", 0)
    discount = max(percent_of(subtotal, group_percent), coupon_discount(kind, amount, subtotal))
    shipping = shipping_price(*rate, subtotal - discount, free=kind == "free_shipping")
    return Totals(subtotal=subtotal, discount=discount, shipping=shipping)
