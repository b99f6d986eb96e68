"""The tests of the engine chromium need a browser; it is shared by those of a module and ended after them."""

from __future__ import annotations

import os
import sys

import pytest

from envservers.webarena.engines.chromium.find import VARIABLE, find_chromium, have_playwright

NAMED = os.environ.get(VARIABLE)
"""The developer's own browser, which the other settings do not pass with."""


@pytest.fixture(autouse=True)
def _the_browser_that_was_named(_own_home, monkeypatch):
    if NAMED:
        monkeypatch.setenv(VARIABLE, NAMED)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if have_playwright() and find_chromium() is not None:
        return
    for item in items:
        if item.path.parent.name in ("chromium", "parity"):
            item.add_marker(pytest.mark.skip(reason="no Chromium: apt-get install chromium-headless-shell"))


@pytest.fixture(scope="module", autouse=True)
def _no_browser_stays():
    yield
    if "envservers.webarena.engines.chromium.runtime" in sys.modules:
        from envservers.webarena.engines.chromium.runtime import shutdown

        shutdown()
