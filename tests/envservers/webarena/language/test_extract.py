from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from envservers.webarena.act import Verb
from envservers.webarena.language import PARSERS, extract, parse

REPLIES = yaml.safe_load((Path(__file__).parent / "vectors" / "replies.yaml").read_text(encoding="utf-8"))
PIECES = [
    "```",
    "`",
    "text\n",
    "click [5]",
    "click [6]",
    "stop []",
    "\n",
    " ",
    "OBSERVATION:",
    "next action I will perform is",
]


@pytest.mark.parametrize("record", REPLIES, ids=lambda r: r["name"])
@pytest.mark.parametrize("parser", PARSERS)
def test_every_recorded_reply_asks_for_the_recorded_action(parser, record):
    found = extract(record["reply"], parser)
    assert found.action == (record[parser] or "")
    assert bool(found.reason) == (record[parser] is None)


def test_two_actions_are_refused_by_name():
    assert "more than one action" in extract("```click [5]``` or ```click [6]```").reason


@pytest.mark.parametrize("parser", PARSERS)
@given(reply=st.one_of(st.text(max_size=80), st.lists(st.sampled_from(PIECES), max_size=14).map("".join)))
@settings(max_examples=300, deadline=None)
def test_no_reply_raises_and_each_gives_an_action_or_a_reason(parser, reply):
    found = extract(reply, parser)
    assert bool(found.action) != bool(found.reason)
    assert "\n" not in found.reason


@given(text=st.sampled_from(["click [5]", "type [5] [a b] [0]", "scroll [down]", "stop [42]", "new_tab"]))
def test_an_action_is_found_bare_fenced_and_behind_the_phrase(text):
    phrase = "In summary, the next action I will perform is"
    for reply in (text, f"```{text}```", f"```\n{text}\n```", f"`{text}`", f"Well. {phrase} ```{text}```"):
        assert parse(extract(reply).action) == parse(text)
        assert parse(text).verb is not Verb.NONE
