"""Names of keys as agents write them, and as Playwright wants them."""

from __future__ import annotations

_NAMED = (
    *("Enter", "Tab", "Backspace", "Delete", "Escape", "Home", "End", "PageUp", "PageDown", "Insert", "Space"),
    *("ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Control", "Shift", "Alt"),
)
KEYS = {name.lower(): name for name in _NAMED} | {f"f{n}": f"F{n}" for n in range(1, 13)}
KEYS |= {"ctrl": "Control", "meta": "Control", "cmd": "Control", "command": "Control", "option": "Alt"}
KEYS |= {"return": "Enter", "esc": "Escape", "del": "Delete", "spacebar": "Space"}
KEYS |= {"up": "ArrowUp", "down": "ArrowDown", "left": "ArrowLeft", "right": "ArrowRight"}
KEYS |= {"page_up": "PageUp", "page_down": "PageDown", "pgup": "PageUp", "pgdn": "PageDown"}


def read_keys(text: str) -> str | None:
    """`ctrl+A` becomes `Control+A`; None for what no keyboard has. `Meta` is Control, as away from macOS."""
    parts = _split(text.strip())
    keys = [_read(part) for part in parts]
    if not keys or not all(keys):
        return None
    return "+".join(key for key in keys if key)


def _split(text: str) -> list[str]:
    if text == "+":
        return ["+"]
    if text.endswith("++"):
        return [*text[:-2].split("+"), "+"]
    return text.split("+")


def _read(part: str) -> str | None:
    if len(part) == 1 and part.isascii() and part.isprintable() and part != " ":
        return part
    return KEYS.get(part.strip().lower())
