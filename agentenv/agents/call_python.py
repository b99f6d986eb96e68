"""A call written as Python: `search(query="...")`, in a fenced block or bare. It is parsed and never run.

Only literals may be arguments, by place or by name: texts, numbers, True, False, None, and lists and dicts of them.
"""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Mapping
from typing import Any

from agentenv.functions import Call, FunctionTable, Refused

MAX_CODE = 16_384
"""Characters of code that are parsed."""
MAX_DEPTH = 20
"""Of lists and dicts in one another."""
MAX_LINES = 200
"""Lines of a text without a fence that are looked at."""
NONE = "there is no call; answer with one Python call in a ```python block"

_FENCE = re.compile(
    r"^ {0,3}```[ \t]*+(?:python|py)?[ \t]*+\n(.*?)(?:^ {0,3}```[ \t]*+$|\Z)", re.DOTALL | re.MULTILINE | re.I
)
_BARE = re.compile(r"[ \t>`*]*(?:(?:python|py)[ \t]+)?([A-Za-z_]\w*\(.*\))[ \t`*]*", re.ASCII)


def read_python_call(text: str, table: FunctionTable) -> tuple[Call, bool]:
    """The one call of a text, and whether words follow it; Refused says why there is none."""
    blocks = list(_FENCE.finditer(text))
    if len(blocks) > 1:
        raise Refused(f"there are {len(blocks)} blocks of code; write exactly one")
    if blocks:
        return _call(blocks[0][1], table), bool(text[blocks[0].end() :].strip(" \t\n`"))
    return _bare(text, table)


def _bare(text: str, table: FunctionTable) -> tuple[Call, bool]:
    """Without a fence: the whole text is the call, or one line of it is."""
    lines = text.strip().splitlines()
    found = [
        (number, match[1])
        for number, line in enumerate(lines[:MAX_LINES])
        if (match := _BARE.fullmatch(line)) and match[1].partition("(")[0] in table.functions
    ]
    if len(found) > 1:
        raise Refused(f"there are {len(found)} calls; make exactly one")
    if found:
        number, code = found[0]
        return _call(code, table), number + 1 < len(lines)
    if len(text) <= MAX_CODE and re.match(r"\s*[A-Za-z_]\w*\s*\(", text, re.ASCII):
        return _call(text, table), False
    raise Refused(NONE)


def _call(code: str, table: FunctionTable) -> Call:
    tree = _parsed(code)
    if not tree.body:
        raise Refused(NONE)
    if len(tree.body) > 1:
        raise Refused(f"there are {len(tree.body)} statements; write exactly one call")
    match tree.body[0]:
        case ast.Expr(value=ast.Call(func=ast.Name(id=name)) as call):
            return Call(name=name, arguments=_arguments(name, call, table))
    raise Refused("the code must be one call of a function and nothing else, such as name(argument=value)")


def _parsed(code: str) -> ast.Module:
    if len(code) > MAX_CODE:
        raise Refused(f"the code has more than {MAX_CODE} characters")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes such as "\d", which Python takes as they are
            return ast.parse(code.strip())
    except SyntaxError as exc:
        raise Refused(f"the code is not Python: {str(exc.msg)[:100]}") from None
    except (ValueError, RecursionError, MemoryError):
        raise Refused("the code is not Python that can be read") from None


def _arguments(name: str, call: ast.Call, table: FunctionTable) -> Mapping[str, Any]:
    function = table.functions.get(name)
    if function is None:
        return {}  # the table says that there is no such function
    names = list(function.properties)
    if len(call.args) > len(names):
        raise Refused(f"{name}: takes at most {len(names)} arguments, not {len(call.args)}")
    given = [*zip(names, call.args, strict=False), *((k.arg, k.value) for k in call.keywords)]
    arguments: dict[str, Any] = {}
    for argument, node in given:
        if argument is None:
            raise Refused(f"{name}: ** cannot be used")
        if argument in arguments:
            raise Refused(f"{name}: `{argument}` is given twice")
        arguments[argument] = _literal(node, f"{name}: `{argument}`", MAX_DEPTH)
    return arguments


def _literal(node: ast.expr, where: str, depth: int) -> Any:
    if depth == 0:
        raise Refused(f"{where} is nested too deeply")
    match node:
        case ast.Constant(value=float() as value) if not math.isfinite(value):
            pass
        case ast.Constant(value=str() | bool() | int() | float() | None as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_literal(item, where, depth - 1) for item in items]
        case ast.Dict(keys=keys, values=values) if all(
            isinstance(key, ast.Constant) and isinstance(key.value, str) for key in keys
        ):
            pairs = zip(keys, values, strict=True)
            return {
                key.value: _literal(value, where, depth - 1) for key, value in pairs if isinstance(key, ast.Constant)
            }
    raise Refused(f"{where} must be a plain value: a text in quotes, a number, True, False, None or a list of them")


def written_python_call(call: Call) -> str:
    """The text of a model that makes this call."""
    arguments = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
    return f"```python\n{call.name}({arguments})\n```"
