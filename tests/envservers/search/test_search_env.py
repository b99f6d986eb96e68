import pytest
from search_play import first_of, solved

from agentenv.errors import EpisodeOver, ResetNeeded
from agentenv.protocol import Action
from envservers.search.env import SearchEnv


def test_a_search_is_answered_by_three_passages_and_costs_nothing(env, world):
    task = first_of(world, "test", "single-hop")
    assert env.reset(task).observation == f"Question: {task.payload['question']}"
    result = env.step(Action(text=f"<search>{task.payload['steps'][0]['query']}</search>"))
    assert result.observation.startswith('<information>Doc 1(Title: "')
    assert result.observation.endswith("</information>")
    assert [f"\nDoc {n}(" in result.observation for n in (2, 3, 4)] == [True, True, False]
    assert (result.reward, result.terminated) == (0.0, False)
    assert task.payload["steps"][0]["passage"] in result.info["documents"]


def test_topk_is_how_many_passages_are_shown(world):
    env = SearchEnv(size="small", topk=1)
    task = world.get("test", 0)
    env.reset(task)
    result = env.step(Action(text="<search>school</search>"))
    assert len(result.info["documents"]) == 1


def test_a_query_without_a_known_word_finds_nothing(env, world):
    env.reset(world.get("test", 0))
    for query in ("zzqxv", "the of", "!?", "漢字"):
        result = env.step(Action(text=f"<search>{query}</search>"))
        assert result.observation == "<information>No passage matches.</information>"


def test_the_first_answer_ends_the_episode_right_or_wrong(env, world):
    task = first_of(world, "test", "single-hop")
    for answer, success in ((task.payload["answers"][0], True), ("somebody else", False)):
        env.reset(task)
        result = env.step(Action(text=f"<answer>{answer}</answer>"))
        assert (result.terminated, result.success, result.reward) == (True, success, float(success))
        with pytest.raises(EpisodeOver):
            env.step(Action(text=f"<answer>{task.payload['answers'][0]}</answer>"))


def test_an_alias_is_as_good_as_the_name_and_half_a_name_only_scores(env, world):
    task = next(
        t
        for t in (world.get("train", i) for i in range(500))
        if t.category == "multi-hop" and len(t.payload["answers"]) == 2 and len(t.payload["answers"][0].split()) == 2
    )
    for answer in task.payload["answers"]:
        env.reset(task)
        assert env.step(Action(text=f"<answer>{answer.upper()}.</answer>")).success
    env.reset(task)
    result = env.step(Action(text=f"<answer>{task.payload['answers'][0].split()[0]}</answer>"))
    assert not result.success
    assert 0.0 < result.score < 1.0


def test_the_empty_answer_ends_without_success(env, world):
    env.reset(world.get("test", 0))
    result = env.step(Action(text="<answer></answer>"))
    assert (result.terminated, result.success, result.score) == (True, False, 0.0)


def test_a_refused_turn_says_why_and_the_episode_goes_on(env, world):
    task = first_of(world, "test", "single-hop")
    env.reset(task)
    right = task.payload["answers"][0]
    for text in (f"<search>x</search><answer>{right}</answer>", f"<information>{right}</information>", right):
        result = env.step(Action(text=text))
        assert result.observation.startswith("Invalid turn: ")
        assert (result.reward, result.terminated) == (0.0, False)
        assert right not in result.observation
    assert env.step(Action(text=f"<answer>{right}</answer>")).success


def test_a_step_before_reset_says_what_to_do(env):
    with pytest.raises(ResetNeeded, match=r"call reset\(task\) first"):
        env.step(Action(text="<search>x</search>"))


@pytest.mark.parametrize("split", ["dev", "test", "test_ood"])
def test_the_solution_reads_its_answer_from_observations_in_every_task(env, world, split):
    for index in range(world.count(split)):
        task = world.get(split, index)
        assert solved(env, task), task.id


def test_a_solution_that_does_not_see_its_evidence_gives_no_answer(env, world):
    task = first_of(world, "test", "multi-hop")
    env.reset(task)
    solution = env.solve(task)
    next(solution)
    blind = env.step(Action(text="<search>zzqxv</search>"))
    with pytest.raises(StopIteration):
        solution.send(blind)
