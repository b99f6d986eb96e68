"""Pictures beside records: PNG files named by their sha256, each stored once however often it was drawn.

A record holds the sha256 of a picture and never its bytes. The file is `ab/abcd....png` in the folder that belongs to
the record's own file, where `ab` are the first two letters of its name.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from agentenv.errors import BadCall, EnvFailed
from agentenv.trajectory import Trajectory

Keep = Callable[[bytes], str]
"""Stores a picture and gives its sha256; EnvFailed for what is no picture, NotKept where it cannot be written."""

MOST_BYTES = 16 * 2**20
"""Of one picture."""
LARGEST = 16_384
"""Pixels on a side."""
HEAD_BYTES = 24
"""What tells that a file is a PNG, and its size in pixels."""

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_SHA256 = re.compile(r"[0-9a-f]{64}")
_FOLDERS, _FILES = "[0-9a-f]" * 2, "[0-9a-f]" * 64 + ".png"


class NotKept(BadCall):
    """A picture could not be written; the episode is not at fault, so whatever plays it stops."""

    code, status = "not_kept", 500


def beside(file: Path) -> Path:
    """The folder of the pictures of a file of records, or of a database: its name with `.images` behind it."""
    return file.with_name(f"{file.name}.images")


def pictures_of(record: Trajectory) -> list[str]:
    """The sha256 of every picture that a record holds, in order, each once."""
    found = [*(turn.image for turn in record.turns), record.final_image]
    return list(dict.fromkeys(sha for sha in found if sha is not None))


def size_of(head: bytes) -> tuple[int, int] | None:
    """Width and height in pixels of a PNG by its first `HEAD_BYTES`; None for anything else, and for one too large."""
    if len(head) < HEAD_BYTES or head[:8] != _SIGNATURE or head[12:16] != b"IHDR":
        return None
    width, height = int.from_bytes(head[16:20]), int.from_bytes(head[20:24])
    return (width, height) if 0 < width <= LARGEST and 0 < height <= LARGEST else None


def _whole(path: Path, size: int) -> bool:
    """Whether the file is there; a power cut can leave its name and nothing in it."""
    try:
        return path.stat().st_size == size
    except FileNotFoundError:
        return False


@dataclass(frozen=True, slots=True)
class Pictures:
    """A folder of pictures; made with the first of them."""

    folder: Path

    def path(self, sha256: str) -> Path:
        """Where that picture is, or would be; BadCall for what is no sha256, so that nothing else is ever reached."""
        if not _SHA256.fullmatch(sha256):
            raise BadCall(f"{sha256[:80]!r} is no sha256 of a picture: 64 digits and letters from a to f")
        return self.folder / sha256[:2] / f"{sha256}.png"

    def keep(self, png: bytes) -> str:
        """Store a picture unless it is there; its sha256. See `Keep`."""
        if size_of(png[:HEAD_BYTES]) is None or len(png) > MOST_BYTES:
            raise EnvFailed(
                f"the environment's image is no PNG of at most {LARGEST} pixels a side and {MOST_BYTES} bytes: "
                f"{len(png)} bytes that begin with {png[:8]!r}"
            )
        sha = hashlib.sha256(png).hexdigest()
        path = self.path(sha)
        # aside and then renamed: nobody ever sees half a picture, also after a kill
        aside = path.with_name(f".{sha}.{os.getpid()}-{threading.get_ident()}")
        try:
            if not _whole(path, len(png)):
                path.parent.mkdir(parents=True, exist_ok=True)
                aside.write_bytes(png)
                aside.replace(path)
        except OSError as exc:
            with contextlib.suppress(OSError):
                aside.unlink()
            raise NotKept(f"pictures go to {self.folder}, and one could not be written: {exc.strerror or exc}") from exc
        return sha

    def all(self) -> Iterator[Path]:
        """Every picture of the folder; files of other names are none."""
        yield from sorted(self.folder.glob(f"{_FOLDERS}/{_FILES}"))

    def copy_to(self, other: Pictures, wanted: Iterable[str]) -> tuple[int, int]:
        """Bring pictures to another folder: how many are there then, and how many are not here."""
        there = missing = 0
        for sha in wanted:
            try:
                png = self.path(sha).read_bytes()
            except FileNotFoundError:
                missing += 1
                continue
            other.keep(png)
            there += 1
        return there, missing

    def keep_only(self, wanted: frozenset[str] = frozenset()) -> int:
        """Delete every picture but these, and what a killed process left half-written; how many went."""
        gone = 0
        for path in self.all():
            if path.stem not in wanted:
                path.unlink(missing_ok=True)
                gone += 1
        for left in self.folder.glob(f"{_FOLDERS}/.*"):
            left.unlink(missing_ok=True)
        for folder in (*self.folder.glob(_FOLDERS), self.folder):
            if folder.exists() and not any(folder.iterdir()):
                folder.rmdir()
        return gone


@dataclass(slots=True)
class Undrawn:
    """Says of each env, once, that pictures were asked for and do not come."""

    say: Callable[[str], None]
    _told: set[str] = field(default_factory=set)

    def opened(self, env: str, *, draws: bool) -> None:
        """An env is about to be played; its card says whether it draws."""
        if not draws:
            self._once(env, f"{env} draws no pictures, so --images keeps none of it")

    def ended(self, record: Trajectory) -> None:
        """An episode is over; the first one of an env tells whether it draws under these options."""
        if record.turns and record.env not in self._told:
            why = (
                f"can draw, and did not under these options (agentenv envs {record.env}), so --images keeps none of it"
            )
            self._once(record.env, "" if pictures_of(record) else f"{record.env} {why}")

    def _once(self, env: str, text: str) -> None:
        if env not in self._told:
            self._told.add(env)
            if text:
                self.say(text)
