"""The functions of every environment: a call makes an action that the environment's own parser takes.

Two sides: an example call of each function is read by the parser named here, and the scripted solution's actions are
all calls of functions, text for text.
"""

import asyncio
import re

import pytest

from agentenv.agents import make_agent
from agentenv.agents.parse import parse, written
from agentenv.agents.prompts import load_format
from agentenv.errors import EnvUnavailable
from agentenv.functions import Call, FunctionTable
from agentenv.pool import EnvPool
from agentenv.registry import get_spec, specs
from agentenv.rollout import rollout

SPECS = [spec for spec in specs() if spec.entry.startswith("envservers.")]
FORMATS = [load_format("function_calling"), load_format("code_as_action")]

SAMPLES = {
    "alfworld": {"recep": "shelf 1", "obj": "apple 1", "name": "apple 1"},
    "math": {"number": "12.5", "expression": "2 * (3 + 4)"},
    "sciworld": {"objects": "battery anode to red wire terminal 1", "object": "metal pot", "place": "kitchen"},
    "sql": {"table": "people", "sql": "SELECT name\nFROM people"},
    "todo": {},
}
"""Arguments of an example by name, where the schema alone does not give one that makes sense."""
SLOW = ("search", "sciworld", "webarena", "webshop", "sql")
"""A world is built or a simulator started for their solutions."""
OPTIONS = {"webarena": {"engine": "lite", "size": "small"}}
WORKED_OUT = ("math",)
"""The solution's actions show their working before the answer, which no call does."""


def example(spec, function):
    sample = SAMPLES.get(spec.id, {})
    arguments = {name: sample.get(name, value) for name, value in function.example().arguments.items()}
    return Call(name=function.name, arguments=arguments)


def _textcraft(text):
    from envservers.games.textcraft.recipes import parse_craft

    return text == "inventory" or bool(re.fullmatch(r"get \d+ .+", text) or parse_craft(text.removeprefix("craft ")))


def _maze(text):
    from envservers.games.maze.env import read_move

    return read_move(text) is not None


def _wordle(text):
    from envservers.games.wordle.env import read_guess

    return read_guess(text) != ""


def _babyai(text):
    from envservers.embodied.babyai import words

    plain = words.read_action(text)
    return plain == words.CHECK or plain in words.PRIMITIVES or words._TARGETED.fullmatch(plain)


def _alfworld(text):
    from envservers.embodied.alfworld import rules

    return text in rules._ASKED or any(p.fullmatch(rules.read(text)) for p in (rules._ONE, rules._PUT, rules._PAIR))


def _sciworld(text):
    """Its forms by heart: the simulator itself reads them in the solutions below."""
    from envservers.science.sciworld.functions import spoken

    forms = [form.strip() for line in get_spec("sciworld").action_grammar.splitlines() for form in line.split("|")]
    heads = {re.split(r" OBJ| LOC|:|,", form)[0] for form in forms}
    return spoken(text) == text and any(text == head or text.startswith(f"{head} ") for head in heads)


def _search(text):
    from envservers.search.turns import Kind, read_turn

    return read_turn(text).kind is not Kind.REFUSED


def _webarena(text):
    from envservers.webarena.act import Verb
    from envservers.webarena.language.parse import parse as read

    return read(text).verb is not Verb.NONE


def _webshop(text):
    from envservers.shop.webshop.actions import read_action

    return not isinstance(read_action(text), str)


def _sql(text):
    from envservers.sql.replies import Kind, read_reply

    return read_reply(text, bare=Kind.REFUSED).kind is not Kind.REFUSED


def _math(text):
    from envservers.math.replies import Kind, read_turn

    return read_turn(text).kind is not Kind.REFUSED


def _todo(text):
    from envservers.tools.toolkit.call import Refused, read_call

    try:
        return read_call(text).name
    except Refused:
        return ""


ACCEPTS = {
    "alfworld": _alfworld, "babyai": _babyai, "math": _math, "maze": _maze, "sciworld": _sciworld, "search": _search,
    "sql": _sql, "textcraft": _textcraft, "todo": _todo, "webarena": _webarena, "webshop": _webshop, "wordle": _wordle,
}  # fmt: skip


def test_every_environment_has_functions():
    assert [spec.id for spec in SPECS if not spec.functions] == []


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.id)
def test_the_environments_own_parser_takes_the_text_of_every_function(spec):
    table = FunctionTable.of(spec.functions)
    assert spec.id in ACCEPTS, f"add the parser of {spec.id} to ACCEPTS"
    refused = {}
    for function in table.functions.values():
        text = table.action(example(spec, function))
        if not ACCEPTS[spec.id](text):
            refused[function.name] = text
    assert not refused


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.id)
def test_the_parsers_named_here_refuse_what_is_no_action(spec):
    assert not ACCEPTS[spec.id]("sing a song")


@pytest.mark.parametrize("format", FORMATS, ids=lambda f: f.name)
@pytest.mark.parametrize("text", ["click[size [large]]", "search[red [dress] xl]", "click[Buy Now]"])
def test_a_value_with_brackets_survives_the_way_to_a_call_and_back(text, format):
    table = FunctionTable.of(get_spec("webshop").functions)
    assert parse(written(text, format, table), format, functions=table).action == text


@pytest.mark.parametrize("format", FORMATS, ids=lambda f: f.name)
@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.id)
def test_a_call_survives_being_written_and_read_in_every_format(spec, format):
    table = FunctionTable.of(spec.functions)
    for function in table.functions.values():
        text = table.action(example(spec, function))
        assert parse(written(text, format, table), format, functions=table).action == text


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(spec, id=spec.id, marks=[pytest.mark.slow] if spec.id in SLOW else [])
        for spec in SPECS
        if spec.id not in WORKED_OUT
    ],
)
def test_the_actions_of_the_scripted_solution_are_calls_of_functions(spec):
    if spec.id == "sciworld":
        from envservers.science.sciworld.needs import check_needs

        try:
            check_needs()
        except EnvUnavailable as missing:
            pytest.skip(str(missing))

    async def run():
        async with EnvPool(spec.id, size=1, options=OPTIONS.get(spec.id, {})) as pool:
            return await rollout(pool, await pool.task_refs("test", 3), make_agent("oracle"))

    table = FunctionTable.of(spec.functions)
    episodes = asyncio.run(run())
    assert all(episode.outcome.valid and episode.turns for episode in episodes)
    actions = {turn.action for episode in episodes for turn in episode.turns}
    unread = [action for action in actions if table.read(action) is None]
    assert not unread
