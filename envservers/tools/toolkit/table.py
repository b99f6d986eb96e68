"""A table of typed tools over a plain state.

A tool is a name, a record of arguments and a function `(state, arguments) -> (state, reply)`. The record is the schema:
what a model may send is read off its fields, and what it sends is converted to it, type by type.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Generic, TypeVar

import msgspec

from agentenv.functions.table import Call, Refused
from envservers.tools.toolkit.call import read_call

S = TypeVar("S")
MAX_REASON = 300
"""Characters of a reason that a model reads."""


class Arguments(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """The arguments of one tool. The class's name is the tool's, its docstring the description.

    Example: `class GetTasks(Arguments): project_id: str` is the tool `get_tasks` with one text argument.
    """


class Finish(Arguments):
    """End the task, once everything is done. Give the answer if there is a question: a number as a number, a date as
    "YYYY-MM-DD", a name or a text as a string, several as an array of strings.
    """

    answer: str | int | float | bool | list[str] | None = None


class CheckValidActions(Arguments):
    """List the tools and their arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(Generic[S]):
    """One line of the table."""

    arguments: type[Arguments]
    run: Callable[[S, Any], tuple[S, object]]
    """The state afterwards (the same object when nothing changed) and the reply, of JSON values; Refused: neither."""
    writes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Called(Generic[S]):
    """What came of an action."""

    state: S
    text: str
    """What the model reads."""
    tool: str = ""
    """Empty when the action names none."""
    finished: Finish | None = None
    refused: bool = False


@cache
def name_of(arguments: type[Arguments]) -> str:
    """`GetTasks` is the tool `get_tasks`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", arguments.__name__).lower()


def action_of(call: Arguments) -> str:
    """The action text of a call; arguments that stand at their defaults are left out."""
    arguments = json.dumps(msgspec.to_builtins(given(call)), ensure_ascii=False)
    return f"{name_of(type(call))} with Action Input: {arguments}"


def given(call: Arguments) -> dict[str, Any]:
    """The arguments of a call but for those that stand at their defaults."""
    values = {name: getattr(call, name) for name in call.__struct_fields__}
    defaults = _defaults(type(call))
    return {name: value for name, value in values.items() if name not in defaults or value != defaults[name]}


@cache
def _defaults(arguments: type[Arguments]) -> dict[str, Any]:
    fields = [field for field in msgspec.structs.fields(arguments) if not field.required]
    made = {field.name: field.default_factory for field in fields}
    return {field.name: factory() if callable(factory := made[field.name]) else field.default for field in fields}


def function_of(arguments: type[Arguments]) -> dict[str, Any]:
    """The JSON Schema of a tool for function calling; `text` makes its call an action: `{arguments}` is their JSON."""
    [schema], _ = msgspec.json.schema_components([arguments], ref_template="#/{name}")
    if "$ref" in schema:
        schema = msgspec.json.schema(arguments)["$defs"][arguments.__name__]
    parameters = {key: value for key, value in schema.items() if key not in ("title", "description")}
    name = name_of(arguments)
    description = " ".join((arguments.__doc__ or "").split())
    text = f"{name} with Action Input: {{arguments}}"
    return {"name": name, "description": description, "text": text, "parameters": parameters}


class Toolkit(Generic[S]):
    """The tools of one environment, with `check_valid_actions` and `finish`, which every one has."""

    def __init__(self, tools: Sequence[Tool[S]]) -> None:
        self._tools = {name_of(tool.arguments): tool for tool in tools}

    @cached_property
    def kinds(self) -> Mapping[str, type[Arguments]]:
        """The record of each tool by its name, `finish` last."""
        table = {name: tool.arguments for name, tool in self._tools.items()}
        return {**table, "check_valid_actions": CheckValidActions, "finish": Finish}

    @cached_property
    def functions(self) -> tuple[dict[str, Any], ...]:
        """For the card."""
        return tuple(function_of(kind) for kind in self.kinds.values())

    @cached_property
    def signatures(self) -> list[str]:
        """`get_tasks(project_id)` and so on; optional arguments have a question mark."""
        found = []
        for name, kind in self.kinds.items():
            fields = (f"{field.name}{'' if field.required else '?'}" for field in msgspec.structs.fields(kind))
            found.append(f"{name}({', '.join(fields)})")
        return found

    def writes(self, call: Arguments) -> bool:
        """Whether a call may change the state."""
        tool = self._tools.get(name_of(type(call)))
        return tool is not None and tool.writes

    def run(self, state: S, call: Arguments) -> tuple[S, object]:
        """Do a call that is already typed; Refused when it cannot be done."""
        return self._tools[name_of(type(call))].run(state, call)

    def act(self, state: S, text: str) -> Called[S]:
        """Do what an action says. One that cannot be done leaves the state as it is and is answered with the reason."""
        tool = ""
        try:
            asked = read_call(text)
            typed = self._typed(asked)
            tool = asked.name
            if isinstance(typed, Finish):
                return Called(state=state, text="Finished.", tool=tool, finished=typed)
            after, reply = (state, self.signatures) if isinstance(typed, CheckValidActions) else self.run(state, typed)
        except Refused as reason:
            return Called(state=state, text=f"ERROR | {str(reason)[:MAX_REASON]}", tool=tool, refused=True)
        return Called(state=after, text=json.dumps(reply, ensure_ascii=False), tool=tool)

    def _typed(self, call: Call) -> Arguments:
        kind = self.kinds.get(call.name)
        if kind is None:
            close = difflib.get_close_matches(call.name, self.kinds, n=1)
            hint = f"did you mean {close[0]}?" if close else "check_valid_actions lists the tools"
            raise Refused(f"no tool {call.name}; {hint}")
        try:
            return msgspec.convert(call.arguments, kind)
        except msgspec.ValidationError as error:
            raise Refused(f"{call.name}: {_reason(str(error))}") from None


def _reason(message: str) -> str:
    """The validator's words, with the argument's name in place of a path."""
    message = message.replace("Object ", "", 1).replace("field", "argument")
    return re.sub(r" - at `\$\.?([^`]*)`", r" in \1", message).replace("RFC3339 encoded date", "date, use YYYY-MM-DD")
