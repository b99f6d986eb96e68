"""The toolkit with another service: a table of tools over a plain state is all that one needs."""

import json
import time
from dataclasses import dataclass, replace
from typing import Annotated

import pytest
from msgspec import UNSET, Meta, UnsetType

from agentenv.functions.table import FunctionTable, Refused
from agentenv.protocol import Action, Task
from envservers.tools.toolkit.call import MAX_CHARS
from envservers.tools.toolkit.env import Case, ToolEnv
from envservers.tools.toolkit.table import Arguments, Tool, Toolkit, action_of, given


@dataclass(frozen=True)
class Lamps:
    on: tuple[str, ...] = ()


class GetLamps(Arguments):
    """List the lamps that are on."""


class SwitchOn(Arguments):
    """Switch a lamp on."""

    lamp: str
    times: Annotated[int, Meta(ge=1, le=3)] = 1
    note: str | UnsetType | None = UNSET


def switch_on(state: Lamps, call: SwitchOn) -> tuple[Lamps, object]:
    if call.lamp not in ("desk", "floor"):
        raise Refused(f"there is no lamp {call.lamp}")
    return replace(state, on=(*state.on, call.lamp)), {"on": call.lamp}


TOOLKIT: Toolkit[Lamps] = Toolkit(
    (
        Tool(arguments=GetLamps, run=lambda state, _: (state, list(state.on))),
        Tool(arguments=SwitchOn, run=switch_on, writes=True),
    )
)


class LampEnv(ToolEnv[Lamps]):
    toolkit = TOOLKIT

    def case_of(self, task):
        calls = (GetLamps(), SwitchOn(lamp="desk"))
        return Case(goal="Switch the desk lamp on.", start=Lamps(), expected=Lamps(("desk",)), answer=None, calls=calls)

    def candidates(self, state, shown):
        return [GetLamps(), SwitchOn(lamp="desk"), SwitchOn(lamp="floor")]

    def mutants(self, case):
        return {"nothing": ([], None), "wrong lamp": ([SwitchOn(lamp="floor")], None)}


TASK = Task(id="lamps/test/0", env="lamps", split="test", index=0)


def played(*calls):
    env = LampEnv()
    env.reset(TASK)
    return [env.step(Action(text=action_of(call) if isinstance(call, Arguments) else call)) for call in calls][-1]


FINISH = "finish with Action Input: {}"


def test_the_end_state_decides():
    assert played(SwitchOn(lamp="desk"), FINISH).success
    assert not played(FINISH).success
    assert not played(SwitchOn(lamp="desk"), SwitchOn(lamp="floor"), FINISH).success
    assert LampEnv().survivors(LampEnv().case_of(TASK)) == []


def test_a_check_that_lets_a_mutant_through_is_noticed():
    class Lax(LampEnv):
        def same(self, end, case):
            return bool(end.on)

    assert Lax().survivors(Lax().case_of(TASK)) == ["wrong lamp"]


def test_the_scripted_solution_is_the_calls_and_finish():
    env = LampEnv()
    env.last = env.reset(TASK)
    solution = env.solve(TASK)
    texts = [next(solution).text]
    while not env.last.terminated:
        env.last = env.step(Action(text=texts[-1]))
        if not env.last.terminated:
            texts.append(solution.send(env.last).text)
    assert texts == ["get_lamps with Action Input: {}", 'switch_on with Action Input: {"lamp": "desk"}', FINISH]
    assert env.last.success


def test_every_tool_environment_lists_its_tools_and_its_schemas_are_well_formed():
    listed = json.loads(TOOLKIT.act(Lamps(), "check_valid_actions with Action Input: {}").text)
    assert listed == ["get_lamps()", "switch_on(lamp, times?, note?)", "check_valid_actions()", "finish(answer?)"]
    table = FunctionTable.of(TOOLKIT.functions)
    assert table.read('switch_on with Action Input: {"lamp": "desk"}') is not None


def test_an_argument_that_is_left_out_is_not_the_same_as_null():
    assert given(SwitchOn(lamp="desk")) == {"lamp": "desk"}
    assert given(SwitchOn(lamp="desk", note=None, times=2)) == {"lamp": "desk", "note": None, "times": 2}
    assert action_of(SwitchOn(lamp="desk", note=None)).endswith('{"lamp": "desk", "note": null}')


@pytest.mark.parametrize("filling", [" ", "\n", "a", "with ", "Action:\n", "[", '{"a":', "with action input:"])
def test_a_text_of_any_kind_is_refused_quickly(filling):
    text = (filling * MAX_CHARS)[:MAX_CHARS]
    began = time.thread_time()
    assert TOOLKIT.act(Lamps(), text).refused
    assert time.thread_time() - began < 0.05
