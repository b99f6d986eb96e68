"""The env: what it says to odd actions, when it judges, and what it leaves behind."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from web_tasks import small, split

from agentenv.errors import EpisodeOver, ResetNeeded, UnknownOption
from agentenv.protocol import Action, Outcome, StepResult, Task
from agentenv.registry import get_spec
from envservers.webarena.act import Verb
from envservers.webarena.env import WebArenaEnv, read_action


def run(work: Callable[[WebArenaEnv], Awaitable[Any]], **options: Any) -> Any:
    async def inside() -> Any:
        env = WebArenaEnv(engine="lite", size="small", **options)
        try:
            return await work(env)
        finally:
            await env.close()
            await env.close()

    return asyncio.run(inside())


def of_kind(kind: str) -> Task:
    return next(task for task in split("test") if task.category == kind)


async def begin(env: WebArenaEnv, task: Task) -> StepResult:
    env.steps = 0
    env.last = await env.reset(task)
    return env.last


async def act(env: WebArenaEnv, text: str) -> StepResult:
    env.last = await env.step(Action(text=text))
    env.steps += 1
    return env.last


def test_the_first_observation_has_four_blocks() -> None:
    task = of_kind("retrieve")
    text = run(lambda env: begin(env, task)).observation
    assert text.startswith("OBSERVATION:\nTab 0 (current): ")
    assert f"\nURL: {task.payload['start'][0]}\n" in text
    assert f"\nOBJECTIVE: {task.payload['intent']}\n" in text
    assert text.endswith("\nPREVIOUS ACTION: None")


@pytest.mark.parametrize(
    "text", ["", "fly [3]", "click [99999]", "click", "goto [http://example.com/]", "tab_focus [7]"]
)
def test_what_cannot_be_done_is_told_and_counts_as_a_step(text: str) -> None:
    async def work(env: WebArenaEnv) -> tuple[StepResult, StepResult]:
        first = await begin(env, small().get("smoke", 0))
        return first, await act(env, text)

    first, result = run(work)
    assert not result.terminated
    assert result.info["error"]
    before, after = (r.observation.partition("\nPREVIOUS ACTION: ") for r in (first, result))
    assert before[0] == after[0]
    assert after[2] != "None"


def test_numbers_hold_for_the_newest_observation_alone() -> None:
    async def work(env: WebArenaEnv) -> StepResult:
        first = await begin(env, small().get("smoke", 0))
        last = max(int(line.split("[")[1].split("]")[0]) for line in first.observation.splitlines() if "[" in line[:9])
        return await act(env, f"click [{last + 1}]")

    assert "there is no element" in run(work).observation


@pytest.mark.parametrize(
    ("text", "parser", "verb"),
    [
        ("click [3]", "lenient", Verb.CLICK),
        ("I think so. In summary, the next action I will perform is ```click [3]```", "lenient", Verb.CLICK),
        ("```click [3]```", "original", Verb.CLICK),
        ("click [3]", "original", Verb.CLICK),
        ("Click [3]", "original", Verb.NONE),
        ("Click [3]", "lenient", Verb.CLICK),
        ("``` ```", "lenient", Verb.NONE),
        ("", "original", Verb.NONE),
    ],
)
def test_an_action_is_read_with_and_without_fences(text: str, parser: str, verb: Verb) -> None:
    assert read_action(text, parser).verb is verb


def test_stop_ends_with_a_verdict_and_reasons_that_keep_the_answer() -> None:
    task = of_kind("retrieve")

    async def work(env: WebArenaEnv) -> StepResult:
        await begin(env, task)
        return await act(env, "stop [42 ducks]")

    result = run(work)
    assert (result.terminated, result.success, result.reward) == (True, False, 0.0)
    assert {check["check"] for check in result.info["checks"]} == {"answer", "db"}
    assert result.info["progress"] == 0.5
    answer = next(c for c in task.payload["checks"] if c["check"] == "answer")["values"][0]
    assert answer not in str(result.info["checks"])


def test_cut_episodes_are_judged_by_what_was_done_and_answers_that_never_came_fail() -> None:
    async def work(env: WebArenaEnv) -> list[StepResult | None]:
        ends = []
        for kind in ("mutate", "fill", "retrieve", "navigate"):
            task = of_kind(kind)
            await begin(env, task)
            solution = env.solve(task)
            action = await anext(solution)
            while not action.text.startswith("stop"):
                result = await act(env, action.text)
                action = await solution.asend(result)
            ends.append(await env.finish(Outcome.STEP_LIMIT))
        return ends

    ends = run(work)
    assert [end is not None and end.success for end in ends] == [True, True, False, False]
    assert not any(end.terminated for end in ends)


def test_an_agent_s_own_crash_is_no_end_that_is_judged() -> None:
    async def work(env: WebArenaEnv) -> StepResult | None:
        await begin(env, of_kind("mutate"))
        return await env.finish(Outcome.AGENT_ERROR)

    assert run(work) is None


def test_calls_out_of_order_are_errors() -> None:
    async def before(env: WebArenaEnv) -> None:
        await env.step(Action(text="click [1]"))

    async def after(env: WebArenaEnv) -> None:
        await begin(env, small().get("smoke", 0))
        await act(env, "stop []")
        await act(env, "click [1]")

    with pytest.raises(ResetNeeded):
        run(before)
    with pytest.raises(EpisodeOver):
        run(after)


def test_a_second_episode_sees_nothing_of_the_first() -> None:
    task = of_kind("mutate")

    async def work(env: WebArenaEnv) -> tuple[str, str, int]:
        first = await begin(env, task)
        solution = env.solve(task)
        action = await anext(solution)
        while not action.text.startswith("stop"):
            result = await act(env, action.text)
            action = await solution.asend(result)
        changed = len((await env.evidence(None)).changes)
        second = await begin(env, task)
        assert not (await env.evidence(None)).changes
        return first.observation, second.observation, changed

    first, second, changed = run(work)
    assert first == second
    assert changed


def test_the_full_view_shows_the_whole_page_at_once() -> None:
    full = run(lambda env: begin(env, small().get("smoke", 0)), view="full").observation
    screen = run(lambda env: begin(env, small().get("smoke", 0))).observation
    assert len(full.splitlines()) > len(screen.splitlines())


def test_the_html_dialect_prints_tags() -> None:
    text = run(lambda env: begin(env, small().get("smoke", 0)), dialect="html").observation
    assert "<A href=" in text


def test_options_of_seeing_are_no_part_of_tasks() -> None:
    spec = get_spec("webarena")
    one = spec.task_set({"size": "small", "engine": "lite"}).get("smoke", 3)
    two = spec.task_set({"size": "small", "engine": "chromium", "view": "full", "parser": "original"}).get("smoke", 3)
    assert one.digest == two.digest


def test_nothing_is_left_of_sessions_in_the_folder_of_copies() -> None:
    from agentenv.config import home

    task = of_kind("mutate")

    async def work(env: WebArenaEnv) -> int:
        await begin(env, task)
        solution = env.solve(task)
        action = await anext(solution)
        while not action.text.startswith("stop"):
            action = await solution.asend(await act(env, action.text))
        return len(list((home() / "sessions").glob("*/*.db")))

    before = len(list((home() / "sessions").glob("*/*.db")))
    assert run(work) >= before + 1
    assert len(list((home() / "sessions").glob("*/*.db"))) <= before


def test_typing_as_the_original_needs_its_parser_and_a_browser() -> None:
    with pytest.raises(UnknownOption, match="needs parser=original"):
        run(lambda env: begin(env, small().get("smoke", 0)), type_rule="point")
    with pytest.raises(UnknownOption, match="engine lite has 'replace' alone"):
        run(lambda env: begin(env, small().get("smoke", 0)), parser="original", type_rule="point")


def test_a_snapshot_goes_on_like_the_original_which_does_not_notice() -> None:
    task = of_kind("mutate")

    async def rest(env: WebArenaEnv, actions: list[str]) -> list[StepResult]:
        return [await act(env, text) for text in actions]

    async def work(env: WebArenaEnv) -> tuple[list[StepResult], list[StepResult], list[StepResult]]:
        actions = []
        await begin(env, task)
        solution = env.solve(task)
        action: Action | None = await anext(solution)
        while action is not None and not env.last.terminated:
            actions.append(action.text)
            try:
                action = await solution.asend(await act(env, action.text))
            except StopAsyncIteration:
                action = None
        half = len(actions) - 1  # all that is asked for is done: the database has its copy
        await begin(env, task)
        before = await rest(env, actions[:half])
        kept = await env.snapshot()
        copy = WebArenaEnv(engine="lite", size="small")
        copy.steps, copy.last = env.steps, env.last
        await copy.restore(kept)
        ends = await rest(copy, actions[half:]), await rest(env, actions[half:])
        await copy.close()
        return before, *ends

    _, copied, original = run(work)
    assert copied == original
    assert original[-1].success


def test_no_snapshot_is_declared_for_chromium() -> None:
    spec = get_spec("webarena")
    assert spec.has_snapshots(spec.resolve_options({"engine": "lite"}))
    assert not spec.has_snapshots(spec.resolve_options({"engine": "chromium"}))
