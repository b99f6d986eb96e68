"""The toys, as environments of this process and on servers."""

from collections.abc import Iterator

import pytest
from serving import running
from toy_envs import SPECS
from toy_registry import registered

from agentenv.server.sessions import Sessions


@pytest.fixture
def toys() -> Iterator[None]:
    """Every toy is found by its id."""
    with registered():
        yield


@pytest.fixture(scope="module")
def toy_sessions() -> Sessions:
    """The session table behind `toy_url`."""
    return Sessions(SPECS.values(), oracle=True)


@pytest.fixture(scope="module")
def toy_url(toy_sessions: Sessions) -> Iterator[str]:
    """A server of every toy, one for each test module."""
    with running(toy_sessions) as url:
        yield url
