"""The specs of this family; importing it imports no engine."""

from agentenv.registry import EnvSpec

SPECS: list[EnvSpec] = []
