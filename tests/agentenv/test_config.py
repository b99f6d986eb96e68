from pathlib import Path

from agentenv.config import database_url, home


def test_home_is_absolute_also_where_the_variable_is_not(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AGENTENV_HOME", ".demo/x")
    monkeypatch.delenv("AGENTENV_DB", raising=False)
    assert home() == tmp_path / ".demo" / "x"
    assert database_url() == f"sqlite:///{tmp_path}/.demo/x/agentenv.db"


def test_home_is_a_folder_of_the_user_by_default(monkeypatch):
    monkeypatch.delenv("AGENTENV_HOME")
    assert home() == Path.home() / ".agentenv"
