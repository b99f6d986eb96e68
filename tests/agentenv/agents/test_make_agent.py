import importlib
import sys

import pytest

from agentenv.agents import agent_names, make_agent
from agentenv.errors import BadAgent


@pytest.mark.parametrize("name", ["oracle", "random", "noop"])
def test_a_control_describes_itself_by_name_and_version(name):
    agent = make_agent(name)
    assert agent.name == name
    assert agent.describe == {"name": name, "version": "1"}


def test_an_unknown_agent_is_refused_with_the_nearest_name():
    with pytest.raises(BadAgent, match=r"no agent 'orcale'; did you mean 'oracle'\?"):
        make_agent("orcale")


def test_an_unknown_agent_without_a_near_name_is_refused_with_all_names():
    with pytest.raises(BadAgent, match=r"There are: .*noop.*oracle.*random.*react"):
        make_agent("zzzzzz")


def test_a_setting_that_an_agent_does_not_have_is_refused():
    with pytest.raises(BadAgent, match=r"agent 'noop' has no setting 'model'; it takes: none"):
        make_agent("noop", model="gpt")


def test_a_near_miss_of_a_setting_is_refused_with_its_right_name():
    with pytest.raises(BadAgent, match=r"no setting 'temprature'; did you mean 'temperature'\?"):
        make_agent("react", model="m", model_url="http://127.0.0.1:1/v1", temprature=0.5)


def test_react_without_a_model_says_which_flag_names_one():
    with pytest.raises(BadAgent, match=r"agent 'react' needs 'model': give it by --model NAME"):
        make_agent("react")


@pytest.fixture
def foreign_agents(tmp_path, monkeypatch):
    """An installed distribution of a stranger's with one good and one broken agent."""
    (tmp_path / "stranger_agents.py").write_text(
        "from agentenv.agents import AgentSpec\n"
        "def echo(**settings):\n"
        "    return AgentSpec(name='echo', describe={'name': 'echo', **settings}, make=object)\n"
    )
    (tmp_path / "stranger_broken.py").write_text("import no_such_module_here\n")
    info = tmp_path / "stranger_agents-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger-agents\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[agentenv.agents]\necho = stranger_agents:echo\nbroken = stranger_broken:make\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield
    for module in ("stranger_agents", "stranger_broken"):
        sys.modules.pop(module, None)


@pytest.mark.usefixtures("foreign_agents")
def test_an_agent_of_another_package_is_found_by_its_entry_point_and_gets_its_settings():
    assert "echo" in agent_names()
    assert make_agent("echo", model="m", volume=3).describe == {"name": "echo", "model": "m", "volume": 3}


@pytest.mark.usefixtures("foreign_agents")
def test_an_agent_that_cannot_be_imported_is_listed_and_raises_when_asked_for():
    assert "broken" in agent_names()
    with pytest.raises(BadAgent, match=r"agent 'broken' of stranger-agents cannot be loaded.*no_such_module_here"):
        make_agent("broken")
