"""SQL and the contract of environments."""

import os
import subprocess
import sys

PLAY = """
from agentenv.protocol import digest_of
from agentenv.registry import get_spec
options = {"mode": "multi"}
tasks, env, seen = get_spec("sql").task_set(options), get_spec("sql").make(options), []
for index in range(0, 50, 5):
    env.last = env.reset(tasks.get("test", index))
    seen.append(env.last.observation)
    for action in env.solve(tasks.get("test", index)):
        env.last = env.step(action)
        seen.append([action.text, env.last.observation, env.last.reward, dict(env.last.info)])
played = digest_of([tasks.digest, seen])
"""


def test_another_process_with_another_hash_seed_and_databases_of_its_own_sees_the_same(tmp_path):
    here = {}
    exec(PLAY, here)
    env = {**os.environ, "PYTHONHASHSEED": "7", "AGENTENV_HOME": str(tmp_path)}
    command = [sys.executable, "-c", f"{PLAY}\nprint(played)"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, env=env)
    assert done.stdout.split() == [here["played"]], done.stderr
