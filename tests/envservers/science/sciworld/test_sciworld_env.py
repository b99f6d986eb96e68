import asyncio
from itertools import pairwise

import pytest

from agentenv.errors import EpisodeOver, ResetNeeded
from agentenv.protocol import Action
from agentenv.server.sessions import Sessions
from agentenv.wire import CreateBody, CreateCall, OracleCall, StepBody, StepCall
from envservers.science.sciworld.env import SciWorld
from envservers.science.sciworld.functions import FUNCTIONS, LONGEST_TEXT, spoken
from envservers.science.sciworld.spec import SPEC

FIND = "find-non-living-thing"


def solve(env, task) -> list:
    """Every result of the scripted solution."""
    results = [env.reset(task)]
    solution = env.solve(task)
    action = next(solution)
    while not results[-1].terminated:
        results.append(env.step(action))
        if not results[-1].terminated:
            action = solution.send(results[-1])
    return results


def test_an_episode_begins_with_the_task_and_what_is_seen(begin):
    result = begin("boil")
    goal, seen = result.observation.split("\n", 1)
    assert goal.startswith("Your task is to boil water.")
    assert seen.startswith("This room is called the hallway. In it, you see: \n\tthe agent")
    assert (result.score, result.terminated) == (0.0, False)


def test_the_scripted_solution_reaches_a_score_of_100_and_the_rewards_add_up_to_it(env, task_of):
    results = solve(env, task_of(FIND))
    last = results[-1]
    assert (last.success, last.score) == (True, 100.0)
    assert sum(result.reward for result in results) == pytest.approx(1.0)
    assert [r.reward for r in results[1:]] == pytest.approx([(b.score - a.score) / 100 for a, b in pairwise(results)])


def test_a_wrong_focus_costs_everything_and_ends_the_episode(begin, env):
    before = begin("boil", "open door to kitchen", "go to kitchen")
    last = env.step(Action(text="focus on agent"))
    assert (last.terminated, last.success, last.score) == (True, False, -100.0)
    assert last.reward == pytest.approx((-100 - before.score) / 100)


def test_after_the_end_a_step_is_an_error_and_nothing_is_available(begin, env):
    begin("boil", "focus on agent")
    assert env.available_actions() == []
    for _ in range(2):
        with pytest.raises(EpisodeOver, match="reset or close") as raised:
            env.step(Action(text="look around"))
        assert raised.value.extra["outcome"] == "failure"
    assert begin("boil").score == 0.0


def test_a_step_before_reset_says_what_to_do(env):
    with pytest.raises(ResetNeeded, match=r"call reset\(task\) first"):
        env.step(Action(text="look around"))
    with pytest.raises(ResetNeeded, match=r"call reset\(task\) first"):
        env.available_actions()


def test_an_unknown_action_is_answered_and_changes_nothing(begin):
    result = begin("boil", "dance")
    assert result.observation == "No known action matches that input."
    assert (result.reward, result.terminated) == (0.0, False)


def test_a_question_offers_its_numbers_and_a_number_answers_it(begin, env):
    asked = begin("chemistry-mix-paint-secondary-color", "open door to art studio", "go to art studio", "pick up cup")
    assert asked.observation.startswith("Ambiguous request:")
    assert env.available_actions() == ["0", "1", "2"]
    assert env.step(Action(text=" choose 0\n")).observation == "You move the wood cup to the inventory."
    assert "look around" in env.available_actions()


def test_the_valid_actions_are_listed_in_an_order_that_says_nothing(begin, env):
    begin("boil")
    listed = env.available_actions()
    assert listed == sorted(set(listed))
    assert {"open door to kitchen", "look around", "inventory", "wait1"} <= set(listed)


@pytest.mark.parametrize("text", ["x" * 60_000, "look around " * 9_000, "\ud800", "\x00\x1b[31m", "9" * 5_000, "١٢٣"])
def test_strange_texts_are_answered(begin, text):
    assert begin("boil", "open door", text).observation


def test_an_action_that_is_too_long_is_none(begin):
    assert begin("boil", "look around" + " " * 9_000).observation.startswith("This room")
    assert begin("boil", "look around " + "x" * LONGEST_TEXT).observation == "No known action matches that input."


def test_a_function_is_known_to_the_simulator_by_its_text(begin):
    known = [line.strip().replace("go OBJ", "go to OBJ") for line in begin("boil", "help").observation.splitlines()[1:]]
    named = {spoken(f["name"]) for f in FUNCTIONS} - {"choose", "examine"}  # which it takes and does not list
    assert named == {line.partition(" OBJ")[0] for line in known}


def test_examine_is_look_at(begin):
    assert begin("boil", "examine agent").observation == begin("boil", "look at agent").observation


def test_close_can_be_called_twice_and_the_env_goes_on_after_it(begin, env):
    begin("boil")
    env.close()
    env.close()
    assert begin("boil", "open door to kitchen").observation == "The door is now open."


def test_easy_opens_the_doors(needs, task_of):
    env = SciWorld(simplifications="easy", jvms=1)
    assert "A door to the kitchen (that is open)" in env.reset(task_of("boil")).observation
    assert solve(env, task_of(FIND))[-1].success
    env.close()


def test_a_session_plays_the_oracle_to_success_and_the_score_travels(needs):
    async def run() -> list:
        options = {"jvms": 1}
        table = Sessions([SPEC], env_options={"sciworld": options}, oracle=True)
        try:
            index = SPEC.task_set().get("test", 12)
            assert index.category == FIND
            made = await table.handle(CreateCall(body=CreateBody(env="sciworld", task=index.id)))
            assert made.body.limits.max_steps == 100
            replies = []
            while not (replies and replies[-1].body.terminated):
                action = (await table.handle(OracleCall(session=made.body.session))).body.action
                replies.append(await table.handle(StepCall(session=made.body.session, body=StepBody(action=action))))
            return replies
        finally:
            await table.close()

    last = asyncio.run(run())[-1].body
    assert (last.outcome, last.success, last.score) == ("success", True, 100.0)
