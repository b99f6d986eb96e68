"""`check_env`: hold an environment to the contract, rule by rule."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import msgspec

from agentenv.client.connect import remote
from agentenv.client.local import LocalTransport
from agentenv.client.transport import Transport
from agentenv.errors import AgentEnvError, BadCall, InfraError
from agentenv.protocol import TaskRef
from agentenv.registry import EnvSpec, get_spec
from agentenv.server.limits import ServerLimits
from agentenv.server.sessions import Sessions
from agentenv.testing.measure import IDLE, measure
from agentenv.testing.players import own_thread
from agentenv.testing.report import Finding, Measured, Report, Status
from agentenv.testing.rules.base import Broken, Needs, NotApplicable, NotCheckable, Rule
from agentenv.testing.rules.table import RULES
from agentenv.testing.specs import spec_from_json
from agentenv.testing.subject import SAMPLE, Subject, sample, spaced, stratified

PAGE = 1000
R = TypeVar("R")
Progress = Callable[[Rule], None]


def check_env(
    env: str | EnvSpec,
    *,
    options: Mapping[str, Any] | None = None,
    rules: Sequence[str] = (),
    sessions: int = 1000,
    budget_s: float = 20.0,
    measured: bool = True,
    progress: Progress | None = None,
) -> Report:
    """Check an environment of this process; `rules` names the only ones to check.

    Raises when the environment cannot be made at all: EnvUnavailable, or EnvFailed from its first reset.
    """
    spec = get_spec(env) if isinstance(env, str) else env
    chosen = _chosen(rules)
    return _run(lambda: _check_here(spec, options or {}, chosen, sessions, budget_s, measured, progress))


def check_url(
    url: str,
    env: str,
    *,
    token: str | None = None,
    rules: Sequence[str] = (),
    budget_s: float = 20.0,
    measured: bool = True,
    progress: Progress | None = None,
) -> Report:
    """Check an environment of a server as far as the wire allows. The token defaults to AGENTENV_TOKEN."""
    chosen = _chosen(rules)
    return _run(lambda: _check_there(url, env, token, chosen, budget_s, measured, progress))


def envs_at(url: str, *, token: str | None = None) -> list[str]:
    """The ids of the environments that a server has."""

    async def ask() -> list[str]:
        transport = remote(url, token=token)
        try:
            return list((await _get(transport, "/v1"))["envs"])
        finally:
            await transport.close()

    return _run(ask)


async def _check_here(
    spec: EnvSpec,
    options: Mapping[str, Any],
    rules: Sequence[Rule],
    sessions: int,
    budget_s: float,
    measured: bool,
    progress: Progress | None,
) -> Report:
    tasks = spec.task_set(options)
    table = Sessions(
        [spec],
        limits=ServerLimits(max_sessions=2 * IDLE),
        env_options={spec.id: options},
        oracle=True,
    )
    thread = own_thread(spec)
    transport = LocalTransport(table, owned=True)
    try:
        subject = Subject(
            spec=spec,
            transport=transport,
            tasks=sample(tasks),
            oracle=spec.solvable,
            options=options,
            task_set=tasks,
            thread=thread,
            sessions=sessions,
            budget_s=budget_s,
        )
        return await _check(subject, "this process", rules, measured, progress)
    finally:
        await transport.close()
        if thread is not None:
            thread.shutdown()


async def _check_there(
    url: str,
    env: str,
    token: str | None,
    rules: Sequence[Rule],
    budget_s: float,
    measured: bool,
    progress: Progress | None,
) -> Report:
    transport = remote(url, token=token)
    try:
        about, card = await _get(transport, "/v1"), await _get(transport, f"/v1/envs/{env}")
        subject = Subject(
            spec=spec_from_json(card),
            transport=transport,
            tasks=await _sample_there(transport, card),
            oracle=card["solvable"] and "oracle" in about["features"],
            options={},
            budget_s=budget_s,
        )
        return await _check(subject, url, rules, measured, progress)
    finally:
        await transport.close()


async def _check(
    subject: Subject, target: str, rules: Sequence[Rule], measured: bool, progress: Progress | None
) -> Report:
    await subject.probe()
    findings = []
    for rule in rules:
        if progress is not None:
            progress(rule)
        findings.append(await _finding(rule, subject))
    return Report(
        env=subject.spec.id,
        version=subject.spec.version,
        target=target,
        findings=findings,
        measured=await _measured(subject) if measured else None,
    )


async def _finding(rule: Rule, subject: Subject) -> Finding:
    started = time.perf_counter()
    status, detail = Status.NOT_CHECKABLE, "needs the env's own process"
    if subject.local or rule.needs is not Needs.OBJECT:
        try:
            status, detail = Status.PASS, await rule.check(subject)
        except NotApplicable as exc:
            status, detail = Status.NOT_APPLICABLE, str(exc)
        except NotCheckable as exc:
            status, detail = Status.NOT_CHECKABLE, str(exc)
        except Broken as exc:
            status, detail = Status.FAIL, str(exc)
        except InfraError:
            raise  # the server is gone, which says nothing of the env
        except Exception as exc:  # the env raised where the rule calls for an answer
            status, detail = Status.FAIL, f"{type(exc).__name__}: {exc}"
    return Finding(
        rule=rule.name,
        status=status,
        statement=rule.statement,
        detail=detail,
        seconds=round(time.perf_counter() - started, 3),
    )


async def _measured(subject: Subject) -> Measured | None:
    """None for an env that breaks under way; its rules say how."""
    try:
        return await measure(subject)
    except InfraError:
        raise
    except Exception:
        return None


async def _sample_there(transport: Transport, card: Mapping[str, Any]) -> list[TaskRef]:
    if "unavailable" in card:
        raise AgentEnvError(f"{card['id']} is unavailable at {transport.address}: {card['unavailable']}")
    found: list[TaskRef] = []
    for split, count in card["splits"].items():
        for page in spaced((count + PAGE - 1) // PAGE, 5):
            path = f"/v1/envs/{card['id']}/tasks?split={split}&offset={page * PAGE}&limit={PAGE}"
            found += [TaskRef(**task) for task in (await _get(transport, path))["tasks"]]
    return stratified(found, SAMPLE)


async def _get(transport: Transport, path: str) -> Any:
    return msgspec.json.decode(await transport.get_json(path))


def _chosen(names: Sequence[str]) -> Sequence[Rule]:
    known = {rule.name: rule for rule in RULES}
    for name in names:
        if name not in known:
            raise BadCall(f"no rule {name!r}; the rules are {', '.join(known)}")
    return [rule for rule in RULES if not names or rule.name in names]


def _run(work: Callable[[], Coroutine[Any, Any, R]]) -> R:
    """Run a coroutine to its end, also from inside a running loop (a notebook's)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work())
    with ThreadPoolExecutor(1) as own:
        return own.submit(lambda: asyncio.run(work())).result()
