import re

import pytest

from agentenv.agents.parse import parse as parse_completion
from agentenv.agents.prompts import _prompt, load_format, opening_of
from agentenv.registry import get_spec
from envservers.webarena.act import Act, Verb
from envservers.webarena.language import Observation, extract, parse
from envservers.webarena.language.prompt import blocks, previous_action

BEFORE = Observation(text="", keys=("r", "l"), names=("RootWebArea 'Shop'", "link 'Home'"))


def told(text, **more):
    return previous_action(parse(text), BEFORE, said=text, **more)


def test_a_step_is_four_blocks():
    assert blocks("Tab 0", url="http://shop.test/", objective="Find\n it") == (
        "OBSERVATION:\nTab 0\nURL: http://shop.test/\nOBJECTIVE: Find it\nPREVIOUS ACTION: None"
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("click [2]", "click [2] where [2] is link 'Home'"),
        ("hover [2]", "hover [2] where [2] is link 'Home'"),
        ("type [2] [a b] [0]", "type [2] [a b] where [2] is link 'Home'"),
        ("type [2] [a b] [1]", "type [2] [a b ] where [2] is link 'Home'"),
        ("type [2] [a\nb] [0]", "type [2] [a b] where [2] is link 'Home'"),
        ("select [2] [Oak]", "select [2] [Oak] where [2] is link 'Home'"),
        ("press [meta+a]", "press [Control+a]"),
        ("scroll [up]", "scroll [up]"),
        ("scroll [down]", "scroll [down]"),
        ("goto [http://shop.test]", "goto [http://shop.test]"),
        ("tab_focus [1]", "page_focus [1]"),
        ("new_tab", "new_tab"),
        ("close_tab", "close_tab"),
        ("go_back", "go_back"),
        ("go_forward", "go_forward"),
        ("stop [42]", "stop [42]"),
    ],
)
def test_the_previous_action_is_told_in_the_words_of_its_page(text, words):
    assert told(text) == words


def test_an_error_is_told_on_the_same_line():
    assert told("click [2]", error="covered by\n dialog 'Hi'").endswith(
        "is link 'Home' (not done: covered by dialog 'Hi')"
    )


@pytest.mark.parametrize("number", [0, 3, 99])
def test_a_number_that_is_not_on_the_page_is_told(number):
    line = told(f"click [{number}]")
    assert f"there is no element [{number}]" in line
    assert "\n" not in line


def test_a_text_that_was_not_understood_is_quoted_with_the_form():
    line = told("jump\n[3]" + "x" * 5000)
    assert '"jump [3]xx' in line
    assert line.endswith("as in click [12]")
    assert "```" not in line  # the line is the same in every format of replies
    assert "\n" not in line
    assert len(line) < 800


def test_every_verb_can_be_told():
    for verb in Verb:
        assert previous_action(Act(verb=verb, element=1, error="e"), BEFORE)


def test_the_format_is_shown_as_it_is_read():
    form = load_format("webarena")
    reply = parse_completion("I think: " + form.shape, form)
    assert extract(reply.action).action == "click [12]"


@pytest.mark.parametrize("file", ["prompt.yaml", "prompt_fenced.yaml"])
def test_each_prompt_names_every_action_and_its_example_is_read(file):
    prompt = _prompt(f"envservers.webarena:{file}")
    for verb in Verb:
        assert verb is Verb.NONE or re.search(rf"\b{verb}\b", prompt.opening)
    example = parse_completion(prompt.opening.rpartition("You answer:")[2], load_format(prompt.format))
    assert parse(extract(example.action).action) == Act(verb=Verb.CLICK, element=2)


def test_an_agent_that_asks_for_the_original_s_format_gets_its_prompt():
    opening = opening_of(get_spec("webarena"), "webarena")
    assert opening.source == "envservers.webarena:prompt_fenced.yaml"
    assert opening.format.name == "webarena"
    assert opening_of(get_spec("webarena")).format.name == "react"
