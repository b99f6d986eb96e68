"""The toys as environments of this process, found as installed ones are."""

import contextlib
from collections.abc import Iterator

import gymnasium
from toy_envs import SPECS

from agentenv import registry


@contextlib.contextmanager
def registered() -> Iterator[None]:
    """Every toy is registered inside, here and in gymnasium, and forgotten after it."""
    before, known = dict(registry._registered), set(gymnasium.registry)
    for spec in SPECS.values():
        registry.register(spec)
    try:
        yield
    finally:
        registry._registered.clear()
        registry._registered.update(before)
        for name in set(gymnasium.registry) - known:
            del gymnasium.registry[name]
