"""Which addresses may be opened: http to the exact host of a site, nothing else. One rule for every engine."""

from __future__ import annotations

import re
from collections.abc import Container
from urllib.parse import urlsplit

BLANK = "about:blank"
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_UNSAFE = re.compile(r"[\x00-\x20\\\x7f]")


def read_address(text: str, hosts: Container[str]) -> str | None:
    """The URL that `goto` opens for `text`, None where it is no page of `hosts`.

    A text without scheme is taken for http. Ports other than 80, user names, other schemes and IP addresses are out.
    """
    text = text.strip()
    if text == BLANK:
        return BLANK
    if "://" not in text and not _SCHEME.match(text):
        text = f"http://{text}"
    if _UNSAFE.search(text):
        return None
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme.lower() != "http" or "@" in parts.netloc or port not in (None, 80):
        return None
    host = (parts.hostname or "").lower()
    if host not in hosts:
        return None
    query = f"?{parts.query}" if parts.query else ""
    fragment = f"#{parts.fragment}" if parts.fragment else ""
    return f"http://{host}{parts.path or '/'}{query}{fragment}"
