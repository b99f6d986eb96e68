"""What only a process of its own can show: the order of imports, forks, and the end of a script."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from serving import running
from toy_envs import SPECS

from agentenv.server.sessions import Sessions

SUPPORT = Path(__file__).parents[2] / "support"


def script(text: str, *arguments: str) -> str:
    """What the script prints; nothing may go to stderr, no warning either."""
    environment = {**os.environ, "PYTHONPATH": str(SUPPORT)}
    done = subprocess.run(
        # From Python 3.12 on, a fork beside a thread warns; that it works is what is tested.
        [sys.executable, "-W", "error", "-W", "ignore:This process:DeprecationWarning", "-c", text, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env=environment,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("imports", "id"),
    [
        ("import agentenv, gymnasium", "agentenv/Maze-v0"),
        ("import gymnasium, agentenv", "agentenv/Maze-v0"),
        ("import gymnasium", "agentenv:agentenv/Maze-v0"),
        ("import gymnasium", "agentenv:agentenv/TextCraft-v0"),
    ],
)
def test_gymnasium_knows_the_envs_whichever_is_imported_first(imports: str, id: str) -> None:
    text = f"""
{imports}
env = gymnasium.make({id!r})
print(type(env).__name__, env.spec.id, env.reset(seed=1)[1]["episode"])
env.close()
vector = gymnasium.make_vec({id!r}, num_envs=2)
print(type(vector).__name__)
vector.close()
"""
    assert script(text).split() == ["EnvClient", id.partition(":")[2] or id, "0", "VectorEnvClient"]


def test_the_package_itself_does_not_import_gymnasium() -> None:
    assert script("import agentenv, sys; print('gymnasium' in sys.modules, 'numpy' in sys.modules)") == "False False\n"


FORK = """
import os, sys, time
import agentenv
from agentenv.errors import ClientClosed
from agentenv.client import VectorEnvClient

base = {} if sys.argv[1] == "local" else {"base_url": sys.argv[1], "transport": sys.argv[2]}
env, vector = agentenv.make("maze", **base), VectorEnvClient("maze", 2, **base)
env.reset(seed=1)
vector.reset(seed=1)
if (child := os.fork()) == 0:
    started = time.monotonic()
    for call in (env.reset, lambda: env.step("x"), env.available_actions, vector.reset):
        try:
            call()
        except ClientClosed as exc:
            assert "before a fork" in str(exc), exc
        else:
            raise AssertionError("an old client worked")
    env.close()
    vector.close()
    fresh = agentenv.make("maze", **base)
    fresh.reset(seed=2)
    fresh.step("move up")
    fresh.close()
    assert time.monotonic() - started < 10.0
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(env.step("move up")[4]["outcome"], vector.step(["x", "x"])[4]["valid"].all())
env.close()
vector.close()
"""


@pytest.mark.parametrize("place", ["local", "http", "websocket"])
def test_after_a_fork_old_clients_say_so_and_new_ones_work(place: str) -> None:
    from agentenv.registry import get_spec

    if place == "local":
        assert script(FORK, "local") == "None True\n"
        return
    sessions = Sessions([get_spec("maze")])
    with running(sessions) as url:
        assert script(FORK, url, place) == "None True\n"
        assert not sessions._sessions


POOL_OF_PROCESSES = """
import multiprocessing, sys
import agentenv

def play(number):
    env = agentenv.make("maze")
    text = env.reset(seed=number)[0]
    env.close()
    return text

if __name__ == "__main__":
    here = [play(n) for n in range(4)]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(play, range(4)) == here
    print("equal")
"""


def test_forked_workers_of_multiprocessing_play_the_same_episodes() -> None:
    assert script(POOL_OF_PROCESSES) == "equal\n"


FORGETFUL = """
import sys
import agentenv
from agentenv.client import VectorEnvClient

base = {"base_url": sys.argv[1], "transport": sys.argv[2]} if len(sys.argv) > 1 else {}
env = agentenv.make("maze", **base)
env.reset()
vector = VectorEnvClient("maze", 3, **base)
vector.reset()
print("end")
"""


@pytest.mark.parametrize("transport", ["http", "websocket"])
def test_a_script_that_closes_nothing_ends_quietly_and_frees_its_sessions(transport: str) -> None:
    from agentenv.registry import get_spec

    sessions = Sessions([get_spec("maze"), *SPECS.values()])
    with running(sessions) as url:
        assert script(FORGETFUL, url, transport) == "end\n"
        assert not sessions._sessions


def test_a_local_script_that_closes_nothing_ends_quietly() -> None:
    assert script(FORGETFUL) == "end\n"
