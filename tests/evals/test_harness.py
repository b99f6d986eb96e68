"""What the harness locks: outcomes and tries, what stops a sitting, and what a resume accepts."""

import asyncio
import dataclasses
from collections import Counter

import coin_env
import pytest

from agentenv import agents, registry
from agentenv.errors import BadAgent, BadCall, InfraError
from agentenv.protocol import Outcome
from evals.harness import ResumeRefused, RunStopped, play_runs, preflight, require_unchanged, start, start_all
from evals.leaderboard import leaderboard, pooled_rows
from evals.limits import Limits
from evals.plan import make_plan
from evals.players import Player
from evals.suite import load, parse


@pytest.fixture(autouse=True)
def coin(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {"coin": coin_env.SPEC})
    monkeypatch.setattr(agents, "BUILT_IN", {**agents.BUILT_IN, "caller": "coin_env:caller"})
    monkeypatch.setattr(coin_env.Calls, "lost", 0)
    monkeypatch.setattr(coin_env.Calls, "made", 0)


def suite(**entry):
    return parse({"name": "coins", "envs": [{"env": "coin", **entry}]}, where="coins.yaml")


def play(store, wanted, *players, attempts=None, limit=None, **settings):
    """Start and play; the runs' ids."""
    chosen = [p if isinstance(p, Player) else Player(name=p) for p in players]
    runs = start(store, wanted, chosen, attempts=attempts, limit=limit)
    asyncio.run(play_runs(store, runs, **settings))
    return runs


def test_every_agent_plays_the_whole_plan(store):
    runs = play(store, suite(), "oracle", "random", "noop", "caller", attempts=2)
    assert [store.progress(run).valid for run in runs] == [24] * 4
    oracle, chance, noop, heads = (pooled_rows(store.tasks(run=run))[0] for run in runs)
    assert (oracle.measure.success, oracle.status) == (1.0, "reference")
    assert 0 < chance.measure.success < 1
    assert (noop.measure.success, noop.measure.mean_steps) == (0.0, 3.0)
    assert (heads.measure.success, heads.agent) == (4 / 12, "caller:m1")
    assert all(store.run(run).finished_at for run in runs)


def test_equal_runs_on_fresh_databases_play_equal_episodes(store, file_url):
    from evals.store.store import Store

    [first] = play(store, suite(), "random", concurrency=1)
    with Store.open(file_url.set(database=f"{file_url.database}.other")) as other:
        [second] = play(other, suite(), "random", concurrency=7)
        assert [t.turns for t in store.trajectories(first)] == [t.turns for t in other.trajectories(second)]


def test_a_further_run_goes_on_with_further_attempts(store):
    """Else a seeded agent would play the same episodes again, and the row would call them independent."""
    first, second = (play(store, suite(), "random", attempts=2)[0] for _ in range(2))
    [other] = play(store, suite(), "noop")
    assert {s.attempt for s in _slots(store, first)} == {0, 1}
    assert {s.attempt for s in _slots(store, second)} == {2, 3}
    assert {s.attempt for s in _slots(store, other)} == {0}
    actions = [[t.turns[0].action for t in store.trajectories(run)] for run in (first, second)]
    assert actions[0] != actions[1]


def _slots(store, run):
    from sqlalchemy.orm import Session

    from evals.store.schema import SlotRow

    with Session(store._engine) as session:
        return session.query(SlotRow).where(SlotRow.run_id == run).all()


def test_episodes_that_are_written_at_once_are_all_counted(store):
    [run] = play(store, suite(), "random", attempts=12)
    tasks = [task for _, task in store.tasks(run=run)]
    episodes = store.episodes(run)
    assert len(episodes) == 144
    assert {(task.valid, task.planned) for task in tasks} == {(12, 12)}
    assert sum(task.success for task in tasks) == sum(e.success for e in episodes)
    assert sum(task.steps_sum for task in tasks) == sum(e.steps for e in episodes)
    row = store.run(run)
    assert (row.tries, row.valid, bool(row.finished_at)) == (144, 144, True)


def test_an_env_that_breaks_is_invalid_tried_three_times_and_named(store):
    [run] = play(store, suite(options={"breaking": "2 5"}), "oracle")
    episodes = Counter(e.outcome for e in store.episodes(run))
    assert episodes == {"success": 10, "env_error": 6}
    row = pooled_rows(store.tasks(run=run))[0]
    assert (row.measure.n, row.measure.invalid, row.measure.success) == (10, 2, 1.0)
    assert (row.measure.success_low, row.measure.success_high) == (10 / 12, 1.0)
    assert row.status == "incomplete: 2 tasks without a valid attempt"
    broken = store.breaking_tasks(run)
    assert sorted(task for _, task, _ in broken) == ["coin/test/2", "coin/test/5"]
    assert all("the coin rolled away" in error for *_, error in broken)
    assert store.run(run).finished_at


def test_an_invalid_attempt_is_played_again_behind_the_others(store):
    coin_env.Calls.lost = 2
    [run] = play(store, suite(), "caller", concurrency=1)
    episodes = store.episodes(run)
    assert [(e.slot, e.try_, e.outcome) for e in episodes if e.slot < 2] == [
        (0, 0, "infra_lost"), (0, 1, "success" if episodes[1].success else "failure"),
        (1, 0, "infra_lost"), (1, 1, "success" if episodes[3].success else "failure"),
    ]  # fmt: skip
    row = pooled_rows(store.tasks(run=run))[0]
    assert (row.measure.n, row.measure.invalid, row.measure.retried, row.status) == (12, 0, 2, "ranked")


def test_ten_lost_in_a_row_stop_the_run_and_a_resume_completes_it(store):
    coin_env.Calls.lost = 10
    [run] = start(store, suite(), [Player(name="caller")])
    with pytest.raises(RunStopped, match="10 episodes in a row were lost, the last one to: the endpoint answered 503"):
        asyncio.run(play_runs(store, [run], concurrency=1))
    assert "answered 503" in store.run(run).stopped
    assert len(store.episodes(run)) == 10
    assert store.run(run).finished_at is None
    asyncio.run(play_runs(store, [run], concurrency=4))
    episodes = store.episodes(run)
    assert len({(e.slot, e.try_) for e in episodes}) == len(episodes) == 22
    assert store.progress(run).valid == 12
    assert (store.run(run).stopped, store.run(run).finished_at is None) == (None, False)


def test_fewer_than_ten_lost_in_a_row_stop_nothing(store):
    coin_env.Calls.lost = 9
    [run] = play(store, suite(), "caller", concurrency=1)
    assert store.progress(run).valid == 12


def test_a_limit_takes_a_fair_part_and_is_partial(store):
    [run] = play(store, suite(), "noop", limit=4)
    row = pooled_rows(store.tasks(run=run))[0]
    assert row.status == "partial 4/12"
    assert Counter(task.category for _, task in store.tasks(run=run)) == {"odd": 2, "even": 2}


def test_a_suite_s_limit_of_steps_holds(store):
    [run] = play(store, suite(max_steps=1), "noop")
    assert {(e.steps, e.outcome) for e in store.episodes(run)} == {(1, "step_limit")}


def test_only_the_env_s_word_is_a_success(store):
    [run] = play(store, suite(), "caller")
    for episode in store.episodes(run):
        assert episode.success == (episode.outcome == Outcome.SUCCESS)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda spec: dataclasses.replace(spec, version="2"), "coin version: 1 is now 2"),
        (lambda spec: dataclasses.replace(spec, tasks="test_harness:other_tasks"), "coin tasks_digest"),
        (lambda spec: dataclasses.replace(spec, max_steps=2), "coin max_steps: 3 is now 2"),
    ],
)
def test_a_resume_is_refused_when_the_world_changed(store, monkeypatch, change, message):
    [run] = start(store, suite(), [Player(name="noop")])
    require_unchanged(store.run(run))
    monkeypatch.setitem(registry._registered, "coin", change(coin_env.SPEC))
    with pytest.raises(ResumeRefused, match=message):
        require_unchanged(store.run(run))


def other_tasks(options):
    whole = coin_env.tasks(options)
    return dataclasses.replace(whole, version="2")


def test_a_resume_is_refused_when_the_agent_changed(store, monkeypatch):
    [run] = start(store, suite(), [Player(name="caller", settings={"model": "big"})])
    require_unchanged(store.run(run))
    monkeypatch.setattr(coin_env.caller, "__defaults__", ("m1", "2"))
    with pytest.raises(ResumeRefused, match=r"agent caller:big version: 1 is now 2\. Start a new one"):
        require_unchanged(store.run(run))


def test_a_resume_is_refused_when_the_agent_s_prompt_changed(store, monkeypatch):
    [run] = start(store, suite(), [Player(name="caller")])
    require_unchanged(store.run(run))
    monkeypatch.setitem(coin_env.PROMPT, "version", "2")
    with pytest.raises(ResumeRefused, match="agent caller:m1 prompts"):
        require_unchanged(store.run(run))


def test_another_prompt_is_another_agent_on_the_board(store, monkeypatch):
    [first] = play(store, suite(), "caller")
    monkeypatch.setitem(coin_env.PROMPT, "version", "2")
    [second] = play(store, suite(), "caller")
    assert store.run(first).agent_hash != store.run(second).agent_hash
    assert [row.runs for row in leaderboard(store.tasks())] == [1, 1, 1, 1]


def test_a_model_is_asked_once_before_anything_is_written():
    assert asyncio.run(preflight([Player(name="noop"), Player(name="caller")])) == {"caller:m1": "hello, I am m1"}
    with pytest.raises(InfraError, match="no model endpoint answers"):
        asyncio.run(preflight([Player(name="caller", settings={"model": "nobody"})]))


def test_a_resume_is_refused_when_the_suite_s_file_changed_and_not_when_it_is_gone(store, tmp_path):
    file = tmp_path / "coins.yaml"
    file.write_text("name: coins\nenvs: [{env: coin}]\n")
    [run] = start(store, load(str(file)), [Player(name="noop")])
    file.write_text("name: coins\nenvs: [{env: coin, tasks: 3}]\n")
    with pytest.raises(ResumeRefused, match=r"suite coins: .* is now .*agentenv eval run .*coins\.yaml"):
        require_unchanged(store.run(run))
    file.unlink()
    require_unchanged(store.run(run))


def test_a_wrong_suite_or_agent_writes_nothing(store):
    with pytest.raises(BadCall, match="no environment 'coins'; did you mean 'coin'"):
        start(store, suite(env="coins"), [Player(name="noop")])
    with pytest.raises(BadCall, match="wants 99 tasks; coin/test has 12"):
        start(store, suite(tasks=99), [Player(name="noop")])
    with pytest.raises(BadCall, match="no split 'dev'"):
        start(store, suite(split="dev"), [Player(name="noop")])
    with pytest.raises(BadCall, match="no option 'brake'"):
        start(store, suite(options={"brake": "1"}), [Player(name="noop")])
    with pytest.raises(BadAgent, match="did you mean 'noop'"):
        start(store, suite(), [Player(name="random"), Player(name="nop")])
    assert store.runs() == []


def test_what_a_run_was_made_by_is_stored(store):
    [run] = play(store, suite(), "noop", limit=1)
    row = store.run(run)
    assert row.agent_data == {"name": "noop", "version": "1"}
    assert row.software["agentenv-gym"]
    assert row.software["python"]
    [world] = row.worlds
    assert (world["env"], world["version"], world["world"], world["max_steps"]) == ("coin", "1", "agentenv-coin-v1", 3)
    [episode] = store.trajectories(run)
    assert (episode.env_version, episode.agent) == ("1", row.agent_data)


def test_a_matrix_plays_every_agent_on_every_suite_as_one_batch(store):
    small, odd = suite(tasks=2), parse({"name": "odd", "envs": [{"env": "coin", "categories": ["odd"]}]}, where="o")
    players = [Player(name="oracle"), Player(name="noop")]
    runs = start_all(store, [(wanted, make_plan(wanted)) for wanted in (small, odd)], players)
    rows = [store.run(run) for run in runs]
    assert [(r.suite, r.agent, r.planned) for r in rows] == [
        ("coins", "oracle", 2), ("coins", "noop", 2), ("odd", "oracle", 6), ("odd", "noop", 6),
    ]  # fmt: skip
    assert len({r.batch for r in rows}) == 1
    asyncio.run(play_runs(store, runs))
    assert [store.progress(run).valid for run in runs] == [2, 2, 6, 6]
    assert {task.category for _, task in store.tasks(run=runs[2])} == {"odd"}


def test_a_list_of_tasks_is_played_whatever_form_it_has(store):
    [run] = play(store, suite(tasks=[7, "coin/test/3"]), "noop")
    assert sorted(task.task_index for _, task in store.tasks(run=run)) == [3, 7]
    assert pooled_rows(store.tasks(run=run))[0].status == "ranked"
    with pytest.raises(BadCall, match="listed twice"):
        make_plan(suite(tasks=[3, "coin/test/3"]))
    with pytest.raises(BadCall, match="no category 'od'; did you mean 'odd'"):
        make_plan(suite(categories=["od"]))
    with pytest.raises(BadCall, match="wants 7 tasks; coin/test has 6 in odd"):
        make_plan(suite(tasks=7, categories=["odd"]))


def test_settings_of_a_suite_are_for_agents_that_ask_a_model_and_give_none_themselves(store):
    wanted = parse({"name": "s", "agent": {"version": "7"}, "envs": [{"env": "coin", "tasks": 1}]}, where="s")
    asks, own = Player(name="caller", settings={"model": "m"}), {"model": "m", "version": "8"}
    runs = start(store, wanted, [asks, Player(name="caller", settings=own), Player(name="noop")])
    assert [store.run(run).agent_data["version"] for run in runs] == ["7", "8", "1"]
    for run in runs:
        require_unchanged(store.run(run))


def test_a_limit_of_tokens_stops_between_episodes_and_a_resume_with_a_higher_one_completes(store, monkeypatch):
    monkeypatch.setattr(coin_env.Calls, "tokens", 10)
    [run] = start(store, suite(), [Player(name="caller")])
    why = asyncio.run(play_runs(store, [run], concurrency=1, limits=Limits(tokens=45)))
    assert why == "the limit of 45 tokens is reached: 50"
    assert (store.progress(run).valid, store.run(run).stopped) == (5, why)
    row = pooled_rows(store.tasks(run=run))[0]
    assert row.status == "partial 5/12"
    again = asyncio.run(play_runs(store, [run], concurrency=1, limits=Limits(tokens=45)))
    assert (again, store.progress(run).valid) == ("the limit of 45 tokens is reached: 60", 6)
    assert asyncio.run(play_runs(store, [run], concurrency=4, limits=Limits(tokens=1000))) is None
    assert store.run(run).finished_at
    assert store.spent([run]).tokens == 120


def test_a_limit_of_cost_counts_every_try_and_is_not_kept_where_the_price_is_unknown(store, monkeypatch):
    monkeypatch.setattr(coin_env.Calls, "tokens", 1)
    monkeypatch.setattr(coin_env.Calls, "cost", 0.25)
    [run] = start(store, suite(), [Player(name="caller")])
    assert (
        asyncio.run(play_runs(store, [run], concurrency=1, limits=Limits(cost=1)))
        == "the limit of 1 is reached: 1.0000"
    )
    assert (store.progress(run).valid, store.spent([run]).cost) == (4, 1.0)
    monkeypatch.setattr(coin_env.Calls, "cost", None)
    why = asyncio.run(play_runs(store, [run], concurrency=1, limits=Limits(cost=2)))
    assert "what an episode cost is unknown" in why
    assert store.progress(run).valid == 5


def test_an_agent_whose_endpoint_is_gone_does_not_stop_the_others(store):
    coin_env.Calls.lost = 10
    runs = start(store, suite(), [Player(name="caller"), Player(name="noop")])
    with pytest.raises(RunStopped, match="10 episodes in a row"):
        asyncio.run(play_runs(store, runs, concurrency=1))
    assert store.run(runs[0]).finished_at is None
    assert "answered 503" in store.run(runs[0]).stopped
    assert store.run(runs[1]).finished_at
    assert len(store.episodes(runs[0])) == 10


def test_opened_again_lost_attempts_are_played_and_the_first_tries_stay(store):
    [run] = play(store, suite(options={"breaking": "2"}), "oracle")
    assert store.reopen(run, reason="mended") == 1
    assert store.run(run).finished_at is None
    asyncio.run(play_runs(store, [run]))
    tries = [e for e in store.episodes(run) if e.outcome == "env_error"]
    assert [(e.try_, e.superseded) for e in tries] == [(i, i < 3) for i in range(6)]
    progress = store.progress(run)
    assert (progress.valid, progress.lost, store.run(run).reopened) == (11, 1, 1)


def test_a_deleted_run_is_not_taken_up_again(store):
    [run] = start(store, suite(), [Player(name="noop")])
    store.delete(run, reason="a test")
    with pytest.raises(ResumeRefused, match="was deleted"):
        require_unchanged(store.run(run))
