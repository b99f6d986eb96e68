"""Reading an action: `TOOL with Action Input: {JSON}`. The input is parsed as JSON and never evaluated."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from agentenv.functions.strict import STRICT, NotStrict
from agentenv.functions.table import Call, Refused

MAX_CHARS = 16_384
"""Of one action; a longer one is refused unread."""
FORM = "Action: [tool name] with Action Input: [a JSON object]"

_ACTION = re.compile(r"^[ \t]*Action[ \t]*:", re.MULTILINE | re.IGNORECASE)
_HEAD = re.compile(
    r"\s*[\[`*]{0,3}([A-Za-z_]\w{0,63})[\]`*]{0,3}\s+with\s+action\s+input\s*:", re.IGNORECASE | re.ASCII
)


def read_call(text: str) -> Call:
    """The first call of an action, also behind a thought; Refused says what is wrong with it."""
    if len(text) > MAX_CHARS:
        raise Refused(f"the action has more than {MAX_CHARS} characters")
    head = _HEAD.match(text)
    if head is None and (marker := _ACTION.search(text)):
        head = _HEAD.match(text, marker.end())
    if head is None:
        raise Refused(f'format error; answer in the form "{FORM}", which is {{}} where a tool takes no arguments')
    return Call(name=head[1], arguments=_arguments(text[head.end() :].strip()))


def _arguments(text: str) -> Mapping[str, Any]:
    """The JSON object that a text begins with; lines behind it, such as an imagined observation, are dropped."""
    try:
        value, end = STRICT.raw_decode(text)
        json.dumps(value, ensure_ascii=False).encode()  # a lone surrogate is no text
    except UnicodeEncodeError:
        raise Refused("the Action Input holds a character that is no text (a lone surrogate)") from None
    except NotStrict as error:
        raise Refused(f"the Action Input is not JSON: {error}") from None
    except json.JSONDecodeError as error:
        raise Refused(f"the Action Input is not JSON: {error.msg} at character {error.pos}") from None
    except (RecursionError, ValueError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else "a number with too many digits"
        raise Refused(f"the Action Input is not usable: {reason}") from None
    rest = text[end:].lstrip(" \t")
    if rest and rest[0] not in "\r\n":
        raise Refused("something follows the Action Input on its line")
    if not isinstance(value, dict):
        raise Refused("the Action Input must be a JSON object, such as {}")
    return value
