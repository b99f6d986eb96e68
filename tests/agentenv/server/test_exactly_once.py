"""Exactly once, whatever the network does.

1. A step that the client made is done once by the env, however often its request or reply is lost, doubled or late.
2. The reply that the client gets is the reply of that one step.
3. A create makes one session; a reset begins one episode.
4. The same position with another body is refused, and so is another position; neither does anything.
5. Deleting any one guard makes this suite fail (the last test deletes each).
"""

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from serving import running
from toy_envs import GOAL, REAL_STEPS, SPECS, Clock
from transports import FAULTS, AsgiTransport, FaultyTransport, no_sleep

from agentenv.client.core import Connection, Patience, RemoteSession, create_call
from agentenv.client.http import HttpTransport
from agentenv.client.local import LocalTransport
from agentenv.client.transport import Transport
from agentenv.client.websocket import WebSocketTransport
from agentenv.errors import BY_CODE, EpisodeOver, SessionGone, UnknownSession
from agentenv.server.limits import ServerLimits
from agentenv.server.session import Session
from agentenv.server.sessions import Sessions
from agentenv.wire import Problem, StepBody, StepCall

LEASE_S = 100.0
ENVS = ("toy_inline", "toy_thread")

EXAMPLES = settings(
    max_examples=25,
    stateful_step_count=25,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


class Model:
    """What must be true of one session."""

    def __init__(self, session: RemoteSession, seed: int) -> None:
        self.session, self.seed = session, seed
        self.steps_before = REAL_STEPS[seed]
        self.steps_made = 0
        self.episode = 0
        self.count = 0
        self.over = False
        self.last_call: StepCall | None = None
        self.last_text = ""
        self.gone = False


class Machine(RuleBasedStateMachine):
    """Random calls over a faulty transport, checked against the model."""

    door: str = "local"
    server: tuple[Sessions, Clock, str] | None = None
    seeds = iter(range(10**9))

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.faults: list[str] = []
        self.models: list[Model] = []
        self.expected_sessions = 0

    @initialize(env=st.sampled_from(ENVS))
    def open(self, env: str) -> None:
        self.env = env
        self.run(self._open())
        self.create(faults=[])

    async def _open(self) -> None:
        if self.server is not None:
            self.sessions, self.clock, url = self.server
            inner: Transport = WebSocketTransport(url) if self.door == "websocket" else HttpTransport(url)
        else:
            self.clock = Clock()
            self.sessions = new_sessions(self.clock)
            inner = AsgiTransport(self.sessions) if self.door == "asgi" else LocalTransport(self.sessions)
        self.inner = inner
        self.expected_sessions = len(self.sessions._sessions)
        faulty = FaultyTransport(inner, lambda: self.faults.pop() if self.faults else "none")
        self.connection = Connection(faulty, patience=Patience(total_s=1e9), sleep=no_sleep)

    def run(self, work: Any) -> Any:
        return self.loop.run_until_complete(asyncio.wait_for(work, 20))

    faults_of_a_call = st.lists(st.sampled_from(FAULTS), max_size=3)

    @precondition(lambda self: len(self.live()) < 3)
    @rule(faults=faults_of_a_call)
    def create(self, faults: list[str]) -> None:
        self.faults = list(faults)
        seed = next(self.seeds) % 1000
        REAL_STEPS[seed] = 0
        session = self.run(self.connection.create(self.env, f"{self.env}/train/{seed}"))
        self.expected_sessions += 1
        self.models.append(Model(session, seed))
        assert session.observation == f"seed {seed} count 0"
        assert len(self.sessions._sessions) == self.expected_sessions

    def live(self) -> list[Model]:
        return [m for m in self.models if not m.gone]

    def pick(self, number: int) -> Model:
        return self.live()[number % len(self.live())]

    @precondition(lambda self: self.live())
    @rule(
        pick=st.integers(0, 7),
        words=st.lists(st.sampled_from(["go", "wait"]), min_size=1, max_size=4),
        faults=faults_of_a_call,
    )
    def steps(self, pick: int, words: list[str], faults: list[str]) -> None:
        for word in words:
            self.step(self.pick(pick), word, faults)

    def step(self, model: Model, word: str, faults: list[str]) -> None:
        self.faults = list(faults)
        if model.over:
            with pytest.raises(EpisodeOver) as caught:
                self.run(model.session.step(word))
            assert caught.value.extra["outcome"] == "success"
            return
        model.last_call = model.session.step_call(word)
        reply = self.run(model.session.step(word))
        model.steps_made += 1
        model.count += 1
        model.last_text = f"seed {model.seed} count {model.count} got {word}"
        model.over = model.count == GOAL
        assert reply.observation == model.last_text
        assert (reply.episode, reply.step) == (model.episode, model.count)
        assert reply.reward == float(model.over)
        assert (reply.outcome == "success") == model.over
        self.check(model)

    @precondition(lambda self: self.live())
    @rule(pick=st.integers(0, 7))
    def resend_the_last_step(self, pick: int) -> None:
        model = self.pick(pick)
        if model.last_call is None:
            return
        [reply] = self.run(self.inner.exchange([model.last_call], 10.0))
        assert reply.status == 200
        assert reply.body.observation == model.last_text
        self.check(model)

    @precondition(lambda self: self.live())
    @rule(pick=st.integers(0, 7), shift=st.sampled_from([-1, 1, 5]))
    def call_at_another_position_or_with_another_body(self, pick: int, shift: int) -> None:
        model = self.pick(pick)
        session = model.session
        body = StepBody("other", session.episode, session.step_number + shift)
        [reply] = self.run(self.inner.exchange([StepCall(session.id, body)], 10.0))
        is_last = shift == -1 and model.last_call is not None and model.count > 0
        assert isinstance(reply.body, Problem)
        assert reply.body.code == ("request_mismatch" if is_last else "step_conflict")
        self.check(model)

    @precondition(lambda self: self.live())
    @rule(pick=st.integers(0, 7), faults=faults_of_a_call)
    def reset(self, pick: int, faults: list[str]) -> None:
        model = self.pick(pick)
        self.faults = list(faults)
        reply = self.run(model.session.reset(f"{self.env}/train/{model.seed}"))
        model.episode, model.count, model.over, model.last_call = model.episode + 1, 0, False, None
        assert (reply.episode, reply.step) == (model.episode, 0)
        self.check(model)

    @precondition(lambda self: any(m.count for m in self.live()))
    @rule(pick=st.integers(0, 7), faults=faults_of_a_call)
    def close(self, pick: int, faults: list[str]) -> None:
        model = self.pick(pick)
        self.faults = list(faults)
        final = self.run(model.session.close())
        assert final is not None
        assert final.outcome == ("success" if model.over else "cancelled")
        assert final.step == model.count
        self.check(model)
        model.gone = True
        self.expected_sessions -= 1
        assert len(self.sessions._sessions) == self.expected_sessions

    @precondition(lambda self: any(m.count for m in self.live()))
    @rule()
    def expire(self) -> None:
        if self.server is not None:
            return  # that table lives on another loop, with sessions of other examples
        self.clock.advance(LEASE_S + 1)
        for model in self.models:
            if model.gone:
                continue
            with pytest.raises((SessionGone, UnknownSession)):
                self.run(model.session.step("go"))
            self.check(model)
            model.gone = True
        self.expected_sessions = 0

    @rule(faults=faults_of_a_call)
    def a_key_makes_one_session(self, faults: list[str]) -> None:
        call = create_call(self.env, f"{self.env}/train/999")
        self.faults = list(faults)
        [first] = self.run(self.connection.send([call], 10.0))
        [again] = self.run(self.inner.exchange([call], 10.0))
        assert first.body.session == again.body.session
        other = create_call(self.env, f"{self.env}/train/998")
        other.body.key = call.body.key
        [refused] = self.run(self.inner.exchange([other], 10.0))
        assert refused.body.code == "request_mismatch"
        self.expected_sessions += 1
        assert len(self.sessions._sessions) == self.expected_sessions
        self.run(self.connection.created(self.env, first).close())
        self.expected_sessions -= 1

    def check(self, model: Model) -> None:
        """The env did as many steps as the client made."""
        assert REAL_STEPS[model.seed] == model.steps_made

    def teardown(self) -> None:
        async def end() -> None:
            for model in self.models:
                if not model.gone:
                    await model.session.close()
            await self.connection.close()
            if self.server is None:
                await self.sessions.close()

        if hasattr(self, "connection"):
            self.faults = []
            with contextlib.suppress(TimeoutError):
                self.run(end())
        self.loop.close()


def new_sessions(clock: Clock) -> Sessions:
    return Sessions(
        SPECS.values(),
        limits=ServerLimits(lease_s=LEASE_S),
        env_options={"toy_thread": {"pause_s": 0.001}},
        clock=clock,
    )


def machine(door: str, server: tuple[Sessions, Clock, str] | None = None) -> type[Machine]:
    return type(f"Machine_{door}", (Machine,), {"door": door, "server": server})


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[Sessions, Clock, str]]:
    clock = Clock()
    sessions = new_sessions(clock)
    with running(sessions) as url:
        yield sessions, clock, url


@pytest.mark.parametrize("door", ["local", "asgi"])
def test_every_step_is_done_once_in_this_process(door: str) -> None:
    run_state_machine_as_test(machine(door), settings=EXAMPLES)


@pytest.mark.parametrize("door", ["websocket", "http"])
def test_every_step_is_done_once_over_a_socket(door: str, server: tuple[Sessions, Clock, str]) -> None:
    run_state_machine_as_test(machine(door, server), settings=EXAMPLES)


# Each guard, deleted. The suite above must notice.


@contextlib.contextmanager
def no_digest(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """The body of a resend is not compared."""
    kept = Session.kept_reply

    def loose(self: Session, operation: str, episode: int | None, step: int | None, body: Any) -> Any:
        last = self._last
        return kept(self, operation, episode, step, last.body if last is not None else body)

    patch.setattr(Session, "kept_reply", loose)
    yield


@contextlib.contextmanager
def no_position(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """The position of a call is not looked at."""
    patch.setattr(Session, "kept_reply", lambda *_: None)
    yield


@contextlib.contextmanager
def no_conflict(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """A resend is known, but any other position is let through."""
    kept = Session.kept_reply

    def loose(self: Session, operation: str, episode: int | None, step: int | None, body: Any) -> Any:
        try:
            return kept(self, operation, episode, step, body)
        except BY_CODE["step_conflict"]:
            return None

    patch.setattr(Session, "kept_reply", loose)
    yield


@contextlib.contextmanager
def no_waiting(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """A resend does not wait for the call that still runs."""

    class Open:
        async def __aenter__(self) -> None: ...
        async def __aexit__(self, *exc: object) -> None: ...

    made = Session.__init__

    def init(self: Session, *args: Any, **kwargs: Any) -> None:
        made(self, *args, **kwargs)
        self.lock = Open()  # type: ignore[assignment]

    patch.setattr(Session, "__init__", init)
    yield


@contextlib.contextmanager
def no_key(patch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keys are ignored."""

    async def create(self: Sessions, call: Any) -> Any:
        return await self._make(call.body)

    patch.setattr(Sessions, "_create", create)
    yield


@pytest.mark.parametrize("guard", [no_digest, no_position, no_conflict, no_waiting, no_key], ids=lambda g: g.__name__)
def test_deleting_a_guard_makes_the_suite_fail(guard: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with guard(monkeypatch), pytest.raises(BaseException) as caught:
        run_state_machine_as_test(
            machine("local"), settings=settings(EXAMPLES, max_examples=60, phases=[Phase.generate])
        )
    groups = caught.value.exceptions if isinstance(caught.value, BaseExceptionGroup) else (caught.value,)
    assert any(
        isinstance(e, (AssertionError, TimeoutError, *BY_CODE.values())) or "DID NOT RAISE" in str(e) for e in groups
    )
