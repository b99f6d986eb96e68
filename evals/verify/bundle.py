"""A run as one file that somebody else can verify: JSON lines in a zip, with the hash of each and the chain's root.

Reading trusts nothing: known names alone, bounded sizes, no path, no pickle, every hash compared.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from agentenv.errors import AgentEnvError, BadCall
from agentenv.registry import get_spec
from agentenv.trajectory import Trajectory
from evals.verify.chain import canonical, chain_root
from evals.verify.record import Planned, RunRecord, Try
from evals.verify.signing import SIGNATURE, Signature, sign, signed_by

FORMAT = 1
MANIFEST = "manifest.json"
PARTS = ("run.jsonl", "suite.jsonl", "worlds.jsonl", "cards.jsonl", "plan.jsonl", "attempts.jsonl")
MOST_BYTES = 4 * 2**30
"""Of all parts, unpacked."""
MOST_RATIO = 300
"""Of a part's size to what it takes in the file."""
MOST_LINE = 256 * 2**20


class BadBundle(BadCall):
    """A file that is no bundle, or one that was changed."""

    code = "bad_bundle"


def write_bundle(record: RunRecord, path: Path, *, key: Path | None = None) -> str:
    """Write the run to `path`, aside and then renamed; signed where a key file is given. The chain's root."""
    root = chain_root(record.tries)
    aside = path.with_name(f".{path.name}.part")
    hashes = {}
    try:
        with zipfile.ZipFile(aside, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in PARTS:
                hashes[name] = _write_part(archive, name, _lines(record, name))
            manifest = canonical({"format": FORMAT, "run": record.id, "sha256": hashes, "chain": root})
            archive.writestr(_entry(MANIFEST), manifest)
            if key is not None:
                archive.writestr(_entry(SIGNATURE), canonical(asdict(sign(manifest, key))))
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
    return root


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
    if manifest["format"] != FORMAT:
        raise BadBundle(f"{path}: format {manifest['format']!r} is not {FORMAT}, which this agentenv reads")
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
    return record, signer


def _check_entries(archive: zipfile.ZipFile, path: Path) -> None:
    entries = archive.infolist()
    names = [entry.filename for entry in entries]
    if len(set(names)) != len(names) or set(names) - {SIGNATURE} != {MANIFEST, *PARTS}:
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


def _entry(name: str) -> zipfile.ZipInfo:
    """An entry without a time, so that equal runs give equal files."""
    entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    entry.compress_type = zipfile.ZIP_DEFLATED
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
