"""A program as an agent: lines of JSON in, lines of JSON out. Run it with

agentenv rollout maze --agent external --agent-option command="python examples/external_agent.py" --limit 3
"""

import json
import random
import sys

DIRECTIONS = ("up", "down", "left", "right")

chance = random.Random(0)
for line in sys.stdin:  # ends when the other side closes it
    message = json.loads(line)
    match message["type"]:
        case "start":
            chance = random.Random(message["seed"])
            print(f"playing {message['task']['id']}", file=sys.stderr)
        case "observation":
            action = {"type": "action", "text": f"move {chance.choice(DIRECTIONS)}"}
            print(json.dumps(action), flush=True)
        case "end":
            break
