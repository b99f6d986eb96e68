"""The Jinja environment of a site. Templates are compiled once and kept."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from envservers.webarena.sites.common import formats, pictures, tokens
from envservers.webarena.sites.common.assets import Assets
from envservers.webarena.sites.common.page import address


def environment(folders: tuple[Path, ...], assets: Assets) -> Environment:
    """Templates of these folders, the first one wins; every value is escaped, an unknown name is an error."""
    made = Environment(
        loader=FileSystemLoader(folders),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        cache_size=-1,
    )
    made.filters |= {
        "money": formats.money,
        "plain_money": formats.plain_money,
        "day": formats.day,
        "moment": formats.moment,
        "count": formats.count,
        "cut": formats.cut,
        "words": formats.words,
    }
    made.globals |= {
        "address": address,
        "asset": assets.url,
        "picture": pictures.picture,
        "icon": pictures.icon,
        "token_field": tokens.FIELD,
    }
    return made
