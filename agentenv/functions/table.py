"""Functions of an environment, read from its spec: a call is checked against its schema and becomes an action's text.

An entry of `EnvSpec.functions` has four keys: `name`, `description`, `parameters` (JSON Schema of an object) and
`text`, the action that a call makes. In `text`, `{field}` is a required argument and `{arguments}` the JSON of all
that were given; `{{` and `}}` are braces.
"""

from __future__ import annotations

import difflib
import json
import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from string import Formatter
from typing import Any

from agentenv.errors import BadCall
from agentenv.functions.schema import quoted, schema_fault, types_of, value_fault

KEYS = ("name", "description", "parameters", "text")
WHOLE = "arguments"
"""In a text: all arguments as one JSON object."""
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
"""What endpoints take as a name, and Python as an identifier."""

_PYTHON_TYPES: Mapping[str, str] = {
    "string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None", "array": "list",
    "object": "dict",
}  # fmt: skip


class Refused(Exception):
    """A call that cannot be made; the message is the reason that the model reads. Never leaves this package's users."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A function's name with its arguments."""

    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Function:
    """One function, known to be well formed."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    text: str

    @property
    def properties(self) -> Mapping[str, Any]:
        """Schema of each argument, in the order in which they may be given without their names."""
        found: Mapping[str, Any] = self.parameters.get("properties", {})
        return found

    @property
    def required(self) -> Sequence[str]:
        """Names of the arguments that every call has."""
        return list(self.parameters.get("required", []))

    def action(self, arguments: Mapping[str, Any]) -> str:
        """The action's text; Refused names the argument that does not fit."""
        fault = value_fault(dict(arguments), self.parameters)
        if fault is not None:
            raise Refused(f"{self.name}: {fault}")
        return "".join(literal + _spoken(field, arguments) for literal, field in fields_of(self.text))

    def read(self, action: str) -> Mapping[str, Any] | None:
        """The arguments of the call that makes exactly this action; None when no call of this function does."""
        found = self._pattern.fullmatch(action)
        if found is None:
            return None
        try:
            given = {name: self._value(name, text) for name, text in found.groupdict().items()}
            arguments = given.pop(WHOLE, {}) | given
            return arguments if self.action(arguments) == action else None
        except (ValueError, TypeError, RecursionError, Refused):
            return None

    def tool(self) -> dict[str, Any]:
        """As OpenAI's endpoints take it."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}

    def signature(self) -> str:
        """`get(count: int, item: str)`; an argument that may be left out has `= ...`."""
        arguments = (
            f"{name}: {_type_words(schema)}{'' if name in self.required else ' = ...'}"
            for name, schema in self.properties.items()
        )
        return f"{self.name}({', '.join(arguments)})"

    def words(self) -> str:
        """The signature, what it does, and what is known of each argument; a line each."""
        lines = [f"- {self.signature()}: {self.description}"]
        for name, schema in self.properties.items():
            about = [_range_words(schema), str(schema.get("description", ""))]
            if any(about):
                lines.append(f"    {name}: {'; '.join(filter(None, about))}")
        return "\n".join(lines)

    def example(self) -> Call:
        """A call that fits: for each required argument its first example, choice or bound."""
        return Call(name=self.name, arguments={name: _example(self.properties[name]) for name in self.required})

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        parts, seen = [], set[str]()
        for literal, field in fields_of(self.text):
            parts.append(re.escape(literal))
            if field:
                parts.append(f"(?P={field})" if field in seen else f"(?P<{field}>.*?)")
                seen.add(field)
        return re.compile("".join(parts), re.DOTALL)

    def _value(self, name: str, text: str) -> Any:
        if name == WHOLE:
            return json.loads(text)
        named = types_of(self.properties[name])
        return text if "string" in named or not named else json.loads(text)


@dataclass(frozen=True)
class FunctionTable:
    """The functions of one environment by name."""

    functions: Mapping[str, Function]

    @classmethod
    def of(cls, entries: Sequence[Mapping[str, Any]]) -> FunctionTable:
        """Read `EnvSpec.functions`; BadCall names the entry that is not well formed."""
        table: dict[str, Function] = {}
        for entry in entries:
            function = _function(entry)
            if function.name in table:
                raise BadCall(f"function {function.name!r} is listed twice")
            table[function.name] = function
        return cls(table)

    def action(self, call: Call) -> str:
        """The action's text of a call; Refused says what is wrong with it."""
        function = self.functions.get(call.name)
        if function is None:
            close = difflib.get_close_matches(call.name, self.functions, n=1)
            hint = f"did you mean {close[0]}?" if close else f"there are: {', '.join(self.functions)}"
            raise Refused(f"there is no function {quoted(call.name)}; {hint}")
        return function.action(call.arguments)

    def read(self, action: str) -> Call | None:
        """The call that makes exactly this action; None when none does."""
        for function in self.functions.values():
            arguments = function.read(action)
            if arguments is not None:
                return Call(name=function.name, arguments=arguments)
        return None

    def tools(self) -> list[dict[str, Any]]:
        """As OpenAI's endpoints take them."""
        return [function.tool() for function in self.functions.values()]

    def words(self) -> str:
        """For a prompt."""
        return "\n".join(function.words() for function in self.functions.values())


def check_functions(entries: Sequence[Mapping[str, Any]]) -> None:
    """BadCall when a table of functions is not well formed."""
    FunctionTable.of(entries)


def fields_of(text: str) -> Iterator[tuple[str, str]]:
    """Each literal of a text with the field that follows it (empty at the end); BadCall for anything but `{field}`."""
    try:
        parts = list(Formatter().parse(text))
    except ValueError as exc:
        raise BadCall(f"text {text!r}: {exc}") from exc
    for literal, field, spec, conversion in parts:
        if field is not None and (not NAME.fullmatch(field) or spec or conversion):
            raise BadCall(f"text {text!r}: only plain fields such as {{query}} may stand in braces")
        yield literal, field or ""


def _function(entry: Mapping[str, Any]) -> Function:
    name = entry.get("name")
    if not isinstance(name, str) or not NAME.fullmatch(name) or keyword.iskeyword(name):
        raise BadCall(f"function {name!r}: its name must be letters, digits and lines below, at most 64")
    if sorted(entry) != sorted(KEYS):
        raise BadCall(f"function {name!r}: must have the keys {', '.join(KEYS)}; it has {', '.join(entry)}")
    parameters = entry["parameters"]
    fault = schema_fault(parameters)
    if fault is not None or parameters.get("type") != "object":
        raise BadCall(f"function {name!r}: parameters: {fault or 'must be of the type object'}")
    function = Function(
        name=name, description=str(entry["description"]), parameters=parameters, text=str(entry["text"])
    )
    _check_arguments(function)
    return function


def _check_arguments(function: Function) -> None:
    name, properties = function.name, function.properties
    for argument in properties:
        if not NAME.fullmatch(argument) or keyword.iskeyword(argument) or argument == WHOLE:
            raise BadCall(f"function {name!r}: {argument!r} cannot be the name of an argument")
    unknown = [n for n in function.required if n not in properties]
    if unknown:
        raise BadCall(f"function {name!r}: requires {unknown[0]!r}, which is no property")
    used = [field for _, field in fields_of(function.text) if field]
    for field in used:
        if field != WHOLE and field not in function.required:
            raise BadCall(f"function {name!r}: text has {{{field}}}, which is no required property")
    unused = [n for n in properties if n not in used and WHOLE not in used]
    if unused:
        raise BadCall(f"function {name!r}: its text leaves out {unused[0]!r}, so that giving it would change nothing")


def _spoken(field: str, arguments: Mapping[str, Any]) -> str:
    """An argument inside an action: a text as it is, anything else as JSON."""
    if not field:
        return ""
    value = dict(arguments) if field == WHOLE else arguments[field]
    if type(value) is float and value.is_integer():
        value = int(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _type_words(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join(json.dumps(choice, ensure_ascii=False) for choice in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_type_words(part) for part in schema["anyOf"]))
    return " | ".join(_PYTHON_TYPES[t] for t in types_of(schema)) or "any"


def _range_words(schema: Mapping[str, Any]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f"{low} to {high}"
    return f"at least {low}" if low is not None else f"at most {high}" if high is not None else ""


def _example(schema: Mapping[str, Any]) -> Any:
    for keyword_ in ("examples", "enum"):
        if schema.get(keyword_):
            return schema[keyword_][0]
    if "anyOf" in schema:
        return _example(schema["anyOf"][0])
    first = next(iter(types_of(schema)), "string")
    number = schema.get("minimum", schema.get("maximum", 1))
    by_type: Mapping[str, Any] = {
        "string": "x" * max(1, schema.get("minLength", 1)), "integer": number, "number": number, "boolean": True,
        "null": None, "array": [], "object": {},
    }  # fmt: skip
    return by_type[first]
