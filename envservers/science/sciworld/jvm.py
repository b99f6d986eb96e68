"""One Java machine and the simulator in it: worlds are loaded side by side, and one call runs at a time.

The simulator keeps three things for the whole machine that belong to one episode: the state of its random generator,
the counter of object ids, and which simplifications are on. So each world has its own copy here, which is put in place
before the world is used and taken back before another one is.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from py4j.java_gateway import GatewayClient, GatewayConnection, GatewayParameters, JavaGateway
from py4j.protocol import Py4JError, Py4JJavaError

from agentenv.errors import EnvFailed
from envservers.science.sciworld.launch import launch

CALL_S = 100.0
"""Seconds that one call may take by default; a machine that takes longer hangs and is ended."""
MIXED = 0x5DEECE66D
"""`java.util.Random.setSeed(s)` makes the state `s ^ MIXED`; so this undoes it."""


@dataclass(frozen=True, slots=True)
class Globals:
    """What one world has of the machine's own state."""

    random: int
    ids: int
    simplifications: str


class Jvm:
    """A running machine. Every method takes its lock; after the machine's death each is EnvFailed."""

    def __init__(self, *, heap_mb: int, claimed: bool = True, call_s: float = CALL_S) -> None:
        self._launched = launch(heap_mb=heap_mb, claimed=claimed)
        self._lock = threading.RLock()
        self.worlds: weakref.WeakSet[Any] = weakref.WeakSet()
        """Those that are in use; a world that nobody holds leaves by itself."""
        self._inside: weakref.ref[Any] | None = None
        """The world whose state is in place."""
        try:
            self._connect(call_s)
        except BaseException:
            self._launched.end()
            raise

    def _connect(self, call_s: float) -> None:
        parameters = GatewayParameters(
            port=self._launched.port, auth_token=self._launched.token, read_timeout=call_s, auto_field=False
        )
        self._gateway = _Gateway(gateway_parameters=parameters)
        self._undelayed = 0
        """Connections whose answers come at once."""
        with self.calls("start"):
            java = self._gateway.jvm
            # The simulator tells its every move on the standard output; this comes before it opens it.
            java.java.lang.System.setOut(java.java.io.PrintStream(java.java.io.OutputStream.nullOutputStream()))
            self._interface = java.scienceworld.runtime.pythonapi.PythonInterface()
            self._ids = self._singleton("util.UniqueIdentifier")
            self._simplifier = self._singleton("main.scala.scienceworld.runtime.SimplifierProcessor")
            self._paths = self._singleton("scienceworld.goldagent.PathFinder")
            self._random = self._singleton("scala.util.Random").self()
            self._seed = self._random.getClass().getDeclaredField("seed")
            self._seed.setAccessible(True)

    def _singleton(self, name: str) -> Any:
        """A Scala object, of which a machine has one."""
        return self._gateway.jvm.java.lang.Class.forName(f"{name}$").getField("MODULE$").get(None)

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._launched.process.pid

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._launched.process.poll() is None

    def end(self) -> None:
        """End the machine with all its worlds, also in the middle of a call; a second call does nothing."""
        self._launched.process.kill()
        with self._lock:
            self._gateway.close_quietly()
            self._launched.end()

    @contextmanager
    def calls(self, what: str) -> Iterator[None]:
        """The only way to call: alone, with every failure as EnvFailed; one of the machine itself ends it."""
        with self._lock:
            if not self.alive:
                self.end()
                raise EnvFailed(self._death(what))
            try:
                if self._gateway.connections != self._undelayed:
                    self._undelay()
                yield
            except Py4JJavaError as exc:
                raise EnvFailed(f"{what}: the simulator raised {exc.java_exception.toString()}") from exc
            except Py4JError as exc:
                self.end()
                raise EnvFailed(self._death(what)) from exc
            except (KeyboardInterrupt, SystemExit):  # the call still runs in there
                self.end()
                raise

    def _undelay(self) -> None:
        """Have long answers sent at once: by default their second part waits 40 ms for the receipt of the first."""
        server = self._gateway.java_gateway_server
        field = server.getClass().getDeclaredField("connections")
        field.setAccessible(True)
        for connection in list(field.get(server)):
            connection.getSocket().setTcpNoDelay(True)
        self._undelayed = self._gateway.connections

    def _death(self, what: str) -> str:
        code = self._launched.process.returncode
        return f"{what}: the Java machine of this session has ended (exit code {code}); reset starts another"

    def load(self, task: str, variation: int, simplifications: str) -> Any:
        """A new world of the simulator (its AgentInterface); call inside `calls`, then `entered`."""
        self._leave()
        if error := self._interface.load(task, variation, simplifications, False):
            raise EnvFailed(f"the simulator cannot load {task} {variation}: {error}")
        return self._interface.agentInterface().get()

    @contextmanager
    def entered(self, world: Any, state: Globals | None) -> Iterator[None]:
        """Put `state` in place for `world` unless it is there already; None after `load`, which made it."""
        if self._inside is None or self._inside() is not world:
            self._leave()
            if state is not None:
                self.put(state)
            self._inside = weakref.ref(world)
        yield

    def _leave(self) -> None:
        world = None if self._inside is None else self._inside()
        if world is not None:
            world.state = self.taken(world.state.simplifications)
        self._inside = None

    def taken(self, simplifications: str) -> Globals:
        """The state that is in place."""
        return Globals(self._seed.get(self._random), self._ids.count(), simplifications)

    def put(self, state: Globals) -> None:
        """Put a state in place."""
        self._random.setSeed(state.random ^ MIXED)
        getattr(self._ids, "count_$eq")(state.ids)
        self._simplifier.parseSimplificationStr(state.simplifications)

    def solution(self, task: str, variation: int, simplifications: str) -> list[str]:
        """The simulator's own way to the goal. Takes seconds."""
        with self.calls("solution"):
            self._leave()
            # Paths through the building are kept from an earlier call, and finding them draws random numbers.
            self._paths.precomputedExhaustivePaths().clear()
            self._interface.load(task, variation, simplifications, True)
            return [str(action) for action in self._interface.getGoldActionSequence()]


class _Client(GatewayClient):  # type: ignore[misc]
    """Raises a lost connection as it is; the library sends some calls again and writes to the root logger."""

    made = 0
    """Connections so far: one, and another when an object is freed in the middle of a call."""

    def _create_connection(self) -> GatewayConnection:
        self.made += 1
        return super()._create_connection()

    def send_command(self, command: str, retry: bool = True, binary: bool = False) -> str:
        connection = self._get_connection()
        try:
            response: str = connection.send_command(command)
        except BaseException:  # also an interrupt: the answer to come would be taken for the next call's
            connection.close(reset=True)
            raise
        self._give_back_connection(connection)
        return response


class _Gateway(JavaGateway):  # type: ignore[misc]
    def _create_gateway_client(self) -> GatewayClient:
        return _Client(gateway_parameters=self.gateway_parameters)

    @property
    def connections(self) -> int:
        """How many were made so far."""
        made: int = self._gateway_client.made
        return made

    def close_quietly(self) -> None:
        """Drop every connection; objects that are freed later are not told to the machine."""
        self._gateway_client.is_connected = False
        self._gateway_client.close()
