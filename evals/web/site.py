"""What every page shares: the store, the indexes of runs, and templates that escape whatever they are given."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.responses import HTMLResponse, Response

from evals.boards import Board, read_board
from evals.web.index import Indexes
from evals.web.memo import Memo
from evals.web.texts import visible
from evals.web.turns import drawn

if TYPE_CHECKING:
    from starlette.requests import Request

    from evals.web.database import ReadOnlyStore

HERE = Path(__file__).parent


class Site:
    """One for an application; threads share it."""

    def __init__(self, store: ReadOnlyStore, *, playing: bool = False) -> None:
        self.store = store
        self.indexes = Indexes()
        self.spending: Memo[dict[str, tuple[float, int, int, int]]] = Memo(4096)
        self.comparisons: Memo[dict[str, Any]] = Memo(32)
        self._computing = threading.Lock()
        self._templates = templates()
        self._templates.globals["playing"] = playing

    def board(self) -> Board:
        """The board as it is now. One thread computes; whoever comes meanwhile finds what it has kept."""
        with self._computing:
            return read_board(self.store)

    def render(self, request: Request, template: str, *, status: int = 200, **values: Any) -> Response:
        """A page. `base` is where the application is mounted."""
        page = self._templates.get_template(template).render(base=base_of(request), **values)
        return HTMLResponse(page, status_code=status)


def templates() -> Environment:
    """Everything that a template prints is escaped, and hidden characters of texts are made visible before."""
    made = Environment(
        loader=FileSystemLoader([HERE / "templates", HERE / "play" / "templates"]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
        auto_reload=False,
    )
    made.filters["part"] = part
    made.filters["drawn"] = drawn
    made.globals["query"] = query
    return made


def _finalize(value: Any) -> Any:
    if value is None:
        return ""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def base_of(request: Request) -> str:
    """The path that the application is mounted at; empty at the root."""
    return quote(str(request.scope.get("root_path", "")).rstrip("/"))


def part(text: str) -> str:
    """A text as one part of a URL's path."""
    return quote(text, safe="")


def query(values: Mapping[str, Any] | None = None, /, **changes: Any) -> str:
    """`?a=1&b=2` of what is set; nothing of nothing."""
    merged = {k: v for k, v in {**(values or {}), **changes}.items() if v not in (None, "")}
    return "?" + urlencode(merged) if merged else ""


def asked(request: Request, name: str, *, most: int = 200) -> str:
    """A parameter of the query, empty where it is not given, cut where it is too long to be meant."""
    return request.query_params.get(name, "")[:most]
