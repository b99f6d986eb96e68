"""A stranger's package is listed, served and played like our own; a broken or hidden one is named."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path(__file__).resolve().parent / "plugin_package"


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """A folder with the stranger's package installed by pip; nothing is fetched."""
    target = tmp_path_factory.mktemp("site")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    offline = ["--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*install, *offline, "--target", str(target), str(PACKAGE)], check=True, timeout=100)
    return target


def run(*words: str, site: Path | None = None, cwd: Path | None = None, rc: int = 0) -> str:
    """A program with `site` importable; gives stdout and stderr together."""
    environment = {**os.environ, "PYTHONPATH": str(site or "")}
    done = subprocess.run(
        [sys.executable, *words], env=environment, cwd=cwd, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == rc, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def agentenv(*words: str, site: Path, rc: int = 0) -> str:
    return run("-m", "agentenv.cli.main", *words, site=site, rc=rc)


def test_a_strangers_env_is_listed_and_its_broken_one_is_named(site):
    rows = {row["env"]: row for row in json.loads(agentenv("envs", "--json", site=site))}
    assert rows["lighthouse"]["tasks"] == {"train": 2, "test": 1}
    assert "engine_that_nobody_has" in rows["sunken"]["unavailable"]
    assert "unavailable:" in agentenv("envs", site=site)


def test_a_broken_env_raises_when_it_is_asked_for(site):
    message = agentenv("serve", "sunken", site=site, rc=1)
    assert "sunken is unavailable: ModuleNotFoundError: No module named 'engine_that_nobody_has'" in message
    assert "Traceback" not in message


def test_a_strangers_env_is_served_and_played_over_http(site):
    code = """
import agentenv
from agentenv.cli.server_process import serving
with serving(["lighthouse"]) as url:
    env = agentenv.make("lighthouse", base_url=url, split="test")
    observation, _ = env.reset(options={"task": "lighthouse/test/0"})
    print(observation)
    print(env.step("on")[:3])
    env.close()
"""
    assert "It is dusk.\n('The lamp is on.', 1.0, True)" in run("-c", code, site=site)


def test_a_strangers_env_is_rolled_out_in_process(site, tmp_path):
    out = tmp_path / "out.jsonl"
    agentenv("rollout", "lighthouse", "--agent", "oracle", "--split", "train", "--out", str(out), site=site)
    records = [json.loads(line) for line in out.read_text().splitlines()]
    assert [record["success"] for record in records] == [True, True]


def test_a_strangers_commands_are_mounted_and_a_broken_one_never_kills_help(site):
    listing = agentenv("--help", site=site)
    assert "From the package lighthouse-envs." in listing
    assert "drowned" in listing
    assert agentenv("lamp", "--colour", "red", site=site) == "The lamp shines red.\n"
    assert agentenv("keeper", "name", site=site) == "Ida\n"
    message = agentenv("drowned", "--any", "thing", site=site, rc=1)
    assert "the command 'drowned' of lighthouse-envs is unavailable: ModuleNotFoundError" in message
    assert "Traceback" not in message


def test_doctor_names_broken_plugins_and_fails(site):
    findings = json.loads(agentenv("doctor", "--json", site=site, rc=1))
    assert {"plug-in sunken", "plug-in drowned"} <= {f["check"] for f in findings if f["status"] == "problem"}


@pytest.fixture
def shadowed(tmp_path) -> Path:
    """A user's folder in which `evals.py` hides our package."""
    (tmp_path / "evals.py").write_text("MINE = True\n", encoding="utf-8")
    return tmp_path


LIST_COMMANDS = "from agentenv.plugins import load_group; print(load_group('agentenv.commands')['eval'].reason)\n"


def test_a_file_that_hides_our_package_is_named_beside_a_script(shadowed):
    (shadowed / "script.py").write_text(LIST_COMMANDS, encoding="utf-8")
    message = run("script.py", cwd=shadowed)
    assert message.startswith("ShadowedPackage: ")
    assert str(shadowed / "evals.py") in message
    assert str(ROOT / "evals" / "__init__.py") in message
    assert "rename the first file" in message


def test_a_file_that_hides_our_package_is_named_under_pytest(shadowed):
    test = f"def test_it():\n    import evals\n    assert evals.MINE\n    {LIST_COMMANDS}"
    (shadowed / "test_it.py").write_text(test, encoding="utf-8")
    message = run("-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", "test_it.py", cwd=shadowed)
    assert f"`import evals` finds {shadowed / 'evals.py'}, which hides {ROOT / 'evals' / '__init__.py'}" in message


def test_doctor_shows_a_second_owner_of_an_import_name(site, tmp_path):
    other = tmp_path / "other"
    info = other / "their_evals-1.0.dist-info"
    info.mkdir(parents=True)
    (other / "evals").mkdir()
    (other / "evals" / "__init__.py").write_text("", encoding="utf-8")
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-evals\nVersion: 1.0\n", encoding="utf-8")
    (info / "RECORD").write_text("evals/__init__.py,,\n", encoding="utf-8")
    findings = {f["check"]: f for f in json.loads(agentenv("doctor", "--json", site=other, rc=1))}
    assert findings["import evals"]["status"] == "problem"
    assert "their-evals" in findings["import evals"]["detail"]
    assert findings["import agentenv"]["status"] == "ok"
