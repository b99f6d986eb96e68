"""Agents that play: scripted controls, and language models behind prompts and formats that are data."""

from __future__ import annotations

import difflib
import functools
import importlib
import inspect
from collections.abc import Callable, Mapping
from typing import Any, cast

from agentenv.agents.base import Agent, AgentSpec, EpisodeView, Move, Seat
from agentenv.errors import BadAgent
from agentenv.plugins import entry_points, load_point

__all__ = ["Agent", "AgentSpec", "EpisodeView", "Move", "Seat", "agent_names", "make_agent"]

GROUP = "agentenv.agents"
"""Entry-point group of other packages' agents; each object is a factory `(**settings) -> AgentSpec`."""

BUILT_IN: Mapping[str, str] = {
    "code_as_action": "agentenv.agents.model:code_as_action",
    "external": "agentenv.agents.external:external",
    "function_calling": "agentenv.agents.model:function_calling",
    "noop": "agentenv.agents.scripted:noop",
    "oracle": "agentenv.agents.scripted:oracle",
    "random": "agentenv.agents.scripted:random",
    "react": "agentenv.agents.model:react",
}
"""`module:factory` of each; imported only when asked for."""


SHORTCUT = "shortcut:"
"""What the names of the agents begin with that an env ships to show what cheating reaches."""


def agent_names() -> list[str]:
    """Every agent that can be asked for, by name; loads none of them."""
    return sorted({*BUILT_IN, *entry_points(GROUP)})


def make_agent(name: str, *, model: str | None = None, model_url: str | None = None, **settings: Any) -> AgentSpec:
    """The agent `name` with these settings; BadAgent when there is none, or when it does not take a setting.

    `model` and `model_url` are settings like the others, passed on only when given.
    """
    factory = _factory(name)
    given = {"model": model, "model_url": model_url}
    settings = {**{k: v for k, v in given.items() if v is not None}, **settings}
    _check_settings(name, factory, settings)
    return factory(**settings)


def _factory(name: str) -> Callable[..., AgentSpec]:
    if name.startswith(SHORTCUT):
        from agentenv.agents.shortcut import shortcut

        return functools.partial(shortcut, name.removeprefix(SHORTCUT))
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        return cast("Callable[..., AgentSpec]", getattr(importlib.import_module(module), attribute))
    found = entry_points(GROUP).get(name)
    if found is None:
        names = agent_names()
        close = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise BadAgent(f"no agent {name!r}; {hint}There are: {', '.join(names)}")
    point, dist = found
    try:
        return cast("Callable[..., AgentSpec]", load_point(point, dist))
    except Exception as exc:  # a stranger's module may raise anything at import
        raise BadAgent(f"agent {name!r} of {dist.name} cannot be loaded: {type(exc).__name__}: {exc}") from exc


def _check_settings(name: str, factory: Callable[..., AgentSpec], settings: Mapping[str, Any]) -> None:
    """Refuse what the factory has no parameter for, and name what it must be given."""
    parameters = inspect.signature(factory).parameters
    if not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        for setting in settings:
            if setting not in parameters:
                close = difflib.get_close_matches(setting, parameters, n=1)
                hint = f"did you mean {close[0]!r}?" if close else f"it takes: {', '.join(parameters) or 'none'}"
                raise BadAgent(f"agent {name!r} has no setting {setting!r}; {hint}")
    for setting, parameter in parameters.items():
        required = parameter.default is parameter.empty and parameter.kind not in (
            parameter.VAR_KEYWORD,
            parameter.VAR_POSITIONAL,
        )
        if required and setting not in settings:
            raise BadAgent(f"agent {name!r} needs {setting!r}: {_how_to_give(setting)}")


def _how_to_give(setting: str) -> str:
    flags = {"model": "--model NAME", "model_url": "--model-url http://host:port/v1"}
    return f"give it by {flags.get(setting, f'{setting}=...')}"
