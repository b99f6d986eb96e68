"""From the words of a command line to an environment and its options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agentenv.errors import BadCall, UnknownOption
from agentenv.registry import EnvSpec, get_spec, register

GYM = "gym:"


def key_values(pairs: Iterable[str], flag: str = "--env-option") -> dict[str, str]:
    """`["size=5"]` -> `{"size": "5"}`; BadCall for what is no `key=value` and for a key given twice."""
    found: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise BadCall(f"{flag} {pair!r}: write key=value")
        if key in found:
            raise BadCall(f"{flag} {key} is given twice")
        found[key] = value
    return found


def env_spec(name: str, options: Mapping[str, str]) -> EnvSpec:
    """The spec of an env's id or of `gym:ID`, which it registers in this process."""
    if not name.startswith(GYM):
        return get_spec(name)
    from agentenv.adapters.gymnasium import spec_for

    spec = spec_for(name, options.get("success_return"))
    register(spec)
    return spec


def target(name: str, pairs: Iterable[str]) -> tuple[EnvSpec, dict[str, Any]]:
    """An env and the options that were given, in their types; others stay at their defaults."""
    options = key_values(pairs)
    spec = env_spec(name, options)
    resolved = spec.resolve_options(options)
    return spec, {key: resolved[key] for key in options}


def place(name: str, pairs: Iterable[str], *, remote: bool) -> tuple[str, dict[str, Any]]:
    """The wire id of an env and its options. A remote env need not be installed here: its server reads the options."""
    if remote:
        return _wire_id(name), dict(key_values(pairs))
    spec, options = target(name, pairs)
    return spec.id, options


def served(names: Iterable[str], pairs: Iterable[str]) -> tuple[list[EnvSpec], dict[str, dict[str, Any]]]:
    """Several envs and the options of each, from pairs `ENV.key=value`; ENV is the id or `gym:ID`."""
    names = list(dict.fromkeys(names))
    by_env: dict[str, list[str]] = {name: [] for name in names}
    for key, value in key_values(pairs).items():
        env, dot, option = key.rpartition(".")
        owner = next((n for n in names if env in (n, _wire_id(n))), None)
        if not dot or owner is None:
            raise UnknownOption(f"--env-option {key}={value}: write ENV.key=value with ENV one of {', '.join(names)}")
        by_env[owner].append(f"{option}={value}")
    found = [target(name, by_env[name]) for name in names]
    return [spec for spec, _ in found], {spec.id: options for spec, options in found if options}


def _wire_id(name: str) -> str:
    if not name.startswith(GYM):
        return name
    from agentenv.adapters.gymnasium import wire_id

    return wire_id(name.removeprefix(GYM))
