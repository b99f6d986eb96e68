"""Two episodes beside each other, and where they part."""

from agentenv.trajectory import Turn
from evals.web.aligning import aligned


def turns(*pairs: tuple[str, str]) -> list[Turn]:
    return [Turn(observation=seen, action=done, reward=0.0) for seen, done in pairs]


def test_equal_episodes_part_nowhere():
    same = turns(("a", "x"), ("b", "y"))
    assert [(pair.differs, pair.first) for pair in aligned(same, same)] == [([], False), ([], False)]


def test_the_first_difference_is_marked_once_and_from_its_first_letter_on():
    found = aligned(turns(("a", "go north"), ("b", "y")), turns(("a", "go south"), ("c", "y")))
    assert [(pair.differs, pair.first) for pair in found] == [(["action"], True), (["observation"], False)]
    assert found[0].a is not None
    assert found[0].b is not None
    assert (found[0].a.action, found[0].b.action) == (("go ", "north"), ("go ", "south"))
    assert found[0].a.observation == ("a", "")


def test_an_episode_that_ended_sooner_parts_at_its_end():
    found = aligned(turns(("a", "x")), turns(("a", "x"), ("b", "y")))
    assert [(pair.differs, pair.first) for pair in found] == [([], False), (["end"], True)]
    assert found[1].a is None
    assert found[1].b is not None
    assert found[1].b.action == ("y", "")


def test_a_text_that_only_goes_on_is_marked_from_there():
    found = aligned(turns(("abc", "x")), turns(("abcd", "x")))
    assert found[0].a is not None
    assert found[0].b is not None
    assert (found[0].a.observation, found[0].b.observation) == (("abc", ""), ("abc", "d"))


def test_no_turns_at_all_is_no_pair():
    assert aligned([], []) == []
