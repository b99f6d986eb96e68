"""The `process` concurrency model: an env in a child process, moved by messages over its pipes.

Every message is four bytes of length and msgpack. The child is `agentenv.server.child`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections.abc import Mapping
from typing import Any

import msgspec

from agentenv.errors import BY_CODE, AgentEnvError, EnvFailed
from agentenv.protocol import Action, StepResult, Task
from agentenv.registry import Concurrency, EnvSpec

log = logging.getLogger("agentenv.server")


class ProcessRunner:
    """In a child process of its own (`agentenv.server.child`), by length-prefixed messages over its pipes."""

    def __init__(self, spec: EnvSpec, options: Mapping[str, Any], *, images: bool = False) -> None:
        self.spec = spec
        self.options = dict(options)
        self.images = images
        self.spent = False
        self._process: asyncio.subprocess.Process | None = None
        self._gone = False
        """The child was killed and waited for; its pid may be another process's by now."""

    @property
    def pid(self) -> int | None:
        """Of the child, once it runs."""
        return self._process.pid if self._process else None

    async def run(self, operation: str, argument: Any, limit_s: float) -> Any:
        """See Runner. A dead or overrunning child is EnvFailed."""
        try:
            return await asyncio.wait_for(self._exchange(operation, argument), limit_s)
        except TimeoutError:
            await self._kill()
            raise EnvFailed(f"{self.spec.id}.{operation} took over {limit_s:g} s; its process was killed") from None
        except (EOFError, ConnectionError) as exc:
            code = await self._kill()
            raise EnvFailed(f"{self.spec.id}.{operation}: the env's process died (exit code {code})") from exc
        except AgentEnvError:
            raise
        except Exception as exc:  # no process to be had, or a message that cannot be packed or read
            await self._kill()
            raise EnvFailed(f"{self.spec.id}.{operation}: {type(exc).__name__}: {exc}") from exc

    async def _exchange(self, operation: str, argument: Any) -> Any:
        process = self._process or await self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        await write_message(process.stdin, {"operation": operation, "argument": argument})
        reply = msgspec.msgpack.decode(await read_message(process.stdout), type=ChildReply)
        if reply.error is not None:
            raise BY_CODE.get(reply.code, EnvFailed)(reply.error)
        return getattr(reply, RESULTS.get(operation, "error"))

    async def _start(self) -> asyncio.subprocess.Process:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "agentenv.server.child",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            limit=2**24,
            start_new_session=True,  # a group of its own: no Ctrl-C meant for the server, and killed as a whole
        )
        assert self._process.stdin is not None
        await write_message(self._process.stdin, ChildHello.of(self.spec, self.options, self.images))
        return self._process

    async def _kill(self) -> int | None:
        self.spent = True
        process = self._process
        if process is None:
            return None
        self.abandon()
        if process.stdin is not None:
            process.stdin.close()
        code = await process.wait()
        self._gone = True
        return code

    def abandon(self) -> None:
        """See Runner. Kills the child and what it started."""
        if self._process is not None and not self._gone:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    async def close(self) -> None:
        """See Runner."""
        if self._process is None or self._gone:
            return
        if not self.spent and self._process.returncode is None:
            try:
                await self.run("close", None, 5.0)
            except EnvFailed as exc:
                log.warning("closing %s: %s", self.spec.id, exc)
        await self._kill()


class ChildReply(msgspec.Struct):
    """What a child answers; one of the fields, by operation."""

    result: StepResult | None = None
    action: Action | None = None
    actions: list[str] | None = None
    error: str | None = None
    code: str = ""


class ChildCall(msgspec.Struct):
    """What a child is asked."""

    operation: str
    argument: msgspec.Raw = msgspec.Raw(b"\xc0")


class ChildHello(msgspec.Struct):
    """The first message to a child: the part of a spec that its host needs, and the options."""

    id: str
    entry: str
    options: dict[str, Any]
    reward_range: tuple[float, float]
    malformed_text: str
    reuse: bool
    images: bool

    @classmethod
    def of(cls, spec: EnvSpec, options: dict[str, Any], images: bool) -> ChildHello:
        """The message for a spec."""
        return cls(spec.id, spec.entry, options, spec.reward_range, spec.malformed_text, spec.reuse, images)

    def spec(self) -> EnvSpec:
        """A spec with what the host reads; the child may not know the plug-in it came from."""
        return EnvSpec(
            id=self.id,
            entry=self.entry,
            reward_range=self.reward_range,
            malformed_text=self.malformed_text,
            reuse=self.reuse,
            concurrency=Concurrency.PROCESS,
            version="",
            gym_name="",
            title="",
            tasks="",
            max_steps=0,
            success_rule="",
            action_grammar="",
        )


ARGUMENTS: dict[str, Any] = {"reset": Task, "step": Action, "finish": str}


RESULTS = {"reset": "result", "step": "result", "finish": "result", "oracle": "action", "actions": "actions"}
"""The field of a ChildReply that carries an operation's result; close has none."""


async def write_message(stream: asyncio.StreamWriter, message: Any) -> None:
    """Four bytes of length, then msgpack."""
    data = msgspec.msgpack.encode(message)
    if stream.is_closing():  # asyncio would take the bytes and drop them
        raise EOFError
    stream.write(len(data).to_bytes(4, "big") + data)
    await stream.drain()


async def read_message(stream: asyncio.StreamReader) -> bytes:
    """One message; EOFError when the other side is gone."""
    try:
        return await stream.readexactly(int.from_bytes(await stream.readexactly(4), "big"))
    except asyncio.IncompleteReadError as exc:
        raise EOFError from exc
