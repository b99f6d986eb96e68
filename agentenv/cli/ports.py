"""Whether a port is free, and who holds it when it is not."""

from __future__ import annotations

import errno
import socket

from agentenv.errors import AgentEnvError, BadCall


class PortBusy(AgentEnvError):
    """Another process listens on the port."""

    code, status = "port_busy", 503


def require_free(host: str, port: int) -> None:
    """Raise PortBusy, with the process that holds the port and a free one, when `host:port` cannot be bound."""
    if port == 0:
        return
    problem = bind_problem(host, port)
    if problem is None:
        return
    if problem.errno != errno.EADDRINUSE:
        raise BadCall(f"cannot listen on {host}:{port}: {problem.strerror or problem}")
    raise PortBusy(
        f"port {port} is taken by {holder(port)}; stop it, or take another one: `--port {free_port(host)}` is free"
    )


def bind_problem(host: str, port: int) -> OSError | None:
    """Why `host:port` cannot be bound; None when it can."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as servers do: TIME_WAIT is no holder
            probe.bind(address)
    except OSError as exc:
        return exc
    return None


def free_port(host: str) -> int:
    """A port that is free right now."""
    family, kind, protocol, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.bind(address)
        return int(probe.getsockname()[1])


def holder(port: int) -> str:
    """The process that listens on `port`, as `name (pid 12)`; in general words where the system does not tell."""
    import psutil

    try:
        listening = [c for c in psutil.net_connections(kind="tcp") if c.status == psutil.CONN_LISTEN]
        pids = {c.pid for c in listening if c.laddr and c.laddr.port == port}
        for pid in sorted(p for p in pids if p):
            return f"{psutil.Process(pid).name()} (pid {pid})"
    except (psutil.Error, OSError):
        pass  # other users' processes are hidden on some systems
    return "a process that this user may not see"
