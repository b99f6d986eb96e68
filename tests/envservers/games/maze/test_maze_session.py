import asyncio

from agentenv.server.sessions import Sessions
from agentenv.wire import ActionBody, CreateBody, CreateCall, StepBody, StepCall
from envservers.games.maze.spec import SPEC


def play(task: str, actions: list[str | ActionBody]) -> list:
    """The replies to `actions` in one session."""

    async def run() -> list:
        table = Sessions([SPEC])
        try:
            made = await table.handle(CreateCall(body=CreateBody(env="maze", task=task)))
            calls = [StepCall(session=made.body.session, body=StepBody(action=action)) for action in actions]
            return [await table.handle(call) for call in calls]
        finally:
            await table.close()

    return asyncio.run(run())


def test_the_session_cuts_the_double_t_maze_after_fifty_moves_and_nothing_pays_later():
    replies = play("maze/double_t/0", ["move up"] * 51)
    cut = replies[49].body
    assert (cut.truncated, cut.terminated, cut.outcome, cut.reward) == (True, False, "step_limit", 0.0)
    assert not any(reply.body.truncated for reply in replies[:49])
    assert {reply.body.reward for reply in replies[:50]} == {0.0}
    assert replies[50].status == 409


def test_a_walk_that_reaches_the_goal_on_the_last_allowed_step_is_a_success():
    walk = ["move down"] * 4 + ["move right"] * 3 + ["move down"] * 3
    last = play("maze/double_t/2", ["move up"] * 40 + walk)[-1].body
    assert (last.terminated, last.truncated, last.outcome, last.reward) == (True, False, "success", 1.0)


def test_a_generated_maze_is_cut_at_twice_its_shortest_path():
    limit = SPEC.task_set().get("test", 0).max_steps
    replies = play("maze/test/0", ["jump"] * limit)
    assert [reply.body.truncated for reply in replies] == [False] * (limit - 1) + [True]
