import re
import time
from dataclasses import fields
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from envservers.webarena.act import Act, Verb
from envservers.webarena.language.grammar import FORMS, LONGEST
from envservers.webarena.language.parse import PARSERS, parse

VECTORS = yaml.safe_load((Path(__file__).parent / "vectors" / "actions.yaml").read_text(encoding="utf-8"))
PIECES = st.sampled_from(
    [
        *(v.value for v in Verb),
        "Click",
        "[",
        "]",
        "[5]",
        "[0]",
        "[1]",
        "[x]",
        " ",
        "\n",
        "=",
        "+",
        "down",
        "日",
        "\ud800",
        "a",
    ]
)
TEXTS = st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=12).map("".join))


def wanted(record):
    if record == "error":
        return None
    return Act(**{**record, "verb": Verb(record["verb"])})


@pytest.mark.parametrize("vector", VECTORS, ids=lambda v: repr(v["text"])[:50])
@pytest.mark.parametrize("parser", PARSERS)
def test_every_recorded_text_is_read_as_recorded(parser, vector):
    act = parse(vector["text"], parser)
    expected = wanted(vector.get(parser, vector["original"]))
    if expected is None:
        assert act.verb is Verb.NONE
        assert act.error
    else:
        assert act == expected


def test_the_records_hold_every_verb_and_no_text_twice():
    texts = [v["text"] for v in VECTORS]
    assert len(set(texts)) == len(texts)
    assert {v[p]["verb"] for v in VECTORS for p in PARSERS if isinstance(v.get(p), dict)} == {v.value for v in FORMS}


@pytest.mark.parametrize("parser", PARSERS)
@given(text=TEXTS)
@settings(max_examples=300, deadline=None)
def test_no_text_raises_and_an_error_is_one_line(parser, text):
    act = parse(text, parser)
    assert (act.verb is Verb.NONE) == bool(act.error)
    assert "\n" not in act.error
    act.error.encode()


@given(text=TEXTS)
@settings(max_examples=500, deadline=None)
def test_lenient_reads_equally_what_the_original_reads_rightly(text):
    known = parse(text, "original")
    third = re.search(r"\]\s*\[[^\[\]]*$", known.text)
    lost_answer = known.verb is Verb.STOP and not known.text
    if known.verb in (Verb.NONE, Verb.PRESS) or third or lost_answer or "\r" in text:
        return
    assert parse(text, "lenient") == known


@given(element=st.integers(0, 10**8), text=st.text(max_size=40).map(lambda t: t.replace("\r", "")), enter=st.booleans())
@settings(deadline=None)
def test_what_is_typed_arrives_whole_when_its_brackets_close(element, text, enter):
    text = text.replace("[", "(").replace("]", ")")
    act = parse(f"type [{element}] [{text}] [{int(enter)}]")
    assert act == Act(verb=Verb.TYPE, element=element, text=text, enter=enter)


@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.parametrize("piece", ["type [1] [", "stop [", "goto [x", "] [1", "click [1", "[", "] ", "\n", "9"])
def test_a_long_text_takes_no_longer_than_a_long_text_should(parser, piece):
    start = time.process_time()
    for head in ("type [5] [", "stop [", "click [", "scroll ", ""):
        parse((head + piece * LONGEST)[:LONGEST], parser)
    assert time.process_time() - start < 2


@pytest.mark.parametrize("parser", PARSERS)
def test_a_text_over_the_limit_names_no_action(parser):
    assert parse("stop [" + "x" * LONGEST + "]", parser).verb is Verb.NONE


def test_an_error_says_what_the_form_is_or_which_actions_there_are():
    assert FORMS[Verb.CLICK] in parse("click 12").error
    assert all(form in parse("jump [3]").error for form in FORMS.values())
    assert "no flag" in parse("type [5] [x] [2]").error


def test_the_act_has_no_field_that_the_records_do_not_know():
    assert {f.name for f in fields(Act)} == {"verb", "element", "text", "enter", "down", "tab", "error"}
