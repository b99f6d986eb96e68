import dataclasses
from importlib.resources import files

import pytest
import yaml
from agent_play import SPEC

from agentenv.agents.parse import parse
from agentenv.agents.prompts import load_format, opening_of
from agentenv.errors import BadAgent
from agentenv.registry import specs

OWN = [spec for spec in specs() if spec.prompt]


@pytest.mark.parametrize("spec", OWN, ids=lambda spec: spec.id)
def test_the_prompt_of_every_env_can_be_read_and_shows_the_form_that_its_parser_reads(spec):
    opening = opening_of(spec)
    assert opening.source == spec.prompt
    assert opening.prompt.version
    example = opening.prompt.opening.rpartition("Thought:")
    assert parse(example[1] + example[2], opening.format).action


def test_the_games_have_prompts_of_their_own():
    assert {"textcraft", "wordle", "maze"} <= {spec.id for spec in OWN}


def test_an_env_without_a_prompt_gets_one_made_from_its_card():
    opening = opening_of(SPEC)
    assert SPEC.title in opening.prompt.opening
    assert "  open left" not in opening.prompt.opening
    assert "open left\nopen right" in opening.prompt.opening
    assert opening.format.shape in opening.prompt.opening
    assert "$" not in opening.prompt.opening


@pytest.mark.parametrize("spec", OWN, ids=lambda spec: spec.id)
@pytest.mark.parametrize("format", ["react", "function_calling", "code_as_action"])
def test_what_a_prompt_has_as_rules_is_told_in_every_other_format(spec, format):
    package, _, path = spec.prompt.partition(":")
    own = yaml.safe_load((files(package) / path).read_text(encoding="utf-8"))
    assert own.get("rules"), "other formats would tell the actions alone"
    if own["format"] == format or format in spec.other_prompts:
        pytest.skip("its own prompt tells them")
    assert own["rules"].strip() in opening_of(spec, format).prompt.opening


def test_equal_words_have_an_equal_digest_and_others_another():
    one, again, other = (
        opening_of(s).describe()["digest"] for s in (SPEC, SPEC, dataclasses.replace(SPEC, title="Another"))
    )
    assert one == again != other


def test_the_form_that_is_shown_is_read_back():
    assert parse(load_format("react").shape, load_format("react")).action == "your next action"


def test_an_unknown_format_is_refused_with_those_there_are():
    with pytest.raises(BadAgent, match=r"no format 'json'; there are: code_as_action, function_calling, plain, react"):
        load_format("json")


GOOD = "version: '1'\nformat: react\nopening: o\nacknowledgement: a\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, r"cannot be read as YAML: FileNotFoundError"),
        ("a: [", r"cannot be read as YAML: ParserError"),
        ("- 1", r"must have the keys version, format, opening, acknowledgement; it has list"),
        ("version: 1", r"must have the keys .*; it has version"),
        (GOOD + "more: x\n", r"it has version, format, opening, acknowledgement, more"),
        (GOOD.replace("opening: o", "opening: ' '"), r"must be text: opening"),
        (GOOD.replace("opening: o", "opening: [o]"), r"must be text: opening"),
        (GOOD.replace("'1'", "1.5"), r"must be text: version"),
        (GOOD.replace("react", "json"), r"bad_prompts:p.yaml: no format 'json'"),
        ("!!python/object/apply:os.getcwd []", r"cannot be read as YAML: ConstructorError"),
    ],
)
def test_a_prompt_file_that_cannot_be_used_is_named_with_the_reason(text, words, tmp_path, monkeypatch):
    from agentenv.agents import prompts

    package = tmp_path / "bad_prompts"
    package.mkdir()
    (package / "__init__.py").touch()
    if text is not None:
        (package / "p.yaml").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, "bad_prompts", raising=False)
    prompts._prompt.cache_clear()
    with pytest.raises(BadAgent, match=words):
        opening_of(dataclasses.replace(SPEC, prompt="bad_prompts:p.yaml"))


def test_a_prompt_of_a_package_that_is_not_there_is_refused():
    with pytest.raises(BadAgent, match=r"no_such_pkg:p.yaml: cannot be read as YAML: ModuleNotFoundError"):
        opening_of(dataclasses.replace(SPEC, prompt="no_such_pkg:p.yaml"))
