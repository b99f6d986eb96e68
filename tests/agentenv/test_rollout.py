"""Rollouts: every way an episode ends becomes its own outcome in the record, and nobody waits for another's turn."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from serving import running
from toy_agents import Scripted
from toy_envs import SPECS, Clock

from agentenv.agents import AgentSpec, make_agent
from agentenv.client.core import Patience
from agentenv.errors import AgentEnvError, BadAgent, BadCall, EpisodeCut, TransportLost
from agentenv.pool import EnvPool
from agentenv.protocol import Action, Outcome, TaskRef
from agentenv.rollout import play, rollout
from agentenv.server.limits import ServerLimits
from agentenv.server.sessions import Sessions
from agentenv.trajectory import Trajectory

pytestmark = pytest.mark.usefixtures("toys")


def run(work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    return asyncio.run(asyncio.wait_for(work(), 60))


def played(agent: AgentSpec, *, env: str = "toy_inline", index: int = 0, attempt: int = 0, **pool: Any) -> Trajectory:
    """One episode of train task `index`, in this process or on `servers`."""

    async def work() -> Trajectory:
        async with EnvPool(env, **pool) as opened:
            refs = await opened.task_refs("train", index + 1)
            return await play(opened, refs[index], agent, attempt=attempt)

    return run(work)


@pytest.fixture(params=["local", "websocket", "http"])
def place(request: pytest.FixtureRequest, toy_url: str) -> dict[str, Any]:
    return {} if request.param == "local" else {"servers": [toy_url], "transport": request.param}


# What a step says reaches the record.


def test_score_and_success_of_the_last_step_reach_the_record(place: dict[str, Any]) -> None:
    episode = played(Scripted("x", "y", "score").spec, env="toy_odd", **place)
    assert (episode.success, episode.score, episode.outcome) == (True, 0.8, Outcome.SUCCESS)
    assert (episode.reward, episode.last_reward, episode.steps) == (0.0, 0.0, 3)
    assert episode.turns[-1].info == {"score": 0.8}


def test_the_return_is_the_sum_and_the_last_reward_is_beside_it(place: dict[str, Any]) -> None:
    episode = played(Scripted("x", "pay", "end").spec, env="toy_odd", **place)
    assert (episode.reward, episode.last_reward) == (1.0, 0.0)
    assert [turn.reward for turn in episode.turns] == [0.0, 1.0, 0.0]
    assert (episode.success, episode.outcome) == (False, Outcome.FAILURE)
    assert episode.score is None  # missing, never 0


def test_the_record_describes_the_episode(place: dict[str, Any]) -> None:
    episode = played(Scripted("go").spec, index=3, max_steps=6, options={"goal": 2}, **place)
    assert episode.task.id == "toy_inline/train/3"
    assert len(episode.task.digest) == 64
    assert (episode.env, episode.env_version, episode.env_options) == ("toy_inline", "1", {"goal": 2})
    assert (episode.max_steps, episode.steps, episode.oracle) == (6, 2, False)
    assert len(episode.tasks_digest) == 64
    assert [(t.observation, t.action) for t in episode.turns] == [
        ("seed 3 count 0", "go"),
        ("seed 3 count 1 got go", "go"),
    ]
    assert episode.final_observation == "seed 3 count 2 got go"
    assert set(episode.time) == {"total_s", "agent_s", "env_s"}
    assert Trajectory.from_json(episode.to_json()) == episode


def test_a_malformed_move_is_a_turn_and_a_step(place: dict[str, Any]) -> None:
    bad = Action(text="Action: a Action: b", malformed="two actions")
    episode = played(Scripted(bad, "go").spec, max_steps=3, options={"goal": 2}, **place)
    assert [(t.malformed, t.reward) for t in episode.turns] == [("two actions", 0.0), (None, 0.0), (None, 1.0)]
    assert "two actions" in episode.turns[1].observation


# The limit of steps: of an env that needs exactly five.


@pytest.mark.parametrize(
    ("limit", "calls", "reward", "outcome"),
    [(4, 4, 0.0, Outcome.STEP_LIMIT), (5, 5, 1.0, Outcome.SUCCESS), (6, 5, 1.0, Outcome.SUCCESS)],
)
def test_the_limit_is_never_one_off(
    limit: int, calls: int, reward: float, outcome: Outcome, place: dict[str, Any]
) -> None:
    agent = Scripted("go")
    episode = played(agent.spec, max_steps=limit, **place)
    assert (agent.calls, episode.steps, len(episode.turns)) == (calls, calls, calls)
    assert (episode.reward, episode.outcome, episode.max_steps) == (reward, outcome, limit)
    assert episode.success is (reward == 1.0)
    assert episode.outcome.truncated is (limit == 4)
    assert episode.outcome.terminated is (limit != 4)


def test_the_time_limit_is_an_outcome_of_its_own_and_counts_the_agents_time_alone() -> None:
    clock = Clock()
    spec = SPECS["toy_inline"]

    def thinks(seat: Any) -> float:
        clock.advance(spec.episode_s / 3 + 1.0)
        return 0.0

    agent = Scripted("go", think_s=thinks)
    sessions = Sessions([spec], clock=clock, limits=ServerLimits(lease_s=1e9))
    with running(sessions) as url:
        episode = played(agent.spec, servers=[url])
    assert agent.calls == 3
    assert (episode.outcome, episode.steps, episode.success) == (Outcome.TIME_LIMIT, 3, False)
    assert episode.outcome.truncated
    assert not sessions._sessions


# Cuts by the agent.


@pytest.mark.parametrize("outcome", [Outcome.CONTEXT_FULL, Outcome.AGENT_ERROR, Outcome.TIME_LIMIT])
def test_an_agent_may_cut_its_episode_and_what_finish_scores_stands(outcome: Outcome, place: dict[str, Any]) -> None:
    """The toy's `finish` gives 0.25, success and score 7 once two steps were done."""
    episode = played(Scripted("pay", "x", EpisodeCut(outcome, "enough")).spec, env="toy_odd", **place)
    assert (episode.outcome, episode.error) == (outcome, "enough")
    assert (episode.success, episode.score) == (True, 7.0)
    assert [turn.reward for turn in episode.turns] == [1.0, 0.25]
    assert (episode.reward, episode.last_reward) == (1.25, 0.25)


def test_a_cut_episode_that_finish_does_not_score_failed(place: dict[str, Any]) -> None:
    episode = played(Scripted("x", EpisodeCut(Outcome.CONTEXT_FULL, "4096 tokens")).spec, env="toy_odd", **place)
    assert (episode.outcome, episode.success, episode.score) == (Outcome.CONTEXT_FULL, False, None)
    assert (episode.reward, episode.steps) == (0.0, 1)


def test_a_cut_before_the_first_move_is_a_record_without_turns(place: dict[str, Any]) -> None:
    episode = played(Scripted(EpisodeCut(Outcome.CONTEXT_FULL)).spec, **place)
    assert (episode.outcome, episode.turns, episode.reward, episode.last_reward) == (Outcome.CONTEXT_FULL, [], 0.0, 0.0)


@pytest.mark.parametrize("outcome", [Outcome.INFRA_LOST, Outcome.CANCELLED])
def test_a_cut_that_is_no_measurement_is_invalid_and_not_scored(outcome: Outcome, place: dict[str, Any]) -> None:
    episode = played(Scripted("pay", "x", EpisodeCut(outcome, "gone")).spec, env="toy_odd", **place)
    assert (episode.outcome, episode.success, episode.score) == (outcome, False, None)
    assert not episode.outcome.valid


@pytest.mark.parametrize("outcome", ["success", "step_limit", "env_error", "nonsense"])
def test_an_agent_cannot_name_an_outcome_that_is_not_its_to_set(outcome: str, place: dict[str, Any]) -> None:
    episode = played(Scripted("go", EpisodeCut(outcome, "I won")).spec, **place)
    assert (episode.outcome, episode.success) == (Outcome.AGENT_ERROR, False)
    assert episode.error is not None
    assert outcome in episode.error


def test_an_env_that_breaks_while_it_scores_a_cut_is_env_error(place: dict[str, Any]) -> None:
    agent = Scripted("unscorable", EpisodeCut(Outcome.CONTEXT_FULL, "4096 tokens"))
    episode = played(agent.spec, env="toy_fragile", **place)
    assert (episode.outcome, episode.success) == (Outcome.ENV_ERROR, False)
    assert episode.error is not None
    assert "4096 tokens" in episode.error


# What breaks.


@pytest.mark.parametrize("error", [ZeroDivisionError("by zero"), KeyError("answer"), ValueError("odd")])
def test_a_crashed_agent_is_agent_error_and_its_turns_are_kept(error: Exception, place: dict[str, Any]) -> None:
    episode = played(Scripted("go", error).spec, **place)
    assert (episode.outcome, episode.steps, episode.success) == (Outcome.AGENT_ERROR, 1, False)
    assert episode.error == f"{type(error).__name__}: {error}"
    assert episode.outcome.valid


def test_a_lost_model_endpoint_is_infra_lost_and_the_session_is_closed(
    place: dict[str, Any], toy_sessions: Sessions
) -> None:
    before = len(toy_sessions._sessions)
    episode = played(Scripted("go", TransportLost("the model is gone")).spec, **place)
    assert (episode.outcome, episode.error) == (Outcome.INFRA_LOST, "transport_lost: the model is gone")
    assert len(toy_sessions._sessions) == before


def test_an_env_that_breaks_is_env_error(place: dict[str, Any]) -> None:
    episode = played(Scripted("look", "break").spec, env="toy_fragile", **place)
    assert (episode.outcome, episode.steps, episode.success) == (Outcome.ENV_ERROR, 1, False)
    assert episode.error is not None
    assert "it broke" in episode.error
    assert not episode.outcome.valid


def test_an_env_that_breaks_in_its_reset_is_env_error_without_turns(place: dict[str, Any]) -> None:
    episode = played(Scripted("go").spec, env="toy_fragile", index=13, **place)
    assert (episode.outcome, episode.turns) == (Outcome.ENV_ERROR, [])
    assert episode.error is not None
    assert "no world" in episode.error


def test_an_env_that_breaks_when_asked_for_its_actions_is_env_error(place: dict[str, Any]) -> None:
    """`random` asks before each move; once it drew `blind`, the next question breaks the toy."""
    outcomes = Counter(
        played(make_agent("random"), env="toy_fragile", attempt=n, max_steps=3, **place).outcome for n in range(6)
    )
    assert set(outcomes) == {Outcome.SUCCESS, Outcome.ENV_ERROR}


def test_a_wrong_call_passes_through(place: dict[str, Any], toy_sessions: Sessions) -> None:
    before = len(toy_sessions._sessions)
    for error in (BadCall("no"), BadAgent("no")):
        with pytest.raises(type(error)) as caught:
            played(Scripted("go", error).spec, **place)
        assert caught.value is error
    with pytest.raises(BadAgent, match="no bound"):
        played(make_agent("random"), env="toy_texts", **place)
    assert len(toy_sessions._sessions) == before


def test_the_oracle_of_a_server_without_one_is_a_wrong_call() -> None:
    with running(Sessions(SPECS.values())) as url, pytest.raises(BadCall, match="--oracle"):
        played(make_agent("oracle"), servers=[url])


def test_the_oracle_wins_and_its_record_says_that_it_was_asked(place: dict[str, Any]) -> None:
    episode = played(make_agent("oracle"), **place)
    assert (episode.outcome, episode.steps, episode.oracle) == (Outcome.SUCCESS, 5, True)


def test_a_task_that_is_another_one_on_the_server_is_refused(place: dict[str, Any]) -> None:
    async def work() -> None:
        async with EnvPool("toy_inline", **place) as pool:
            [ref] = await pool.task_refs("train", 1)
            changed = TaskRef(**{**{f: getattr(ref, f) for f in ref.__dataclass_fields__}, "digest": "0" * 64})
            with pytest.raises(BadCall, match="is another task on the server"):
                await play(pool, changed, Scripted("go").spec)

    run(work)


def test_no_server_with_room_is_infra_lost() -> None:
    sessions = Sessions(SPECS.values(), limits=ServerLimits(max_sessions=1))
    patience = Patience(total_s=0.1, first_s=0.01)

    async def work() -> Trajectory:
        async with EnvPool("toy_inline", servers=[url], patience=patience) as pool:
            [ref] = await pool.task_refs("train", 1)
            async with pool.session(ref.id):
                return await play(pool, ref, Scripted("go").spec)

    with running(sessions) as url:
        episode = run(work)
    assert (episode.outcome, episode.turns) == (Outcome.INFRA_LOST, [])
    assert episode.error is not None
    assert episode.error.startswith("no_capacity: ")


def test_cancelling_a_rollout_releases_every_session(place: dict[str, Any], toy_sessions: Sessions) -> None:
    before = len(toy_sessions._sessions)

    async def work() -> None:
        async with EnvPool("toy_inline", size=4, **place) as pool:
            agent = Scripted("go", think_s=0.1)
            refs = await pool.task_refs("train", 8)
            playing = asyncio.create_task(rollout(pool, refs, agent.spec))
            while agent.calls < 8:
                await asyncio.sleep(0.01)
            playing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await playing
            assert [lane.in_use for lane in pool._lanes] == [0]

    run(work)
    assert len(toy_sessions._sessions) == before


# Many episodes.


def test_no_episode_waits_for_anothers_turn(place: dict[str, Any]) -> None:
    ended = []

    async def work() -> list[Trajectory]:
        async with EnvPool("toy_inline", size=4, **place) as pool:
            slow = Scripted("go", think_s=lambda seat: 0.15 if seat.task.index == 0 else 0.0)
            refs = await pool.task_refs("train", 12)
            return await rollout(pool, refs, slow.spec, on_episode=lambda e: ended.append(e.task.index))

    episodes = run(work)
    assert ended[-1] == 0
    assert sorted(ended) == list(range(12))
    assert [e.task.index for e in episodes] == list(range(12))  # records come in the plan's order


def test_a_rollout_plays_every_task_so_often_and_not_more_at_once_than_asked() -> None:
    most = 0

    async def work() -> list[Trajectory]:
        async with EnvPool("toy_inline", size=8) as pool:

            def thinks(seat: Any) -> float:
                nonlocal most
                most = max(most, sum(lane.in_use for lane in pool._lanes))
                return 0.005

            return await rollout(
                pool, await pool.task_refs("train", 5), Scripted("go", think_s=thinks).spec, attempts=3, concurrency=2
            )

    episodes = run(work)
    assert [e.task.index for e in episodes] == [n for n in range(5) for _ in range(3)]
    assert most == 2


@pytest.mark.parametrize("concurrency", [0, -1])
def test_a_rollout_of_nobody_at_once_is_refused(concurrency: int) -> None:
    async def work() -> None:
        async with EnvPool("toy_inline") as pool:
            with pytest.raises(BadCall, match=f"concurrency is {concurrency}"):
                await rollout(pool, await pool.task_refs("train", 2), Scripted("go").spec, concurrency=concurrency)
            assert await rollout(pool, [], Scripted("go").spec) == []

    run(work)


def test_a_wrong_call_in_one_of_many_episodes_is_raised_as_itself(place: dict[str, Any]) -> None:
    async def work() -> None:
        async with EnvPool("toy_inline", size=4, **place) as pool:
            with pytest.raises(BadAgent, match="no such thing"):
                await rollout(pool, await pool.task_refs("train", 6), Scripted("go", BadAgent("no such thing")).spec)

    run(work)


# Chance.


def texts(episode: Trajectory) -> list[str]:
    return [turn.action for turn in episode.turns]


def test_chance_comes_from_the_task_and_the_attempt_alone(place: dict[str, Any]) -> None:
    agent = make_agent("random")
    settings: dict[str, Any] = {"max_steps": 8, "options": {"goal": 50}, **place}
    first, again = [texts(played(agent, **settings)) for _ in range(2)]
    assert first == again
    assert len(first) == 8
    assert texts(played(agent, attempt=1, **settings)) != first
    assert texts(played(agent, index=1, **settings)) != first


def test_chance_does_not_depend_on_the_place_or_on_what_else_is_played(toy_url: str) -> None:
    async def many(size: int, **place: Any) -> list[list[str]]:
        async with EnvPool("toy_inline", size=size, options={"goal": 50}, **place) as pool:
            refs = await pool.task_refs("train", 6)
            return [texts(e) for e in await rollout(pool, refs, make_agent("random"), attempts=2)]

    alone = run(lambda: many(1))
    assert run(lambda: many(6)) == alone
    assert run(lambda: many(3, servers=[toy_url])) == alone


def test_every_end_of_an_episode_is_an_error_class_or_a_cut() -> None:
    from agentenv.rollout import _end_of

    assert _end_of(AgentEnvError("odd"))[0] is Outcome.INFRA_LOST
    assert _end_of(TransportLost("lost")) == (Outcome.INFRA_LOST, "transport_lost: lost")
    assert _end_of(EpisodeCut("context_full", "full")) == (Outcome.CONTEXT_FULL, "full")
