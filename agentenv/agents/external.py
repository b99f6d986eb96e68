"""A program of any kind as an agent: JSON lines on its standard input and output. docs/agents.md has the protocol.

One process plays one episode. What it starts lives in its process group and ends with it, whatever happens here.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shlex
import shutil
import signal
import time
from collections.abc import Mapping
from typing import Any

from agentenv.agents.base import AgentSpec, Move, Seat
from agentenv.agents.parse import MAX_MALFORMED, MAX_REASON
from agentenv.errors import BadAgent, EpisodeCut
from agentenv.policy import Completion
from agentenv.protocol import Action, Outcome
from agentenv.registry import Option

VERSION = "1"
PROTOCOL = 1
MAX_LINE = 1024 * 1024
"""Bytes of one line that a program writes."""
MAX_STDERR = 16 * 1024
"""Bytes of its latest standard error that are kept."""
QUOTED_STDERR = 2_000
"""Characters of it in the error of an episode."""
MAX_NOTES = 16 * 1024
"""Characters of the JSON of a program's notes."""
KEPT_FROM_IT = ("AGENTENV_TOKEN",)
"""Variables of the environment that a program is not given: it plays, it does not control the server."""
GREETING_S = 10.0
"""For a program to end by itself in the preflight, and for a killed one to be gone."""
NOTHING_TO_PLAY: Mapping[str, Any] = {
    "type": "start",
    "protocol": PROTOCOL,
    "env": "preflight",
    "env_version": "1",
    "title": "Nothing to play: the next line is the end.",
    "task": {"id": "preflight/test/0", "split": "test", "index": 0},
    "max_steps": 1,
    "seed": 0,
    "action_grammar": "",
    "functions": [],
}
COUNTS = ("prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens")

SETTINGS = (
    Option(name="act_s", type=float, default=300.0, help="for one action, the first one from the start on", low=0.001),
    Option(name="grace_s", type=float, default=2.0, help="to end by itself after the end of the episode", low=0.0),
)


class External:
    """One episode of a program."""

    def __init__(self, argv: list[str], act_s: float, grace_s: float) -> None:
        self._argv, self._act_s, self._grace_s = argv, act_s, grace_s
        self._process: asyncio.subprocess.Process | None = None
        self._stderr = bytearray()
        self._listening: asyncio.Task[None] | None = None
        self._step = 0

    async def start(self, seat: Seat) -> None:
        """Start the program and tell it what it plays."""
        await self._launch()
        await self._send(start_of(seat))

    async def greet(self) -> int | None:
        """Start the program and end it at once; its exit code, None where it did not end by itself.

        BadAgent when that is another one than 0.
        """
        await self._launch()
        assert self._process is not None
        with contextlib.suppress(EpisodeCut):
            await self._send(NOTHING_TO_PLAY)
        try:
            with contextlib.suppress(EpisodeCut):
                await self._send({"type": "end", "outcome": None, "success": False})
            await self._ended(max(self._grace_s, GREETING_S))
            code = self._process.returncode
            if code:
                raise BadAgent(self._failed("cannot be started").detail)
            return code
        finally:
            await self.end(None, False)

    async def _launch(self) -> None:
        environ = {name: value for name, value in os.environ.items() if name not in KEPT_FROM_IT}
        try:
            self._process = await asyncio.create_subprocess_exec(
                *self._argv,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=environ,
                limit=MAX_LINE,
                start_new_session=True,
            )
        except OSError as exc:
            raise BadAgent(f"external: {self._argv[0]} cannot be started: {exc.strerror}") from exc
        self._listening = asyncio.create_task(self._listen(self._process))

    async def act(self, observation: str) -> Move:
        """Show the observation and wait for the action."""
        await self._send({"type": "observation", "step": self._step, "text": observation})
        self._step += 1
        began = time.monotonic()
        try:
            line = await asyncio.wait_for(self._read(), self._act_s)
        except TimeoutError:
            raise self._failed(f"gave no action within {self._act_s:g} s") from None
        return self._move(line, time.monotonic() - began)

    async def end(self, outcome: Outcome | None, success: bool) -> None:
        """Tell the program how it ended, let it end by itself, then end its whole process group."""
        process = self._process
        if process is None:
            return
        try:
            with contextlib.suppress(EpisodeCut, TimeoutError):
                await self._send({"type": "end", "outcome": outcome and outcome.value, "success": success})
            assert process.stdin is not None
            process.stdin.close()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), self._grace_s)
        finally:  # also when this is cancelled
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            if self._listening is not None:
                self._listening.cancel()
            with contextlib.suppress(TimeoutError):  # a process that left the group may still hold the pipes
                await asyncio.wait_for(process.wait(), GREETING_S)
            process._transport.close()  # type: ignore[attr-defined]  # asyncio has no other way to close its pipes
            await asyncio.sleep(0)  # in which it does

    async def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        line = json.dumps(message, ensure_ascii=True) + "\n"  # ASCII: no encoding of the program can break it
        try:
            self._process.stdin.write(line.encode())
            await asyncio.wait_for(self._process.stdin.drain(), self._act_s)
        except (ConnectionError, TimeoutError, RuntimeError):
            await self._ended()
            raise self._failed("does not read what it is sent") from None

    async def _read(self) -> bytes:
        assert self._process is not None
        assert self._process.stdout is not None
        try:
            line = await self._process.stdout.readuntil(b"\n")
        except asyncio.IncompleteReadError as exc:
            line = exc.partial
        except asyncio.LimitOverrunError:
            raise self._failed(f"wrote a line of over {MAX_LINE} bytes") from None
        if not line:
            await self._ended()
            raise self._failed("ended before the episode did")
        return line

    def _move(self, line: bytes, latency_s: float) -> Move:
        try:
            message = json.loads(line)
            kind = message["type"]
        except (ValueError, RecursionError, KeyError, TypeError):
            quoted = line[:200].decode("utf-8", "replace").strip()
            raise self._failed(f'wrote a line that is no JSON object with "type": {quoted!r}') from None
        if kind == "end":
            raise self._failed(f"gave up: {str(message.get('reason') or 'no reason given')[:QUOTED_STDERR]}")
        text, malformed = message.get("text"), message.get("malformed")
        if kind != "action" or not isinstance(text, str) or not isinstance(malformed, str | None):
            raise self._failed('wrote a message that is no {"type": "action", "text": "..."}')
        action = Action(text=text)
        if malformed is not None:
            action = Action(text=text[:MAX_MALFORMED], malformed=malformed[:MAX_REASON] or "no reason given")
        return Move(action=action, completion=_counted(message.get("usage"), latency_s), notes=self._notes(message))

    def _notes(self, message: Mapping[str, Any]) -> dict[str, Any]:
        notes = message.get("notes")
        if notes is None:
            return {}
        if not isinstance(notes, dict) or len(json.dumps(notes)) > MAX_NOTES:
            raise self._failed(f"wrote notes that are no object of at most {MAX_NOTES} characters")
        return {"notes": notes}

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        """Keep the end of what it writes to its standard error."""
        assert process.stderr is not None
        while chunk := await process.stderr.read(4096):
            self._stderr += chunk
            del self._stderr[:-MAX_STDERR]

    async def _ended(self, seconds: float | None = None) -> None:
        """Give a program that is ending the time to do so, for its exit code and its last words."""
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.close()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._process.wait(), self._grace_s if seconds is None else seconds)
        if self._listening is not None:
            await asyncio.wait([self._listening], timeout=self._grace_s)

    def _failed(self, what: str) -> EpisodeCut:
        code = self._process.returncode if self._process is not None else None
        how = "" if code is None else f" (exit code {code})"
        written = self._stderr.decode("utf-8", "replace").strip()
        words = "".join(char if char.isprintable() or char in "\n\t" else "?" for char in written)  # no terminal codes
        said = f"; its standard error ends: {words[-QUOTED_STDERR:]}" if words else ""
        return EpisodeCut(Outcome.AGENT_ERROR, f"the program {what}{how}{said}")


def _counted(usage: Any, latency_s: float) -> Completion | None:
    """The tokens that a program says it used; what it does not say is unknown."""
    if not isinstance(usage, Mapping):
        return None
    counts: dict[str, Any] = {n: v for n in COUNTS if type(v := usage.get(n)) is int and 0 <= v < 2**53}
    cost = usage.get("cost")
    known = cost if isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost < 1e12 else None
    return Completion(text="", latency_s=latency_s, cost=known, **counts)


async def preflight(argv: list[str], act_s: float, grace_s: float) -> str:
    """Start the program once, with nothing to play; BadAgent when it ends with another exit code than 0."""
    program, began = External(argv, act_s, grace_s), time.monotonic()
    code = await program.greet()
    took = f"in {time.monotonic() - began:.1f} s"
    return f"{argv[0]} starts and ends {took}" if code == 0 else f"{argv[0]} starts and was ended {took}"


def start_of(seat: Seat) -> dict[str, Any]:
    """The first message: everything that an agent may know before it acts. A task's category may tell its answer."""
    spec, task = seat.spec, seat.task
    return {
        "type": "start",
        "protocol": PROTOCOL,
        "env": spec.id,
        "env_version": spec.version,
        "title": spec.title,
        "task": {name: getattr(task, name) for name in ("id", "split", "index")},
        "max_steps": seat.max_steps,
        "seed": seat.rng.getrandbits(31),
        "action_grammar": spec.action_grammar,
        "functions": [dict(function) for function in spec.functions],
    }


def external(
    *,
    command: str,
    label: str | None = None,
    act_s: float | str | None = None,
    grace_s: float | str | None = None,
) -> AgentSpec:
    """The agent `external`: `command` is started for each episode, without a shell.

    `label` is what tables call it, else the name of its program or script.
    """
    try:
        argv = shlex.split(command)
    except ValueError as exc:
        raise BadAgent(f"command={command!r}: {exc}") from exc
    if not argv or shutil.which(argv[0]) is None:
        raise BadAgent(f"command={command!r}: there is no program {argv[0] if argv else ''!r} that can be started")
    given = {"act_s": act_s, "grace_s": grace_s}
    value = {o.name: o.parse(o.default if given[o.name] is None else given[o.name]) for o in SETTINGS}
    return AgentSpec(
        name="external",
        describe={
            "name": "external",
            "version": VERSION,
            "model": label or os.path.basename(argv[1] if len(argv) > 1 else argv[0]),
            "command": argv,
            "act_s": value["act_s"],
        },
        make=lambda: External(argv, value["act_s"], value["grace_s"]),
        preflight=lambda: preflight(argv, value["act_s"], value["grace_s"]),
    )
