"""A run's row against its episodes: counts worked out again, actions played again.

What this shows: these recorded actions, in that version of the environment, produce these observations, rewards and
outcomes. It does not show which model chose them.
"""

from __future__ import annotations

import contextlib
import hashlib
import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

from agentenv.at_once import at_once
from agentenv.errors import AgentEnvError, UnknownEnv
from agentenv.pool import EnvPool
from agentenv.registry import get_spec
from evals.software import software_differences
from evals.store.plans import utc_now
from evals.verify.chain import chain_root
from evals.verify.counts import count_problems, standing
from evals.verify.record import RunRecord, Try
from evals.verify.replay import Divergence, card_problem, replay

CLAIM = (
    "These recorded actions, in that version of the environment, produce these observations, rewards and outcomes. "
    "It does not show which model chose them."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a verification came to."""

    run: str
    level: str
    """`verified`, `counts do not hold`, `diverged`, `not replayable`."""
    verified: int
    """Episodes that came out as recorded."""
    of: int
    """Episodes that count."""
    sample: int | None
    """How many of them were to be played; None for all."""
    invalid: int
    """Tries that are outside of the denominator; they are counted and not played."""
    problems: Sequence[str]
    """What the counts hide or make up."""
    divergences: Sequence[Divergence]
    reasons: Sequence[str]
    """Why episodes could not be played here."""
    software: Sequence[str]
    """Packages, Python and platform that are of another version than the run's: where to look after a divergence."""
    chain: str
    verifier: str
    platform: str
    at: str
    by: str
    """`self`: on the machine whose store holds the run; `other`: from a bundle."""

    @property
    def ok(self) -> bool:
        """Whether nothing speaks against the row."""
        return self.level == "verified"

    @property
    def mark(self) -> str:
        """As a table shows it."""
        match self.level:
            case "verified":
                return f"verified {self.verified}/{self.of}"
            case "diverged":
                return str(self.divergences[0])
            case "not replayable":
                return f"not replayable ({self.reasons[0]})"
        return f"{self.level}: {self.problems[0]}"

    def to_dict(self) -> dict[str, Any]:
        """As JSON values."""
        return {**asdict(self), "mark": self.mark, "ok": self.ok, "claim": CLAIM}


async def verify(
    record: RunRecord,
    *,
    by: str = "self",
    sample: int | None = None,
    servers: Sequence[str] = (),
    token: str | None = None,
    concurrency: int = 16,
    on_episode: Callable[[], None] = lambda: None,
) -> Verdict:
    """Check the counts, then play every episode that counts, or `sample` of them drawn by hash."""
    counting = standing(record)
    chosen = counting if sample is None else sampled(counting, sample, record.id)
    divergences, reasons, same = await _replayed(record, chosen, servers, token, concurrency, on_episode)
    problems = count_problems(record)
    return Verdict(
        run=record.id,
        level=_level(problems, divergences, reasons),
        verified=same,
        of=len(counting),
        sample=None if sample is None else len(chosen),
        invalid=sum(not one.trajectory.outcome.valid for one in record.tries),
        problems=problems,
        divergences=divergences,
        reasons=reasons,
        software=software_differences(record.software),
        chain=chain_root(record.tries),
        **verifier(),
        by=by,
    )


def verifier() -> dict[str, str]:
    """What played, where and when."""
    return {
        "verifier": version("agentenv-gym"),
        "platform": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "at": utc_now(),
    }


def sampled(tries: Sequence[Try], count: int, key: str) -> list[Try]:
    """So many tries, by the hash of their slot: the same ones for everybody who asks for as many."""
    order = sorted(tries, key=lambda one: hashlib.sha256(f"{key} {one.slot}".encode()).digest())
    return sorted(order[:count], key=lambda one: one.slot)


def _level(problems: Sequence[str], divergences: Sequence[Divergence], reasons: Sequence[str]) -> str:
    if divergences:
        return "diverged"
    if reasons:
        return "not replayable"
    return "counts do not hold" if problems else "verified"


async def _replayed(
    record: RunRecord,
    tries: Sequence[Try],
    servers: Sequence[str],
    token: str | None,
    concurrency: int,
    on_episode: Callable[[], None],
) -> tuple[list[Divergence], list[str], int]:
    """Divergences by slot, reasons why worlds cannot be played here, and how many episodes came out the same."""
    reasons: dict[str, str] = {}
    async with contextlib.AsyncExitStack() as stack:
        pools: dict[str, EnvPool] = {}
        for world in record.worlds:
            reason = await _opened(stack, pools, world, servers, token, concurrency)
            if reason:
                reasons[world["label"]] = reason
        playable = [one for one in tries if _label(record, one) not in reasons]

        async def again(one: Try) -> Divergence | AgentEnvError | None:
            try:
                return await replay(pools[_label(record, one)], one.trajectory)
            except AgentEnvError as error:
                return error
            finally:
                on_episode()

        found = await at_once(playable, again, most=concurrency)
    lost = [str(outcome) for outcome in found if isinstance(outcome, AgentEnvError)]
    divergences = [outcome for outcome in found if isinstance(outcome, Divergence)]
    return divergences, list(dict.fromkeys([*reasons.values(), *lost])), sum(outcome is None for outcome in found)


async def _opened(
    stack: contextlib.AsyncExitStack,
    pools: dict[str, EnvPool],
    world: Any,
    servers: Sequence[str],
    token: str | None,
    concurrency: int,
) -> str:
    """Open a pool for one world of the run; why its episodes cannot be played, else empty."""
    try:
        pool = EnvPool(
            world["env"],
            servers=servers,
            size=concurrency,
            options=world["options"],
            max_steps=world["max_steps"],
            token=token,
        )
        pools[world["label"]] = await stack.enter_async_context(pool)
        return card_problem(world, pool.card) or _own_reason(world)
    except AgentEnvError as error:
        return error.message


def _own_reason(world: Any) -> str:
    """What the env itself says against a replay; nothing for one that only a server has."""
    try:
        spec = get_spec(world["env"])
    except UnknownEnv:
        return ""
    return spec.unreplayable_because(spec.resolve_options(world["options"]))


def _label(record: RunRecord, one: Try) -> str:
    return record.plan[one.slot % len(record.plan)].label
