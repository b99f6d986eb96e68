"""The episode: what ends it, what counts, and what is not given away."""

import asyncio
import json

import pytest
from todo_play import call, solved, started

from agentenv.errors import EpisodeOver, ResetNeeded
from agentenv.protocol import Action
from envservers.tools.todo.cases import TEMPLATES
from envservers.tools.todo.env import TodoEnv
from envservers.tools.todo.spec import SPEC
from envservers.tools.toolkit.answers import IMPOSSIBLE
from envservers.tools.toolkit.table import Finish, action_of

TASKS = SPEC.task_set()
HELD = [(split, index) for split in ("dev", "test", "test_ood") for index in range(0, 50, 3)]


@pytest.mark.parametrize(("split", "index"), HELD)
def test_the_scripted_solution_succeeds_within_the_steps_of_the_table(split, index):
    played, task = solved(split, index), TASKS.get(split, index)
    assert played[-1][1].success
    assert sum(result.reward for _, result in played) == 1.0
    assert not any(result.info.get("refused") for _, result in played)
    assert task.max_steps is not None
    assert len(played) * 2 <= task.max_steps


def kind_of(task):
    return TEMPLATES[task.template].category


def one_of(kind):
    return next(i for i in range(50) if kind_of(TASKS.get("test", i)) == kind)


def test_every_mutant_of_every_test_task_is_refused():
    refused = 0
    for index in range(50):
        env = started("test", index)
        assert asyncio.run(env.surviving_mutants()) == []
        case = env.case_of(TASKS.get("test", index))
        mutants = env.mutants(case)
        kinds = {name.split()[0] for name in mutants}
        if case.expected != case.start:
            assert {"nothing", "without", "completes", "creates"} <= kinds
        refused += len(mutants)
    assert refused > 500


@pytest.mark.parametrize("kind", ["change", "many", "conditional", "question", "impossible"])
def test_finishing_at_once_fails(kind):
    result = call(started("test", one_of(kind)), "finish with Action Input: {}")
    assert (result.terminated, result.success, result.reward) == (True, False, 0.0)


def test_the_right_change_and_one_more_fails():
    env = started("test", one_of("change"))
    for action, _ in solved("test", one_of("change"))[:-1]:
        call(env, action)
    assert "ERROR" not in call(env, 'create_project with Action Input: {"name": "More"}').observation
    result = call(env, "finish with Action Input: {}")
    assert result.success is False
    assert result.info["state_right"] is False


def test_a_change_that_is_undone_is_no_change():
    env = started("test", one_of("change"))
    made = json.loads(call(env, 'create_project with Action Input: {"name": "More"}').observation)["id"]
    call(env, f'delete_project with Action Input: {{"project_id": "{made}"}}')
    for action, _ in solved("test", one_of("change")):
        result = call(env, action)
    assert result.success


def test_a_question_wants_its_answer_and_no_change():
    index = one_of("question")
    played = solved("test", index)
    env = started("test", index)
    assert not call(env, action_of(Finish(answer="something else"))).success
    env = started("test", index)
    call(env, 'create_project with Action Input: {"name": "More"}')
    assert not call(env, played[-1][0]).success


def test_impossible_tasks_want_the_defined_answer_and_no_change():
    index = one_of("impossible")
    assert call(started("test", index), action_of(Finish(answer=IMPOSSIBLE))).success
    assert not call(started("test", index), action_of(Finish(answer="done"))).success


def test_possible_tasks_are_not_impossible():
    for index in range(50):
        if kind_of(TASKS.get("test", index)) != "impossible":
            assert not call(started("test", index), action_of(Finish(answer=IMPOSSIBLE))).success


def test_wrong_actions_are_observations_and_the_episode_goes_on():
    env = started("test", 0)
    for text in (
        "",
        "noop",
        "finish",
        "finish line",
        "get_tasks with Action Input: {}",
        "💥" * 5000,
        "\x00",
        "{" * 9000,
    ):
        result = call(env, text)
        assert not result.terminated
        assert result.observation.startswith("ERROR | ")
        assert len(result.observation) < 400


def test_a_step_out_of_order_is_an_exception():
    with pytest.raises(ResetNeeded, match=r"call reset\(task\) first"):
        TodoEnv().step(Action(text="x"))
    env = started("test", 0)
    call(env, "finish with Action Input: {}")
    with pytest.raises(EpisodeOver):
        call(env, "finish with Action Input: {}")


def test_ids_of_a_world_are_not_known_before_they_are_shown():
    env = started("test", 3)
    offered = env.available_actions() or []
    assert not [text for text in offered if any(mark.isdigit() for mark in text)]
    call(env, "get_projects with Action Input: {}")
    assert any("project_id" in text for text in env.available_actions() or [])


def test_the_place_of_the_right_project_among_the_actions_is_even():
    """Over all tasks that look into one project first: which third of the offered listings is it?"""
    thirds = [0, 0, 0]
    for index in range(300):
        env, task = TodoEnv(), TASKS.get("train", index)
        case = env.case_of(task)
        wanted = [action_of(call) for call in case.calls if type(call).__name__ == "GetTasks"]
        if len(wanted) != 1:
            continue
        env.reset(task)
        call(env, "get_projects with Action Input: {}")
        offered = [text for text in env.available_actions() or [] if text.startswith("get_tasks ")]
        thirds[3 * offered.index(wanted[0]) // len(offered)] += 1
    expected = sum(thirds) / 3
    assert sum(thirds) > 100
    assert sum((count - expected) ** 2 / expected for count in thirds) < 13.8  # chi-square, p > 0.001


def test_offered_actions_are_calls_that_are_understood():
    env = started("test", 1)
    for _ in range(3):
        for text in ("get_projects with Action Input: {}", "get_people with Action Input: {}"):
            call(env, text)
        offered = env.available_actions() or []
        assert offered == sorted(offered)
        for text in offered:
            if not text.startswith("finish"):
                assert not env.toolkit.act(env.snapshot().state, text).refused, text
        call(env, next(text for text in offered if text.startswith("get_tasks ")))


def test_a_snapshot_goes_on_alone():
    env, other = started("test", 2), TodoEnv()
    call(env, "get_projects with Action Input: {}")
    other.restore(env.snapshot())
    call(other, 'create_project with Action Input: {"name": "More"}')
    assert "More" not in call(env, "get_projects with Action Input: {}").observation
    assert "More" in call(other, "get_projects with Action Input: {}").observation


def test_sixty_four_sessions_of_one_task_do_not_see_each_other():
    envs = [started("test", 5) for _ in range(64)]
    for number, env in enumerate(envs):
        call(env, f'create_project with Action Input: {{"name": "Project of {number}"}}')
    for number, env in enumerate(envs):
        text = call(env, "get_projects with Action Input: {}").observation
        assert text.count("Project of ") == 1
        assert f'"Project of {number}"' in text
