import sys

import pytest

from agentenv.config import home
from agentenv.errors import EnvUnavailable
from agentenv.registry import get_spec
from envservers.search.spec import SPEC


def test_the_env_is_found_by_its_entry_point():
    assert get_spec("search") == SPEC


def test_without_bm25s_the_command_that_installs_it_is_named(monkeypatch):
    for name in [n for n in sys.modules if n.startswith("envservers.search.") and not n.endswith(".spec")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "bm25s", None)
    with pytest.raises(EnvUnavailable, match=r"pip install 'agentenv-gym\[search\]'"):
        SPEC.load_class()


def test_counts_and_digest_are_known_without_building_anything():
    tasks = SPEC.task_set()
    assert [tasks.count(split) for split in tasks.splits()] == [20_000, 500, 500, 500]
    assert tasks.digest != SPEC.task_set({"size": "small"}).digest
    assert list(home().iterdir()) == []
