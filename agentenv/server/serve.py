"""`serve`: bind a port, run the application under uvicorn until a signal comes, leave nothing behind."""

from __future__ import annotations

import contextlib
import errno
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentenv.errors import AgentEnvError, BadCall
from agentenv.registry import Concurrency, EnvSpec
from agentenv.server.guard import is_loopback
from agentenv.server.limits import ServerLimits
from agentenv.server.sessions import Sessions

EVERY_ADDRESS = ("0.0.0.0", "::", "")


class PortBusy(AgentEnvError):
    """Another process holds the port."""

    code = "port_busy"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeConfig:
    """Where and how to serve."""

    host: str = "127.0.0.1"
    port: int = 8000
    """0 takes any free port."""
    max_sessions: int = 1024
    lease_s: float = 600.0
    token: str | None = None
    """Required of every client; without one only loopback is served."""
    oracle: bool = False
    """Whether clients may ask for the scripted solutions."""
    env_options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    allow_hosts: tuple[str, ...] = ()
    """Further names that the server answers to."""
    grace_s: int = 3
    """Seconds that a signal leaves to requests under way, and once more to the envs that they wait for."""


def serve(specs: Sequence[EnvSpec], config: ServeConfig, *, on_ready: Callable[[str], None] | None = None) -> None:
    """Serve until SIGINT or SIGTERM. Calls `on_ready(url)` once requests are answered.

    Raises BadCall for a host that needs a token and has none, PortBusy when the port is taken.
    """
    import uvicorn

    from agentenv.server.app import make_app
    from agentenv.server.mounts import Served, mounts

    if config.token is None and not is_loopback(config.host):
        raise BadCall(
            f"host {config.host!r} is reachable from other machines and there is no token; "
            "set AGENTENV_TOKEN or --token-file, or serve on 127.0.0.1"
        )
    for spec in specs:  # a wrong option or a missing engine is told now, not at the first session
        spec.task_set(spec.resolve_options(config.env_options.get(spec.id, {})))
        if spec.concurrency is not Concurrency.PROCESS:  # such an engine is kept out of this process
            spec.load_class()
    listener = bind(config.host, config.port)
    port = listener.getsockname()[1]
    limits = ServerLimits(max_sessions=config.max_sessions, lease_s=config.lease_s, grace_s=config.grace_s)
    sessions = Sessions(
        specs,
        limits=limits,
        env_options=config.env_options,
        oracle=config.oracle,
    )
    hosts = {*own_hosts(config.host), *config.allow_hosts}
    pages = mounts(Served(sessions=sessions, token=config.token))
    app = make_app(sessions, hosts=hosts, token=config.token, pages=pages)
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            ws_max_size=sessions.limits.max_body_bytes,
            ws_per_message_deflate=False,
            timeout_graceful_shutdown=config.grace_s,
        )
    )
    if on_ready is not None:
        _announce(server, lambda: on_ready(f"http://{_shown(config.host)}:{port}"))
    try:
        with _signals_end(server):
            server.run(sockets=[listener])
    finally:
        listener.close()


@contextlib.contextmanager
def _signals_end(server: Any) -> Iterator[None]:
    """SIGINT and SIGTERM end a server in order. uvicorn raises them once more after its end: to these handlers."""

    def end(*_: object) -> None:
        server.should_exit = True

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def own_hosts(host: str) -> set[str]:
    """The names that clients may use for a server on `host`: on every address, all of this machine's."""
    if host not in EVERY_ADDRESS:
        return {host}
    import psutil

    found = {socket.gethostname()}
    for addresses in psutil.net_if_addrs().values():
        found |= {a.address.partition("%")[0] for a in addresses if a.family in (socket.AF_INET, socket.AF_INET6)}
    return found


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; PortBusy names the process that holds the port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named: asyncio sets TCP_NODELAY only then, and without it each reply waits 40 ms for an ACK.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as exc:
        listener.close()
        if exc.errno == errno.EADDRINUSE:
            holder = holder_of(port)
            who = f" by {holder}" if holder else ""
            raise PortBusy(
                f"port {port} on {host} is taken{who}; choose another with --port, or --port 0 for any free one"
            ) from exc
        raise BadCall(f"cannot bind {host}:{port}: {exc}") from exc
    listener.listen(2048)
    listener.set_inheritable(False)
    return listener


def holder_of(port: int) -> str:
    """`name (pid N)` of the process that listens on a port, where it can be told."""
    import psutil

    try:
        for connection in psutil.net_connections("inet"):
            if connection.laddr and connection.laddr.port == port and connection.status == psutil.CONN_LISTEN:
                if connection.pid is None:
                    return ""
                return f"{psutil.Process(connection.pid).name()} (pid {connection.pid})"
    except psutil.Error:
        pass
    return ""


def _announce(server: Any, ready: Callable[[], None]) -> None:
    """Call `ready` after uvicorn's start-up."""
    startup = server.startup

    async def announced(sockets: Any = None) -> None:
        await startup(sockets)
        ready()

    server.startup = announced


def _shown(host: str) -> str:
    if host in EVERY_ADDRESS:
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host
