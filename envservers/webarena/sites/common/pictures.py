"""Product pictures and icons as inline SVG: silhouettes, palettes and angles. Nothing is fetched."""

from __future__ import annotations

import json
from functools import cache, lru_cache
from importlib.resources import files

from markupsafe import Markup

PALETTES: tuple[tuple[str, str, str, str], ...] = (
    ("#eef3f8", "#3b6ea5", "#274b73", "#f2b544"),
    ("#f6f0e8", "#b5651d", "#7a4312", "#33658a"),
    ("#eef6f0", "#3f8f5f", "#27633f", "#e8c547"),
    ("#f8eef1", "#b23a5a", "#7d2440", "#ead2ac"),
    ("#f1eff8", "#6a559f", "#46366f", "#f0a6ca"),
    ("#f4f4f2", "#4a4e57", "#2b2e34", "#d95d39"),
    ("#eaf5f5", "#2a8c8c", "#17605f", "#f4a259"),
    ("#fbf4e6", "#d08c1d", "#96620c", "#4f6d7a"),
    ("#f0f4ea", "#74883c", "#4e5d24", "#c8553d"),
    ("#eef0f6", "#8794a8", "#5b677a", "#1b998b"),
    ("#f7f1ee", "#a4553f", "#6f3526", "#7fb7be"),
    ("#eff2f1", "#c9c2b4", "#8d8676", "#2f6f73"),
)
"""Background, body, shade, accent."""

_COLORS = {
    "black": ("#eceef0", "#33373e", "#1d2025", "#d0a13a"),
    "charcoal graphite anthracite": ("#eef0f2", "#4a4f58", "#30343b", "#d95d39"),
    "white": ("#e3e9ee", "#fdfdfc", "#cdd3d8", "#5c8fb8"),
    "cream oat natural sand kraft": ("#f4efe4", "#e2d3b4", "#b9a57e", "#6f7f5a"),
    "grey steel silver zinc slate": ("#eef1f4", "#a3adb8", "#6f7984", "#2f6f8f"),
    "blue ocean": ("#e8f0f8", "#3b6ea5", "#274b73", "#f2b544"),
    "navy midnight": ("#e9edf4", "#263a5e", "#162541", "#d9a441"),
    "light": ("#edf4f8", "#8fb9d8", "#5d8bab", "#e08a5b"),
    "green moss olive": ("#eef4ec", "#5b7f45", "#3d5a2d", "#e3c15a"),
    "sage mint teal": ("#ebf4f0", "#86ad98", "#5b8470", "#cf7a52"),
    "forest dark": ("#e9f0ec", "#2c5844", "#1a3a2c", "#d2a24c"),
    "red coral berry": ("#f9ecea", "#b9383b", "#802326", "#f0cf8e"),
    "wine plum": ("#f5ebf0", "#7a2847", "#52172e", "#e3b7c6"),
    "rose": ("#fbeff1", "#d98a98", "#a95f6e", "#7b8f6b"),
    "rust terracotta orange": ("#faf0e9", "#c2622f", "#8a421c", "#3c6e71"),
    "mustard yellow brass": ("#faf5e4", "#d3a128", "#96701a", "#4f6d7a"),
    "brown": ("#f4eee9", "#7b5236", "#523421", "#d8b26a"),
}
"""By the first word of a color's name."""

_PAINTS = {
    "b": 'fill="{body}"',
    "s": 'fill="{shade}"',
    "a": 'fill="{accent}"',
    "f": 'fill="{back}"',
    "l": 'fill="none" stroke="{shade}" stroke-width="10" stroke-linecap="round"',
    "l2": 'fill="none" stroke="{shade}" stroke-width="5" stroke-linecap="round"',
}
_SHADOW = '<ellipse cx="100" cy="176" rx="62" ry="7" fill="#00000014"/>'


def icon(name: str) -> Markup:
    """A small drawing beside a text that says the same; hidden from the accessibility tree."""
    lines = _drawings()["icons"][name]
    return Markup(f'<svg class="icon" aria-hidden="true" viewBox="0 0 16 16" width="16" height="16">{lines}</svg>')


def picture(drawn: str, name: str = "", size: int = 200, color: str = "") -> Markup:
    """A product's picture from its column `picture`; with a name it is an image so called, else it is hidden.

    color: the name of the color that is shown, where the product comes in colors; else its palette.
    """
    said = Markup('role="img" aria-label="{}"').format(name) if name else Markup('aria-hidden="true"')
    opening = Markup('<svg class="picture" {} viewBox="0 0 200 200" width="{}" height="{}">').format(said, size, size)
    return opening + _drawing(drawn, color) + Markup("</svg>")


@lru_cache(maxsize=4096)
def _drawing(drawn: str, color: str) -> Markup:
    chosen = json.loads(drawn)
    silhouettes = _drawings()["silhouettes"]
    shape = silhouettes.get(chosen["silhouette"], silhouettes["box"])
    back, body, shade, accent = _palette_of(color) or PALETTES[int(chosen["palette"]) % len(PALETTES)]
    for short, paint in _PAINTS.items():
        filled = paint.format(back=back, body=body, shade=shade, accent=accent)
        shape = shape.replace(f'class="{short}"', filled)
    turn = int(chosen["angle"]) // 3 - 8  # things lean a little, nothing lies on its side
    return Markup(
        f'<rect width="200" height="200" fill="{back}"/>{_SHADOW}<g transform="rotate({turn} 100 104)">{shape}</g>'
    )


def _palette_of(color: str) -> tuple[str, str, str, str] | None:
    word = color.lower().partition(" ")[0]
    return next((palette for words, palette in _COLORS.items() if word and word in words.split()), None)


@cache
def _drawings() -> dict[str, dict[str, str]]:
    import yaml

    text = files("envservers.webarena.sites.common").joinpath("drawings.yaml").read_text("utf-8")
    drawn: dict[str, dict[str, str]] = yaml.safe_load(text)
    return drawn
