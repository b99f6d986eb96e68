"""An episode: one reply, or calculations and then the answer."""

import asyncio

import pytest

from agentenv.errors import EpisodeOver, ResetNeeded
from agentenv.functions import FunctionTable
from agentenv.pool import EnvPool
from agentenv.protocol import Action
from agentenv.registry import TaskAt, get_spec
from agentenv.server.host import EnvHost
from envservers.math.env import CALCULATOR, MathEnv
from envservers.math.spec import SPEC

TASK = SPEC.task_set().get("test", 0)
ANSWER = TASK.payload["answer"]


def begun(mode):
    env = MathEnv(mode=mode)
    env.reset(TASK)
    return env


def test_the_env_is_found_by_its_entry_point():
    assert get_spec("math") == SPEC


def test_the_package_does_not_hide_the_mathematics_of_python():
    import math

    import envservers.math.shortcuts

    assert envservers.math.shortcuts.math is math
    assert math.prod([2, 3]) == 6


@pytest.mark.parametrize("mode", ["answer", "calculator"])
@pytest.mark.parametrize("form", ["#### {}", "Thus \\boxed{{{}}}.", "<think>hm</think>\n#### ${}"])
def test_the_right_number_wins_in_any_form(mode, form):
    result = begun(mode).step(Action(text=form.format(ANSWER)))
    assert (result.terminated, result.success, result.reward) == (True, True, 1.0)
    assert result.info == {"answer": ANSWER}


@pytest.mark.parametrize("reply", ["#### 1", f"{ANSWER}", "calculate[1 + 1]", "", f"#### {ANSWER} or 7"])
def test_without_a_calculator_the_first_reply_ends_the_episode(reply):
    result = begun("answer").step(Action(text=reply))
    assert (result.terminated, result.success, result.reward) == (True, False, 0.0)


def test_a_reply_without_an_answer_is_told_what_was_missing():
    assert "no line says `#### number`" in begun("answer").step(Action(text="It is 7.")).observation


def test_the_calculator_gives_values_and_takes_nothing_else():
    env = begun("calculator")
    said = [env.step(Action(text=text)) for text in ("calculate[2 * (3 + 4)]", "calculate[1/0]", "hm", "calculate[x]")]
    assert said[0].observation == "14"
    assert said[1].observation == "No result: division by zero."
    assert said[2].observation == (
        "Invalid reply: no line says `#### number`. "
        "Give one calculate[expression], or the answer on a line such as `#### 42`."
    )
    assert said[3].observation.startswith("No result: 'x'")
    assert not any(result.terminated or result.reward for result in said)
    assert env.step(Action(text=f"#### {ANSWER}")).success


def test_only_with_a_calculator_the_observation_offers_one():
    assert CALCULATOR not in MathEnv().reset(TASK).observation
    assert MathEnv(mode="calculator").reset(TASK).observation == f"{TASK.payload['question']}\n{CALCULATOR}"


@pytest.mark.parametrize("mode", ["answer", "calculator"])
def test_the_scripted_solution_wins_by_what_it_was_shown(mode):
    host = EnvHost(SPEC, SPEC.resolve_options({"mode": mode}))
    host.reset(TASK)
    steps, result = 0, None
    while result is None or not result.terminated:
        result, steps = host.step(host.oracle()), steps + 1
    assert result.success
    assert steps == (1 if mode == "answer" else len(TASK.payload["steps"]) + 1)


def test_calls_out_of_order_are_errors():
    with pytest.raises(ResetNeeded):
        MathEnv().step(Action(text="#### 1"))
    env = begun("answer")
    env.step(Action(text="#### 1"))
    with pytest.raises(EpisodeOver):
        env.step(Action(text="#### 1"))


def test_a_snapshot_goes_on_in_another_env():
    env, other = begun("calculator"), MathEnv(mode="calculator")
    other.restore(env.snapshot())
    assert env.step(Action(text="#### 1")).success is False
    assert other.step(Action(text=f"#### {ANSWER}")).success


def test_calls_of_functions_become_actions_that_the_env_reads():
    functions, env = FunctionTable.of(SPEC.functions).functions, begun("calculator")
    assert env.step(Action(text=functions["calculate"].action({"expression": "6 * 7"}))).observation == "42"
    answered = [functions["answer"].action({"number": number}) for number in (42, 12.5, "3/4")]
    assert answered == ["#### 42", "#### 12.5", "#### 3/4"]
    assert env.step(Action(text=functions["answer"].action({"number": ANSWER}))).success


def test_what_travels_of_a_task_has_no_answer():
    async def listed():
        async with EnvPool("math", size=1) as pool:
            refs = await pool.task_refs("test", 3)
            async with pool.session(TaskAt(split="test", index=0)) as session:
                return refs, session.info

    refs, info = asyncio.run(listed())
    assert set(type(refs[0]).__slots__) == {
        "category", "difficulty", "digest", "env", "id", "index", "split", "template",
    }  # fmt: skip
    assert info == {}
