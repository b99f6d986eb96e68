"""Runs played again: what holds, what was changed, what cannot be played here, and what a replay cannot show."""

import asyncio
from dataclasses import replace

import coin_env
import pytest

from agentenv import registry
from agentenv.agents.recorded import recorded
from agentenv.errors import BadCall
from agentenv.pool import EnvPool
from agentenv.protocol import Outcome
from agentenv.rollout import play
from evals.harness import Player, play_runs, start
from evals.store.store import Store
from evals.suite import parse
from evals.verify.chain import chain_root
from evals.verify.marks import keep_mark, mark_of, marks
from evals.verify.record import RunRecord, from_store
from evals.verify.replay import compared
from evals.verify.verify import Verdict, sampled, verify

SUITE = {"name": "s", "envs": [{"env": "coin"}]}
COUNTED = 2 * (coin_env.TASKS + 6)


def verdict(record: RunRecord, **settings) -> Verdict:
    return asyncio.run(verify(record, **settings))


def changed(record: RunRecord, slot: int, **fields) -> RunRecord:
    """The record with other fields in one trajectory."""
    tries = [
        replace(one, trajectory=replace(one.trajectory, **fields)) if one.slot == slot else one for one in record.tries
    ]
    return replace(record, tries=tries)


def test_a_run_of_actions_by_chance_comes_out_as_it_was_recorded(record):
    outcomes = {one.trajectory.outcome for one in record.tries}
    assert {Outcome.SUCCESS, Outcome.FAILURE, Outcome.STEP_LIMIT} <= outcomes
    found = verdict(record)
    assert found.ok
    assert found.mark == f"verified {COUNTED}/{COUNTED}"
    assert not found.problems


def test_a_sample_is_the_same_for_everybody_and_says_that_it_is_one(record):
    found = verdict(record, sample=5)
    assert (found.mark, found.sample) == (f"verified 5/{COUNTED}", 5)
    assert sampled(record.tries, 5, record.id) == sampled(record.tries[::-1], 5, record.id)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: {"turns": [replace(t.turns[0], observation="heads!")], "steps": 1}, "turn 0 of coin"),
        (lambda t: {"turns": [replace(t.turns[0], action="edge")]}, "turn 0 of coin"),
        (lambda t: {"success": not t.success}, "success"),
        (lambda t: {"reward": t.reward + 0.5}, "reward"),
        (lambda t: {"outcome": Outcome.STEP_LIMIT}, "outcome"),
        (lambda t: {"final_observation": t.final_observation + " "}, "observation"),
        (lambda t: {"turns": [*t.turns, t.turns[0]]}, "turns"),
    ],
)
def test_any_change_that_has_an_effect_is_found_and_placed(record, change, words):
    slot = next(one.slot for one in record.tries if one.trajectory.env == "coin")
    trajectory = record.tries[slot].trajectory
    found = verdict(changed(record, slot, **change(trajectory)))
    assert found.level == "diverged"
    assert found.mark.startswith("diverged at turn")
    assert words in found.mark
    assert found.verified == COUNTED - 1


def test_a_change_without_effect_is_found_by_the_chain_alone(record):
    other = changed(record, 3, agent={"name": "another"})
    found = verdict(other)
    assert found.ok
    assert found.chain != chain_root(record.tries)
    assert verdict(record).chain == chain_root(record.tries)


def test_a_consistent_forgery_passes_since_nothing_shows_who_chose_the_actions(file_url):
    """Somebody who plays the scripted solution and signs it as another agent's has told no lie that a replay finds."""
    with Store.open(file_url) as store:
        [run] = start(store, parse(SUITE, where="s"), [Player(name="oracle")])
        asyncio.run(play_runs(store, [run]))
        forged = replace(from_store(store, run), agent="a great model", agent_data={"name": "a great model"})
    found = verdict(forged)
    assert found.ok
    assert "does not show which model" in found.to_dict()["claim"]


def test_episodes_that_are_missing_extra_double_or_hidden_fail_the_counts(record):
    last = record.tries[-1]
    cases = {
        "no episode that counts": record.tries[:-1],
        "not in the plan": [*record.tries, replace(last, slot=999)],
        "there twice": [*record.tries, last],
        "one is missing": [*record.tries[:-1], replace(last, number=1)],
        "was played on after a valid try": [*record.tries, replace(last, number=1)],
        "is planned for": [*record.tries[:-1], replace(last, trajectory=record.tries[0].trajectory)],
    }
    for words, tries in cases.items():
        found = verdict(replace(record, tries=tries))
        assert not found.ok
        assert words in "; ".join(found.problems)


def test_claims_that_are_not_the_episodes_own_fail(record):
    plan = [replace(record.plan[0], success=record.plan[0].success + 1), *record.plan[1:]]
    assert "the row counts" in verdict(replace(record, plan=plan)).mark
    fewer = replace(record, plan=record.plan[:-1], attempts=2)
    assert any("the suite asks for" in problem for problem in verdict(fewer).problems)
    other = replace(record, suite={**record.suite, "seed": 7})
    assert any("the suite's hash" in problem for problem in verdict(other).problems)


def test_invalid_tries_are_counted_and_not_played(record):
    place = record.tries[0]
    lost = replace(place.trajectory, outcome=Outcome.ENV_ERROR, success=False, error="it broke", turns=[], steps=0)
    tries = [replace(place, trajectory=lost), replace(place, number=1), *record.tries[1:]]
    found = verdict(replace(record, tries=tries))
    assert found.ok
    assert found.invalid == 1


@pytest.mark.parametrize(
    ("name", "words"), [("version", "version: coin is 1 here"), ("tasks_digest", "world: the tasks")]
)
def test_another_version_or_world_is_not_replayable_and_never_diverged(record, name, words):
    worlds = [{**record.worlds[0], name: "0.9"}, *record.worlds[1:]]
    found = verdict(replace(record, worlds=worlds))
    assert found.level == "not replayable"
    assert words in found.mark
    assert found.verified == 12


def test_an_env_that_is_not_here_and_one_that_promises_nothing_say_so(record):
    worlds = [{**record.worlds[0], "env": "gone"}, *record.worlds[1:]]
    assert verdict(replace(record, worlds=worlds)).mark.startswith("not replayable (no environment 'gone'")
    spec = registry.get_spec("search")
    options = spec.resolve_options({"retriever": "http://127.0.0.1:1"})
    assert "promises nothing" in spec.unreplayable_because(options)
    assert not spec.unreplayable_because(spec.resolve_options({}))


def test_another_build_of_the_engine_is_not_replayable_and_never_diverged(record, monkeypatch):
    def said(version, observation):
        def step(env, action):
            result = steps(env, action)
            return replace(
                result, observation=observation + result.observation, info={"engine": "b", "engine_version": version}
            )

        return step

    steps = coin_env.Coin.step
    monkeypatch.setattr(coin_env.Coin, "step", said("131.0", ""))
    ours = made_anew(record)
    assert verdict(ours).ok
    monkeypatch.setattr(coin_env.Coin, "step", said("132.0", "other words: "))
    found = verdict(ours)
    assert found.level == "not replayable"
    assert found.reasons == ["version: coin is played by b 132.0 here, the run was by b 131.0"]
    assert found.verified == 12
    monkeypatch.setattr(coin_env.Coin, "step", said("131.0", "other words: "))
    assert verdict(ours).level == "diverged"


def test_a_deleted_run_has_nothing_to_verify(store):
    [run] = start(store, parse(SUITE, where="s"), [Player(name="noop")])
    asyncio.run(play_runs(store, [run]))
    store.delete(run, reason="room")
    with pytest.raises(BadCall, match=r"was deleted at .*no episodes to play"):
        from_store(store, run)


def test_software_of_another_version_is_named(record):
    assert not verdict(record, sample=1).software
    older = replace(record, software={**record.software, "numpy": "1.0", "git": {"commit": "x"}, "abacus": "3"})
    [words] = verdict(older, sample=1).software
    assert words.startswith("numpy ")
    assert words.endswith(" here, 1.0 then")


def test_an_env_that_breaks_here_is_not_replayable(record, monkeypatch):
    def reset(env, task):
        raise ValueError("these worlds are not the task's")

    monkeypatch.setattr(coin_env.Coin, "reset", reset)
    found = verdict(record, sample=5)
    assert found.level == "not replayable"
    assert "these worlds are not the task's" in found.mark


def made_anew(record: RunRecord) -> RunRecord:
    """The same actions, recorded by the envs as they are now."""

    async def again(trajectory):
        async with EnvPool(trajectory.env, max_steps=trajectory.max_steps) as pool:
            return await play(pool, trajectory.task, recorded(trajectory))

    tries = [replace(one, trajectory=asyncio.run(again(one.trajectory))) for one in record.tries]
    return replace(record, tries=tries)


@pytest.mark.parametrize("outcome", [Outcome.CONTEXT_FULL, Outcome.AGENT_ERROR, Outcome.TIME_LIMIT])
def test_an_end_from_outside_is_forced_at_its_turn(record, outcome):
    place = next(one for one in record.tries if one.trajectory.outcome is Outcome.STEP_LIMIT)
    turns = place.trajectory.turns[:3]
    last = place.trajectory.turns[3].observation
    cut = replace(
        place.trajectory, outcome=outcome, turns=turns, steps=3, final_observation=last, error="cut",
        success=False, reward=sum(turn.reward for turn in turns),
    )  # fmt: skip
    tries = [replace(one, trajectory=cut) if one is place else one for one in record.tries]
    assert not verdict(replace(record, tries=tries)).divergences


def test_equal_episodes_compare_equal_whatever_they_took(record):
    one = record.tries[0].trajectory
    assert compared(one, replace(one, time={"total_s": 99.0}, agent={})) is None


def test_a_mark_stands_until_the_run_changes(store):
    [run] = start(store, parse(SUITE, where="s"), [Player(name="random")])
    asyncio.run(play_runs(store, [run]))
    found = verdict(from_store(store, run)).to_dict()
    keep_mark(store, store.run(run), found)
    assert marks(store, store.runs())[run]["mark"] == f"verified {coin_env.TASKS}/{coin_env.TASKS}"
    store.reopen(run, reason="again", overwrite=True, tasks=["coin/test/3"])
    assert not marks(store, store.runs())


def test_pooled_runs_have_a_mark_when_each_of_them_has():
    one, other = {"ok": True, "verified": 3, "of": 3, "mark": ""}, {"ok": True, "verified": 2, "of": 4, "mark": ""}
    bad = {"ok": False, "verified": 0, "of": 4, "mark": "diverged at turn 1"}
    assert mark_of([one, other]) == "verified 5/7"
    assert mark_of([one, bad]) == "diverged at turn 1"
    assert mark_of([{**one, "rescored": True}]) == "rescored 3/3"
    assert mark_of([one, None]) == mark_of([]) == ""
