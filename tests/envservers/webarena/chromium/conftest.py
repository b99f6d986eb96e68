"""A browser is needed here; it is shared by the tests of a module and ended after it."""

from __future__ import annotations

import pytest

from envservers.webarena.engines.chromium.find import find_chromium, have_playwright


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if have_playwright() and find_chromium() is not None:
        return
    for item in items:
        if "webarena/chromium" in str(item.path) or "webarena/parity" in str(item.path):
            item.add_marker(pytest.mark.skip(reason="no Chromium: apt-get install chromium-headless-shell"))


@pytest.fixture(scope="module", autouse=True)
def _no_browser_stays():
    yield
    from envservers.webarena.engines.chromium.runtime import shutdown

    shutdown()
