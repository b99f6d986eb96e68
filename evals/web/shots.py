"""Pictures of turns: what a page needs to place them before they are loaded, and the files themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response

from agentenv.errors import BadCall
from agentenv.pictures import HEAD_BYTES, Pictures, size_of
from evals.store.pictures import pictures_in
from evals.web.headers import FOREVER

if TYPE_CHECKING:
    from starlette.requests import Request

    from agentenv.trajectory import Turn
    from evals.web.site import Site


@dataclass(frozen=True, slots=True, kw_only=True)
class Shot:
    """A picture that a record names."""

    sha256: str
    width: int
    """Pixels; 0 where the file is not here."""
    height: int

    @property
    def there(self) -> bool:
        """Whether it can be shown."""
        return self.width > 0


def shot_of(site: Site, sha256: str | None) -> Shot | None:
    """The picture of that sha256, with its size; None where the record names none."""
    return None if sha256 is None else _shot(pictures_in(site.store).pictures, sha256)


def shots_of(site: Site, turns: Sequence[Turn], first: int = 0) -> dict[int, Shot]:
    """The pictures of turns by their number, from `first` on."""
    pictures = pictures_in(site.store).pictures
    return {n: _shot(pictures, turn.image) for n, turn in enumerate(turns, first) if turn.image is not None}


def page(site: Site, request: Request) -> Response:
    """The file. Its name is the hash of its bytes, so whoever has it never asks again."""
    try:
        path = pictures_in(site.store).pictures.path(request.path_params["sha256"])
    except BadCall as exc:
        raise HTTPException(404, exc.message) from exc
    if not _shot(pictures_in(site.store).pictures, path.stem).there:
        raise HTTPException(404, "this picture is not beside the database")
    return FileResponse(path, media_type="image/png", headers={"cache-control": FOREVER})


def _shot(pictures: Pictures, sha256: str) -> Shot:
    try:
        with pictures.path(sha256).open("rb") as file:
            size = size_of(file.read(HEAD_BYTES))
    except OSError:
        size = None
    width, height = size or (0, 0)
    return Shot(sha256=sha256, width=width, height=height)
