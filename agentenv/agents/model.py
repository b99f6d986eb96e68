"""The agents that ask a model, by their settings: the model stands behind an endpoint, or is a folder of this machine.

Settings may be text, as a command line has them; UnknownOption names one that does not fit.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from agentenv.agents.base import AgentSpec
from agentenv.agents.conversation import Bounds
from agentenv.agents.function_calling import function_calling_over
from agentenv.agents.react import react_over
from agentenv.errors import BadAgent, EpisodeCut, InfraError
from agentenv.registry import Option

SETTINGS = (
    Option(name="temperature", type=float, default=None, help="of sampling; unset: the endpoint's own", low=0),
    Option(name="max_tokens", type=int, default=512, help="of one completion", low=1),
    Option(name="seed", type=int, default=None, help="sent with each request, mixed with the episode's own", low=0),
    Option(name="context_tokens", type=int, default=None, help="the conversation ends when it is longer", low=1),
    Option(name="timeout_s", type=float, default=300.0, help="for one request", low=0.001),
    Option(name="retries", type=int, default=5, help="of a request that failed", low=0),
    Option(name="requests_per_minute", type=float, default=None, help="started at most", low=0.001),
    Option(name="tokens_per_minute", type=float, default=None, help="read and written at most", low=1),
    Option(name="prices", type=str, default=None, help="YAML file with what tokens cost"),
    Option(name="max_episode_tokens", type=int, default=None, help="an episode ends when it has used them", low=1),
    Option(name="max_episode_cost", type=float, default=None, help="an episode ends when it has cost this", low=0),
)
"""Of models behind endpoints."""
TOOLS = Option(
    name="tools",
    type=str,
    default="auto",
    help="how function_calling makes calls",
    choices=("auto", "native", "prompt"),
)
BOUNDS = ("seed", "context_tokens", "max_episode_tokens", "max_episode_cost")
LOCAL_ONLY = ("engine", "engine_options", "top_p", "top_k")
"""Settings of models in a folder of this machine, beside those that both have."""
FOR_BOTH = ("temperature", "max_tokens", "seed", "context_tokens")


def _factory(name: str, about: str) -> Callable[..., AgentSpec]:
    """The factory of an agent; its signature names the settings, so that `make_agent` can refuse others."""

    def factory(**settings: Any) -> AgentSpec:
        return _agent(name, settings)

    tools = (TOOLS.name,) if name == "function_calling" else ()
    names = ("model", "model_url", "model_path", *(o.name for o in SETTINGS), *tools, *LOCAL_ONLY)
    parameters = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=None) for n in names]
    factory.__name__, factory.__doc__ = name, about
    factory.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return factory


def _agent(name: str, settings: Mapping[str, Any]) -> AgentSpec:
    given = {key: value for key, value in settings.items() if value is not None}
    if "model_path" in given:
        return _local(name, given)
    for key, how in (("model", "--model NAME, or --model-path DIR"), ("model_url", "--model-url http://host:port/v1")):
        if key not in given:
            raise BadAgent(f"agent {name!r} needs {key!r}: give it by {how}")
    refused = [key for key in LOCAL_ONLY if key in given]
    if refused:
        raise BadAgent(f"agent {name!r}: {refused[0]!r} is for a model in a folder (--model-path), not an endpoint")
    return _behind_endpoint(name, given)


def _behind_endpoint(name: str, given: Mapping[str, Any]) -> AgentSpec:
    from agentenv.endpoint import EndpointSettings, OpenAIPolicy, load_prices

    value = {option.name: option.parse(given.get(option.name, option.default)) for option in SETTINGS}
    bounds = Bounds(**{key: value.pop(key) for key in BOUNDS})
    prices = value.pop("prices")
    model = str(given["model"])
    price = load_prices(prices).get(model) if prices is not None else None
    if bounds.max_episode_cost is not None and price is None:
        raise BadAgent(f"max_episode_cost needs a price of {model!r}; give a table that has it by prices=FILE")
    policy = OpenAIPolicy(EndpointSettings(model=model, url=str(given["model_url"]), price=price, **value))
    if name != "function_calling":
        spec = react_over(policy, bounds, name=name, format=None if name == "react" else name)
        return replace(spec, preflight=lambda: _preflight(policy, bounds), spent=lambda: policy.spent)
    tools = TOOLS.parse(given.get("tools", TOOLS.default))
    spec = function_calling_over(policy, bounds, native={"auto": None, "native": True, "prompt": False}[tools])
    ask = tools == "auto"
    return replace(spec, preflight=lambda: _preflight(policy, bounds, tools=ask), spent=lambda: policy.spent)


async def _preflight(policy: Any, bounds: Bounds, *, tools: bool = False) -> str:
    """What the endpoint replied; BadAgent when it does not tell what the caps of an episode need."""
    found = await policy.preflight()
    capped = [key for key in ("max_episode_tokens", "max_episode_cost") if getattr(bounds, key) is not None]
    if capped and policy.spent.untold:
        raise BadAgent(f"{found}; it does not tell token counts, so that {capped[0]} cannot be held")
    if not tools:
        return str(found)
    try:
        native = await policy.takes_tools()
    except EpisodeCut as cut:
        raise InfraError(cut.detail) from cut
    finally:
        await policy.close()
    return f"{found}; calls of functions: {'its own' if native else 'as JSON in its text'}"


def _local(name: str, given: Mapping[str, Any]) -> AgentSpec:
    from agentenv.agents.local import local_agent

    allowed = ("model", "model_path", *FOR_BOTH, *LOCAL_ONLY)
    refused = [key for key in given if key not in allowed]
    if refused:
        raise BadAgent(f"agent {name!r}: {refused[0]!r} is for a model behind an endpoint, not for --model-path")
    common = {o.name: o.parse(given.get(o.name, o.default)) for o in SETTINGS if o.name in FOR_BOTH}
    own = {key: given[key] for key in ("model", *LOCAL_ONLY) if key in given}
    return local_agent(name, path=str(given["model_path"]), **common, **own)


react = _factory("react", "One thought and one action a turn, in the form that the env's prompt asks for.")
function_calling = _factory("function_calling", "One call of a function a turn: the endpoint's own, or a JSON object.")
code_as_action = _factory("code_as_action", "One call of a function a turn, written in Python; read, never run.")
