"""Tasks that an agent was trained on are counted when a run is planned, by what its model says or what one names."""

import pytest
from made_runs import new_run

from agentenv.errors import BadCall
from agentenv.trained_on import write_trained_on
from evals.harness import Player, start
from evals.plan import make_plan
from evals.statistics.seen import seen_tasks, told
from evals.store.store import Store
from evals.suite import Suite, SuiteEnv


def test_tasks_are_counted_by_env_and_unknown_is_not_none_of_them():
    plan = new_run(tasks=4, envs=("coin", "dice")).plan
    digest = plan.tasks[0].task.digest  # the made-up envs have the same digests
    assert seen_tasks(plan.tasks, {digest}) == {"coin": 1, "dice": 1}
    assert seen_tasks(plan.tasks, set()) == {}
    assert seen_tasks(plan.tasks, None) is None


def test_a_model_s_folder_speaks_for_itself_and_other_sources_add_to_it(tmp_path):
    model, other, silent = tmp_path / "model", tmp_path / "other", tmp_path / "silent"
    for folder in (model, other, silent):
        folder.mkdir()
    write_trained_on(model, ["a"])
    write_trained_on(other, ["b"])
    assert told([], {}) is None
    assert told([], {"model_path": str(model)}) == {"a"}
    assert told([other], {"model_path": str(model)}) == {"a", "b"}
    assert told([silent], {"model_path": str(silent)}) is None
    with pytest.raises(BadCall, match="absent"):
        told([tmp_path / "absent.jsonl"], {})


def test_a_run_is_written_down_with_what_its_agent_has_seen_and_scripts_have_seen_nothing(file_url, tmp_path):
    suite = Suite(name="s", envs=(SuiteEnv(env="maze", tasks=3),), source="s")
    plan = make_plan(suite)
    write_trained_on(tmp_path, [plan.tasks[0].task.digest, "another"])
    with Store.open(file_url) as store:
        asking = Player(name="react", settings={"model": "m", "model_url": "http://127.0.0.1:9/v1"})
        runs = start(store, suite, [asking, Player(name="random")], plan=plan, trained=[tmp_path])
        assert [store.run(run).seen for run in runs] == [{"maze": 1}, None]
