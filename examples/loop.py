"""Play one episode with random actions: `python examples/loop.py [--base-url http://127.0.0.1:8000]`."""

import argparse
import random

import agentenv

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--env", default="textcraft")
parser.add_argument("--base-url", help="address of `agentenv serve`; without it the env runs in this process")
parser.add_argument("--seed", type=int, default=7)
arguments = parser.parse_args()

rng = random.Random(arguments.seed)
env = agentenv.make(arguments.env, base_url=arguments.base_url)
observation, info = env.reset(seed=arguments.seed)
print(observation)
done = False
while not done:
    action = rng.choice(env.available_actions())
    observation, reward, terminated, truncated, info = env.step(action)
    done = terminated or truncated
    print(f"> {action}\n{observation}")
print(info["outcome"], info["success"])
env.close()
