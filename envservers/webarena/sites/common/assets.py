"""Files that pages load: `/static/<hash>/<name>`, which a browser may keep for ever."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from envservers.webarena.site import SiteResponse

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".woff2": "font/woff2",
    ".svg": "image/svg+xml",
}
STYLESHEET = "site.css"
_NAMED = re.compile(r"asset\(([a-z0-9.-]+)\)")


class Assets:
    """The files of the common `static/` folder and one stylesheet: `base.css`, then the site's theme.

    A stylesheet names a file as `asset(inter.woff2)`.
    """

    def __init__(self, folder: Path, theme: Path) -> None:
        self._files: dict[str, tuple[str, bytes]] = {}
        for path in sorted(folder.iterdir()):
            if path.suffix in TYPES and path.suffix != ".css":
                self._add(path.name, path.read_bytes())
        styles = (folder / "base.css").read_text("utf-8") + theme.read_text("utf-8")
        self._add(STYLESHEET, _NAMED.sub(lambda name: f'url("{self.url(name[1])}")', styles).encode())

    def url(self, name: str) -> str:
        """The path of a file."""
        return f"/static/{self._files[name][0]}/{name}"

    def answer(self, path: str) -> SiteResponse | None:
        """The file at a path below `/static/`, None when there is none such."""
        _, _, rest = path.partition("/static/")
        digest, _, name = rest.partition("/")
        known = self._files.get(name)
        if known is None or known[0] != digest:
            return None
        return SiteResponse(body=known[1], content_type=TYPES[Path(name).suffix], immutable=True)

    def _add(self, name: str, content: bytes) -> None:
        self._files[name] = (hashlib.sha256(content).hexdigest()[:12], content)
