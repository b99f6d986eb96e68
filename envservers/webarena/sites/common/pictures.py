"""Product pictures and icons as inline SVG: fifteen silhouettes, palettes and angles. Nothing is fetched."""

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


def picture(drawn: str, name: str = "", size: int = 200) -> Markup:
    """A product's picture from its column `picture`; with a name it is an image so called, else it is hidden."""
    said = Markup('role="img" aria-label="{}"').format(name) if name else Markup('aria-hidden="true"')
    opening = Markup('<svg class="picture" {} viewBox="0 0 200 200" width="{}" height="{}">').format(said, size, size)
    return opening + _drawing(drawn) + Markup("</svg>")


@lru_cache(maxsize=4096)
def _drawing(drawn: str) -> Markup:
    chosen = json.loads(drawn)
    silhouettes = _drawings()["silhouettes"]
    shape = silhouettes.get(chosen["silhouette"], silhouettes["box"])
    back, body, shade, accent = PALETTES[int(chosen["palette"]) % len(PALETTES)]
    for short, paint in _PAINTS.items():
        filled = paint.format(back=back, body=body, shade=shade, accent=accent)
        shape = shape.replace(f'class="{short}"', filled)
    turn = int(chosen["angle"]) // 3 - 8  # things lean a little, nothing lies on its side
    return Markup(
        f'<rect width="200" height="200" fill="{back}"/>{_SHADOW}<g transform="rotate({turn} 100 104)">{shape}</g>'
    )


@cache
def _drawings() -> dict[str, dict[str, str]]:
    import yaml

    text = files("envservers.webarena.sites.common").joinpath("drawings.yaml").read_text("utf-8")
    drawn: dict[str, dict[str, str]] = yaml.safe_load(text)
    return drawn
