import asyncio

from agentenv.server.sessions import Sessions
from agentenv.wire import ActionBody, CreateBody, CreateCall, StepBody, StepCall
from envservers.games.wordle.spec import SPEC


def play(word: str, actions: list[str | ActionBody]) -> list:
    """The replies to `actions` in one session of a server that fixes the hidden word."""

    async def run() -> list:
        table = Sessions([SPEC], env_options={"wordle": {"word": word}})
        try:
            made = await table.handle(CreateCall(body=CreateBody(env="wordle", task="wordle/test/0")))
            calls = [StepCall(session=made.body.session, body=StepBody(action=action)) for action in actions]
            return [await table.handle(call) for call in calls]
        finally:
            await table.close()

    return asyncio.run(run())


def test_a_completion_without_an_action_costs_a_step_and_no_try():
    malformed = ActionBody(text="hm", malformed="no action")
    replies = play("those", [malformed, malformed, *["adieu"] * 5, "those"])
    assert [reply.body.reward for reply in replies] == [0.0] * 7 + [1.0]
    last = replies[-1].body
    assert (last.step, last.outcome, last.success) == (8, "success", True)


def test_a_third_completion_without_an_action_leaves_one_try_unplayed():
    malformed = ActionBody(text="hm", malformed="no action")
    last = play("those", [*[malformed] * 3, *["adieu"] * 5])[-1].body
    assert (last.truncated, last.outcome, last.reward) == (True, "step_limit", 0.0)


def test_a_seventh_guess_is_an_error_and_pays_nothing():
    replies = play("those", [*["adieu"] * 6, "those"])
    sixth = replies[5].body
    assert (sixth.terminated, sixth.outcome, sixth.success, sixth.reward) == (True, "failure", False, 0.0)
    assert replies[6].status == 409
