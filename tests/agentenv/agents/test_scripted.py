import pytest
from agent_play import DOORS, BricksOnly, OpenDoors, play

from agentenv.agents import make_agent
from agentenv.errors import BadAgent, EpisodeCut


def texts(moves):
    return [m.action.text for m in moves]


def test_the_oracle_plays_the_scripted_solution():
    assert texts(play(make_agent("oracle"))) == ["open left", "open right", "open left"]


def test_the_oracle_says_that_it_needs_one():
    assert make_agent("oracle").needs_oracle
    assert make_agent("random").needs_actions


def test_noop_sends_a_text_that_the_env_does_not_know_until_the_end():
    assert texts(play(make_agent("noop"), steps=5)) == ["noop"] * 5


def test_random_draws_from_the_available_actions_alone():
    drawn = {text for seed in range(20) for text in texts(play(make_agent("random"), seed=seed))}
    assert drawn == set(DOORS)


def test_random_repeats_itself_under_an_equal_seed_and_differs_under_others():
    runs = [texts(play(make_agent("random"), seed=seed)) for seed in (1, 1, 2, 3, 4)]
    assert runs[0] == runs[1]
    assert any(run != runs[0] for run in runs[2:])


def test_random_refuses_an_env_whose_actions_have_no_bound_by_its_name():
    with pytest.raises(BadAgent, match=r"doors's actions have no bound"):
        play(make_agent("random"), env=OpenDoors())


def test_random_ends_an_episode_that_offers_nothing_to_choose_from():
    with pytest.raises(EpisodeCut) as cut:
        play(make_agent("random"), env=BricksOnly())
    assert cut.value.outcome == "agent_error"
