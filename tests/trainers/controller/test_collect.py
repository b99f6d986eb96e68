"""Collecting: every episode at its own pace, lost ones played again, the rest cut when the phase's time is up."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Sequence

import pytest
from toy_agents import Scripted
from toy_registry import registered
from trainer_envs import SlowStart, coins

from agentenv.agents import AgentSpec
from agentenv.errors import BadCall
from agentenv.protocol import Outcome
from trainers.collect import Collected, ErrorRate, Place, Played, collect
from trainers.config import EnvironmentSettings, RolloutSettings, TrainConfig
from trainers.rooms import Room, open_rooms
from trainers.tasks import Slot


@pytest.fixture(autouse=True)
def _toys():
    with registered():
        yield


@contextlib.asynccontextmanager
async def rooms_of(env: str = "toy_inline", **settings) -> AsyncIterator[list[Room]]:
    config = TrainConfig(environments=[EnvironmentSettings(env=env, **settings)])
    config.evaluation.before = False
    async with open_rooms(config) as rooms:
        yield rooms


def places_of(room: Room, groups: int, members: int = 1) -> list[Place]:
    slots = [Slot(env=0, task=room.tasks[g], group=g) for g in range(groups)]
    return [Place(slot=slot, member=member) for slot in slots for member in range(members)]


def collected(
    agent_of: Callable[[Place, int], AgentSpec],
    *,
    groups: int,
    members: int = 1,
    seen: Callable[[Played], None] | None = None,
    limit: int | None = None,
    room: dict | None = None,
    **settings,
) -> Collected:
    """One phase in an environment of its own."""

    async def run() -> Collected:
        async with rooms_of(**(room or {})) as rooms:
            await rooms[0].pool.limit_steps(limit)
            return await collect(
                rooms,
                places_of(rooms[0], groups, members),
                lambda _, place, attempt: agent_of(place, attempt),
                RolloutSettings(**settings),
                on_episode=seen,
            )

    return asyncio.run(run())


def endings(found: Collected) -> list[str]:
    return [p.trajectory.outcome.value for p in found.played]


def test_no_episode_waits_for_the_turn_of_another():
    ended: list[int] = []
    slow, fast = Scripted("go", think_s=0.06), Scripted("go", think_s=0.001)
    found = collected(
        lambda place, attempt: (slow if place.slot.group == 0 else fast).spec,
        groups=4, seen=lambda played: ended.append(played.place.slot.group),
    )  # fmt: skip
    assert ended[-1] == 0
    assert [p.place.slot.group for p in found.played] == [0, 1, 2, 3], "the order is that of the places all the same"
    assert found.seconds < 2 * 5 * 0.06


def test_environments_are_made_and_reset_side_by_side():
    with coins():
        found = collected(
            lambda place, attempt: Scripted("go").spec, groups=8, room={"env": "slow_start"}, concurrency=8
        )
    assert endings(found) == ["failure"] * 8
    assert found.seconds < 8 * SlowStart.PAUSE_S, "one after the other would take twice that"


def test_a_lost_episode_is_played_again_with_another_attempt():
    asked: list[tuple[int, int, int]] = []

    def agent_of(place: Place, attempt: int) -> AgentSpec:
        asked.append((place.slot.group, place.member, attempt))
        broken = place.slot.group == 1 and attempt < 2
        return Scripted("raise" if broken else "go").spec

    found = collected(agent_of, groups=2, members=2, max_refills=3)
    assert endings(found) == ["success"] * 4
    assert [p.attempt for p in found.played] == [0, 0, 2, 2]
    assert [(p.place.slot.group, p.place.member, p.attempt) for p in found.lost] == [
        (1, 0, 0), (1, 0, 1), (1, 1, 0), (1, 1, 1),
    ]  # fmt: skip
    assert {p.trajectory.task.id for p in found.lost} == {found.played[2].trajectory.task.id}, "the same task again"
    assert sorted(asked) == sorted({*asked}), "no attempt is made twice"
    assert found.counts == {"lost_env_error": 4}
    assert found.tries == 8


def test_after_the_last_refill_a_member_stays_out_and_its_group_goes_on():
    found = collected(
        lambda place, attempt: Scripted("raise" if place.member == 0 else "go").spec,
        groups=1, members=3, max_refills=2,
    )  # fmt: skip
    assert [p.place.member for p in found.played] == [1, 2]
    assert [p.attempt for p in found.lost] == [0, 1, 2]


def test_an_agent_that_crashes_is_refilled_and_a_wrong_action_is_not():
    found = collected(
        lambda place, attempt: Scripted(RuntimeError("tokens ran out") if not attempt else "").spec, groups=1, limit=3
    )
    assert [p.trajectory.outcome for p in found.lost] == [Outcome.AGENT_ERROR]
    assert endings(found) == ["step_limit"]


def test_when_the_phase_is_over_the_rest_is_cancelled_and_its_sessions_are_free():
    patient, quick = Scripted("go", think_s=30.0), Scripted("go")

    async def run() -> tuple[Collected, Collected]:
        async with rooms_of() as rooms:
            places = places_of(rooms[0], 4)
            settings = RolloutSettings(phase_timeout_s=1.0, concurrency=2)
            cut = await collect(
                rooms, places, lambda _, place, __: (patient if place.slot.group else quick).spec, settings
            )
            settings.phase_timeout_s = 20.0
            return cut, await collect(rooms, places, lambda *_: quick.spec, settings)

    cut, after = asyncio.run(run())
    assert [p.place.slot.group for p in cut.played] == [0]
    assert cut.cancelled == 3, "two were thinking, one had no place yet"
    assert cut.counts == {"cancelled": 3}
    assert cut.lost == [], "nothing is refilled"
    assert endings(after) == ["success"] * 4


def test_when_the_caller_is_cancelled_sessions_are_free():
    async def run() -> Collected:
        async with rooms_of() as rooms:
            places = places_of(rooms[0], 2)
            settings = RolloutSettings(concurrency=2)
            thinking = Scripted("go", think_s=30.0)
            task = asyncio.create_task(collect(rooms, places, lambda *_: thinking.spec, settings))
            while thinking.calls < 2:
                await asyncio.sleep(0.005)
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            return await collect(rooms, places, lambda *_: Scripted("go").spec, settings)

    assert endings(asyncio.run(run())) == ["success", "success"]


def test_a_wrong_call_ends_the_phase_at_once():
    wrong, patient = Scripted(BadCall("the opening is too long")), Scripted("go", think_s=30.0)
    started = time.monotonic()
    with pytest.raises(BadCall, match="the opening is too long"):
        collected(lambda place, attempt: (patient if place.slot.group else wrong).spec, groups=3)
    assert time.monotonic() - started < 10


def test_no_more_episodes_are_under_way_than_allowed():
    under_way, most = 0, 0

    def agent_of(place: Place, attempt: int) -> AgentSpec:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        return Scripted("go", think_s=0.002).spec

    def seen(played: Played) -> None:
        nonlocal under_way
        under_way -= 1

    assert len(collected(agent_of, groups=9, seen=seen, concurrency=3).played) == 9
    assert most == 3


@pytest.mark.parametrize(
    ("limit", "calls", "outcome", "reward"), [(4, 4, "step_limit", 0.0), (5, 5, "success", 1.0), (6, 5, "success", 1.0)]
)
def test_the_limit_of_turns_is_the_sessions(limit, calls, outcome, reward):
    model = Scripted("go")
    found = collected(lambda place, attempt: model.spec, groups=1, limit=limit)
    [played] = found.played
    assert model.calls == calls
    assert (played.trajectory.outcome.value, played.trajectory.reward) == (outcome, reward)
    assert played.trajectory.outcome.truncated == (outcome == "step_limit")
    assert played.trajectory.max_steps == limit


def test_the_limit_may_change_between_two_phases():
    async def run(limits: Sequence[int]) -> list[int]:
        async with rooms_of() as rooms:
            steps = []
            for limit in limits:
                await rooms[0].pool.limit_steps(limit)
                found = await collect(rooms, places_of(rooms[0], 1), lambda *_: Scripted("go").spec, RolloutSettings())
                steps.append(found.played[0].trajectory.steps)
            return steps

    assert asyncio.run(run([2, 3, 3, 4, 2])) == [2, 3, 3, 4, 2]


def test_time_of_the_agent_ends_an_episode_and_it_is_not_played_again():
    slow = Scripted("go", think_s=0.06)
    found = collected(lambda place, attempt: slow.spec, groups=2, room={"step_timeout_s": 0.15})
    assert endings(found) == ["time_limit", "time_limit"]
    assert [p.trajectory.steps for p in found.played] == [2, 2]
    assert not found.played[0].trajectory.outcome.trains
    assert found.lost == []


def test_time_of_the_environment_is_not_the_agents():
    found = collected(
        lambda place, attempt: Scripted("go").spec, groups=1,
        room={"env": "toy_thread", "options": {"pause_s": 0.06}, "step_timeout_s": 0.2},
    )  # fmt: skip
    assert endings(found) == ["success"]
    assert found.seconds > 0.2


def test_the_rate_of_errors_is_over_five_steps():
    rate = ErrorRate(most=0.2)
    shares = [rate.note(lost, 10) for lost in (9, 0, 0, 0)]
    assert shares == [0.9, 0.45, 0.3, 0.225]
    assert not any(rate.over(share) for share in shares), "four steps are no window"
    assert rate.over(rate.note(2, 10))
    assert not rate.over(rate.note(0, 10)), "the first step has left the window"


def test_a_step_of_nothing_but_errors_is_enough():
    rate = ErrorRate(most=0.2)
    assert not rate.over(rate.note(0, 4))
    assert rate.over(rate.note(4, 4))
    patient = ErrorRate(most=1.0)
    assert not patient.over(patient.note(4, 4)), "a run may ask for that"


def test_the_rate_of_errors_survives_a_resume():
    rate, after = ErrorRate(most=0.2), ErrorRate(most=0.2)
    for lost in (1, 2, 3):
        rate.note(lost, 10)
    after.restore(rate.state())
    assert after.note(4, 10) == rate.note(4, 10)
