"""The same tasks and scripts in another process: what `agentenv check` compares its own run with.

The parent sends one `Request` as JSON on stdin. The child answers one `Trace` on stdout; what the env prints goes to
stderr. Run as `python -m agentenv.testing.trace`.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from typing import Any

import msgspec

from agentenv.protocol import Task
from agentenv.registry import TaskSet
from agentenv.testing.players import ObjectPlayer, own_thread
from agentenv.testing.scripts import Episode, Seen, episodes_of
from agentenv.testing.specs import spec_from_json

HASH_SEEDS = ("1", "2")
"""One child for each; the parent has a third."""


class Request(msgspec.Struct):
    """What a child plays. The tasks are the parent's, so that an unstable task set is another rule's business."""

    spec: dict[str, Any]
    """See `spec_to_json`."""
    options: dict[str, Any]
    tasks: list[Task]


class TracedEpisode(msgspec.Struct):
    """An Episode as it travels."""

    task: str
    script: str
    seen: list[tuple[str | None, str]]

    @property
    def answers(self) -> list[Seen]:
        """In the form that `difference` compares."""
        return [Seen(action=action, answer=answer) for action, answer in self.seen]


class Trace(msgspec.Struct):
    """What a child saw."""

    tasks: dict[str, str]
    """Fingerprint of the task set: its digest, and the digest of each sampled task that it makes itself."""
    episodes: list[TracedEpisode]


def fingerprint(task_set: TaskSet, sampled: Sequence[Task]) -> dict[str, str]:
    """What must be equal in every process: digest, counts, and the sampled tasks made anew."""
    found = {"digest": task_set.digest}
    found |= {f"count of {s}": str(task_set.count(s)) for s in task_set.splits()}
    for task in sampled:
        known = task.split in task_set.splits() and task.index < task_set.count(task.split)
        found[task.id] = task_set.get(task.split, task.index).digest if known else "missing"
    return found


async def elsewhere(request: Request, *, timeout_s: float) -> list[Trace]:
    """Play the request in one child for each hash seed, side by side."""
    return list(await asyncio.gather(*(_child(request, seed, timeout_s) for seed in HASH_SEEDS)))


async def _child(request: Request, hash_seed: str, timeout_s: float) -> Trace:
    path = os.pathsep.join(p for p in sys.path if p)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "agentenv.testing.trace",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": path},
    )
    try:
        out, err = await asyncio.wait_for(process.communicate(msgspec.json.encode(request)), timeout_s)
    except TimeoutError:
        process.kill()
        await process.wait()
        raise ChildFailed(f"another process did not finish within {timeout_s:g} s") from None
    if process.returncode != 0:
        last = err.decode(errors="replace").strip().splitlines()
        raise ChildFailed(f"another process ended with {process.returncode}: {last[-1] if last else 'no message'}")
    return msgspec.json.decode(out, type=Trace)


class ChildFailed(Exception):
    """The env did not play in another process."""


async def _trace(request: Request) -> Trace:
    spec = spec_from_json(request.spec)
    thread = own_thread(spec)
    episodes: list[Episode] = []

    def make() -> ObjectPlayer:
        return ObjectPlayer(spec, lambda: spec.make(request.options), thread)

    for task in request.tasks:
        episodes += await episodes_of(make, task, solvable=spec.solvable)
    return Trace(
        tasks=fingerprint(spec.task_set(request.options), request.tasks),
        episodes=[TracedEpisode(e.task.id, e.script, [s.same for s in e.seen]) for e in episodes],
    )


def main() -> None:
    """Answer one request."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=Request)
    replies.write(msgspec.json.encode(asyncio.run(_trace(request))))
    replies.flush()


if __name__ == "__main__":
    main()
