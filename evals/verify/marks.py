"""What verifications found, kept in the store until the run changes: then the mark is gone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from agentenv.protocol import digest_of

if TYPE_CHECKING:
    from evals.store.schema import RunRow
    from evals.store.store import Store

STATE = ("tries", "valid", "lost", "reopened", "finished_at", "deleted_at", "suite_hash", "world_hash", "agent_hash")
"""What changes with a run's episodes."""


def keep_mark(store: Store, run: RunRow, verdict: Mapping[str, Any]) -> None:
    """Keep a verdict beside its run, in place of an older one."""
    store.keep({_key(run): (_state(run), json.dumps(verdict).encode())})


def marks(store: Store, runs: Iterable[RunRow]) -> dict[str, dict[str, Any]]:
    """The verdict of each run that has one of its present state, by id."""
    listed = list(runs)
    kept = store.cached([_key(run) for run in listed])
    found = {}
    for run in listed:
        version, data = kept.get(_key(run), ("", b""))
        if version == _state(run):
            found[run.id] = json.loads(data)
    return found


def mark_of(verdicts: Iterable[Mapping[str, Any] | None]) -> str:
    """What a row of these pooled runs shows; empty as long as one of them was not verified."""
    listed = list(verdicts)
    if not listed or any(verdict is None for verdict in listed):
        return ""
    known = [verdict for verdict in listed if verdict is not None]
    for verdict in known:
        if not verdict["ok"]:
            return str(verdict["mark"])
    level = "rescored" if any(verdict.get("rescored") for verdict in known) else "verified"
    return f"{level} {sum(v['verified'] for v in known)}/{sum(v['of'] for v in known)}"


TOLD = ("run", "level", "mark", "sample", "at", "verifier", "platform", "by")
"""Of a verdict: what a row shows."""


def told_of(verdict: Mapping[str, Any]) -> dict[str, Any]:
    """What was found, when, on which platform, by which version and by whom; None for what is not known."""
    return {name: verdict.get(name) for name in TOLD}


def _key(run: RunRow) -> str:
    return digest_of(["verified", run.id])


def _state(run: RunRow) -> str:
    return digest_of([getattr(run, name) for name in STATE])
