"""Money, dates and numbers as every site writes them."""

from __future__ import annotations

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def money(cents: int) -> str:
    """`$1,299.00`, `-$4.50`."""
    sign = "-" if cents < 0 else ""
    return f"{sign}${abs(cents) // 100:,}.{abs(cents) % 100:02d}"


def plain_money(cents: int) -> str:
    """`1299.00`, as a form field holds it."""
    return money(cents).replace("$", "").replace(",", "")


def day(time: str) -> str:
    """`Mar 2, 2026` of a day or a time."""
    year, month, number = time[:10].split("-")
    return f"{MONTHS[int(month) - 1]} {int(number)}, {year}"


def moment(time: str) -> str:
    """`Mar 2, 2026, 9:05 AM`."""
    hour, minute = int(time[11:13]), time[14:16]
    return f"{day(time)}, {hour % 12 or 12}:{minute} {'AM' if hour < 12 else 'PM'}"


def count(number: int, one: str, many: str = "") -> str:
    """`1 item`, `1,204 items`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def cut(text: str, length: int) -> str:
    """The text, or its first words and an ellipsis."""
    if len(text) <= length:
        return text
    return text[: length - 1].rsplit(" ", 1)[0].rstrip(" ,.;:") + "…"


def words(code: str) -> str:
    """`on_hold` as `On hold`."""
    return code.replace("_", " ").capitalize()
