"""A run as one file that somebody else can verify: JSON lines in a zip, with the hash of each and the chain's root.

Reading trusts nothing: known names alone, bounded sizes, no path, no pickle, every hash compared. Pictures lie
beside the lines under the hash that an episode names them by; a bundle that has some is of format 2, and any other as
it always was.
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from agentenv.errors import AgentEnvError, BadCall
from agentenv.pictures import HEAD_BYTES, Pictures, pictures_of, size_of
from agentenv.pictures import MOST_BYTES as MOST_PICTURE
from agentenv.registry import get_spec
from agentenv.trajectory import Trajectory
from evals.verify.chain import canonical, chain_root
from evals.verify.record import Planned, RunRecord, Try
from evals.verify.signing import SIGNATURE, Signature, sign, signed_by

FORMAT, WITH_PICTURES = 1, 2
MANIFEST = "manifest.json"
PARTS = ("run.jsonl", "suite.jsonl", "worlds.jsonl", "cards.jsonl", "plan.jsonl", "attempts.jsonl")
PICTURES = "pictures/"
MOST_BYTES = 4 * 2**30
"""Of all parts, unpacked; pictures have bounds of their own, each for itself."""
MOST_RATIO = 300
"""Of a part's size to what it takes in the file."""
MOST_LINE = 256 * 2**20

_PICTURE = re.compile(rf"{PICTURES}[0-9a-f]{{64}}\.png")


class BadBundle(BadCall):
    """A file that is no bundle, or one that was changed."""

    code = "bad_bundle"


def write_bundle(record: RunRecord, path: Path, *, key: Path | None = None, pictures: Pictures | None = None) -> str:
    """Write the run to `path`, aside and then renamed; signed where a key file is given. The chain's root.

    pictures: where those of the episodes are; what is not there is left out, as all are without a folder.
    """
    root = chain_root(record.tries)
    files = [] if pictures is None else [p for p in map(pictures.path, picture_names(record)) if p.exists()]
    aside = path.with_name(f".{path.name}.part")
    hashes = {}
    try:
        with zipfile.ZipFile(aside, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in PARTS:
                hashes[name] = _write_part(archive, name, _lines(record, name))
            for file in files:
                archive.writestr(_entry(f"{PICTURES}{file.name}", zipfile.ZIP_STORED), _unchanged(file))
            manifest = canonical(
                {"format": WITH_PICTURES if files else FORMAT, "run": record.id, "sha256": hashes, "chain": root}
            )
            archive.writestr(_entry(MANIFEST), manifest)
            if key is not None:
                archive.writestr(_entry(SIGNATURE), canonical(asdict(sign(manifest, key))))
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
    return root


def _unchanged(file: Path) -> bytes:
    """A picture's bytes; BadCall where they are not those that it is named by."""
    png = file.read_bytes()
    if hashlib.sha256(png).hexdigest() != file.stem:
        raise BadCall(f"{file} was changed: its hash is not its name; delete it, or pack without pictures: --no-images")
    return png


def picture_names(record: RunRecord) -> list[str]:
    """The sha256 of every picture that an episode of the run names, each once."""
    return list(dict.fromkeys(sha for one in record.tries for sha in pictures_of(one.trajectory)))


def read_bundle(path: Path) -> tuple[RunRecord, str]:
    """The run of a bundle, and who signed it (a public key; empty for nobody). BadBundle says what is wrong."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _read(archive, path)
    except (OSError, zipfile.BadZipFile, ValueError, KeyError, TypeError, NotImplementedError) as exc:
        raise BadBundle(f"{path}: not a bundle: {type(exc).__name__}: {exc}") from exc
    except msgspec.ValidationError as exc:
        raise BadBundle(f"{path}: not a bundle: {exc}") from exc


def _read(archive: zipfile.ZipFile, path: Path) -> tuple[RunRecord, str]:
    _check_entries(archive, path)
    raw = archive.read(MANIFEST)
    manifest = json.loads(raw)
    if manifest["format"] not in (FORMAT, WITH_PICTURES):
        raise BadBundle(
            f"{path}: format {manifest['format']!r} is not {FORMAT} or {WITH_PICTURES}, which this agentenv reads"
        )
    signer = ""
    if SIGNATURE in archive.namelist():
        signature = msgspec.convert(json.loads(archive.read(SIGNATURE)), Signature)
        signer = signed_by(raw, signature)
        if not signer:
            raise BadBundle(f"{path}: the signature is not of this manifest")
    parts = {name: _read_part(archive, name, manifest["sha256"][name], path) for name in PARTS}
    record = _record(parts)
    if chain_root(record.tries) != manifest["chain"]:
        raise BadBundle(f"{path}: the episodes do not make the chain's root of the manifest")
    _check_pictures(archive, path, frozenset(picture_names(record)))
    return record, signer


def _check_pictures(archive: zipfile.ZipFile, path: Path, named: frozenset[str]) -> None:
    """Every picture is one that an episode names, and has the bytes that it is named by."""
    for entry in filter(_is_picture, archive.infolist()):
        sha = entry.filename.removeprefix(PICTURES).removesuffix(".png")
        if sha not in named:
            raise BadBundle(f"{path}: no episode names {entry.filename}")
        with archive.open(entry) as file:
            png = file.read(MOST_PICTURE + 1)
        if hashlib.sha256(png).hexdigest() != sha or size_of(png[:HEAD_BYTES]) is None:
            raise BadBundle(f"{path}: {entry.filename} was changed, or is no picture")


def _is_picture(entry: zipfile.ZipInfo) -> bool:
    return _PICTURE.fullmatch(entry.filename) is not None


def _check_entries(archive: zipfile.ZipFile, path: Path) -> None:
    entries = archive.infolist()
    if any(entry.file_size > MOST_PICTURE for entry in entries if _is_picture(entry)):
        raise BadBundle(f"{path}: has a picture of more than {MOST_PICTURE} bytes")
    if len({entry.filename for entry in entries}) < len(entries):
        raise BadBundle(f"{path}: holds a name twice")
    entries = [entry for entry in entries if not _is_picture(entry)]
    names = [entry.filename for entry in entries]
    if set(names) - {SIGNATURE} != {MANIFEST, *PARTS}:
        raise BadBundle(
            f"{path}: holds {', '.join(sorted(names)[:10])}; a bundle holds {', '.join((MANIFEST, *PARTS))}"
        )
    if sum(entry.file_size for entry in entries) > MOST_BYTES:
        raise BadBundle(f"{path}: unpacks to more than {MOST_BYTES} bytes")
    for entry in entries:
        if entry.file_size > MOST_RATIO * max(entry.compress_size, 1024):
            raise BadBundle(f"{path}: {entry.filename} unpacks to more than {MOST_RATIO} times its size")


def _write_part(archive: zipfile.ZipFile, name: str, lines: Iterator[bytes]) -> str:
    digest = hashlib.sha256()
    with archive.open(_entry(name), "w", force_zip64=True) as part:
        for line in lines:
            digest.update(line)
            part.write(line)
    return digest.hexdigest()


def _entry(name: str, how: int = zipfile.ZIP_DEFLATED) -> zipfile.ZipInfo:
    """An entry without a time, so that equal runs give equal files."""
    entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    entry.compress_type = how
    entry.external_attr = 0o644 << 16
    return entry


def _read_part(archive: zipfile.ZipFile, name: str, expected: str, path: Path) -> list[bytes]:
    digest, lines, size = hashlib.sha256(), [], archive.getinfo(name).file_size
    with archive.open(name) as part:
        while line := part.readline(MOST_LINE):
            size -= len(line)
            if size < 0 or not line.endswith(b"\n"):
                raise BadBundle(f"{path}: {name} is longer than it says, or has a line of over {MOST_LINE} bytes")
            digest.update(line)
            lines.append(line)
    if digest.hexdigest() != expected:
        raise BadBundle(f"{path}: {name} was changed: its hash is not the manifest's")
    return lines


def _lines(record: RunRecord, name: str) -> Iterator[bytes]:
    match name:
        case "run.jsonl":
            yield _line(record.head())
        case "suite.jsonl":
            yield _line(record.suite)
        case "worlds.jsonl":
            yield from map(_line, record.worlds)
        case "cards.jsonl":
            yield from (_line(_card(world["env"])) for world in record.worlds)
        case "plan.jsonl":
            yield from (_line(asdict(planned)) for planned in record.plan)
        case _:
            for one in record.tries:
                place = {"slot": one.slot, "try": one.number, "superseded": one.superseded}
                yield _line({**place, "trajectory": json.loads(one.trajectory.to_json())})


def _card(env: str) -> dict[str, Any]:
    try:
        return get_spec(env).card()
    except AgentEnvError as error:
        return {"id": env, "unavailable": error.message}


def _line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def _record(parts: Mapping[str, list[bytes]]) -> RunRecord:
    [head], [suite] = parts["run.jsonl"], parts["suite.jsonl"]
    tries = []
    for line in parts["attempts.jsonl"]:
        row = json.loads(line)
        trajectory = Trajectory.from_json(json.dumps(row["trajectory"]))
        tries.append(Try(slot=row["slot"], number=row["try"], superseded=row["superseded"], trajectory=trajectory))
    return msgspec.convert(
        {
            **json.loads(head),
            "suite": json.loads(suite),
            "worlds": [json.loads(line) for line in parts["worlds.jsonl"]],
            "plan": [msgspec.convert(json.loads(line), Planned) for line in parts["plan.jsonl"]],
            "tries": tries,
        },
        RunRecord,
    )
