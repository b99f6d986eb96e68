"""Functions of a card, written short."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def function(name: str, description: str, text: str, /, **arguments: str | Mapping[str, Any]) -> Mapping[str, Any]:
    """A function whose arguments are all required, as a card has it.

    text: the action that a call makes, with `{argument}` where a value goes.
    arguments: a JSON Schema each, or a text: the description of a string.
    """
    properties = {
        argument: {"type": "string", "description": about} if isinstance(about, str) else about
        for argument, about in arguments.items()
    }
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(arguments),
        "additionalProperties": False,
    }
    return {"name": name, "description": description, "text": text, "parameters": parameters}
