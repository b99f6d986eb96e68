"""The episode: one try or a look around, and nothing that gives the answer away."""

import asyncio
import random

import pytest

from agentenv.errors import EpisodeOver, ResetNeeded
from agentenv.pool import EnvPool
from agentenv.protocol import Action
from envservers.sql.databases import databases, reader
from envservers.sql.env import SQLEnv
from envservers.sql.spec import SPEC
from envservers.sql.tasks import make_tasks


def solved(mode, split, index):
    env, task = SQLEnv(mode=mode), make_tasks({"mode": mode}).get(split, index)
    env.last = env.reset(task)
    for number, action in enumerate(env.solve(task), 1):
        assert not env.last.terminated
        env.last = env.step(action)
        assert number <= task.max_steps
    return env.last


@pytest.mark.parametrize("split", ["train", "dev", "test", "test_ood"])
@pytest.mark.parametrize("mode", ["single", "multi"])
def test_the_scripted_solution_is_right(split, mode):
    for index in range(0, 60, 5):
        last = solved(mode, split, index)
        assert (last.terminated, last.success, last.reward) == (True, True, 1.0)


def test_one_try_is_one_step_whatever_is_said():
    env, task = SQLEnv(), make_tasks({}).get("test", 0)
    assert task.max_steps == 1
    for text in ("noop", "SELECT 1", "SELECT nothing", "DROP TABLE clubs", "tables", "", "💥", "x" * 70_000):
        env.reset(task)
        result = env.step(Action(text=text))
        assert (result.terminated, result.success, result.reward) == (True, False, 0.0)
        assert result.observation.startswith("The answer is wrong.\n")
        with pytest.raises(EpisodeOver):
            env.step(Action(text="SELECT 1"))


def test_looking_around_costs_steps_and_only_submit_ends():
    env, task = SQLEnv(mode="multi", rows=2), make_tasks({"mode": "multi"}).get("test", 0)
    seen = env.reset(task).observation
    first = next(iter(env._asked.tables))
    assert "INTEGER" not in seen
    assert f"Tables: {first}" in env.step(Action(text="tables")).observation
    assert f"Table {first}:" in env.step(Action(text=f"describe {first.upper()}")).observation
    assert "There is no table 'nothing'" in env.step(Action(text="describe nothing")).observation
    tried = env.step(Action(text=f"query SELECT * FROM {first}"))
    assert "the first 2 shown" in tried.observation
    assert env.step(Action(text="query SELECT nothing")).info["error"]
    assert env.step(Action(text="let me think")).info["refused"]
    assert env.step(Action(text="submit SELECT 1")).terminated


def test_a_step_before_reset_is_an_error():
    with pytest.raises(ResetNeeded):
        SQLEnv().step(Action(text="SELECT 1"))


def test_an_answer_that_only_fits_the_visible_database_is_wrong():
    env, tasks = SQLEnv(), make_tasks({})
    for index in range(0, 40, 4):
        task = tasks.get("test", index)
        env.reset(task)
        with reader(databases(task.payload["schema"])[0]) as lent:
            rows = lent.run(task.payload["sql"]).rows
        copied = "VALUES " + ", ".join(f"({', '.join(map(_literal, row))})" for row in rows)
        assert len(copied) < 10_000
        result = env.step(Action(text=copied))
        assert result.info["rows"] == len(rows)
        assert result.info["visible"] is True
        assert result.success is False


def _literal(cell):
    return "NULL" if cell is None else "'" + cell.replace("'", "''") + "'" if isinstance(cell, str) else repr(cell)


def test_neither_the_listing_nor_a_word_of_the_episode_gives_the_gold_query_away():
    async def listed():
        async with EnvPool("sql", size=1) as pool:
            return await pool.task_refs("test", 40)

    refs = str(asyncio.run(listed()))
    env, tasks = SQLEnv(mode="multi"), make_tasks({"mode": "multi"})
    for index in range(0, 40, 4):
        task = tasks.get("test", index)
        gold = task.payload["sql"]
        told = [env.reset(task), *(env.step(Action(text=text)) for text in ("tables", "query SELECT 1", "x"))]
        told.append(env.step(Action(text="submit SELECT 1")))
        words = " ".join(f"{result.observation} {result.info}" for result in told)
        assert gold not in words + refs
        assert "hidden" not in words
        assert task.payload["question"] not in refs


def test_64_sessions_that_take_turns_see_nothing_of_each_other():
    tasks = make_tasks({"mode": "multi"})
    envs = [SQLEnv(mode="multi") for _ in range(64)]
    starts = [env.reset(tasks.get("test", n)).observation for n, env in enumerate(envs)]
    order = list(range(64))
    random.Random(0).shuffle(order)

    async def play():
        def one(n):
            tried = envs[n].step(Action(text=f"query SELECT {n}"))
            ended = envs[n].step(Action(text=f"submit {tasks.get('test', n).payload['sql']}"))
            return tried.observation, ended.success

        return dict(zip(order, await asyncio.gather(*(asyncio.to_thread(one, n) for n in order)), strict=True))

    found = asyncio.run(play())
    assert len(set(starts)) == 64
    assert found == {n: (f"{n}\n{n}\n(1 row)", True) for n in range(64)}


def test_a_snapshot_goes_on_in_another_env():
    env, task = SQLEnv(mode="multi"), make_tasks({"mode": "multi"}).get("dev", 3)
    env.reset(task)
    state = env.snapshot()
    env.step(Action(text="submit SELECT 1"))
    other = SQLEnv(mode="multi")
    other.restore(state)
    assert other.step(Action(text=f"submit {task.payload['sql']}")).success


def test_a_query_that_turns_the_question_s_words_into_sql_in_another_way_is_right():
    env, tasks = SQLEnv(), make_tasks({})
    for index in range(400):
        task = tasks.get("test", index)
        if task.template != "childless" or task.payload["sql"].count("WHERE") > 1:
            continue
        parent, key, child, ref = _parts(task.payload["sql"])
        shown = task.payload["sql"].split(" ")[1]
        other = f"SELECT {shown} FROM {parent} LEFT JOIN {child} ON {ref} = {key} WHERE {ref} IS NULL"
        env.reset(task)
        assert env.step(Action(text=other)).success
        return
    pytest.fail("no such task")


def _parts(sql):
    words = sql.replace("(", "").replace(")", "").split()
    place = words.index("NOT")
    return words[3], words[place - 1], words[-1], words[place + 3]


def test_rewards_and_limits_are_those_of_the_card():
    assert SPEC.max_steps == make_tasks({"mode": "multi"}).get("test", 0).max_steps
    assert SPEC.snapshots
